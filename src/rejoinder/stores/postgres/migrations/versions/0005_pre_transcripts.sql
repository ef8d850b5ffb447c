-- Transcripts of vendors' own sessions, and their entries.

CREATE TABLE {schema}.transcript (
    key bigint GENERATED ALWAYS AS IDENTITY,
    conversation bigint,
    modified_at timestamptz DEFAULT now() NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    part text COLLATE "C" NOT NULL,
    CONSTRAINT transcript_pkey PRIMARY KEY (key),
    CONSTRAINT transcript_tenant_project_session_part_key UNIQUE (tenant, project, session, part),
    CONSTRAINT transcript_tenant_conversation_fkey FOREIGN KEY (tenant, conversation)
        REFERENCES {schema}.conversation (tenant, key) ON DELETE CASCADE,
    CONSTRAINT transcript_tenant_length CHECK (octet_length(tenant) BETWEEN 1 AND 512),
    CONSTRAINT transcript_project_length CHECK (octet_length(project) BETWEEN 1 AND 1024),
    CONSTRAINT transcript_session_length CHECK (octet_length(session) BETWEEN 1 AND 256),
    CONSTRAINT transcript_part_length CHECK (octet_length(part) <= 640)
);
CREATE INDEX transcript_conversation ON {schema}.transcript (tenant, conversation) WHERE conversation IS NOT NULL;

CREATE TABLE {schema}.transcript_entry (
    key bigint GENERATED ALWAYS AS IDENTITY,
    transcript bigint NOT NULL,
    id text COLLATE "C",
    digest text NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT transcript_entry_pkey PRIMARY KEY (transcript, key),
    CONSTRAINT transcript_entry_transcript_fkey FOREIGN KEY (transcript)
        REFERENCES {schema}.transcript (key) ON DELETE CASCADE,
    CONSTRAINT transcript_entry_id_length CHECK (octet_length(id) BETWEEN 1 AND 256)
);
CREATE UNIQUE INDEX transcript_entry_id ON {schema}.transcript_entry (transcript, id, digest) WHERE id IS NOT NULL;
