-- The journal: pages, appended behind a fence.

-- fragment: durable
-- A transaction that reads this expression is on disk when its commit returns, however the server is set.
CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END

-- query: append_pages
-- Append pages to any number of turns: all of a turn's, or none. A turn takes pages if the epoch is the one of its
-- owner, if it is live, and if they begin where its journal ends.
-- For each turn: $1 tenants, $2 ids, $3 epochs, $4 number of the first page, $5 seq of its first frame, $6 how many
-- pages, $7 seq behind the last frame. For each page: $8 place of its turn in these, $9 number, $10 first_seq,
-- $11 last_seq, $12 frames, $13 events. $14 how events are packed, $15 whether it need not be on disk yet.
-- A row for each turn that took its pages.
WITH given AS (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]
    ) WITH ORDINALITY AS given (tenant, turn, epoch, number, first_seq, pages, next_seq, place)
),
moved AS (
    UPDATE {schema}.turn AS t
    SET next_page = given.number + given.pages,
        next_seq = given.next_seq,
        status = 'running',
        started_at = coalesce(t.started_at, clock_timestamp())
    FROM given
    WHERE t.tenant = given.tenant AND t.id = given.turn AND t.epoch = given.epoch AND {live}
        AND t.next_page = given.number AND t.next_seq = given.first_seq
    RETURNING given.place, t.key, t.epoch, t.stop_requested_at IS NOT NULL AS stop_requested
),
written AS (
    INSERT INTO {schema}.page (turn, number, first_seq, last_seq, epoch, codec, frames, events)
    SELECT moved.key, p.number, p.first_seq, p.last_seq, moved.epoch, $14::bigint::smallint, p.frames, p.events
    FROM unnest($8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::bytea[])
        AS p (place, number, first_seq, last_seq, frames, events)
    JOIN moved ON moved.place = p.place
)
SELECT
    moved.place - 1, moved.key, moved.stop_requested,
    CASE WHEN $15::boolean THEN set_config('synchronous_commit', 'off', true) ELSE {durable} END
FROM moved

-- query: journal_end
-- Where a journal ends, and the page with the number $3. $1 tenant, $2 turn. No row: there is no such turn.
SELECT
    t.epoch, {live}, t.next_page, t.next_seq, t.stop_requested_at IS NOT NULL,
    p.number, p.first_seq, p.last_seq, p.codec, p.frames, p.events
FROM {schema}.turn AS t
LEFT JOIN {schema}.page AS p ON p.turn = t.key AND p.number = $3::bigint
WHERE t.tenant = $1::text AND t.id = $2::text

-- query: read_pages
-- Pages from a place on, and the turn's status, at one moment. $1 tenant, $2 turn, $3 from this frame on, $4 from this
-- page on, $5 how many, $6 whether events are wanted. A page without frames lies before the frame that its place
-- names; it is left out where events are not wanted.
SELECT
    t.key, t.next_page, t.next_seq, t.status, t.stop_requested_at IS NOT NULL,
    p.written_at, p.number, p.first_seq, p.last_seq, p.codec, p.frames, p.events
FROM {schema}.turn AS t
LEFT JOIN LATERAL (
    SELECT
        page.written_at, page.number, page.first_seq, page.last_seq, page.codec, page.frames,
        CASE WHEN $6::boolean THEN page.events END AS events
    FROM {schema}.page
    WHERE page.turn = t.key AND page.number >= $4::bigint
        AND greatest(page.first_seq, page.last_seq) >= $3::bigint
        AND ($6::boolean OR page.last_seq >= page.first_seq)
    ORDER BY page.number
    LIMIT $5::bigint
) AS p ON true
WHERE t.tenant = $1::text AND t.id = $2::text
ORDER BY p.number

-- query: hint
-- Tell whoever listens on the channel $1 that something happened to the turns in $2.
SELECT pg_notify($1::text, message) FROM unnest($2::text[]) AS message

-- fragment: old
-- Turns that ended before this many seconds, $1.
t.finished_at < clock_timestamp() - make_interval(secs => $1::double precision) AND NOT {live}

