-- Messages and their parts.
--
-- A call is several statements in one transaction, sent together. What an earlier one has written, a later one
-- recognises by `xmin`: a row's xmin is the transaction that wrote it. So a statement does nothing where the one
-- that it follows on had to do nothing.

-- fragment: part_columns
-- The columns of a part behind its place and its type, as `rejoinder.convert.rows.PartRow` has them.
    text_text, text_state, text_citations, reasoning_text, reasoning_id, reasoning_state, tool_call_id,
    tool_name, tool_dynamic, tool_withdrawn, tool_state, tool_input, tool_raw_input, tool_input_encoding,
    tool_output, tool_error_text, tool_preliminary, tool_provider_executed, tool_title, tool_metadata,
    tool_result_provider_metadata, tool_approval_id, tool_approval_approved, tool_approval_reason,
    tool_approval_request_reason, tool_approval_descriptor, tool_approval_input_schema_input,
    tool_approval_is_automatic, tool_approval_signature, tool_approval_extra, file_media_type, file_url,
    file_filename, file_provider_reference, source_url_source_id, source_url_url, source_url_title,
    source_document_source_id, source_document_media_type, source_document_title, source_document_filename,
    data_name, data_id, data_content, custom_kind, steering_id, steering_parts, opaque_body,
    provider_metadata, extra

-- fragment: part_values
-- The same, of a part.
    part.text_text, part.text_state, part.text_citations, part.reasoning_text, part.reasoning_id,
    part.reasoning_state, part.tool_call_id, part.tool_name, part.tool_dynamic, part.tool_withdrawn,
    part.tool_state, part.tool_input, part.tool_raw_input, part.tool_input_encoding, part.tool_output,
    part.tool_error_text, part.tool_preliminary, part.tool_provider_executed, part.tool_title,
    part.tool_metadata, part.tool_result_provider_metadata, part.tool_approval_id,
    part.tool_approval_approved, part.tool_approval_reason, part.tool_approval_request_reason,
    part.tool_approval_descriptor, part.tool_approval_input_schema_input, part.tool_approval_is_automatic,
    part.tool_approval_signature, part.tool_approval_extra, part.file_media_type, part.file_url,
    part.file_filename, part.file_provider_reference, part.source_url_source_id, part.source_url_url,
    part.source_url_title, part.source_document_source_id, part.source_document_media_type,
    part.source_document_title, part.source_document_filename, part.data_name, part.data_id,
    part.data_content, part.custom_kind, part.steering_id, part.steering_parts, part.opaque_body,
    part.provider_metadata, part.extra

-- fragment: whole_messages
-- What is read of a message, a row for each of its parts, the payloads of the message in the first.
-- Needs a FROM item `chosen(conversation, seq)`.
SELECT
    message.seq, message.id, message.role, message.status, message.created_at, message.turn_id, message.parent_id,
    CASE WHEN part."order" > 0 THEN NULL ELSE message.metadata END,
    CASE WHEN part."order" > 0 THEN NULL ELSE message.extra END,
    part.type,
    {part_values}
FROM (
    -- By themselves, so that the message before is looked up once a message, and not once a part.
    SELECT
        m.conversation, m.seq, m.id, m.role, m.status, m.created_at, m.turn_id, m.metadata, m.extra,
        before.id AS parent_id
    FROM chosen
    JOIN {schema}.message AS m ON m.conversation = chosen.conversation AND m.seq = chosen.seq
    LEFT JOIN {schema}.message AS before ON before.conversation = m.conversation AND before.seq = m.parent
    OFFSET 0
) AS message
LEFT JOIN {schema}.part ON part.conversation = message.conversation AND part.message = message.seq
ORDER BY message.seq, part."order"

-- fragment: written_here
-- The transaction that is running, to compare an xmin with.
pg_current_xact_id_if_assigned()::xid

-- query: touch_conversation
-- Lock a conversation for a change, and move the end of its active branch behind the message $3.
-- $1 tenant, $2 id, $3 a message's id, empty for before the first one, NULL for where it is. No row: not found.
UPDATE {schema}.conversation AS c
SET version = c.version + 1,
    updated_at = clock_timestamp(),
    active_leaf = CASE
        WHEN $3::text IS NULL THEN c.active_leaf
        WHEN $3::text = '' THEN NULL
        ELSE (SELECT m.seq FROM {schema}.message AS m WHERE m.conversation = c.key AND m.id = $3::text)
    END
WHERE c.tenant = $1::text AND c.id = $2::text
    AND (
        coalesce($3::text, '') = ''
        OR EXISTS (SELECT FROM {schema}.message AS m WHERE m.conversation = c.key AND m.id = $3::text)
    )
RETURNING c.key

