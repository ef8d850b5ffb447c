-- The first tables, as release 0.1 has them. Frozen: what changes later is a later migration.

CREATE TABLE {schema}.conversation (
    key bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    next_seq bigint DEFAULT 0 NOT NULL,
    active_leaf bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    parent_id text COLLATE "C",
    status text DEFAULT 'active' NOT NULL,
    title text,
    metadata jsonb,
    CONSTRAINT conversation_pkey PRIMARY KEY (key),
    CONSTRAINT conversation_tenant_id_key UNIQUE (tenant, id),
    CONSTRAINT conversation_tenant_key_key UNIQUE (tenant, key),
    CONSTRAINT conversation_tenant_length CHECK (octet_length(tenant) BETWEEN 1 AND 512),
    CONSTRAINT conversation_id_length CHECK (octet_length(id) BETWEEN 1 AND 1024),
    CONSTRAINT conversation_status CHECK (status IN ('active', 'archived'))
) WITH (fillfactor = 80);
CREATE INDEX conversation_list ON {schema}.conversation (tenant, updated_at, id);

CREATE TABLE {schema}.blob (
    tenant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT blob_pkey PRIMARY KEY (tenant, digest),
    CONSTRAINT blob_tenant_length CHECK (octet_length(tenant) BETWEEN 1 AND 512),
    CONSTRAINT blob_digest_length CHECK (octet_length(digest) BETWEEN 1 AND 1024)
);
ALTER TABLE {schema}.blob ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE {schema}.promotion (
    created_at timestamptz DEFAULT now() NOT NULL,
    column_name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    field text NOT NULL,
    type text NOT NULL,
    index_name text COLLATE "C" NOT NULL,
    CONSTRAINT promotion_pkey PRIMARY KEY (column_name),
    CONSTRAINT promotion_index_name_key UNIQUE (index_name),
    CONSTRAINT promotion_kind CHECK (kind IN ('tool', 'data')),
    CONSTRAINT promotion_type CHECK (type IN ('text', 'integer', 'number', 'boolean', 'json'))
);

CREATE TABLE {schema}.message (
    conversation bigint NOT NULL,
    seq bigint NOT NULL,
    branch bigint NOT NULL,
    parent bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    token_count bigint,
    id text COLLATE "C" NOT NULL,
    turn_id text COLLATE "C",
    role text NOT NULL,
    status text,
    model text,
    metadata jsonb,
    extra jsonb,
    CONSTRAINT message_pkey PRIMARY KEY (conversation, seq),
    CONSTRAINT message_conversation_id_key UNIQUE (conversation, id),
    CONSTRAINT message_conversation_fkey FOREIGN KEY (conversation)
        REFERENCES {schema}.conversation (key) ON DELETE CASCADE,
    CONSTRAINT message_conversation_parent_fkey FOREIGN KEY (conversation, parent)
        REFERENCES {schema}.message (conversation, seq),
    CONSTRAINT message_place CHECK (seq >= 0 AND parent < seq),
    CONSTRAINT message_branch CHECK (branch <= seq AND (parent IS NOT NULL OR branch = seq)),
    CONSTRAINT message_id_length CHECK (octet_length(id) BETWEEN 1 AND 1024),
    CONSTRAINT message_role CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    CONSTRAINT message_status CHECK (status IN ('streaming', 'complete', 'interrupted', 'failed', 'cancelled'))
);
CREATE INDEX message_children ON {schema}.message (conversation, parent);

