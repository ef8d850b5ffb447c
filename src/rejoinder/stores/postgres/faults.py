"""Looking for what the constraints forbid and what they cannot say, and mending it.

A database whose constraints hold has no orphans. One that was restored in pieces, or changed with its triggers off,
may have some.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import psycopg
from psycopg import AsyncConnection, sql
from sqlalchemy import ForeignKeyConstraint

from rejoinder.convert.escapes import load_text
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.database import Connection, Database
from rejoinder.stores.postgres.schema import tables
from rejoinder.stores.postgres.statements import statements
from rejoinder.stores.postgres.values import adapters

REMEDIES: Final[dict[str, str | None]] = {
    "orphans": "they are deleted, because nobody can reach them",
    "next_seq": "its next message is given the place behind the last one",
    "active_leaf": "its active branch is made to end in its newest message",
    "parent": None,
    "parts": None,
    "claims": "the turn is sealed as interrupted, with what its journal has of it",
}
"""What is done about each kind of fault. None: nothing can be, here; what is missing is in a backup, or nowhere."""


class Fault(NamedTuple):
    """Something that must not be: its kind, where, and what."""

    kind: str
    where: str
    said: str

    def __str__(self) -> str:
        return f"{self.where}: {self.said}" if self.where else self.said


class _Reference(NamedTuple):
    """Rows of a table that belong to rows of another."""

    table: str
    target: str
    orphans: sql.Composed
    """The condition under which row `t` is an orphan."""


class Faults:
    """Looking and mending, in the database. Every look reads whole tables."""

    _database: Database
    schema: str

    async def list_faults(self) -> AsyncIterator[Fault]:
        """What is wrong with rows, orphans first. Journals are another matter: they have to be read."""
        async with self._patient() as connection:
            for each in self._references():
                count = await _count(connection, self.schema, each)
                if count:
                    said = f"{count} rows of {each.table} belong to no {each.target}"
                    yield Fault("orphans", "", said)
            for kind in REMEDIES:
                if kind == "orphans":
                    continue
                cursor = await connection.execute(statements(self.schema)[f"faults_{kind}"])
                for tenant, id, said in await cursor.fetchall():
                    where = f"conversation {load_text(id)} ({load_text(tenant)})"
                    yield Fault(kind, where, load_text(said))

    async def count_unnamed_blobs(self) -> list[tuple[str, int]]:
        """How many blobs of each tenant nothing here names. What else knows their digests, we do not know."""
        async with self._patient() as connection:
            cursor = await connection.execute(statements(self.schema)["unnamed_blobs"])
            return [(load_text(tenant), int(count)) for tenant, count in await cursor.fetchall()]

    async def mend(self, kind: str) -> int:
        """Do what `REMEDIES` says about all faults of a kind; turns without an owner are only let go. How many rows."""
        async with self._patient() as connection:
            if kind == "orphans":
                return sum([await _delete(connection, self.schema, each) for each in self._references()])
            cursor = await connection.execute(statements(self.schema)[f"mend_{kind}"])
            return cursor.rowcount

    async def mend_journal_end(self, turn_id: str, *, tenant: str) -> bool:
        """Let a journal end where its last page does."""
        return bool(await self._database.ask("mend_journal_end", tenant, turn_id))

    @asynccontextmanager
    async def _patient(self) -> AsyncGenerator[Connection]:
        """A connection on which a statement takes as long as it takes."""
        try:
            async with await AsyncConnection.connect(
                self._database.url, autocommit=True, context=adapters()
            ) as connection:
                yield connection
        except psycopg.Error as error:
            raise failures.failed(error, self._database.where) from error

    def _references(self) -> Iterator[_Reference]:
        """What goes with what it belongs to, what others belong to first."""
        for table in tables(self.schema).metadata.sorted_tables:
            for constraint in table.foreign_key_constraints:
                if constraint.ondelete == "CASCADE":
                    yield _reference(self.schema, table.name, constraint)


async def _count(connection: Connection, schema: str, reference: _Reference) -> int:
    query = sql.SQL("SELECT count(*) FROM {} AS t WHERE {}").format(
        sql.Identifier(schema, reference.table), reference.orphans
    )
    row = await (await connection.execute(query)).fetchone()
    return 0 if row is None else int(row[0])


async def _delete(connection: Connection, schema: str, reference: _Reference) -> int:
    query = sql.SQL("DELETE FROM {} AS t WHERE {}").format(
        sql.Identifier(schema, reference.table), reference.orphans
    )
    return (await connection.execute(query)).rowcount


def _reference(schema: str, table: str, constraint: ForeignKeyConstraint) -> _Reference:
    target = constraint.referred_table.name
    there = [sql.Identifier("o", element.column.name) for element in constraint.elements]
    here = [sql.Identifier("t", name) for name in constraint.column_keys]
    same = sql.SQL(" AND ").join(
        sql.SQL("{} = {}").format(one, other) for one, other in zip(there, here, strict=True)
    )
    needed = sql.SQL(" AND ").join(sql.SQL("{} IS NOT NULL").format(name) for name in here)
    orphans = sql.SQL("{} AND NOT EXISTS (SELECT FROM {} AS o WHERE {})").format(
        needed, sql.Identifier(schema, target), same
    )
    return _Reference(table, target, orphans)
