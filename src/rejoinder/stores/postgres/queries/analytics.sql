-- What turns came to. All that count take $1 a tenant or NULL for all, $2 from which day, $3 to which day, both included
-- and given as their first moments, and $4 what the rows are by: day, model, agent or tenant.

-- fragment: fact_key
CASE $4::text
    WHEN 'day' THEN f.day::text
    WHEN 'model' THEN coalesce(f.model, 'unknown')
    WHEN 'agent' THEN coalesce(f.agent, 'unknown')
    ELSE f.tenant
END

-- fragment: fact_span
($1::text IS NULL OR f.tenant = $1::text)
    AND f.day >= ($2::timestamptz AT TIME ZONE 'UTC')::date AND f.day <= ($3::timestamptz AT TIME ZONE 'UTC')::date

-- query: days_to_tally
-- The days that are over and have turns or messages, the newest first, but no tally that still holds. $1 and $2 the
-- first and the last one.
SELECT o.began_at
FROM {schema}.open_days AS o
WHERE o.began_at >= $1::timestamptz AND o.began_at <= $2::timestamptz AND o.ended_at <= clock_timestamp()
    AND (
        EXISTS (SELECT FROM {schema}.turn AS t WHERE t.created_at >= o.began_at AND t.created_at < o.ended_at)
        OR EXISTS (SELECT FROM {schema}.message AS m WHERE m.created_at >= o.began_at AND m.created_at < o.ended_at)
    )
ORDER BY o.began_at DESC

-- query: lock_day
-- Have the day $1 alone, until the transaction ends, unless somebody writes into it now: whoever does shares these locks.
SELECT set_config(
    'rejoinder.has_day',
    (
        pg_try_advisory_xact_lock(5210041, 0)
        AND pg_try_advisory_xact_lock(5210041, ($1::timestamptz AT TIME ZONE 'UTC')::date - date '2000-01-01')
    )::text,
    true
)

-- query: tally_day
-- Count the day $1, which lock_day has locked in a statement before, so that this one sees all that was written. No row:
-- somebody writes into it, or it is tallied.
WITH due AS (
    SELECT o.day FROM {schema}.open_days AS o
    WHERE o.began_at = $1::timestamptz AND current_setting('rejoinder.has_day') = 'true'
),
known AS (
    INSERT INTO {schema}.tallied_day (day) SELECT due.day FROM due ON CONFLICT (day) DO NOTHING
),
sure AS (DELETE FROM {schema}.doubted_day AS d USING due WHERE d.day = due.day),
old_turns AS (DELETE FROM {schema}.turn_tally AS t USING due WHERE t.day = due.day),
old_calls AS (DELETE FROM {schema}.call_tally AS t USING due WHERE t.day = due.day),
old_tools AS (DELETE FROM {schema}.tool_tally AS t USING due WHERE t.day = due.day),
turns AS (
    INSERT INTO {schema}.turn_tally (
        tenant, day, agent, model, status, ending, turns, first_token_ms, duration_ms
    )
    SELECT f.tenant, f.day, f.agent, f.model, f.status, f.ending, f.turns, f.first_token_ms, f.duration_ms
    FROM {schema}.turn_days AS f
    WHERE f.day = ($1::timestamptz AT TIME ZONE 'UTC')::date AND EXISTS (SELECT FROM due)
),
calls AS (
    INSERT INTO {schema}.call_tally (
        tenant, day, agent, provider, model, calls, input_tokens, output_tokens, cache_read_tokens,
        cache_write_tokens, reasoning_tokens, total_tokens, cost_amount, cost_currency, unpriced_calls
    )
    SELECT
        f.tenant, f.day, f.agent, f.provider, f.model, f.calls, f.input_tokens, f.output_tokens,
        f.cache_read_tokens, f.cache_write_tokens, f.reasoning_tokens, f.total_tokens, f.cost_amount,
        f.cost_currency, f.unpriced_calls
    FROM {schema}.call_days AS f
    WHERE f.day = ($1::timestamptz AT TIME ZONE 'UTC')::date AND EXISTS (SELECT FROM due)
),
tools AS (
    INSERT INTO {schema}.tool_tally (tenant, day, agent, model, tool, calls, succeeded, failed, denied)
    SELECT f.tenant, f.day, f.agent, f.model, f.tool, f.calls, f.succeeded, f.failed, f.denied
    FROM {schema}.tool_days AS f
    WHERE f.day = ($1::timestamptz AT TIME ZONE 'UTC')::date AND EXISTS (SELECT FROM due)
)
SELECT due.day::text FROM due

-- query: count_turns
-- How many turns, and how they ended.
SELECT
    {fact_key}, sum(f.turns)::bigint,
    coalesce(sum(f.turns) FILTER (WHERE f.status = 'succeeded'), 0)::bigint,
    coalesce(sum(f.turns) FILTER (WHERE f.status = 'failed'), 0)::bigint,
    coalesce(sum(f.turns) FILTER (WHERE f.status = 'cancelled'), 0)::bigint,
    coalesce(sum(f.turns) FILTER (WHERE f.status = 'interrupted'), 0)::bigint,
    coalesce(sum(f.turns) FILTER (WHERE f.status = 'waiting'), 0)::bigint
FROM {schema}.turn_days AS f
WHERE {fact_span}
GROUP BY 1

-- query: count_tokens
-- How many tokens, as far as somebody told.
SELECT
    {fact_key}, sum(f.input_tokens)::bigint, sum(f.output_tokens)::bigint, sum(f.cache_read_tokens)::bigint,
    sum(f.cache_write_tokens)::bigint, sum(f.reasoning_tokens)::bigint, sum(f.total_tokens)::bigint
FROM {schema}.call_days AS f
WHERE {fact_span}
GROUP BY 1

-- query: add_up_cost
-- What that cost in each currency (NULL: nobody knew a price), and how many calls of those that consumed anything.
SELECT
    {fact_key}, f.cost_currency, sum(f.cost_amount),
    sum(CASE WHEN f.cost_currency IS NULL THEN f.unpriced_calls ELSE f.calls END)::bigint
FROM {schema}.call_days AS f
WHERE {fact_span} AND (f.cost_currency IS NOT NULL OR f.unpriced_calls > 0)
GROUP BY 1, 2

-- query: have_room_to_sort
-- A million numbers are sorted in memory, for this transaction.
SELECT set_config('work_mem', '64MB', true)

-- query: measure_latency
-- How long it took, of turns that have ended.
SELECT
    {fact_key}, count(*),
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY each.first_token_ms),
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY each.duration_ms)
FROM {schema}.turn_days AS f
CROSS JOIN LATERAL unnest(f.first_token_ms, f.duration_ms) AS each (first_token_ms, duration_ms)
WHERE {fact_span}
GROUP BY 1

-- query: count_tools
-- How often each tool was called, and what came of it.
SELECT
    {fact_key}, f.tool, sum(f.calls)::bigint, sum(f.succeeded)::bigint, sum(f.failed)::bigint,
    sum(f.denied)::bigint
FROM {schema}.tool_days AS f
WHERE {fact_span}
GROUP BY 1, 2

-- query: count_endings
-- Why turns ended.
SELECT {fact_key}, f.ending, sum(f.turns)::bigint
FROM {schema}.turn_days AS f
WHERE {fact_span} AND f.status NOT IN ('queued', 'running')
GROUP BY 1, 2
