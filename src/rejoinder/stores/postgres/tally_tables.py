"""The tables of days that are counted once and not again: what the views `…_days` give without looking at turns.

A day that is over is counted by whoever first asks for it (`tallying`). Whoever writes into such a day later doubts
it, and then it is counted anew. A trigger on turns and messages does so, so that nobody can forget it.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    DDL,
    Column,
    Date,
    Double,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    event,
)
from sqlalchemy.dialects.postgresql import ARRAY

from rejoinder.stores.postgres.columns import belongs_to, identifier, key, number, time
from rejoinder.stores.postgres.sessions import quoted

DOUBTING: Final = "doubt_day"

DOUBT: Final = """
CREATE FUNCTION {schema}.doubt_day() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    changed date := (OLD.created_at AT TIME ZONE 'UTC')::date;
BEGIN
    FOR look IN 1..2 LOOP
        IF changed IS NOT NULL THEN
            -- Days long past share one lock: an import of years must not need a thousand.
            PERFORM pg_advisory_xact_lock_shared(
                5210041, CASE WHEN changed < today - 1 THEN 0 ELSE changed - date '2000-01-01' END
            );
            -- Nobody counts a day before it is over, and nobody can now until we have committed.
            IF changed < today THEN
                INSERT INTO {schema}.doubted_day (day)
                SELECT changed
                WHERE EXISTS (SELECT FROM {schema}.tallied_day AS t WHERE t.day = changed)
                    AND NOT EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = changed);
            END IF;
        END IF;
        EXIT WHEN changed IS NOT DISTINCT FROM (NEW.created_at AT TIME ZONE 'UTC')::date;
        changed := (NEW.created_at AT TIME ZONE 'UTC')::date;
    END LOOP;
    RETURN NULL;
END
$function$
"""
"""`{schema}` stands for the schema, 5210041 for our locks: whoever writes into a day shares its lock, whoever counts it
has it alone (the query `lock_day`)."""

TRIGGERS: Final = {
    # The columns of those that change what a turn comes to: pages and leases change others, many times a second.
    "turn": "CREATE TRIGGER turn_doubts_day AFTER INSERT OR DELETE OR UPDATE OF created_at, finished_at, agent"
    " ON {schema}.turn FOR EACH ROW EXECUTE FUNCTION {schema}.doubt_day()",
    # Parts are only ever written together with their message.
    "message": "CREATE TRIGGER message_doubts_day AFTER INSERT OR DELETE OR UPDATE"
    " ON {schema}.message FOR EACH ROW EXECUTE FUNCTION {schema}.doubt_day()",
}
"""What doubts, by the table that it watches."""


def define_tallies(metadata: MetaData) -> None:
    """The tables, and what keeps them true."""
    Table(
        "tallied_day",
        metadata,
        Column("day", Date, nullable=False),
        time("tallied_at"),
        PrimaryKeyConstraint("day"),
    )
    _by_day("doubted_day", metadata)
    _tally(
        "turn_tally",
        metadata,
        identifier("tenant"),
        *(Column(name, Text) for name in ("agent", "model", "status", "ending")),
        number("turns"),
        *(Column(name, ARRAY(Double)) for name in ("first_token_ms", "duration_ms")),
    )
    _tally(
        "call_tally",
        metadata,
        identifier("tenant"),
        *(Column(name, Text) for name in ("agent", "provider", "model", "cost_currency")),
        *(number(name) for name in ("calls", "unpriced_calls", "input_tokens", "output_tokens")),
        *(
            number(name)
            for name in ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "total_tokens")
        ),
        Column("cost_amount", Numeric, nullable=False),
    )
    _tally(
        "tool_tally",
        metadata,
        identifier("tenant"),
        *(Column(name, Text) for name in ("agent", "model", "tool")),
        *(number(name) for name in ("calls", "succeeded", "failed", "denied")),
    )


def define_triggers(metadata: MetaData) -> None:
    """Have the function and the triggers made behind the tables."""
    schema = quoted(str(metadata.schema))
    for statement in (DOUBT, *TRIGGERS.values()):
        text = statement.replace("{schema}", schema).replace("%", "%%")
        event.listen(metadata, "after_create", DDL(text))  # type: ignore[no-untyped-call]  # SQLAlchemy has not annotated it.


def _tally(name: str, metadata: MetaData, *columns: Column[Any]) -> Table:
    """What there was on a day that is tallied, and gone when it no longer is."""
    return _by_day(name, metadata, *columns, belongs_to(metadata, "day", "tallied_day.day"))


def _by_day(name: str, metadata: MetaData, *more: Column[Any] | ForeignKeyConstraint) -> Table:
    """A table whose rows belong to a day. A key, for those who replicate our tables."""
    return Table(
        name,
        metadata,
        key(),
        Column("day", Date, nullable=False),
        *more,
        PrimaryKeyConstraint("key"),
        Index(f"{name}_day", "day"),
    )
