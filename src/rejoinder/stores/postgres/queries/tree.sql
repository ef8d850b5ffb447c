-- Reading messages along the branches of their tree, choosing between branches, and cutting them.

-- fragment: path
-- The branches that a path through the tree is made of, each up to some seq.
-- $1 tenant, $2 conversation, $3 the id of the message in which the path ends, NULL for the active branch.
path (conversation, branch, upto) AS (
    SELECT m.conversation, m.branch, m.seq
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.seq = CASE
        WHEN $3::text IS NULL THEN c.active_leaf
        ELSE (SELECT leaf.seq FROM {schema}.message AS leaf WHERE leaf.conversation = c.key AND leaf.id = $3::text)
    END
    WHERE c.tenant = $1::text AND c.id = $2::text
    UNION ALL
    SELECT turning.conversation, turning.branch, turning.seq
    FROM path
    JOIN {schema}.message AS first ON first.conversation = path.conversation AND first.seq = path.branch
    JOIN {schema}.message AS turning ON turning.conversation = first.conversation AND turning.seq = first.parent
)

-- query: list_messages
-- A page of a path through the tree, with parts. $1 tenant, $2 conversation, $3 where the path ends, $4 how many
-- of the newest, NULL for all, $5 before this seq, $6 behind this seq. Each of the few branches of the path is
-- read as a range of the primary key.
WITH RECURSIVE {path},
chosen AS MATERIALIZED (
    SELECT path.conversation, stretch.seq
    FROM path
    CROSS JOIN LATERAL (
        SELECT m.seq FROM {schema}.message AS m
        WHERE m.conversation = path.conversation
            AND m.seq >= greatest(path.branch, $6::bigint + 1)
            AND m.seq <= least(path.upto, $5::bigint - 1)
            AND m.branch = path.branch
        ORDER BY m.seq DESC
        LIMIT $4::bigint
    ) AS stretch
    ORDER BY stretch.seq DESC
    LIMIT $4::bigint
)
{whole_messages}

-- query: list_lasting_messages
-- The messages of a path that every history holds. $1 tenant, $2 conversation, $3 where the path ends. The
-- condition is the one of the index message_lasting.
WITH RECURSIVE {path},
chosen AS MATERIALIZED (
    SELECT path.conversation, stretch.seq
    FROM path
    CROSS JOIN LATERAL (
        SELECT m.seq FROM {schema}.message AS m
        WHERE m.conversation = path.conversation AND m.branch = path.branch AND m.seq <= path.upto
            AND (m.role = 'system' OR m.metadata @> '{"pinned": true}')
        -- Joined to the path as a whole, the index would be read from end to end, other conversations included.
        OFFSET 0
    ) AS stretch
)
{whole_messages}

-- query: get_message
-- One message with its parts. $1 tenant, $2 conversation, $3 id.
WITH chosen AS MATERIALIZED (
    SELECT m.conversation, m.seq
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $3::text
    WHERE c.tenant = $1::text AND c.id = $2::text
)
{whole_messages}

-- query: list_siblings
-- The messages with the same parent as the message $3, with parts. $1 tenant, $2 conversation.
-- Step by step: a plan made while the tables were small has compared every message with every other.
WITH named AS MATERIALIZED (
    SELECT m.conversation, m.parent
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $3::text
    WHERE c.tenant = $1::text AND c.id = $2::text
), chosen AS MATERIALIZED (
    SELECT sibling.conversation, sibling.seq
    FROM named
    JOIN {schema}.message AS sibling
        ON sibling.conversation = named.conversation AND sibling.parent = named.parent
    UNION ALL
    SELECT sibling.conversation, sibling.seq
    FROM named
    JOIN {schema}.message AS sibling ON sibling.conversation = named.conversation AND sibling.parent IS NULL
    WHERE named.parent IS NULL
)
{whole_messages}

-- query: list_forks
-- Of the messages $3, those that are not the only child of their parent, with the ids of all of them. $1 tenant,
-- $2 conversation.
SELECT m.id, siblings.ids
FROM {schema}.conversation AS c
JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = ANY ($3::text[])
CROSS JOIN LATERAL (
    SELECT array_agg(s.id ORDER BY s.seq) AS ids
    FROM (
        SELECT of_parent.id, of_parent.seq FROM {schema}.message AS of_parent
        WHERE of_parent.conversation = c.key AND of_parent.parent = m.parent
        UNION ALL
        SELECT first.id, first.seq FROM {schema}.message AS first
        WHERE m.parent IS NULL AND first.conversation = c.key AND first.parent IS NULL
    ) AS s
) AS siblings
WHERE c.tenant = $1::text AND c.id = $2::text AND cardinality(siblings.ids) > 1

-- query: choose_branch
-- Let the active branch lead through the message $3, to the newest that came after it. $1 tenant, $2 conversation.
WITH RECURSIVE below (conversation, seq) AS (
    SELECT m.conversation, m.seq
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $3::text
    WHERE c.tenant = $1::text AND c.id = $2::text
    UNION ALL
    SELECT m.conversation, m.seq
    FROM below JOIN {schema}.message AS m ON m.conversation = below.conversation AND m.parent = below.seq
)
UPDATE {schema}.conversation AS c
SET version = c.version + 1, active_leaf = newest.seq
FROM (SELECT below.conversation, max(below.seq) AS seq FROM below GROUP BY below.conversation) AS newest
WHERE c.key = newest.conversation
RETURNING c.key

-- query: delete_message
-- Delete the message $3 and all below it, in a conversation that is locked. $1 tenant, $2 conversation. An active
-- branch that led through it ends before it. Gives how many went.
WITH RECURSIVE top AS (
    SELECT m.conversation, m.seq, m.parent
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $3::text
    WHERE c.tenant = $1::text AND c.id = $2::text
),
below (conversation, seq) AS (
    SELECT top.conversation, top.seq FROM top
    UNION ALL
    SELECT m.conversation, m.seq
    FROM below JOIN {schema}.message AS m ON m.conversation = below.conversation AND m.parent = below.seq
),
shortened AS (
    UPDATE {schema}.conversation AS c
    SET version = c.version + 1,
        updated_at = clock_timestamp(),
        active_leaf = CASE
            WHEN EXISTS (SELECT FROM below WHERE below.seq = c.active_leaf) THEN top.parent
            ELSE c.active_leaf
        END
    FROM top
    WHERE c.key = top.conversation
),
gone AS (
    DELETE FROM {schema}.message AS m
    USING below
    WHERE m.conversation = below.conversation AND m.seq = below.seq
    RETURNING m.seq
)
SELECT count(*) FROM gone
