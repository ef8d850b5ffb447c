-- Turns as records, how one begins and ends, and the claim on it.

-- fragment: turn_record
-- What is read of a turn; a WHERE clause can still be added.
SELECT
    t.id, c.id, t.status, t.created_at, t.trigger, t.message_id, t.agent, t.started_at, t.finished_at,
    t.agent_context, t.agent_memory, t.metadata,
    t.input_tokens, t.output_tokens, t.total_tokens, t.cache_read_tokens, t.cache_write_tokens,
    t.reasoning_tokens, t.cost_amount, t.cost_currency, t.cost_prices,
    t.error_message, t.error_code, t.error_provider, t.error_raw
FROM {schema}.turn AS t JOIN {schema}.conversation AS c ON c.key = t.conversation

-- fragment: live
t.status IN ('queued', 'running')

-- query: get_turn
-- $1 tenant, $2 id.
{turn_record}
WHERE t.tenant = $1::text AND t.id = $2::text

-- query: list_turns
-- $1 tenant, $2 conversation, $3 before this turn or NULL, $4 how many of the newest, NULL for all.
{turn_record}
WHERE c.tenant = $1::text AND c.id = $2::text
    AND (
        $3::text IS NULL
        OR t.key < (
            SELECT bound.key FROM {schema}.turn AS bound
            WHERE bound.tenant = $1::text AND bound.id = $3::text AND bound.conversation = c.key
        )
    )
ORDER BY t.key DESC
LIMIT $4::bigint

-- query: list_calls_of_turns
-- The provider calls of the turns that list_turns gives, without their raw answers, which may be large. The same
-- parameters.
SELECT
    chosen.id, p.id, p.provider, p.model, p.operation, p.status, p.started_at, p.first_token_at, p.finished_at,
    p.extensions, NULL,
    p.input_tokens, p.output_tokens, p.total_tokens, p.cache_read_tokens, p.cache_write_tokens,
    p.reasoning_tokens, p.cost_amount, p.cost_currency, p.cost_prices
FROM (
    SELECT t.key, t.id
    FROM {schema}.conversation AS c JOIN {schema}.turn AS t ON t.conversation = c.key
    WHERE c.tenant = $1::text AND c.id = $2::text
        AND (
            $3::text IS NULL
            OR t.key < (
                SELECT bound.key FROM {schema}.turn AS bound
                WHERE bound.tenant = $1::text AND bound.id = $3::text AND bound.conversation = c.key
            )
        )
    ORDER BY t.key DESC
    LIMIT $4::bigint
) AS chosen
JOIN {schema}.provider_call AS p ON p.turn = chosen.key
ORDER BY chosen.key, p."order"

-- query: live_turn
-- $1 tenant, $2 conversation.
{turn_record}
WHERE c.tenant = $1::text AND c.id = $2::text AND {live}

-- query: who_stands_in_the_way
-- Why a turn could not begin. $1 tenant, $2 conversation, $3 idempotency key or NULL. The turn that has the key,
-- and its fingerprint, else the live one.
SELECT
    t.id, coalesce(t.idempotency_key = $3::text, false), t.fingerprint
FROM {schema}.conversation AS c
JOIN {schema}.turn AS t ON t.conversation = c.key AND (t.idempotency_key = $3::text OR {live})
WHERE c.tenant = $1::text AND c.id = $2::text
ORDER BY 2 DESC
LIMIT 1

-- query: list_provider_calls
-- $1 tenant, $2 turn.
SELECT
    p.id, p.provider, p.model, p.operation, p.status, p.started_at, p.first_token_at, p.finished_at,
    p.extensions, p.raw,
    p.input_tokens, p.output_tokens, p.total_tokens, p.cache_read_tokens, p.cache_write_tokens,
    p.reasoning_tokens, p.cost_amount, p.cost_currency, p.cost_prices
FROM {schema}.turn AS t JOIN {schema}.provider_call AS p ON p.turn = t.key
WHERE t.tenant = $1::text AND t.id = $2::text
ORDER BY p."order"

-- query: record_turn
-- Record a turn that is over, or replace its record. No row: there is no such conversation, or the turn is live or
-- another conversation's. $1 tenant, $2 conversation, $3 id, $4 status, $5 created_at, $6 trigger, $7 message,
-- $8 agent, $9 started_at, $10 finished_at, $11 … $13 agent_context, agent_memory and metadata,
-- $14 … $19 usage, $20 … $22 cost, $23 … $26 error.
INSERT INTO {schema}.turn AS t (
    conversation, tenant, id, status, created_at, trigger, message_id, agent, started_at, finished_at,
    agent_context, agent_memory, metadata,
    input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    cost_amount, cost_currency, cost_prices, error_message, error_code, error_provider, error_raw
)
SELECT
    c.key, c.tenant, $3::text, $4::text, $5::timestamptz, $6::text, $7::text, $8::text, $9::timestamptz,
    $10::timestamptz, $11::jsonb, $12::jsonb, $13::jsonb,
    $14::bigint, $15::bigint, $16::bigint, $17::bigint, $18::bigint, $19::bigint,
    $20::numeric, $21::text, $22::jsonb, $23::text, $24::text, $25::text, $26::jsonb
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text
ON CONFLICT (tenant, id) DO UPDATE SET
    status = excluded.status, created_at = excluded.created_at, trigger = excluded.trigger,
    message_id = excluded.message_id, agent = excluded.agent, started_at = excluded.started_at,
    finished_at = excluded.finished_at, agent_context = excluded.agent_context,
    agent_memory = excluded.agent_memory, metadata = excluded.metadata,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    total_tokens = excluded.total_tokens, cache_read_tokens = excluded.cache_read_tokens,
    cache_write_tokens = excluded.cache_write_tokens, reasoning_tokens = excluded.reasoning_tokens,
    cost_amount = excluded.cost_amount, cost_currency = excluded.cost_currency,
    cost_prices = excluded.cost_prices, error_message = excluded.error_message,
    error_code = excluded.error_code, error_provider = excluded.error_provider, error_raw = excluded.error_raw
