-- Erasing what a subject has said, and what was said to it.

-- fragment: going
-- What goes with a subject. $1 tenant, $2 subject.
-- The turns of a subject name it. In a conversation whose turns name nobody else all messages are the subject's, in
-- any other those that its turns have written or begun with. A message of a fork that has the id of one that goes is a
-- copy of it.
own AS MATERIALIZED (
    SELECT t.conversation, t.id, t.message_id
    FROM {schema}.turn AS t
    WHERE t.tenant = $1::text AND t.metadata ->> 'subject' = $2::text
),
shared AS MATERIALIZED (
    SELECT DISTINCT t.conversation
    FROM {schema}.turn AS t
    WHERE t.tenant = $1::text AND t.metadata ->> 'subject' <> $2::text
),
going (conversation, seq, id) AS (
    SELECT m.conversation, m.seq, m.id
    FROM (SELECT DISTINCT own.conversation FROM own) AS named
    JOIN {schema}.message AS m ON m.conversation = named.conversation
    WHERE named.conversation NOT IN (SELECT shared.conversation FROM shared)
        OR m.turn_id IN (SELECT own.id FROM own)
        OR (m.conversation, m.id) IN (SELECT own.conversation, own.message_id FROM own)
    UNION
    SELECT copied.conversation, copied.seq, copied.id
    FROM going
    JOIN {schema}.conversation AS original ON original.key = going.conversation
    JOIN {schema}.conversation AS fork ON fork.tenant = $1::text AND fork.parent_id = original.id
    JOIN {schema}.message AS copied ON copied.conversation = fork.key AND copied.id = going.id
        AND copied.metadata IS DISTINCT FROM '{"erased": true}'
)

-- query: list_erasures
-- The conversations that hold something of a subject, with whether it goes whole, and the seqs and ids of the messages
-- that go. Forks come first, because each is found through what it was forked from; they are younger than that, and
-- their keys greater. $1 tenant, $2 subject.
WITH RECURSIVE {going},
gathered AS (
    SELECT found.conversation, array_agg(found.seq) AS seqs, array_agg(found.id) AS ids
    FROM going AS found GROUP BY found.conversation
),
touched AS (
    SELECT gathered.conversation FROM gathered UNION SELECT own.conversation FROM own
)
SELECT
    c.id,
    c.key NOT IN (SELECT shared.conversation FROM shared) AND (
        c.key IN (SELECT own.conversation FROM own)
        OR cardinality(gathered.seqs) = (
            SELECT count(*) FROM {schema}.message AS m WHERE m.conversation = c.key
        )
    ),
    coalesce(gathered.seqs, '{}'::bigint[]),
    coalesce(gathered.ids, '{}'::text[])
FROM touched
JOIN {schema}.conversation AS c ON c.key = touched.conversation
LEFT JOIN gathered ON gathered.conversation = c.key
ORDER BY c.key DESC

-- query: blob_mentions
-- Which blobs of the tenant are named where: by something that goes with the subject, or by something that stays.
-- Nobody says where a digest may stand, so all is looked through. $1 tenant, $2 subject.
WITH RECURSIVE {going},
texts (conversation, goes, told) AS (
    SELECT c.key, c.key IN (SELECT own.conversation FROM own) AND c.key NOT IN (SELECT shared.conversation FROM shared),
        c.metadata::text
    FROM {schema}.conversation AS c
    WHERE c.tenant = $1::text AND c.metadata IS NOT NULL
    UNION ALL
    SELECT m.conversation, (m.conversation, m.seq) IN (SELECT going.conversation, going.seq FROM going),
        concat(m.metadata, ' ', m.extra)
    FROM {schema}.conversation AS c JOIN {schema}.message AS m ON m.conversation = c.key
    WHERE c.tenant = $1::text AND (m.metadata IS NOT NULL OR m.extra IS NOT NULL)
    UNION ALL
    SELECT p.conversation, (p.conversation, p.message) IN (SELECT going.conversation, going.seq FROM going), p::text
    FROM {schema}.conversation AS c JOIN {schema}.part AS p ON p.conversation = c.key
    WHERE c.tenant = $1::text
    UNION ALL
    SELECT t.conversation,
        t.id IN (SELECT own.id FROM own)
        OR (
            t.conversation IN (SELECT own.conversation FROM own)
            AND t.conversation NOT IN (SELECT shared.conversation FROM shared)
        ),
        concat(t.metadata, ' ', t.agent_context, ' ', t.agent_memory)
    FROM {schema}.turn AS t
    WHERE t.tenant = $1::text
)
SELECT DISTINCT c.id, texts.goes, blob.digest
FROM texts
CROSS JOIN LATERAL regexp_matches(texts.told, '[0-9a-f]{64}', 'g') AS found (digest)
JOIN {schema}.blob AS blob ON blob.tenant = $1::text AND blob.digest = found.digest[1]
JOIN {schema}.conversation AS c ON c.key = texts.conversation

-- query: list_blobs
-- The blobs of the tenant $1 behind the digest $2, at most $3, those of JSON with what they hold.
SELECT b.digest, CASE WHEN b.media_type = 'application/json' THEN b.content END
FROM {schema}.blob AS b
WHERE b.tenant = $1::text AND b.digest > $2::text
ORDER BY b.digest
LIMIT $3::bigint