-- query: add_messages
-- Chain new messages behind the end of the active branch, of a conversation that this transaction has changed.
-- $1 tenant, $2 conversation, $3 turn, $4 messages as JSON, $5 whether to leave out those that are there.
-- A message that answers the last one of a branch belongs to that branch, any other begins one.
WITH place AS (
    SELECT
        c.key, c.next_seq, parent.seq AS parent, parent.id AS parent_id,
        CASE
            WHEN parent.seq IS NULL THEN c.next_seq
            WHEN EXISTS (
                SELECT FROM {schema}.message AS m
                WHERE m.conversation = c.key AND m.parent = parent.seq AND m.branch = parent.branch
            ) THEN c.next_seq
            ELSE parent.branch
        END AS branch
    FROM {schema}.conversation AS c
    LEFT JOIN {schema}.message AS parent ON parent.conversation = c.key AND parent.seq = c.active_leaf
    WHERE c.tenant = $1::text AND c.id = $2::text AND c.xmin = {written_here}
),
added AS (
    INSERT INTO {schema}.message
        (conversation, seq, branch, parent, created_at, id, turn_id, role, status, metadata, extra)
    SELECT
        place.key,
        place.next_seq + item.place,
        place.branch,
        CASE WHEN item.place = 0 THEN place.parent ELSE place.next_seq + item.place - 1 END,
        coalesce(item.created_at, clock_timestamp()),
        item.id, $3::text, item.role, item.status, item.metadata::jsonb, item.extra::jsonb
    FROM place
    CROSS JOIN LATERAL (
        SELECT given.*, row_number() OVER (ORDER BY given.place) - 1 AS place
        FROM json_to_recordset($4::json) AS given (
            place bigint, id text, role text, status text, created_at timestamptz, metadata text, extra text
        )
        -- A query of its own, so that a plan for either answer is as good as one for each, and is kept.
        WHERE NOT (SELECT $5::boolean) OR NOT EXISTS (
            SELECT FROM {schema}.message AS m WHERE m.conversation = place.key AND m.id = given.id
        )
    ) AS item (given_place, id, role, status, created_at, metadata, extra, place)
    RETURNING seq, id, created_at, turn_id, parent
),
moved AS (
    UPDATE {schema}.conversation AS c
    SET next_seq = newest.seq + 1, active_leaf = newest.seq
    FROM place, (SELECT max(added.seq) AS seq FROM added) AS newest
    WHERE c.key = place.key AND newest.seq IS NOT NULL
)
SELECT
    added.seq, added.id, added.created_at, added.turn_id,
    coalesce(lag(added.id) OVER (ORDER BY added.seq), place.parent_id)
FROM added, place
ORDER BY added.seq

-- query: give_up_id
-- Let another message have the id $3, in a conversation that this transaction has changed: see `replaced_id`.
-- $1 tenant, $2 conversation.
UPDATE {schema}.message AS m
SET id = m.id || '~' || m.seq
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text AND c.xmin = {written_here}
    AND m.conversation = c.key AND m.id = $3::text

