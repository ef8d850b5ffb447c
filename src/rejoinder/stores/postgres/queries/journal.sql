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

-- query: strip_events
-- Forget what agents said in turns that ended before this many seconds, $1, in at most $2 of them.
WITH old AS (
    SELECT t.key FROM {schema}.turn AS t
    WHERE t.journal = 'whole' AND t.finished_at < clock_timestamp() - make_interval(secs => $1::double precision)
        AND NOT {live}
    ORDER BY t.finished_at
    LIMIT $2::bigint
    FOR NO KEY UPDATE SKIP LOCKED
),
stripped AS (
    UPDATE {schema}.page SET events = NULL
    FROM old
    WHERE page.turn = old.key AND page.events IS NOT NULL
)
UPDATE {schema}.turn AS t SET journal = 'frames' FROM old WHERE t.key = old.key
RETURNING t.key

-- query: strip_pages
-- The same, with the frames: nothing is left of these journals.
WITH old AS (
    SELECT t.key FROM {schema}.turn AS t
    WHERE t.journal IN ('whole', 'frames')
        AND t.finished_at < clock_timestamp() - make_interval(secs => $1::double precision)
        AND NOT {live}
    ORDER BY t.finished_at
    LIMIT $2::bigint
    FOR NO KEY UPDATE SKIP LOCKED
),
stripped AS (
    DELETE FROM {schema}.page USING old WHERE page.turn = old.key
)
UPDATE {schema}.turn AS t SET journal = 'none' FROM old WHERE t.key = old.key
RETURNING t.key
