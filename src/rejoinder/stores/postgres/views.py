"""Views for whoever asks how it goes. Their names and columns stay.

`turn_facts`, `call_facts` and `tool_facts` have a row for each turn, call of a model and call of a tool. `turn_days`,
`call_days` and `tool_days` have a row for all that are alike on a day: of days that are tallied they are read, of those
that are open (`open_days`) they are counted at each look.

A column that costs something to find out (the model of a turn, say) is a query of its own inside the row, so that
whoever does not ask for it does not pay for it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import DDL, MetaData, event

from rejoinder.stores.postgres.sessions import quoted

VIEWS: Final = {
    "turn_facts": """
        SELECT
            t.tenant,
            (SELECT c.id FROM {schema}.conversation AS c WHERE c.key = t.conversation) AS conversation_id,
            t.id AS turn_id,
            (t.created_at AT TIME ZONE 'UTC')::date AS day,
            t.created_at,
            t.agent,
            (
                SELECT p.model FROM {schema}.provider_call AS p
                WHERE p.turn = t.key ORDER BY p."order" LIMIT 1
            ) AS model,
            t.status,
            CASE
                WHEN t.status = 'failed' AND t.error_code IS NOT NULL THEN 'failed: ' || t.error_code
                ELSE t.status
            END AS ending,
            extract(
                epoch FROM (SELECT min(p.first_token_at) FROM {schema}.provider_call AS p WHERE p.turn = t.key)
                - coalesce(t.started_at, t.created_at)
            )::double precision * 1000 AS first_token_ms,
            extract(
                epoch FROM t.finished_at - coalesce(t.started_at, t.created_at)
            )::double precision * 1000 AS duration_ms
        FROM {schema}.turn AS t
    """,
    "call_facts": """
        SELECT
            t.tenant,
            (SELECT c.id FROM {schema}.conversation AS c WHERE c.key = t.conversation) AS conversation_id,
            t.id AS turn_id,
            (t.created_at AT TIME ZONE 'UTC')::date AS day,
            t.created_at,
            t.agent,
            p.provider,
            p.model,
            p.status,
            p.input_tokens,
            p.output_tokens,
            p.cache_read_tokens,
            p.cache_write_tokens,
            p.reasoning_tokens,
            p.total_tokens,
            p.cost_amount,
            p.cost_currency
        FROM {schema}.turn AS t
        JOIN {schema}.provider_call AS p ON p.turn = t.key
        UNION ALL
        SELECT
            t.tenant,
            (SELECT c.id FROM {schema}.conversation AS c WHERE c.key = t.conversation),
            t.id,
            (t.created_at AT TIME ZONE 'UTC')::date,
            t.created_at,
            t.agent,
            NULL,
            NULL,
            t.status,
            t.input_tokens,
            t.output_tokens,
            t.cache_read_tokens,
            t.cache_write_tokens,
            t.reasoning_tokens,
            t.total_tokens,
            t.cost_amount,
            t.cost_currency
        FROM {schema}.turn AS t
        WHERE coalesce(
                t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.reasoning_tokens,
                t.total_tokens, t.cost_amount
            ) IS NOT NULL
            AND NOT EXISTS (SELECT FROM {schema}.provider_call AS p WHERE p.turn = t.key)
    """,
    "tool_facts": """
        SELECT
            c.tenant,
            c.id AS conversation_id,
            m.id AS message_id,
            m.turn_id,
            (m.created_at AT TIME ZONE 'UTC')::date AS day,
            m.created_at,
            (SELECT t.agent FROM {schema}.turn AS t WHERE t.tenant = c.tenant AND t.id = m.turn_id) AS agent,
            (
                SELECT p.model
                FROM {schema}.turn AS t JOIN {schema}.provider_call AS p ON p.turn = t.key
                WHERE t.tenant = c.tenant AND t.id = m.turn_id ORDER BY p."order" LIMIT 1
            ) AS model,
            p.tool_name AS tool,
            p.tool_call_id,
            p.tool_state AS state
        FROM {schema}.part AS p
        JOIN {schema}.message AS m ON m.conversation = p.conversation AND m.seq = p.message
        JOIN {schema}.conversation AS c ON c.key = p.conversation
        WHERE p.tool_call_id IS NOT NULL
    """,
    "open_days": """
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
            OR EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = days.day::date)
    """,
    "turn_days": """
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
        GROUP BY f.tenant, o.day, f.agent, f.model, f.status, f.ending
    """,
    "call_days": """
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
        GROUP BY f.tenant, o.day, f.agent, f.provider, f.model, f.cost_currency
    """,
    "tool_days": """
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
        GROUP BY m.tenant, o.day, t.agent, t.model, p.tool_name
    """,
}
"""Each by its name, those first of which others are made. `{schema}` stands for the schema.

`OFFSET 0` has the facts of each open day looked up by the index of their times, and the calls of each message by its
place, instead of all of them being compared with all days, or with all of a conversation.
"""


def define_views(metadata: MetaData) -> None:
    """Have the views made behind the tables."""
    for name, query in VIEWS.items():
        schema = quoted(str(metadata.schema))
        statement = f"CREATE VIEW {schema}.{name} AS {query.replace('{schema}', schema)}"
        create = DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]  # SQLAlchemy has not annotated it.
        event.listen(metadata, "after_create", create)
