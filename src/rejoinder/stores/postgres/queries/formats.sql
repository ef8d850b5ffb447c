-- Messages of an older format, see `rejoinder.convert.formats`.

-- query: count_messages
-- How many messages of all tenants the planner thinks there are.
SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '{schema}.message'::regclass

-- query: next_messages
-- The messages behind $1, $2 by the primary key, $3 of them: whose each is, the version of its row, and whether it
-- may be of an older format. Only what has fields or parts that no column knows can be.
SELECT
    m.conversation, m.seq, c.tenant, c.id, m.xmin::text,
    m.extra IS NOT NULL OR EXISTS (
        SELECT FROM {schema}.part AS p
        WHERE p.conversation = m.conversation AND p.message = m.seq AND p.type = 'opaque'
    )
FROM (
    SELECT conversation, seq, extra, xmin FROM {schema}.message
    WHERE (conversation, seq) > ($1::bigint, $2::bigint)
    ORDER BY conversation, seq
    LIMIT $3::bigint
) AS m
JOIN {schema}.conversation AS c ON c.key = m.conversation
ORDER BY m.conversation, m.seq

-- query: read_messages
-- Messages of one conversation, whole. $1 its key, $2 the seqs.
WITH chosen AS (
    SELECT $1::bigint AS conversation, given.seq FROM unnest($2::bigint[]) AS given (seq)
)
{whole_messages}

-- query: upgrade_message
-- Write a message in the newest format, without its parts, if nobody has written it since; surplus parts go.
-- $1 conversation, $2 seq, $3 version of the row, $4 metadata, $5 extra, $6 how many parts it has.
WITH changed AS (
    UPDATE {schema}.message AS m
    SET metadata = $4::jsonb, extra = $5::jsonb
    WHERE m.conversation = $1::bigint AND m.seq = $2::bigint AND m.xmin::text = $3::text
    RETURNING m.conversation, m.seq
),
surplus AS (
    DELETE FROM {schema}.part AS p
    USING changed
    WHERE p.conversation = changed.conversation AND p.message = changed.seq AND p."order" >= $6::bigint
)
SELECT changed.seq FROM changed