CREATE TABLE {schema}.turn (
    key bigint GENERATED ALWAYS AS IDENTITY,
    conversation bigint NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    next_seq bigint DEFAULT 0 NOT NULL,
    next_page bigint DEFAULT 0 NOT NULL,
    lease_until timestamptz,
    stop_requested_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    input_tokens bigint,
    output_tokens bigint,
    total_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    reasoning_tokens bigint,
    status text NOT NULL,
    owner text,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    answers bigint,
    message_id text COLLATE "C",
    idempotency_key text COLLATE "C",
    fingerprint text,
    agent text,
    error_message text,
    error_code text,
    error_provider text,
    trigger text DEFAULT 'submit-message' NOT NULL,
    cost_amount numeric,
    cost_currency text,
    cost_prices jsonb,
    agent_context jsonb,
    agent_memory jsonb,
    error_raw jsonb,
    metadata jsonb,
    journal text DEFAULT 'whole' NOT NULL,
    CONSTRAINT turn_pkey PRIMARY KEY (key),
    CONSTRAINT turn_tenant_id_key UNIQUE (tenant, id),
    CONSTRAINT turn_tenant_conversation_fkey FOREIGN KEY (tenant, conversation)
        REFERENCES {schema}.conversation (tenant, key) ON DELETE CASCADE,
    CONSTRAINT turn_tenant_length CHECK (octet_length(tenant) BETWEEN 1 AND 512),
    CONSTRAINT turn_id_length CHECK (octet_length(id) BETWEEN 1 AND 1024),
    CONSTRAINT turn_idempotency_key_length CHECK (octet_length(idempotency_key) BETWEEN 1 AND 1024),
    CONSTRAINT turn_status
        CHECK (status IN ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'interrupted')),
    CONSTRAINT turn_journal CHECK (journal IN ('whole', 'frames', 'none')),
    CONSTRAINT turn_counters CHECK (epoch >= 0 AND next_seq >= 0 AND next_page >= 0)
) WITH (fillfactor = 70);
CREATE INDEX turn_list ON {schema}.turn (conversation, key);
CREATE UNIQUE INDEX turn_live ON {schema}.turn (conversation) WHERE status IN ('queued', 'running');
CREATE UNIQUE INDEX turn_idempotency_key
    ON {schema}.turn (conversation, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX turn_retention ON {schema}.turn (journal, finished_at) WHERE journal <> 'none';

CREATE TABLE {schema}.checkpoint (
    key bigint GENERATED ALWAYS AS IDENTITY,
    conversation bigint NOT NULL,
    through_seq bigint NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    undone_at timestamptz,
    id text COLLATE "C" NOT NULL,
    strategy text NOT NULL,
    summary jsonb NOT NULL,
    metadata jsonb,
    CONSTRAINT checkpoint_pkey PRIMARY KEY (key),
    CONSTRAINT checkpoint_conversation_id_key UNIQUE (conversation, id),
    CONSTRAINT checkpoint_conversation_fkey FOREIGN KEY (conversation)
        REFERENCES {schema}.conversation (key) ON DELETE CASCADE,
    CONSTRAINT checkpoint_id_length CHECK (octet_length(id) BETWEEN 1 AND 1024)
);

CREATE TABLE {schema}.part (
    conversation bigint NOT NULL,
    message bigint NOT NULL,
    "order" bigint NOT NULL,
    type text NOT NULL,
    text_text text,
    text_state text,
    text_citations jsonb,
    reasoning_text text,
    reasoning_id text,
    reasoning_state text,
    tool_call_id text,
    tool_name text,
    tool_state text,
    tool_dynamic boolean,
    tool_withdrawn boolean,
    tool_preliminary boolean,
    tool_provider_executed boolean,
    tool_input jsonb,
    tool_raw_input jsonb,
    tool_output jsonb,
    tool_input_encoding text,
    tool_error_text text,
    tool_title text,
    tool_metadata jsonb,
    tool_result_provider_metadata jsonb,
    tool_approval_id text,
    tool_approval_reason text,
    tool_approval_request_reason text,
    tool_approval_signature text,
    tool_approval_approved boolean,
    tool_approval_is_automatic boolean,
    tool_approval_descriptor jsonb,
    tool_approval_input_schema_input jsonb,
    tool_approval_extra jsonb,
    file_media_type text,
    file_url text,
    file_filename text,
    file_provider_reference jsonb,
    source_url_source_id text,
    source_url_url text,
    source_url_title text,
    source_document_source_id text,
    source_document_media_type text,
    source_document_title text,
    source_document_filename text,
    data_name text,
    data_id text,
    data_content jsonb,
    custom_kind text,
    steering_id text,
    steering_parts jsonb,
    opaque_body jsonb,
    provider_metadata jsonb,
    extra jsonb,
    CONSTRAINT part_pkey PRIMARY KEY (conversation, message, "order"),
    CONSTRAINT part_conversation_message_fkey FOREIGN KEY (conversation, message)
        REFERENCES {schema}.message (conversation, seq) ON DELETE CASCADE,
    CONSTRAINT part_text_text_is_there CHECK ((type = 'text') = (text_text IS NOT NULL)),
    CONSTRAINT part_reasoning_text_is_there CHECK ((type = 'reasoning') = (reasoning_text IS NOT NULL)),
    CONSTRAINT part_tool_call_id_is_there CHECK ((type = 'tool-call') = (tool_call_id IS NOT NULL)),
    CONSTRAINT part_tool_name_is_there CHECK ((type = 'tool-call') = (tool_name IS NOT NULL)),
    CONSTRAINT part_tool_state_is_there CHECK ((type = 'tool-call') = (tool_state IS NOT NULL)),
    CONSTRAINT part_file_media_type_is_there
        CHECK ((type IN ('file', 'reasoning-file')) = (file_media_type IS NOT NULL)),
    CONSTRAINT part_file_url_is_there CHECK ((type IN ('file', 'reasoning-file')) = (file_url IS NOT NULL)),
    CONSTRAINT part_source_url_source_id_is_there CHECK ((type = 'source-url') = (source_url_source_id IS NOT NULL)),
    CONSTRAINT part_source_url_url_is_there CHECK ((type = 'source-url') = (source_url_url IS NOT NULL)),
    CONSTRAINT part_source_document_source_id_is_there
        CHECK ((type = 'source-document') = (source_document_source_id IS NOT NULL)),
    CONSTRAINT part_source_document_media_type_is_there
        CHECK ((type = 'source-document') = (source_document_media_type IS NOT NULL)),
    CONSTRAINT part_source_document_title_is_there
        CHECK ((type = 'source-document') = (source_document_title IS NOT NULL)),
    CONSTRAINT part_data_name_is_there CHECK ((type = 'data') = (data_name IS NOT NULL)),
    CONSTRAINT part_custom_kind_is_there CHECK ((type = 'custom') = (custom_kind IS NOT NULL)),
    CONSTRAINT part_steering_id_is_there CHECK ((type = 'steering-message') = (steering_id IS NOT NULL)),
    CONSTRAINT part_steering_parts_is_there CHECK ((type = 'steering-message') = (steering_parts IS NOT NULL)),
    CONSTRAINT part_opaque_body_is_there CHECK ((type = 'opaque') = (opaque_body IS NOT NULL)),
    CONSTRAINT part_type
        CHECK (type IN (
            'text', 'reasoning', 'tool-call', 'file', 'reasoning-file', 'source-url', 'source-document',
            'step-start', 'data', 'custom', 'steering-message', 'opaque'
        )),
    CONSTRAINT part_tool_state
        CHECK (tool_state IN (
            'input-streaming', 'input-available', 'approval-requested', 'approval-responded',
            'output-available', 'output-error', 'output-denied'
        )),
    CONSTRAINT part_place CHECK ("order" >= 0),
    CONSTRAINT part_approval_of_a_call CHECK (tool_approval_id IS NULL OR type = 'tool-call')
);
CREATE INDEX part_tool_call ON {schema}.part (left(tool_call_id, 128), conversation) WHERE tool_call_id IS NOT NULL;

CREATE TABLE {schema}.provider_call (
    turn bigint NOT NULL,
    "order" bigint NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    first_token_at timestamptz,
    finished_at timestamptz,
    input_tokens bigint,
    output_tokens bigint,
    total_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    reasoning_tokens bigint,
    id text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    operation text NOT NULL,
    status text NOT NULL,
    cost_amount numeric,
    cost_currency text,
    cost_prices jsonb,
    extensions jsonb,
    raw jsonb,
    CONSTRAINT provider_call_pkey PRIMARY KEY (turn, "order"),
    CONSTRAINT provider_call_turn_fkey FOREIGN KEY (turn) REFERENCES {schema}.turn (key) ON DELETE CASCADE,
    CONSTRAINT provider_call_operation CHECK (operation IN ('chat', 'embedding', 'other')),
    CONSTRAINT provider_call_status CHECK (status IN ('running', 'succeeded', 'failed', 'cancelled', 'interrupted'))
);

CREATE TABLE {schema}.page (
    turn bigint NOT NULL,
    number bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    epoch bigint NOT NULL,
    written_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    codec smallint NOT NULL,
    frames bytea NOT NULL,
    events bytea,
    CONSTRAINT page_pkey PRIMARY KEY (turn, number),
    CONSTRAINT page_turn_fkey FOREIGN KEY (turn) REFERENCES {schema}.turn (key) ON DELETE CASCADE,
    CONSTRAINT page_place CHECK (number >= 0 AND first_seq >= 0 AND last_seq >= first_seq - 1)
);
ALTER TABLE {schema}.page ALTER COLUMN events SET STORAGE EXTERNAL;
ALTER TABLE {schema}.conversation
    ADD CONSTRAINT conversation_key_active_leaf_fkey FOREIGN KEY (key, active_leaf)
    REFERENCES {schema}.message (conversation, seq);
