-- Conversations, checkpoints, blobs.

-- fragment: conversation_record
-- What is read of a conversation.
c.id, c.created_at, c.updated_at, c.title, c.metadata, c.parent_id

-- query: create_conversation
-- No row: it was there. $1 tenant, $2 id, $3 title, $4 metadata.
INSERT INTO {schema}.conversation AS c (tenant, id, title, metadata)
VALUES ($1::text, $2::text, $3::text, $4::jsonb)
ON CONFLICT (tenant, id) DO NOTHING
RETURNING {conversation_record}

-- query: get_conversation
-- $1 tenant, $2 id.
SELECT {conversation_record} FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $2::text

-- query: update_conversation
-- $1 tenant, $2 id, $3 whether to change the title, $4 title, $5 whether to change the metadata, $6 metadata.
UPDATE {schema}.conversation AS c
SET version = c.version + 1,
    updated_at = clock_timestamp(),
    title = CASE WHEN $3::boolean THEN $4::text ELSE c.title END,
    metadata = CASE WHEN $5::boolean THEN $6::jsonb ELSE c.metadata END
WHERE c.tenant = $1::text AND c.id = $2::text
RETURNING {conversation_record}

-- query: list_tenants
-- Every tenant once: from each to the next through the index, for there are few of them among many conversations.
WITH RECURSIVE tenants (tenant) AS (
    (SELECT c.tenant FROM {schema}.conversation AS c ORDER BY c.tenant LIMIT 1)
    UNION ALL
    SELECT (
        SELECT c.tenant FROM {schema}.conversation AS c WHERE c.tenant > tenants.tenant ORDER BY c.tenant LIMIT 1
    )
    FROM tenants WHERE tenants.tenant IS NOT NULL
)
SELECT tenant FROM tenants WHERE tenant IS NOT NULL

-- query: list_conversations
-- The newest updates. $1 tenant, $2 and $3 before this time and id, NULL for from the top, $4 how many.
SELECT {conversation_record}
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND (c.updated_at, c.id) < (coalesce($2::timestamptz, 'infinity'), $3::text)
ORDER BY c.updated_at DESC, c.id DESC
LIMIT $4::bigint

-- query: search_conversations
-- The same, of those whose title or one of whose texts holds all the words in $5.
WITH found AS (
    SELECT title.key FROM {schema}.conversation AS title
    WHERE title.tenant = $1::text AND title.title IS NOT NULL
        AND {searched_title} @@ plainto_tsquery('simple', $5::text)
    UNION
    SELECT part.conversation FROM {schema}.part
    WHERE part.text_text IS NOT NULL AND {searched_text} @@ plainto_tsquery('simple', $5::text)
)
SELECT {conversation_record}
FROM found JOIN {schema}.conversation AS c ON c.key = found.key
WHERE c.tenant = $1::text AND (c.updated_at, c.id) < (coalesce($2::timestamptz, 'infinity'), $3::text)
ORDER BY c.updated_at DESC, c.id DESC
LIMIT $4::bigint

-- query: delete_conversation
-- All that belongs to it goes with it. $1 tenant, $2 id.
DELETE FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $2::text RETURNING c.key

-- query: lock_conversation
-- Let nobody else change it until this transaction is over. $1 tenant, $2 id.
SELECT c.key FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text
FOR NO KEY UPDATE

-- query: what_is_missing
-- Why a change found nothing to change. $1 tenant, $2 conversation, $3 a message's id or NULL. No row: there is no
-- such conversation; else whether it has the message.
SELECT
    $3::text IS NULL
    OR EXISTS (SELECT FROM {schema}.message AS m WHERE m.conversation = c.key AND m.id = $3::text)
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text

-- query: fork_conversation
-- Begin a copy. $1 tenant, $2 id of the original, $3 id of the copy, $4 the message that the copy ends with, or NULL.
-- No row: there is no original, or no such message.
INSERT INTO {schema}.conversation AS c (tenant, id, title, metadata, parent_id)
SELECT $1::text, $3::text, original.title, original.metadata, original.id
FROM {schema}.conversation AS original
WHERE original.tenant = $1::text AND original.id = $2::text
    AND (
        $4::text IS NULL
        OR EXISTS (
            SELECT FROM {schema}.message AS m WHERE m.conversation = original.key AND m.id = $4::text
        )
    )
RETURNING c.key

