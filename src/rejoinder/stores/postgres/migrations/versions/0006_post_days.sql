-- Days that are counted once: tables, the views over them, and what doubts a day that is written into later.

CREATE TABLE {schema}.tallied_day (
    day date NOT NULL,
    tallied_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT tallied_day_pkey PRIMARY KEY (day)
);

CREATE TABLE {schema}.doubted_day (
    key bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    CONSTRAINT doubted_day_pkey PRIMARY KEY (key)
);
CREATE INDEX doubted_day_day ON {schema}.doubted_day (day);

CREATE TABLE {schema}.turn_tally (
    key bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    agent text,
    model text,
    status text,
    ending text,
    turns bigint NOT NULL,
    first_token_ms double precision[],
    duration_ms double precision[],
    CONSTRAINT turn_tally_pkey PRIMARY KEY (key),
    CONSTRAINT turn_tally_day_fkey FOREIGN KEY (day) REFERENCES {schema}.tallied_day (day) ON DELETE CASCADE
);
CREATE INDEX turn_tally_day ON {schema}.turn_tally (day);

CREATE TABLE {schema}.call_tally (
    key bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    agent text,
    provider text,
    model text,
    cost_currency text,
    calls bigint NOT NULL,
    unpriced_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    total_tokens bigint NOT NULL,
    cost_amount numeric NOT NULL,
    CONSTRAINT call_tally_pkey PRIMARY KEY (key),
    CONSTRAINT call_tally_day_fkey FOREIGN KEY (day) REFERENCES {schema}.tallied_day (day) ON DELETE CASCADE
);
CREATE INDEX call_tally_day ON {schema}.call_tally (day);

CREATE TABLE {schema}.tool_tally (
    key bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    agent text,
    model text,
    tool text,
    calls bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    denied bigint NOT NULL,
    CONSTRAINT tool_tally_pkey PRIMARY KEY (key),
    CONSTRAINT tool_tally_day_fkey FOREIGN KEY (day) REFERENCES {schema}.tallied_day (day) ON DELETE CASCADE
);
CREATE INDEX tool_tally_day ON {schema}.tool_tally (day);

CREATE VIEW {schema}.open_days AS
SELECT
    days.day::date AS day,
    days.day AT TIME ZONE 'UTC' AS began_at,
    (days.day + interval '1 day') AT TIME ZONE 'UTC' AS ended_at
FROM generate_series(
        date_trunc(
            'day',
            least(
                (SELECT min(created_at) FROM {schema}.turn), (SELECT min(created_at) FROM {schema}.message)
            ) AT TIME ZONE 'UTC'
        ),
        greatest(
            (SELECT max(created_at) FROM {schema}.turn), (SELECT max(created_at) FROM {schema}.message)
        ) AT TIME ZONE 'UTC',
        interval '1 day'
    ) AS days (day)
WHERE NOT EXISTS (SELECT FROM {schema}.tallied_day AS t WHERE t.day = days.day::date)
    OR EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = days.day::date);

CREATE VIEW {schema}.turn_days AS
SELECT
    t.tenant, t.day, t.agent, t.model, t.status, t.ending, t.turns, t.first_token_ms, t.duration_ms
FROM {schema}.turn_tally AS t
WHERE NOT EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = t.day)
UNION ALL
SELECT
    f.tenant, o.day, f.agent, f.model, f.status, f.ending, count(*),
    array_agg(f.first_token_ms) FILTER (WHERE f.duration_ms IS NOT NULL),
    array_agg(f.duration_ms) FILTER (WHERE f.duration_ms IS NOT NULL)
FROM {schema}.open_days AS o
CROSS JOIN LATERAL (
    SELECT * FROM {schema}.turn_facts WHERE created_at >= o.began_at AND created_at < o.ended_at OFFSET 0
) AS f
GROUP BY f.tenant, o.day, f.agent, f.model, f.status, f.ending;

CREATE VIEW {schema}.call_days AS
SELECT
    t.tenant, t.day, t.agent, t.provider, t.model, t.calls, t.input_tokens, t.output_tokens,
    t.cache_read_tokens, t.cache_write_tokens, t.reasoning_tokens, t.total_tokens, t.cost_amount,
    t.cost_currency, t.unpriced_calls
FROM {schema}.call_tally AS t
WHERE NOT EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = t.day)
UNION ALL
SELECT
    f.tenant, o.day, f.agent, f.provider, f.model, count(*),
    coalesce(sum(f.input_tokens), 0)::bigint, coalesce(sum(f.output_tokens), 0)::bigint,
    coalesce(sum(f.cache_read_tokens), 0)::bigint, coalesce(sum(f.cache_write_tokens), 0)::bigint,
    coalesce(sum(f.reasoning_tokens), 0)::bigint,
    coalesce(
        sum(coalesce(f.total_tokens, coalesce(f.input_tokens, 0) + coalesce(f.output_tokens, 0))), 0
    )::bigint,
    coalesce(sum(f.cost_amount), 0),
    f.cost_currency,
    count(*) FILTER (WHERE f.cost_amount IS NULL AND coalesce(
        f.input_tokens, f.output_tokens, f.cache_read_tokens, f.cache_write_tokens, f.reasoning_tokens,
        f.total_tokens
    ) IS NOT NULL)
FROM {schema}.open_days AS o
CROSS JOIN LATERAL (
    SELECT * FROM {schema}.call_facts WHERE created_at >= o.began_at AND created_at < o.ended_at OFFSET 0
) AS f
GROUP BY f.tenant, o.day, f.agent, f.provider, f.model, f.cost_currency;

CREATE VIEW {schema}.tool_days AS
SELECT t.tenant, t.day, t.agent, t.model, t.tool, t.calls, t.succeeded, t.failed, t.denied
FROM {schema}.tool_tally AS t
WHERE NOT EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = t.day)
UNION ALL
SELECT
    m.tenant, o.day, t.agent, t.model, p.tool_name, count(*),
    count(*) FILTER (WHERE p.tool_state = 'output-available'),
    count(*) FILTER (WHERE p.tool_state = 'output-error'),
    count(*) FILTER (WHERE p.tool_state = 'output-denied')
FROM {schema}.open_days AS o
CROSS JOIN LATERAL (
    SELECT
        (SELECT c.tenant FROM {schema}.conversation AS c WHERE c.key = m.conversation) AS tenant,
        m.conversation, m.seq, m.turn_id
    FROM {schema}.message AS m
    WHERE m.created_at >= o.began_at AND m.created_at < o.ended_at
    OFFSET 0
) AS m
CROSS JOIN LATERAL (
    SELECT p.tool_name, p.tool_state FROM {schema}.part AS p
    WHERE p.conversation = m.conversation AND p.message = m.seq AND p.tool_call_id IS NOT NULL
    OFFSET 0
) AS p
LEFT JOIN LATERAL (
    SELECT
        t.agent,
        (
            SELECT p.model FROM {schema}.provider_call AS p
            WHERE p.turn = t.key ORDER BY p."order" LIMIT 1
        ) AS model
    FROM {schema}.turn AS t
    WHERE t.tenant = m.tenant AND t.id = m.turn_id
    OFFSET 0
) AS t ON true
GROUP BY m.tenant, o.day, t.agent, t.model, p.tool_name;
