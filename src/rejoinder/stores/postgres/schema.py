"""The tables: the one definition that the migrations, the queries and everybody who joins our tables go by.

`tables(schema)` gives them in a PostgreSQL schema of that name. What must never be false is a constraint here:

* A row belongs to one tenant through its conversation. Every reference carries the conversation (or the tenant)
  along, so the database itself refuses one that leads into another's.
* Order is `seq` (of a message) and `number` (of a page), never a time.
* Text and JSON are stored escaped (`rejoinder.convert.escapes`); columns of JSON payloads tell NULL, "there is
  none", from JSON's `null`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlalchemy import MetaData, Table

from rejoinder.ports.journal import StoreMisconfigured
from rejoinder.stores.postgres.message_tables import conversation_table, message_table, part_table
from rejoinder.stores.postgres.tally_tables import define_tallies, define_triggers
from rejoinder.stores.postgres.transcript_tables import transcript_entry_table, transcript_table
from rejoinder.stores.postgres.turn_tables import (
    blob_table,
    checkpoint_table,
    page_table,
    promotion_table,
    provider_call_table,
    turn_table,
)
from rejoinder.stores.postgres.views import define_views

SCHEMA: Final = "rejoinder"
"""The schema, if nobody says another."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,49}")
"""What a schema may be called: its name goes through several programs, each with signs of its own."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of one schema, for SQLAlchemy Core: join them, select from them; to write, ask the store."""

    metadata: MetaData
    conversation: Table
    message: Table
    part: Table
    turn: Table
    provider_call: Table
    page: Table
    blob: Table
    checkpoint: Table
    promotion: Table
    transcript: Table
    transcript_entry: Table


@lru_cache
def tables(schema: str = SCHEMA) -> Tables:
    """The tables in this schema. Raises `StoreMisconfigured` for a name that we cannot use."""
    if NAME.fullmatch(schema) is None:
        raise StoreMisconfigured(
            f"the schema cannot be called {schema!r}: use letters, digits, _ and -, no digit in front, at most 50"
        )
    metadata = MetaData(
        schema=schema,
        naming_convention={
            "pk": "%(table_name)s_pkey",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "ck": "%(table_name)s_%(constraint_name)s",
        },
    )
    define_tallies(metadata)
    define_views(metadata)
    define_triggers(metadata)
    return Tables(
        metadata=metadata,
        conversation=conversation_table(metadata),
        message=message_table(metadata),
        part=part_table(metadata),
        turn=turn_table(metadata),
        provider_call=provider_call_table(metadata),
        page=page_table(metadata),
        blob=blob_table(metadata),
        checkpoint=checkpoint_table(metadata),
        promotion=promotion_table(metadata),
        transcript=transcript_table(metadata),
        transcript_entry=transcript_entry_table(metadata),
    )
