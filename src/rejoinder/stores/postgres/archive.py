"""Everything in the tables as rows of JSON, and rows of JSON back into the tables.

Reading is one snapshot, whatever others write meanwhile; writing is one transaction. Rows go through in batches, so
that the memory it takes does not grow with what there is. Text and JSON stay escaped as they lie in the tables
(`rejoinder.convert.escapes`): only NUL and halves of characters look odd.
"""

from __future__ import annotations

import base64
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, LiteralString, NamedTuple

import msgspec
import psycopg
from msgspec import Raw
from psycopg import sql
from sqlalchemy import BigInteger, Boolean, Column, DateTime, LargeBinary, Numeric, SmallInteger, Table
from sqlalchemy.dialects.postgresql import JSONB

from rejoinder.ports.archive import ColumnKind
from rejoinder.ports.journal import AlreadyExists, Event, StoreError
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.archive_tables import KEPT
from rejoinder.stores.postgres.packing import CODEC, pack_events, unpacked
from rejoinder.stores.postgres.schema import SCHEMA, tables

BATCH_ROWS: Final = 500
"""So many rows are written at a time."""

BATCH_BYTES: Final = 4 << 20
"""Or as many as have so many bytes: a part may hold megabytes."""

_ROW: Final = msgspec.json.Decoder(dict[str, Raw])
_NULL: Final = b"null"


class PostgresArchive:
    """The tables of one schema."""

    def __init__(self, url: str, *, schema: str = SCHEMA) -> None:
        self._url = url
        self._schema = schema
        self._where = failures.place(url)
        self._tables = {table.name: table for table in tables(schema).metadata.tables.values()}

    def columns(self, table: str) -> dict[str, ColumnKind]:
        """The columns of a table's rows, references first."""
        if table == "event":
            return {
                "tenant": "text",
                "conversation_id": "text",
                "turn_id": "text",
                "page": "integer",
                "before": "integer",
                "body": "text",
                "body_base64": "text",
            }
        kept = KEPT[table]
        references: dict[str, ColumnKind] = dict.fromkeys(kept.references, "text")
        own: dict[str, ColumnKind] = {
            column.name: _kind(column) for column in kept.own_columns(self._tables[table])
        }
        return {**references, **own}

    @contextmanager
    def reading(self, *, tenant: str | None) -> Generator[PostgresReader]:
        """Read one moment."""
        with failures.told(self._where), psycopg.connect(self._url) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            connection.execute("SET TIME ZONE 'UTC'")
            yield PostgresReader(connection, self._schema, self._tables, tenant)

    @contextmanager
    def writing(self, *, tenant: str | None) -> Generator[PostgresWriter]:
        """Write in one transaction. Raises `AlreadyExists` if something of the same name is there."""
        try:
            with psycopg.connect(self._url) as connection:
                connection.execute("SET TIME ZONE 'UTC'")
                writer = PostgresWriter(connection, self._schema, self._tables, tenant)
                yield writer
                writer.finish()
        except psycopg.errors.UniqueViolation as error:
            raise AlreadyExists(
                f"something of the same id is there already ({error.diag.message_detail}): "
                "import into a database without it, or under another tenant"
            ) from error
        except psycopg.Error as error:
            raise failures.failed(error, self._where) from error