WHERE t.conversation = excluded.conversation AND NOT {live}
RETURNING t.key

-- query: touch_conversation_of
-- Say that the conversation changed in which this transaction has written the turn $2. $1 tenant.
UPDATE {schema}.conversation AS c
SET version = c.version + 1, updated_at = clock_timestamp()
FROM {schema}.turn AS t
WHERE t.tenant = $1::text AND t.id = $2::text AND t.xmin = {written_here} AND c.key = t.conversation

-- query: forget_provider_calls
-- Those of the turn $2 that this transaction has written. $1 tenant.
DELETE FROM {schema}.provider_call AS p
USING {schema}.turn AS t
WHERE t.tenant = $1::text AND t.id = $2::text AND t.xmin = {written_here} AND p.turn = t.key

-- query: put_provider_calls
-- Those of the turn $2 that this transaction has written, as JSON in $3. $1 tenant.
INSERT INTO {schema}.provider_call (
    turn, "order", id, provider, model, operation, status, started_at, first_token_at, finished_at,
    extensions, raw, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens,
    reasoning_tokens, cost_amount, cost_currency, cost_prices
)
SELECT
    t.key, item."order", item.id, item.provider, item.model, item.operation, item.status, item.started_at,
    item.first_token_at, item.finished_at, item.extensions::jsonb, item.raw::jsonb,
    item.input_tokens, item.output_tokens, item.total_tokens, item.cache_read_tokens,
    item.cache_write_tokens, item.reasoning_tokens, item.cost_amount, item.cost_currency,
    item.cost_prices::jsonb
FROM {schema}.turn AS t
CROSS JOIN json_to_recordset($3::json) AS item (
    "order" bigint, id text, provider text, model text, operation text, status text, started_at timestamptz,
    first_token_at timestamptz, finished_at timestamptz, extensions text, raw text, input_tokens bigint,
    output_tokens bigint, total_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint,
    reasoning_tokens bigint, cost_amount numeric, cost_currency text, cost_prices text
)
WHERE t.tenant = $1::text AND t.id = $2::text AND t.xmin = {written_here}

-- query: create_conversation_for_a_turn
-- $1 tenant, $2 id, $3 title. Nothing if it is there; looked up first, because trying takes a number each time.
INSERT INTO {schema}.conversation (tenant, id, title)
SELECT $1::text, $2::text, $3::text
WHERE NOT EXISTS (
    SELECT FROM {schema}.conversation AS c WHERE c.tenant = $1::text AND c.id = $2::text
)
ON CONFLICT (tenant, id) DO NOTHING

-- query: turn_of_message
-- The turn that wrote a message last. $1 tenant, $2 conversation, $3 id.
SELECT m.turn_id
FROM {schema}.conversation AS c JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $3::text
WHERE c.tenant = $1::text AND c.id = $2::text

-- query: claim_conversation
-- Let a turn have the conversation, and end its active branch where the turn begins. Nothing happens if there is no
-- such place, if another turn is live, or if one has the idempotency key. $1 tenant, $2 id, $3 idempotency key,
-- $4 the message to go on behind (empty: before the first, NULL: the end of the active branch), $5 the message that
-- the turn goes on writing or NULL; without $4 the branch ends in the newest message behind that one. $6 NULL, or the
-- turn that must be the last to have written that message.
WITH RECURSIVE below (conversation, seq) AS (
    SELECT m.conversation, m.seq
    FROM {schema}.conversation AS c
    JOIN {schema}.message AS m ON m.conversation = c.key AND m.id = $5::text
    WHERE c.tenant = $1::text AND c.id = $2::text
    UNION ALL
    SELECT m.conversation, m.seq
    FROM below JOIN {schema}.message AS m ON m.conversation = below.conversation AND m.parent = below.seq
)
UPDATE {schema}.conversation AS c
SET version = c.version + 1,
    updated_at = clock_timestamp(),
    active_leaf = CASE
        WHEN $4::text = '' THEN NULL
        WHEN $4::text IS NOT NULL THEN (
            SELECT m.seq FROM {schema}.message AS m WHERE m.conversation = c.key AND m.id = $4::text
        )
        WHEN $5::text IS NOT NULL THEN (SELECT max(below.seq) FROM below)
        ELSE c.active_leaf
    END