-- query: fork_messages
-- Copy the messages of a path, numbered anew, into the copy that this transaction has begun. $1 … $4 as before.
WITH RECURSIVE path (conversation, branch, upto) AS (
    SELECT m.conversation, m.branch, m.seq
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.seq = CASE
        WHEN $4::text IS NULL THEN c.active_leaf
        ELSE (SELECT leaf.seq FROM {schema}.message AS leaf WHERE leaf.conversation = c.key AND leaf.id = $4::text)
    END
    WHERE c.tenant = $1::text AND c.id = $2::text
    UNION ALL
    SELECT turning.conversation, turning.branch, turning.seq
    FROM path
    JOIN {schema}.message AS first ON first.conversation = path.conversation AND first.seq = path.branch
    JOIN {schema}.message AS turning ON turning.conversation = first.conversation AND turning.seq = first.parent
),
chosen AS (
    SELECT m.*, row_number() OVER (ORDER BY m.seq) - 1 AS place
    FROM path
    JOIN {schema}.message AS m ON m.conversation = path.conversation
        AND m.branch = path.branch AND m.seq BETWEEN path.branch AND path.upto
)
INSERT INTO {schema}.message
    (conversation, seq, branch, parent, created_at, token_count, id, role, status, model, metadata, extra)
SELECT
    copy.key, chosen.place, 0, nullif(chosen.place, 0) - 1, chosen.created_at, chosen.token_count, chosen.id,
    chosen.role, chosen.status, chosen.model, chosen.metadata, chosen.extra
FROM {schema}.conversation AS copy, chosen
WHERE copy.tenant = $1::text AND copy.id = $3::text AND copy.xmin = {written_here}

-- query: fork_parts
-- Copy their parts. $1 tenant, $2 id of the original, $3 id of the copy.
INSERT INTO {schema}.part (conversation, message, "order", type, {part_columns})
SELECT copied.conversation, copied.seq, part."order", part.type, {part_values}
FROM {schema}.conversation AS copy
JOIN {schema}.conversation AS original ON original.tenant = $1::text AND original.id = $2::text
JOIN {schema}.message AS copied ON copied.conversation = copy.key
JOIN {schema}.message AS m ON m.conversation = original.key AND m.id = copied.id
JOIN {schema}.part ON part.conversation = m.conversation AND part.message = m.seq
WHERE copy.tenant = $1::text AND copy.id = $3::text AND copy.xmin = {written_here}

-- query: end_fork
-- Let the copy end in its last message. $1 tenant, $2 id of the copy.
UPDATE {schema}.conversation AS c
SET next_seq = copied.number, active_leaf = nullif(copied.number, 0) - 1
FROM {schema}.conversation AS copy
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM {schema}.message AS m WHERE m.conversation = copy.key
) AS copied
WHERE copy.tenant = $1::text AND copy.id = $2::text AND copy.xmin = {written_here} AND c.key = copy.key
RETURNING {conversation_record}

-- query: put_blob
-- $1 tenant, $2 digest, $3 media type, $4 content.
INSERT INTO {schema}.blob (tenant, digest, media_type, content)
VALUES ($1::text, $2::text, $3::text, $4::bytea)
ON CONFLICT (tenant, digest) DO NOTHING

-- query: get_blob
-- $1 tenant, $2 digest.
SELECT content, media_type FROM {schema}.blob WHERE tenant = $1::text AND digest = $2::text

-- query: add_checkpoint
-- No row: there is no such conversation, or there is such a checkpoint. $1 tenant, $2 conversation, $3 id,
-- $4 through_seq, $5 summary, $6 strategy, $7 created_at, $8 undone_at, $9 metadata.
INSERT INTO {schema}.checkpoint
    (conversation, id, through_seq, summary, strategy, created_at, undone_at, metadata)
SELECT
    c.key, $3::text, $4::bigint, $5::jsonb, $6::text, $7::timestamptz, $8::timestamptz, $9::jsonb
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text
ON CONFLICT (conversation, id) DO NOTHING
RETURNING key

-- query: list_checkpoints
-- $1 tenant, $2 conversation, $3 whether those count that were undone.
SELECT k.id, k.through_seq, k.summary, k.strategy, k.created_at, k.undone_at, k.metadata
FROM {schema}.conversation AS c JOIN {schema}.checkpoint AS k ON k.conversation = c.key
WHERE c.tenant = $1::text AND c.id = $2::text AND ($3::boolean OR k.undone_at IS NULL)
ORDER BY k.key

-- query: undo_checkpoint
-- $1 tenant, $2 conversation, $3 id. No row: it did not stand.
UPDATE {schema}.checkpoint AS k
SET undone_at = clock_timestamp()
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text
    AND k.conversation = c.key AND k.id = $3::text AND k.undone_at IS NULL
RETURNING k.key
