-- A year of three tenants, for bench/analytics.py. {turns} is how many turns there are: the first begins at {first}, and the
-- next ones {step} apart. A hundred thousand turns make a million parts.

-- Conversations of ten turns.
INSERT INTO rejoinder.conversation (key, tenant, id, next_seq, active_leaf, created_at, updated_at, title)
OVERRIDING SYSTEM VALUE
SELECT c, (ARRAY['default', 'default', 'acme', 'default', 'brick'])[1 + c % 5], 'conversation-' || c, 20, 19, began, began, 'Weather ' || c
FROM (SELECT c, {first}::timestamptz + c * {step}::interval * 10 AS began
      FROM generate_series(0, {turns} / 10 - 1) AS c);

-- Turns of six agents: one of 25 fails, a few are stopped.
INSERT INTO rejoinder.turn (
    key, conversation, tenant, id, epoch, next_seq, next_page, created_at, started_at, finished_at, status,
    message_id, agent, agent_context, error_message, error_code, idempotency_key, input_tokens, output_tokens,
    total_tokens, cost_amount, cost_currency
)
OVERRIDING SYSTEM VALUE
SELECT
    n, c, (ARRAY['default', 'default', 'acme', 'default', 'brick'])[1 + c % 5], 'turn-' || n, 1, 40, 4, began, began + interval '3 ms',
    began + (1500 - 9000 * ln(1 - 0.99 * random())) * interval '1 ms', status, 'answer-' || n,
    (ARRAY['support', 'research', 'code', 'sales', 'triage', NULL])[1 + c % 6],
    '{"session": "0b0a7b6e-7d0f-4c8e-9f49-3f0f0a1d9e11", "place": "/srv/shop"}',
    CASE WHEN status = 'failed' THEN 'the provider is overloaded' END,
    CASE WHEN status = 'failed' THEN (ARRAY['provider', 'rate-limit', 'time-out'])[1 + n % 3] END,
    'key-' || n, 5200, 460, 5660, 0.0117, 'USD'
FROM (
    SELECT
        n, n / 10 AS c, {first}::timestamptz + n * {step}::interval AS began,
        CASE WHEN n % 25 = 7 THEN 'failed' WHEN n % 31 = 5 THEN 'cancelled' WHEN n % 199 = 3 THEN 'interrupted'
            ELSE 'succeeded' END AS status
    FROM generate_series(0, {turns} - 1) AS n
);

-- Two calls of models in 19 of 20 turns.
INSERT INTO rejoinder.provider_call (
    turn, "order", started_at, first_token_at, finished_at, id, provider, model, operation, status, raw,
    input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    cost_amount, cost_currency, cost_prices
)
SELECT
    n, o, began + o * interval '2 s', 
    began + o * interval '2 s' + (80 - 400 * ln(1 - 0.99 * random())) * interval '1 ms',
    began + o * interval '2 s' + interval '1.9 s', 'call-' || n || '-' || o,
    (ARRAY['openai', 'anthropic'])[1 + n % 2],
    (ARRAY['gpt-5-mini', 'claude-haiku', 'gpt-5', 'claude-sonnet', 'gpt-5-nano', 'claude-opus'])[1 + (n + o) % 6],
    'chat', 'succeeded',
    '{"id": "resp_0a1b2c3d4e5f", "object": "response", "status": "completed", "service_tier": "default"}',
    2000 + n % 1000, 100 + n % 300, 2100 + n % 1000 + n % 300, 1500, CASE WHEN o = 0 THEN 300 END, n % 90,
    CASE WHEN n % 50 <> 0 THEN 0.0001 * (n % 400) END, CASE WHEN n % 50 <> 0 THEN 'USD' END,
    CASE WHEN n % 50 <> 0 THEN '{"input": "0.25", "output": "2.00", "cacheRead": "0.025"}'::jsonb END
FROM (
    SELECT n, o, {first}::timestamptz + n * {step}::interval AS began
    FROM generate_series(0, {turns} - 1) AS n, generate_series(0, 1) AS o WHERE n % 20 <> 0
);

-- A question and an answer.
INSERT INTO rejoinder.message (conversation, seq, branch, parent, created_at, id, turn_id, role, status)
SELECT
    n / 10, 2 * (n % 10) + answers, 0, nullif(2 * (n % 10) + answers - 1, -1),
    {first}::timestamptz + n * {step}::interval,
    CASE WHEN answers = 1 THEN 'answer-' ELSE 'question-' END || n,
    CASE WHEN answers = 1 THEN 'turn-' || n END, CASE WHEN answers = 1 THEN 'assistant' ELSE 'user' END, 'complete'
FROM generate_series(0, {turns} - 1) AS n, generate_series(0, 1) AS answers;

-- One part of a question, nine of an answer.
INSERT INTO rejoinder.part (
    conversation, message, "order", type, text_text, text_state, reasoning_text, tool_call_id, tool_name,
    tool_state, tool_input, tool_output, source_url_source_id, source_url_url, data_name, data_content
)
SELECT
    n / 10, 2 * (n % 10) + CASE WHEN o = 9 THEN 0 ELSE 1 END,
    CASE WHEN o = 9 THEN 0 ELSE o END, type,
    CASE WHEN type = 'text' THEN left(repeat('It is warm in Oslo, and in Rome it is warmer. ', 5), 40 + n % 180) END,
    CASE WHEN type = 'text' THEN 'done' END,
    CASE WHEN type = 'reasoning' THEN left(repeat('Which of the two is meant? ', 8), 60 + n % 120) END,
    CASE WHEN type = 'tool-call' THEN 'call_' || md5(n || '-' || o) END,
    CASE WHEN type = 'tool-call' THEN 'tool_' || (n * 7 + o * n) % 24 END,
    CASE WHEN type = 'tool-call' THEN
        CASE WHEN n % 23 = 4 THEN 'output-error' WHEN n % 71 = 9 THEN 'output-denied' ELSE 'output-available' END
    END,
    CASE WHEN type = 'tool-call' THEN jsonb_build_object('city', 'Oslo', 'number', n) END,
    CASE WHEN type = 'tool-call' THEN jsonb_build_object('degrees', n % 40, 'told', repeat('warm ', (n % 40)::int)) END,
    CASE WHEN type = 'source-url' THEN 'source-' || n END,
    CASE WHEN type = 'source-url' THEN 'https://example.com/' || n END,
    CASE WHEN type = 'data' THEN 'progress' END, CASE WHEN type = 'data' THEN '{"done": 1}'::jsonb END
FROM (
    SELECT n, o, (ARRAY['step-start', 'reasoning', 'tool-call', 'tool-call', 'step-start', 'text', 'source-url',
        'data', 'text', 'text'])[1 + o] AS type
    FROM generate_series(0, {turns} - 1) AS n, generate_series(0, 9) AS o
);