-- query: add_answer
-- Chain what a turn says behind what it answers. If the active branch leads there it goes on with these messages;
-- if somebody looks at another branch meanwhile, that stays the active one.
-- $1 tenant, $2 conversation, $3 turn, which this transaction has ended, $4 messages as JSON. Those that are there
-- are left out.
WITH RECURSIVE ended AS (
    SELECT t.answers FROM {schema}.turn AS t
    WHERE t.tenant = $1::text AND t.id = $3::text AND t.xmin = {written_here}
),
answered AS (
    SELECT c.key, c.next_seq, c.active_leaf, m.seq, m.branch
    FROM ended
    JOIN {schema}.conversation AS c ON c.tenant = $1::text AND c.id = $2::text
    LEFT JOIN {schema}.message AS m ON m.conversation = c.key AND m.seq = ended.answers
),
path (conversation, branch, upto) AS (
    SELECT m.conversation, m.branch, m.seq
    FROM answered JOIN {schema}.message AS m ON m.conversation = answered.key AND m.seq = answered.active_leaf
    WHERE answered.seq <> answered.active_leaf
    UNION ALL
    SELECT turning.conversation, turning.branch, turning.seq
    FROM path
    JOIN {schema}.message AS first ON first.conversation = path.conversation AND first.seq = path.branch
    JOIN {schema}.message AS turning ON turning.conversation = first.conversation AND turning.seq = first.parent
),
place AS (
    SELECT
        there.key, there.next_seq, there.elsewhere, parent.seq AS parent,
        CASE
            WHEN parent.seq IS NULL THEN there.next_seq
            WHEN EXISTS (
                SELECT FROM {schema}.message AS m
                WHERE m.conversation = there.key AND m.parent = parent.seq AND m.branch = parent.branch
            ) THEN there.next_seq
            ELSE parent.branch
        END AS branch
    FROM (
        SELECT
            answered.*,
            answered.seq IS NOT NULL
            AND answered.active_leaf IS DISTINCT FROM answered.seq
            AND NOT EXISTS (SELECT FROM path WHERE path.branch = answered.branch AND path.upto >= answered.seq)
            AS elsewhere
        FROM answered
    ) AS there
    LEFT JOIN {schema}.message AS parent
        ON parent.conversation = there.key
        AND parent.seq = CASE WHEN there.elsewhere THEN there.seq ELSE there.active_leaf END
),
added AS (
    INSERT INTO {schema}.message
        (conversation, seq, branch, parent, created_at, id, turn_id, role, status, metadata, extra)
    SELECT
        place.key,
        place.next_seq + item.place,
        place.branch,
        CASE WHEN item.place = 0 THEN place.parent ELSE place.next_seq + item.place - 1 END,
        coalesce(item.created_at, clock_timestamp()),
        item.id, $3::text, item.role, item.status, item.metadata::jsonb, item.extra::jsonb
    FROM place
    CROSS JOIN LATERAL (
        SELECT given.*, row_number() OVER (ORDER BY given.place) - 1 AS place
        FROM json_to_recordset($4::json) AS given (
            place bigint, id text, role text, status text, created_at timestamptz, metadata text, extra text
        )
        WHERE NOT EXISTS (
            SELECT FROM {schema}.message AS m WHERE m.conversation = place.key AND m.id = given.id
        )
    ) AS item (given_place, id, role, status, created_at, metadata, extra, place)
    RETURNING seq
)
UPDATE {schema}.conversation AS c
SET version = c.version + 1,
    updated_at = clock_timestamp(),
    next_seq = coalesce(newest.seq + 1, c.next_seq),
    active_leaf = CASE WHEN place.elsewhere THEN c.active_leaf ELSE coalesce(newest.seq, c.active_leaf) END
FROM place, (SELECT max(added.seq) AS seq FROM added) AS newest
WHERE c.key = place.key

-- query: replace_messages
-- Store messages anew that are there already; their places and times of creation stay, and surplus parts go.
-- $1 tenant, $2 conversation, $3 turn or NULL to keep it, $4 messages as JSON, each with the number of its parts,
-- $5 NULL, or a turn that this transaction must have written.
WITH changed AS (
    UPDATE {schema}.message AS m
    SET role = item.role, status = item.status, metadata = item.metadata::jsonb, extra = item.extra::jsonb,
        turn_id = coalesce($3::text, m.turn_id)
    FROM {schema}.conversation AS c
    CROSS JOIN json_to_recordset($4::json) AS item (
        id text, role text, status text, metadata text, extra text, parts bigint
    )
    WHERE c.tenant = $1::text AND c.id = $2::text
        AND m.conversation = c.key
        -- A lookup for each: the planner, which cannot know how few there are, would read the whole conversation.
        AND m.seq = (
            SELECT old.seq FROM {schema}.message AS old WHERE old.conversation = c.key AND old.id = item.id
        )
        AND ($5::text IS NULL OR EXISTS (
            SELECT FROM {schema}.turn AS t
            WHERE t.tenant = $1::text AND t.id = $5::text AND t.xmin = {written_here}
        ))
    RETURNING m.conversation, m.seq, m.id, m.created_at, m.turn_id, m.parent, item.parts
),
surplus AS (
    DELETE FROM {schema}.part AS p
    USING changed
    WHERE p.conversation = changed.conversation AND p.message = changed.seq AND p."order" >= changed.parts
)
SELECT
    changed.seq, changed.id, changed.created_at, changed.turn_id,
    (SELECT before.id FROM {schema}.message AS before
     WHERE before.conversation = changed.conversation AND before.seq = changed.parent)
FROM changed
ORDER BY changed.seq

-- query: put_parts
-- Write the parts of messages that this transaction has written. $1 tenant, $2 conversation, $3 parts as JSON:
-- columns that are NULL left out, JSON as text in which null can be told from nothing.
INSERT INTO {schema}.part (
    conversation, message, "order", type,
    {part_columns}
)
SELECT
    m.conversation, m.seq, item."order", item.type,
    item.text_text, item.text_state, item.text_citations::jsonb, item.reasoning_text, item.reasoning_id,
    item.reasoning_state, item.tool_call_id, item.tool_name, item.tool_dynamic, item.tool_withdrawn,
    item.tool_state, item.tool_input::jsonb, item.tool_raw_input::jsonb, item.tool_input_encoding,
    item.tool_output::jsonb, item.tool_error_text, item.tool_preliminary, item.tool_provider_executed,
    item.tool_title, item.tool_metadata::jsonb, item.tool_result_provider_metadata::jsonb,
    item.tool_approval_id, item.tool_approval_approved, item.tool_approval_reason,
    item.tool_approval_request_reason, item.tool_approval_descriptor::jsonb,
    item.tool_approval_input_schema_input::jsonb, item.tool_approval_is_automatic,
    item.tool_approval_signature, item.tool_approval_extra::jsonb, item.file_media_type, item.file_url,
    item.file_filename, item.file_provider_reference::jsonb, item.source_url_source_id,
    item.source_url_url, item.source_url_title, item.source_document_source_id,
    item.source_document_media_type, item.source_document_title, item.source_document_filename,
    item.data_name, item.data_id, item.data_content::jsonb, item.custom_kind, item.steering_id,
    item.steering_parts::jsonb, item.opaque_body::jsonb, item.provider_metadata::jsonb, item.extra::jsonb