-- query: erase_conversation
-- Delete a conversation whose turns name nobody but the subject, with all that belongs to it, and say how much that
-- was. $1 tenant, $2 subject, $3 id, $4 whether it is deleted, and not only counted. No row: somebody else is named.
WITH gone AS MATERIALIZED (
    SELECT c.key FROM {schema}.conversation AS c
    WHERE c.tenant = $1::text AND c.id = $3::text AND NOT EXISTS (
        SELECT FROM {schema}.turn AS t WHERE t.conversation = c.key AND t.metadata ->> 'subject' <> $2::text
    )
),
turns AS MATERIALIZED (
    SELECT t.key FROM gone JOIN {schema}.turn AS t ON t.conversation = gone.key
),
deleted AS (
    DELETE FROM {schema}.conversation AS c USING gone WHERE $4::boolean AND c.key = gone.key
)
SELECT
    (SELECT count(*) FROM turns),
    (SELECT count(*) FROM gone JOIN {schema}.message AS m ON m.conversation = gone.key),
    (SELECT count(*) FROM gone JOIN {schema}.part AS p ON p.conversation = gone.key),
    (SELECT count(*) FROM turns JOIN {schema}.page AS p ON p.turn = turns.key),
    (SELECT count(*) FROM turns JOIN {schema}.provider_call AS p ON p.turn = turns.key),
    (SELECT count(*) FROM gone JOIN {schema}.checkpoint AS k ON k.conversation = gone.key),
    (
        SELECT count(*) FROM gone
        JOIN {schema}.transcript AS s ON s.tenant = $1::text AND s.conversation = gone.key
        JOIN {schema}.transcript_entry AS e ON e.transcript = s.key
    )
FROM gone

-- query: erase_in_conversation
-- The same for a conversation that others go on with. Messages stay as places, because others have answered them;
-- what stood in them goes, and so do the subject's turns, summaries that may speak of it, copies of vendors' sessions,
-- and a title that comes from its words. $1 tenant, $2 subject, $3 id, $4 whether it is done and not only counted,
-- $5 the seqs of the messages, besides those of the subject's turns.
WITH place AS MATERIALIZED (
    SELECT c.key FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $3::text
),
turns AS MATERIALIZED (
    SELECT t.key, t.id, t.message_id, t.conversation
    FROM place JOIN {schema}.turn AS t ON t.conversation = place.key
    WHERE t.metadata ->> 'subject' = $2::text
),
messages AS MATERIALIZED (
    SELECT m.conversation, m.seq
    FROM place JOIN {schema}.message AS m ON m.conversation = place.key
    WHERE m.seq = ANY ($5::bigint[])
        OR m.turn_id IN (SELECT turns.id FROM turns)
        OR m.id IN (SELECT turns.message_id FROM turns)
),
checkpoints AS MATERIALIZED (
    SELECT k.key FROM place JOIN {schema}.checkpoint AS k ON k.conversation = place.key
    WHERE k.through_seq >= (SELECT min(messages.seq) FROM messages)
),
transcripts AS MATERIALIZED (
    SELECT s.key FROM place JOIN {schema}.transcript AS s ON s.tenant = $1::text AND s.conversation = place.key
),
parts_gone AS (
    DELETE FROM {schema}.part AS p USING messages
    WHERE $4::boolean AND p.conversation = messages.conversation AND p.message = messages.seq
),
emptied AS (
    UPDATE {schema}.message AS m
    SET turn_id = NULL, status = NULL, model = NULL, token_count = NULL, metadata = '{"erased": true}', extra = NULL
    FROM messages
    WHERE $4::boolean AND m.conversation = messages.conversation AND m.seq = messages.seq
),
turns_gone AS (
    DELETE FROM {schema}.turn AS t USING turns WHERE $4::boolean AND t.key = turns.key
),
checkpoints_gone AS (
    DELETE FROM {schema}.checkpoint AS k USING checkpoints WHERE $4::boolean AND k.key = checkpoints.key
),
transcripts_gone AS (
    DELETE FROM {schema}.transcript AS s USING transcripts WHERE $4::boolean AND s.key = transcripts.key
),
told AS (
    UPDATE {schema}.conversation AS c
    SET version = c.version + 1,
        title = CASE
            WHEN (SELECT min(messages.seq) FROM messages)
                = (SELECT min(m.seq) FROM {schema}.message AS m WHERE m.conversation = c.key) THEN NULL
            ELSE c.title
        END
    FROM place
    WHERE $4::boolean AND c.key = place.key
)
SELECT
    (SELECT count(*) FROM turns),
    (SELECT count(*) FROM messages),
    (
        SELECT count(*) FROM messages
        JOIN {schema}.part AS p ON p.conversation = messages.conversation AND p.message = messages.seq
    ),
    (SELECT count(*) FROM turns JOIN {schema}.page AS p ON p.turn = turns.key),
    (SELECT count(*) FROM turns JOIN {schema}.provider_call AS p ON p.turn = turns.key),
    (SELECT count(*) FROM checkpoints),
    (SELECT count(*) FROM transcripts JOIN {schema}.transcript_entry AS e ON e.transcript = transcripts.key)
FROM place

-- query: say_erased
-- Let the messages that this transaction has emptied say so. $1 tenant, $2 conversation.
INSERT INTO {schema}.part (conversation, message, "order", type, text_text)
SELECT m.conversation, m.seq, 0, 'text', '[erased]'
FROM {schema}.conversation AS c
JOIN {schema}.message AS m ON m.conversation = c.key AND m.xmin = {written_here}
WHERE c.tenant = $1::text AND c.id = $2::text

-- query: erase_blobs
-- $1 tenant, $2 digests, $3 a conversation that must be gone, or NULL.
DELETE FROM {schema}.blob AS b
WHERE b.tenant = $1::text AND b.digest = ANY ($2::text[])
    AND NOT EXISTS (SELECT FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $3::text)
RETURNING b.digest
