"""Views for whoever asks how it goes: `turn_facts`, `call_facts`, `tool_facts`. Their names and columns stay.

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
}
"""Each by its name. `{schema}` stands for the schema."""


def define_views(metadata: MetaData) -> None:
    """Have the views made behind the tables."""
    for name, query in VIEWS.items():
        schema = quoted(str(metadata.schema))
        statement = f"CREATE VIEW {schema}.{name} AS {query.replace('{schema}', schema)}"
        create = DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]  # SQLAlchemy has not annotated it.
        event.listen(metadata, "after_create", create)