FROM {schema}.conversation AS c
CROSS JOIN json_to_recordset($3::json) AS item (
    message text, "order" bigint, type text,
    text_text text, text_state text, text_citations text, reasoning_text text, reasoning_id text,
    reasoning_state text, tool_call_id text, tool_name text, tool_dynamic boolean, tool_withdrawn boolean,
    tool_state text, tool_input text, tool_raw_input text, tool_input_encoding text, tool_output text,
    tool_error_text text, tool_preliminary boolean, tool_provider_executed boolean, tool_title text,
    tool_metadata text, tool_result_provider_metadata text, tool_approval_id text,
    tool_approval_approved boolean, tool_approval_reason text, tool_approval_request_reason text,
    tool_approval_descriptor text, tool_approval_input_schema_input text,
    tool_approval_is_automatic boolean, tool_approval_signature text, tool_approval_extra text,
    file_media_type text, file_url text, file_filename text, file_provider_reference text,
    source_url_source_id text, source_url_url text, source_url_title text, source_document_source_id text,
    source_document_media_type text, source_document_title text, source_document_filename text,
    data_name text, data_id text, data_content text, custom_kind text, steering_id text,
    steering_parts text, opaque_body text, provider_metadata text, extra text
)
CROSS JOIN LATERAL (
    SELECT message.conversation, message.seq FROM {schema}.message
    WHERE message.conversation = c.key AND message.id = item.message AND message.xmin = {written_here}
    LIMIT 1
) AS m
WHERE c.tenant = $1::text AND c.id = $2::text
ON CONFLICT (conversation, message, "order") DO UPDATE SET
    type = excluded.type,
    text_text = excluded.text_text, text_state = excluded.text_state,
    text_citations = excluded.text_citations, reasoning_text = excluded.reasoning_text,
    reasoning_id = excluded.reasoning_id, reasoning_state = excluded.reasoning_state,
    tool_call_id = excluded.tool_call_id, tool_name = excluded.tool_name,
    tool_dynamic = excluded.tool_dynamic, tool_withdrawn = excluded.tool_withdrawn,
    tool_state = excluded.tool_state, tool_input = excluded.tool_input,
    tool_raw_input = excluded.tool_raw_input, tool_input_encoding = excluded.tool_input_encoding,
    tool_output = excluded.tool_output, tool_error_text = excluded.tool_error_text,
    tool_preliminary = excluded.tool_preliminary, tool_provider_executed = excluded.tool_provider_executed,
    tool_title = excluded.tool_title, tool_metadata = excluded.tool_metadata,
    tool_result_provider_metadata = excluded.tool_result_provider_metadata,
    tool_approval_id = excluded.tool_approval_id, tool_approval_approved = excluded.tool_approval_approved,
    tool_approval_reason = excluded.tool_approval_reason,
    tool_approval_request_reason = excluded.tool_approval_request_reason,
    tool_approval_descriptor = excluded.tool_approval_descriptor,
    tool_approval_input_schema_input = excluded.tool_approval_input_schema_input,
    tool_approval_is_automatic = excluded.tool_approval_is_automatic,
    tool_approval_signature = excluded.tool_approval_signature,
    tool_approval_extra = excluded.tool_approval_extra, file_media_type = excluded.file_media_type,
    file_url = excluded.file_url, file_filename = excluded.file_filename,
    file_provider_reference = excluded.file_provider_reference,
    source_url_source_id = excluded.source_url_source_id, source_url_url = excluded.source_url_url,
    source_url_title = excluded.source_url_title,
    source_document_source_id = excluded.source_document_source_id,
    source_document_media_type = excluded.source_document_media_type,
    source_document_title = excluded.source_document_title,
    source_document_filename = excluded.source_document_filename, data_name = excluded.data_name,
    data_id = excluded.data_id, data_content = excluded.data_content, custom_kind = excluded.custom_kind,
    steering_id = excluded.steering_id, steering_parts = excluded.steering_parts,
    opaque_body = excluded.opaque_body, provider_metadata = excluded.provider_metadata,
    extra = excluded.extra
