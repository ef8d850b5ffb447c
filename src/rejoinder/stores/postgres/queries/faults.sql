-- What must not be, and can be all the same: after a restore of half a backup, or a change by hand.

-- query: faults_next_seq
-- Conversations that would give a seq to a new message which an old one has.
SELECT c.tenant, c.id, format('its next message would take the place %s, and there is one in %s', c.next_seq, newest.seq)
FROM {schema}.conversation AS c
CROSS JOIN LATERAL (SELECT max(m.seq) AS seq FROM {schema}.message AS m WHERE m.conversation = c.key) AS newest
WHERE newest.seq >= c.next_seq
ORDER BY c.key

-- query: mend_next_seq
UPDATE {schema}.conversation AS c
SET next_seq = newest.seq + 1
FROM (SELECT m.conversation, max(m.seq) AS seq FROM {schema}.message AS m GROUP BY m.conversation) AS newest
WHERE newest.conversation = c.key AND newest.seq >= c.next_seq
RETURNING c.key

-- query: faults_active_leaf
-- Conversations whose active branch ends in a message that is not there.
SELECT c.tenant, c.id, format('its active branch ends in message %s, which is not there', c.active_leaf)
FROM {schema}.conversation AS c
WHERE c.active_leaf IS NOT NULL AND NOT EXISTS (
    SELECT FROM {schema}.message AS m WHERE m.conversation = c.key AND m.seq = c.active_leaf
)
ORDER BY c.key

-- query: mend_active_leaf
UPDATE {schema}.conversation AS c
SET active_leaf = (SELECT max(m.seq) FROM {schema}.message AS m WHERE m.conversation = c.key)
WHERE c.active_leaf IS NOT NULL AND NOT EXISTS (
    SELECT FROM {schema}.message AS m WHERE m.conversation = c.key AND m.seq = c.active_leaf
)
RETURNING c.key

-- query: faults_parent
-- Messages that answer one that is not there.
SELECT c.tenant, c.id, format('message %s answers message %s, which is not there', m.id, m.parent)
FROM {schema}.message AS m JOIN {schema}.conversation AS c ON c.key = m.conversation
WHERE m.parent IS NOT NULL AND NOT EXISTS (
    SELECT FROM {schema}.message AS before WHERE before.conversation = m.conversation AND before.seq = m.parent
)
ORDER BY m.conversation, m.seq

-- query: faults_parts
-- Messages that have lost a part. Those that a turn has written are held against its journal elsewhere.
SELECT c.tenant, c.id, format('message %s lacks a part: it has %s, the last in place %s', m.id, lacking.parts, lacking.last)
FROM (
    SELECT p.conversation, p.message, count(*) AS parts, max(p."order") AS last
    FROM {schema}.part AS p GROUP BY p.conversation, p.message HAVING max(p."order") >= count(*)
) AS lacking
JOIN {schema}.message AS m ON m.conversation = lacking.conversation AND m.seq = lacking.message
JOIN {schema}.conversation AS c ON c.key = m.conversation
WHERE NOT EXISTS (SELECT FROM {schema}.turn AS t WHERE t.conversation = c.key AND t.message_id = m.id)
ORDER BY m.conversation, m.seq

-- query: faults_claims
-- Turns whose owner has not renewed its claim for a minute, or never can lose it: nobody seals them.
SELECT c.tenant, c.id, format('turn %s is %s, and its owner has not been heard of since %s', t.id, t.status,
    coalesce(to_char(t.lease_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'), 'it began'))
FROM {schema}.turn AS t JOIN {schema}.conversation AS c ON c.key = t.conversation
WHERE {live} AND (t.lease_until IS NULL OR t.lease_until < clock_timestamp() - interval '1 minute')
ORDER BY t.key

-- query: mend_claims
-- Let them be taken over by whoever looks for turns without an owner.
UPDATE {schema}.turn AS t
SET lease_until = clock_timestamp() - interval '1 minute'
WHERE {live} AND t.lease_until IS NULL
RETURNING t.key

-- query: mend_journal_end
-- Let the journal of a turn that is over end where its last page does. $1 tenant, $2 turn.
UPDATE {schema}.turn AS t
SET next_page = seen.number + 1, next_seq = seen.last_seq + 1
FROM (
    SELECT t.key, p.number, p.last_seq
    FROM {schema}.turn AS t JOIN {schema}.page AS p ON p.turn = t.key
    WHERE t.tenant = $1::text AND t.id = $2::text
    ORDER BY p.number DESC
    LIMIT 1
) AS seen
WHERE t.key = seen.key AND NOT {live}
RETURNING t.key

-- query: unnamed_blobs
-- How many blobs of each tenant are named by nothing that is stored here.
WITH texts (tenant, told) AS (
    SELECT c.tenant, c.metadata::text FROM {schema}.conversation AS c WHERE c.metadata IS NOT NULL
    UNION ALL
    SELECT c.tenant, concat(m.metadata, ' ', m.extra)
    FROM {schema}.conversation AS c JOIN {schema}.message AS m ON m.conversation = c.key
    WHERE m.metadata IS NOT NULL OR m.extra IS NOT NULL
    UNION ALL
    SELECT c.tenant, p::text
    FROM {schema}.conversation AS c JOIN {schema}.part AS p ON p.conversation = c.key
    UNION ALL
    SELECT t.tenant, concat(t.metadata, ' ', t.agent_context, ' ', t.agent_memory) FROM {schema}.turn AS t
),
named AS (
    SELECT DISTINCT texts.tenant, found.digest[1] AS digest
    FROM texts CROSS JOIN LATERAL regexp_matches(texts.told, '[0-9a-f]{64}', 'g') AS found (digest)
    WHERE EXISTS (SELECT FROM {schema}.blob)
)
SELECT b.tenant, count(*)
FROM {schema}.blob AS b
WHERE NOT EXISTS (SELECT FROM named WHERE named.tenant = b.tenant AND named.digest = b.digest)
GROUP BY b.tenant
ORDER BY b.tenant