-- query: count_old_turns
-- $1 seconds, $2 what is left of their journals.
SELECT count(*) FROM {schema}.turn AS t WHERE t.journal = ANY ($2::text[]) AND {old}

-- query: list_old_turns
-- $1 seconds, $2 what is left of their journals, $3 and $4 behind the end and key of this turn, $5 how many.
SELECT t.tenant, t.id, t.finished_at, t.key
FROM {schema}.turn AS t
WHERE t.journal = $2::text AND {old} AND (t.finished_at, t.key) > (coalesce($3::timestamptz, '-infinity'), $4::bigint)
ORDER BY t.finished_at, t.key
LIMIT $5::bigint

-- query: count_old_events
-- How much is there of what agents said in turns that ended before this many seconds, $1: turns, pages, bytes.
SELECT count(DISTINCT t.key), count(p.events), coalesce(sum(pg_column_size(p.events)), 0)::bigint
FROM {schema}.turn AS t LEFT JOIN {schema}.page AS p ON p.turn = t.key AND p.events IS NOT NULL
WHERE t.journal = 'whole' AND {old}

-- query: forget_events
-- Forget it, in at most $2 turns.
WITH chosen AS (
    SELECT t.key FROM {schema}.turn AS t
    WHERE t.journal = 'whole' AND {old}
    ORDER BY t.finished_at
    LIMIT $2::bigint
    FOR NO KEY UPDATE SKIP LOCKED
),
freed AS MATERIALIZED (
    SELECT count(*) AS pages, coalesce(sum(pg_column_size(p.events)), 0)::bigint AS bytes
    FROM chosen JOIN {schema}.page AS p ON p.turn = chosen.key AND p.events IS NOT NULL
),
stripped AS (
    UPDATE {schema}.page SET events = NULL
    FROM chosen
    WHERE page.turn = chosen.key AND page.events IS NOT NULL
),
told AS (
    UPDATE {schema}.turn AS t SET journal = 'frames' FROM chosen WHERE t.key = chosen.key
    RETURNING t.key
)
SELECT (SELECT count(*) FROM told), freed.pages, freed.bytes FROM freed

-- query: join_pages
-- Put one page with these frames in the place of all pages of a turn that is over, if it has as many as its reader has
-- seen. $1 tenant, $2 turn, $3 how many pages, $4 frames, $5 how many these are, $6 whether it is done and not only
-- counted. How many pages and bytes are freed; no row: the journal is another one, or in one piece already.
WITH chosen AS MATERIALIZED (
    SELECT t.key FROM {schema}.turn AS t
    WHERE t.tenant = $1::text AND t.id = $2::text AND t.next_page = $3::bigint AND t.journal <> 'none' AND NOT {live}
    FOR NO KEY UPDATE
),
freed AS MATERIALIZED (
    SELECT count(*) AS pages,
        coalesce(sum(pg_column_size(p.frames) + coalesce(pg_column_size(p.events), 0)), 0)::bigint AS bytes
    FROM chosen JOIN {schema}.page AS p ON p.turn = chosen.key
),
gone AS (
    DELETE FROM {schema}.page AS p USING chosen WHERE $6::boolean AND p.turn = chosen.key AND p.number > 0
),
joined AS (
    UPDATE {schema}.page AS p
    SET first_seq = 0, last_seq = $5::bigint - 1, frames = $4::bytea, events = NULL
    FROM chosen
    WHERE $6::boolean AND p.turn = chosen.key AND p.number = 0
    RETURNING pg_column_size(p.frames) AS bytes
),
told AS (
    UPDATE {schema}.turn AS t
    SET journal = 'none', next_page = least(t.next_page, 1), next_seq = CASE WHEN t.next_page > 0 THEN $5::bigint ELSE 0 END
    FROM chosen
    WHERE $6::boolean AND t.key = chosen.key
)
SELECT
    greatest(freed.pages - 1, 0),
    greatest(freed.bytes - coalesce((SELECT joined.bytes FROM joined), octet_length($4::bytea)), 0)
FROM chosen CROSS JOIN freed