WHERE c.tenant = $1::text AND c.id = $2::text
    AND NOT EXISTS (SELECT FROM {schema}.turn AS t WHERE t.conversation = c.key AND {live})
    AND ($3::text IS NULL OR NOT EXISTS (
        SELECT FROM {schema}.turn AS t WHERE t.conversation = c.key AND t.idempotency_key = $3::text
    ))
    AND (coalesce($4::text, '') = '' OR EXISTS (
        SELECT FROM {schema}.message AS m WHERE m.conversation = c.key AND m.id = $4::text
    ))
    AND ($5::text IS NULL OR EXISTS (SELECT FROM below))
    AND ($6::text IS NULL OR EXISTS (
        SELECT FROM {schema}.message AS m
        WHERE m.conversation = c.key AND m.id = $5::text AND m.turn_id = $6::text
    ))

-- query: begin_turn
-- The turn, in a conversation that this transaction has claimed, with a claim of its own. $1 tenant,
-- $2 conversation, $3 id, $4 status, $5 owner, $6 seconds of the lease, $7 message, $8 idempotency key,
-- $9 fingerprint, $10 agent, $11 trigger, $12 agent_context, $13 metadata.
INSERT INTO {schema}.turn (
    conversation, tenant, id, status, owner, epoch, lease_until, started_at, answers, message_id,
    idempotency_key, fingerprint, agent, trigger, agent_context, metadata
)
SELECT
    c.key, c.tenant, $3::text, $4::text, $5::text, 1,
    clock_timestamp() + make_interval(secs => $6::double precision),
    CASE WHEN $4::text = 'running' THEN now() END,
    c.active_leaf, $7::text, $8::text, $9::text, $10::text, $11::text, $12::jsonb, $13::jsonb
FROM {schema}.conversation AS c
WHERE c.tenant = $1::text AND c.id = $2::text AND c.xmin = {written_here}
RETURNING created_at, started_at, lease_until, {durable}

-- query: end_turn
-- The record of how a turn ended, if the claim holds, and if this transaction has appended its last page.
-- $1 tenant, $2 id, $3 epoch, $4 whether there was a last page, $5 status, $6 … $11 usage, $12 … $14 cost,
-- $15 … $18 error, $19 agent_memory, $20 metadata or NULL to keep what it began with.
UPDATE {schema}.turn AS t
SET status = $5::text, finished_at = clock_timestamp(),
    input_tokens = $6::bigint, output_tokens = $7::bigint, total_tokens = $8::bigint,
    cache_read_tokens = $9::bigint, cache_write_tokens = $10::bigint, reasoning_tokens = $11::bigint,
    cost_amount = $12::numeric, cost_currency = $13::text, cost_prices = $14::jsonb,
    error_message = $15::text, error_code = $16::text, error_provider = $17::text, error_raw = $18::jsonb,
    agent_memory = $19::jsonb, metadata = coalesce($20::jsonb, t.metadata)
WHERE t.tenant = $1::text AND t.id = $2::text AND t.epoch = $3::bigint AND {live}
    AND (NOT $4::boolean OR t.xmin = {written_here})
RETURNING t.key, {durable}

-- query: renew
-- $1 tenants, $2 turns, $3 epochs, $4 seconds. A row for each claim that holds, by its place.
UPDATE {schema}.turn AS t
SET lease_until = clock_timestamp() + make_interval(secs => $4::double precision)
FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS claim (tenant, turn, epoch, place)
WHERE t.tenant = claim.tenant AND t.id = claim.turn AND t.epoch = claim.epoch AND {live}
RETURNING claim.place - 1, t.lease_until

-- query: stale_turns
-- Take over turns whose lease has run out, oldest first. $1 owner, $2 seconds, $3 how many.
WITH stale AS (
    SELECT t.key, t.lease_until
    FROM {schema}.turn AS t
    WHERE {live} AND t.lease_until <= clock_timestamp()
    ORDER BY t.lease_until
    LIMIT $3::bigint
    FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
    UPDATE {schema}.turn AS t
    SET epoch = t.epoch + 1, owner = $1::text,
        lease_until = clock_timestamp() + make_interval(secs => $2::double precision)
    FROM stale
    WHERE t.key = stale.key
    RETURNING t.tenant, t.conversation, t.id, t.epoch, t.lease_until, stale.lease_until AS stale_since
)
SELECT taken.tenant, c.id, taken.id, taken.epoch, taken.lease_until
FROM taken JOIN {schema}.conversation AS c ON c.key = taken.conversation
ORDER BY taken.stale_since

-- query: request_stop
-- $1 tenant, $2 turn. No row: it is not live.
UPDATE {schema}.turn AS t
SET stop_requested_at = coalesce(t.stop_requested_at, clock_timestamp())
WHERE t.tenant = $1::text AND t.id = $2::text AND {live}
RETURNING t.key