class PostgresReader:
    """One snapshot."""

    def __init__(
        self, connection: psycopg.Connection, schema: str, known: dict[str, Table], tenant: str | None
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._tables = known
        self._tenant = tenant

    def count(self, table: str) -> int:
        """How many rows of all tenants the planner thinks there are."""
        name = "page" if table == "event" else table
        row = self._connection.execute(
            "SELECT greatest(reltuples, 0)::bigint FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE nspname = %s AND relname = %s",
            (self._schema, name),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def rows(self, table: str) -> Iterator[bytes]:
        """The rows of a table, empty columns left out."""
        if table == "event":
            yield from self._events()
            return
        kept = KEPT[table]
        query = kept.selecting(self._tables[table], self._schema, _read)
        with self._connection.cursor() as cursor:
            # One row at a time: some are of a hundred bytes, and some of a hundred megabytes.
            for (text,) in cursor.stream(query, {"tenant": self._tenant}):
                row = _ROW.decode(text)
                yield msgspec.json.encode({key: raw for key, raw in row.items() if bytes(raw) != _NULL})

    def _events(self) -> Iterator[bytes]:
        query = sql.SQL(
            "SELECT t.tenant, c.id, t.id, p.number, p.codec, p.events FROM {page} AS p"
            " JOIN {turn} AS t ON t.key = p.turn JOIN {conversation} AS c ON c.key = t.conversation"
            " WHERE p.events IS NOT NULL AND (%(tenant)s::text IS NULL OR t.tenant = %(tenant)s::text)"
            " ORDER BY t.key, p.number"
        ).format(**_named(self._schema, "page", "turn", "conversation"))
        with self._connection.cursor() as cursor:
            pages = cursor.stream(query, {"tenant": self._tenant}, binary=True)
            for tenant, conversation, turn, number, codec, packed in pages:
                for event in unpacked(codec, packed):
                    place = {"tenant": tenant, "conversation_id": conversation, "turn_id": turn}
                    yield msgspec.json.encode(
                        {**place, "page": number, "before": event.before, **_said(event)}
                    )


class PostgresWriter:
    """One transaction."""

    def __init__(
        self, connection: psycopg.Connection, schema: str, known: dict[str, Table], tenant: str | None
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._tables = known
        self._tenant = tenant
        self._leaves: list[dict[str, Raw]] = []

    def put(self, table: str, rows: Iterator[bytes], *, events: Iterator[bytes] | None = None) -> int:
        """Put the rows of a table."""
        if table == "event":
            return 0
        kept = KEPT[table]
        query = kept.inserting(self._tables[table], self._schema, _written)
        told: Iterator[dict[str, Raw]] = map(self._told, rows)
        if table == "page":
            told = _with_events(told, map(self._told, events or iter(())))
        if table == "conversation":
            told = map(self._without_leaf, told)
        done = 0
        for count, rows_as_json in _batches(told):
            cursor = self._connection.execute(query, (rows_as_json,))
            if cursor.rowcount != count:
                raise StoreError(
                    f"{count - cursor.rowcount} rows of {table} belong to something that the export lacks: "
                    "it is cut, or was made of several"
                )
            done += count
        return done

    def finish(self) -> None:
        """Let conversations know the ends of their active branches, now that their messages are there."""
        query = sql.SQL(
            "UPDATE {conversation} AS c SET active_leaf = r.active_leaf"
            " FROM json_to_recordset(%s::json) AS r (tenant text, id text, active_leaf bigint)"
            " WHERE c.tenant = r.tenant AND c.id = r.id"
        ).format(**_named(self._schema, "conversation"))
        for _, leaves in _batches(self._leaves):
            self._connection.execute(query, (leaves,))

    def _told(self, line: bytes) -> dict[str, Raw]:
        row = _ROW.decode(line)
        if self._tenant is not None and "tenant" in row:
            row["tenant"] = Raw(msgspec.json.encode(self._tenant))
        return row

    def _without_leaf(self, row: dict[str, Raw]) -> dict[str, Raw]:
        leaf = row.pop("active_leaf", None)
        if leaf is not None:
            self._leaves.append({"tenant": row["tenant"], "id": row["id"], "active_leaf": leaf})
        return row


def _batches(rows: Iterable[dict[str, Raw]]) -> Iterator[tuple[int, str]]:
    """Rows as arrays of JSON, none much larger than it may be, with how many there are in each."""
    batch: list[bytes] = []
    size = 0
    for row in rows:
        batch.append(msgspec.json.encode(row))
        size += len(batch[-1])
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield len(batch), _array(batch)
            batch, size = [], 0
    if batch:
        yield len(batch), _array(batch)


def _array(items: Iterable[bytes]) -> str:
    return f"[{b','.join(items).decode()}]"


class _Place(NamedTuple):
    turn: bytes
    page: bytes


def _with_events(
    pages: Iterable[dict[str, Raw]], events: Iterator[dict[str, Raw]]
) -> Iterator[dict[str, Raw]]:
    """Pages with their events, both in the order of turns and pages."""
    waiting = next(events, None)
    for page in pages:
        place = _Place(bytes(page["turn_id"]), bytes(page["number"]))
        found: list[Event] = []
        while waiting is not None and _Place(bytes(waiting["turn_id"]), bytes(waiting["page"])) == place:
            found.append(_event(waiting))
            waiting = next(events, None)
        page["codec"] = Raw(str(CODEC).encode())
        if found:
            page["events"] = Raw(msgspec.json.encode(base64.b64encode(pack_events(found)).decode()))
        yield page
    if waiting is not None:
        raise StoreError(
            "there are events of a page that the export lacks: it is cut, or its files were sorted"
        )


def _said(event: Event) -> dict[str, str]:
    try:
        return {"body": event.body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(event.body).decode()}


def _event(row: dict[str, Raw]) -> Event:
    before = msgspec.json.decode(row["before"], type=int)
    if "body" in row:
        return Event(before=before, body=msgspec.json.decode(row["body"], type=str).encode())
    return Event(before=before, body=base64.b64decode(msgspec.json.decode(row["body_base64"], type=str)))


def _kind(column: Column[Any]) -> ColumnKind:
    match column.type:
        case JSONB():
            return "json"
        case LargeBinary():
            return "text" if column.name == "frames" else "bytes"
        case BigInteger() | SmallInteger():
            return "integer"
        case Numeric():
            return "number"
        case Boolean():
            return "boolean"
        case DateTime():
            return "time"
        case _:
            return "text"


def _read(column: Column[Any], value: sql.Composable) -> sql.Composable:
    """How a column is read, so that nothing of it is lost in JSON."""
    match _kind(column):
        case "json" | "number":
            return sql.SQL("{}::text").format(value)
        case "bytes":
            return sql.SQL("replace(encode({}, 'base64'), E'\\n', '')").format(value)
        case _ if column.name == "frames":
            return sql.SQL("convert_from({}, 'UTF8')").format(value)
        case _:
            return value


def _written(column: Column[Any], value: sql.Composable) -> sql.Composable:
    """The same the other way; `value` is the text of a field."""
    if isinstance(column.type, LargeBinary):
        read = "convert_to({}, 'UTF8')" if column.name == "frames" else "decode({}, 'base64')"
        return sql.SQL(read).format(value)
    kinds: dict[ColumnKind, LiteralString] = {
        "json": "jsonb",
        "integer": "bigint",
        "number": "numeric",
        "boolean": "boolean",
    }
    if _kind(column) == "time":
        return sql.SQL("{}::timestamptz").format(value)
    name = kinds.get(_kind(column))
    return value if name is None else sql.SQL("{}::{}").format(value, sql.SQL(name))


def _named(schema: str, *names: str) -> dict[str, sql.Composable]:
    return {name: sql.Identifier(schema, name) for name in names}
