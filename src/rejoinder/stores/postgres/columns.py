"""The kinds of columns and constraints that the tables are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    MetaData,
    Numeric,
    Table,
    Text,
    event,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

EXACT: Final = "C"
"""Ids are equal or not, letter by letter. A language's collation is slower, and its indexes do not outlive an update
of the operating system."""


TENANT_BYTES_MAX: Final = 512
ID_BYTES_MAX: Final = 1024
"""Together they fit into one index row, which PostgreSQL limits to 2,704 bytes."""


def key() -> Column[Any]:
    """The number by which the rows of other tables name a row of this one."""
    return Column("key", BigInteger, Identity(always=True), nullable=False)


def identifier(name: str, *, needed: bool = True) -> Column[Any]:
    """Somebody's name for something."""
    return Column(name, Text(collation=EXACT), nullable=not needed)


def number(name: str, *, needed: bool = True, default: int | None = None) -> Column[Any]:
    """A whole number; all have eight bytes, because a counter that runs over stops everything."""
    start = None if default is None else text(str(default))
    return Column(name, BigInteger, nullable=not needed, server_default=start)


def time(name: str, *, needed: bool = True) -> Column[Any]:
    """A moment, for people to see and for leases. Nothing is ordered by it."""
    return Column(
        name, DateTime(timezone=True), nullable=not needed, server_default=func.now() if needed else None
    )


def texts(*names: str) -> Iterator[Column[Any]]:
    """Texts that need not be there."""
    return (Column(name, Text) for name in names)


def flags(*names: str) -> Iterator[Column[Any]]:
    """Flags that need not be there."""
    return (Column(name, Boolean) for name in names)


def payloads(*names: str) -> Iterator[Column[Any]]:
    """JSON that need not be there."""
    return (Column(name, JSONB) for name in names)


def usage() -> Iterator[Column[Any]]:
    """What was consumed, by the names of `rejoinder.messages.Usage`."""
    told = ("input_tokens", "output_tokens", "total_tokens")
    of_those = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    return (number(name, needed=False) for name in (*told, *of_those))


def cost() -> Iterator[Column[Any]]:
    """What that cost, and the prices it was computed with."""
    yield Column("cost_amount", Numeric)
    yield Column("cost_currency", Text)
    yield Column("cost_prices", JSONB)


def to(metadata: MetaData, column: str) -> str:
    """A column of another table, as a foreign key names it."""
    return f"{metadata.schema}.{column}"


def belongs_to(metadata: MetaData, column: str, target: str) -> ForeignKeyConstraint:
    """The row goes when the row it belongs to goes."""
    return ForeignKeyConstraint([column], [to(metadata, target)], ondelete="CASCADE")


def one_of(column: str, *words: str) -> CheckConstraint:
    """The column holds one of these words, or nothing where it need not hold any."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", column)


def length(column: str, bytes_max: int) -> CheckConstraint:
    """Not empty, and short enough for an index."""
    return CheckConstraint(f"octet_length({column}) BETWEEN 1 AND {bytes_max}", f"{column}_length")


def store_as_is(table: Table, column: str) -> None:
    """Let PostgreSQL not try to compress what is compressed."""
    statement = DDL(  # type: ignore[no-untyped-call]  # SQLAlchemy has not annotated it.
        f"ALTER TABLE %(fullname)s ALTER COLUMN {column} SET STORAGE EXTERNAL"
    )
    event.listen(table, "after_create", statement)
