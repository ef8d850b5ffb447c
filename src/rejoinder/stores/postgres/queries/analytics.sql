-- What turns came to. All take $1 a tenant or NULL for all, $2 from when, $3 until before when, and $4 what the rows
-- are by: day, model, agent or tenant.

-- fragment: fact_key
CASE $4::text
    WHEN 'day' THEN f.day::text
    WHEN 'model' THEN coalesce(f.model, 'unknown')
    WHEN 'agent' THEN coalesce(f.agent, 'unknown')
    ELSE f.tenant
END

-- fragment: fact_span
($1::text IS NULL OR f.tenant = $1::text) AND f.created_at >= $2::timestamptz AND f.created_at < $3::timestamptz

-- query: count_turns
-- How many turns, and how they ended.
SELECT
    {fact_key}, count(*), count(*) FILTER (WHERE f.status = 'succeeded'),
    count(*) FILTER (WHERE f.status = 'failed'), count(*) FILTER (WHERE f.status = 'cancelled'),
    count(*) FILTER (WHERE f.status = 'interrupted'), count(*) FILTER (WHERE f.status = 'waiting')
FROM {schema}.turn_facts AS f
WHERE {fact_span}
GROUP BY 1

-- query: count_tokens
-- How many tokens, as far as somebody told.
SELECT
    {fact_key}, coalesce(sum(f.input_tokens), 0)::bigint, coalesce(sum(f.output_tokens), 0)::bigint,
    coalesce(sum(f.cache_read_tokens), 0)::bigint, coalesce(sum(f.cache_write_tokens), 0)::bigint,
    coalesce(sum(f.reasoning_tokens), 0)::bigint,
    coalesce(sum(coalesce(f.total_tokens, coalesce(f.input_tokens, 0) + coalesce(f.output_tokens, 0))), 0)::bigint
FROM {schema}.call_facts AS f
WHERE {fact_span}
GROUP BY 1

-- query: add_up_cost
-- What that cost in each currency (NULL: nobody knew a price), and how many calls.
SELECT {fact_key}, f.cost_currency, coalesce(sum(f.cost_amount), 0), count(*)
FROM {schema}.call_facts AS f
WHERE {fact_span}
    AND coalesce(
        f.input_tokens, f.output_tokens, f.cache_read_tokens, f.cache_write_tokens, f.reasoning_tokens,
        f.total_tokens, f.cost_amount
    ) IS NOT NULL
GROUP BY 1, 2

-- query: measure_latency
-- How long it took, of turns that have ended.
SELECT
    {fact_key}, count(*),
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY f.first_token_ms),
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY f.duration_ms)
FROM {schema}.turn_facts AS f
WHERE {fact_span} AND f.duration_ms IS NOT NULL
GROUP BY 1

-- query: count_tools
-- How often each tool was called, and what came of it.
SELECT
    {fact_key}, f.tool, count(*), count(*) FILTER (WHERE f.state = 'output-available'),
    count(*) FILTER (WHERE f.state = 'output-error'), count(*) FILTER (WHERE f.state = 'output-denied')
FROM {schema}.tool_facts AS f
WHERE {fact_span}
GROUP BY 1, 2

-- query: count_endings
-- Why turns ended.
SELECT {fact_key}, f.ending, count(*)
FROM {schema}.turn_facts AS f
WHERE {fact_span} AND f.status NOT IN ('queued', 'running')
GROUP BY 1, 2
