"""Where rows come from: a PostgreSQL database, an SQLite file, or a folder of JSON lines or CSV, a file a table.

Every row is handed on as the text of a JSON object, column by column, so that what is JSON in it can be cut out byte
for byte. Files are put into a temporary database first, because their lines may come in any order.
"""

from __future__ import annotations

import contextlib
import csv
import sqlite3
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from rejoinder.errors import InvalidJson, RejoinderError
from rejoinder.wire import json

ENDINGS: Final = (".jsonl", ".ndjson", ".csv")
"""What the files of a folder may be called, after the name of their table."""

ROWS_FETCHED: Final = 200
"""So many rows are held at a time: blobs of sessions may have megabytes each."""


BROKEN: Final = ""
"""The column of a row that could not be read as one: the line as it is."""


JSON_COLUMNS: Final = ("_input", "_output", "_content", "providerMetadata", "metadata", "extra")
"""Ends of the names of columns that hold JSON, also where the place knows only text."""

NEEDED: Final = {"text": "text_text", "reasoning": "reasoning_text"}
"""The column that a row of that type has."""


class SourceUnreadable(RejoinderError):
    """The source of an import cannot be read. The message says what is missing, and where."""

    code = "source-unreadable"


class Row(NamedTuple):
    """One row: where it is, for people, and its columns as the text of a JSON object."""

    where: str
    text: bytes


class Source(Protocol):
    """Tables that can be read."""

    def columns(self, table: str) -> frozenset[str]:
        """What the columns of the table are called; none if there is no such table."""
        ...

    def count(self, table: str) -> int:
        """How many rows it has."""
        ...

    def rows(
        self, table: str, *, by: Sequence[str], where: tuple[str, Sequence[Any]] | None = None
    ) -> Iterator[Row]:
        """Its rows in the order of these columns, ties as they lie; only those whose column has one of the values."""
        ...


def open_source(place: str, *, schema: str = "public") -> AbstractContextManager[Source]:
    """The source that is meant: a PostgreSQL URL, a folder with a file for each table, one such file, or SQLite.

    `schema` is where a PostgreSQL database has the tables. Raises `SourceUnreadable`.
    """
    if place.startswith(("postgresql://", "postgres://", "postgresql+")):
        return _postgres(place, schema)
    path = Path(place)
    if path.is_dir():
        return _files([file for file in sorted(path.iterdir()) if file.suffix in ENDINGS], path)
    if not path.exists():
        raise SourceUnreadable(f"{place}: there is no such file or folder, and it is no PostgreSQL URL")
    if path.suffix in ENDINGS:
        return _files([path], path)
    return _sqlite_file(path)


class _Sqlite:
    """An SQLite database. `loaded` ones hold the lines of files, each as one text."""

    def __init__(self, connection: sqlite3.Connection, name: str, *, loaded: bool) -> None:
        self._connection = connection
        self._name = name
        self._loaded = loaded

    def columns(self, table: str) -> frozenset[str]:
        known = [row[1] for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        if not known or not self._loaded:
            return frozenset(known)
        keys = f"SELECT DISTINCT key FROM {_quoted(table)}, json_each(body)"  # noqa: S608  (quoted)
        return frozenset(row[0] for row in self._connection.execute(keys))

    def count(self, table: str) -> int:
        (count,) = self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()  # noqa: S608  (quoted)
        return int(count)

    def rows(
        self, table: str, *, by: Sequence[str], where: tuple[str, Sequence[Any]] | None = None
    ) -> Iterator[Row]:
        known = self.columns(table)
        order = ", ".join([*(self._value(column) for column in by if column in known), "rowid"])
        query = f"SELECT * FROM {_quoted(table)}"  # noqa: S608  (quoted)
        values: Sequence[Any] = ()
        if where is not None:
            column, values = where
            query += f" WHERE {self._value(column)} IN ({', '.join('?' * len(values))})"
        cursor = self._connection.execute(f"{query} ORDER BY {order}", values)
        names = [column[0] for column in cursor.description]
        while fetched := cursor.fetchmany(ROWS_FETCHED):
            for row in fetched:
                if self._loaded:
                    yield Row(row[0], row[1].encode("utf-8", "surrogatepass"))
                else:
                    columns = {name: typed(name, value) for name, value in zip(names, row, strict=True)}
                    yield Row(f"{self._name}, {table} {columns.get('id')!r}", json.encode(columns))

    def _value(self, column: str) -> str:
        if not self._loaded:
            return _quoted(column)
        return "json_extract(body, '$." + json.encode(column).decode().replace("'", "''") + "')"


class _Postgres:
    """A PostgreSQL database."""

    def __init__(self, connection: Any, schema: str) -> None:
        self._connection = connection
        self._schema = schema

    def columns(self, table: str) -> frozenset[str]:
        query = (
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
        )
        return frozenset(row[0] for row in self._connection.execute(query, [self._schema, table]))

    def count(self, table: str) -> int:
        from psycopg import sql

        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(self._schema, table))
        (count,) = self._connection.execute(query).fetchone()
        return int(count)

    def rows(
        self, table: str, *, by: Sequence[str], where: tuple[str, Sequence[Any]] | None = None
    ) -> Iterator[Row]:
        from psycopg import sql

        known = self.columns(table)
        order = [sql.Identifier("t", column) for column in by if column in known]
        query = sql.SQL("SELECT {}, row_to_json(t)::text FROM {} AS t").format(
            sql.Identifier("t", "id") if "id" in known else sql.SQL("t.ctid::text"),
            sql.Identifier(self._schema, table),
        )
        values: list[Any] = []
        if where is not None:
            query += sql.SQL(" WHERE {} = ANY(%s)").format(sql.Identifier("t", where[0]))
            values.append(list(where[1]))
        # Where rows lie is the order in which most of them came.
        query += sql.SQL(" ORDER BY ") + sql.SQL(", ").join([*order, sql.SQL("t.ctid")])
        with self._connection.cursor(name=f"import_{table}" if where is None else None) as cursor:
            if where is None:
                cursor.itersize = ROWS_FETCHED
            cursor.execute(query, values)
            for id, text in cursor:
                yield Row(f"{table} {id!r}", text.encode())


@contextmanager
def _postgres(url: str, schema: str) -> Generator[Source]:
    import psycopg

    try:
        with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://")) as connection:
            # One look at everything, whoever writes there meanwhile.
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield _Postgres(connection, schema)
    except psycopg.Error as error:
        # The texts of the driver about a connection string would quote the string.
        said = error.diag.message_primary or type(error).__name__
        raise SourceUnreadable(
            f"the source database cannot be read: {said}. Look at its URL and rights"
        ) from error


@contextmanager
def _sqlite_file(path: Path) -> Generator[Source]:
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as connection:
            connection.text_factory = _text
            yield _Sqlite(connection, path.name, loaded=False)
    except sqlite3.Error as error:
        raise SourceUnreadable(
            f"{path}: it is no SQLite database, or damaged: {error}. Give a folder or file of {', '.join(ENDINGS)}, "
            "an SQLite file or a PostgreSQL URL"
        ) from error


@contextmanager
def _files(files: Sequence[Path], place: Path) -> Generator[Source]:
    if not files:
        raise SourceUnreadable(f"{place}: there are no files named TABLE{'|'.join(ENDINGS)} in it")
    with (
        tempfile.TemporaryDirectory(prefix="rejoinder-import-") as folder,
        contextlib.closing(sqlite3.connect(Path(folder) / "rows.db")) as connection,
    ):
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        for file in files:
            _load(connection, file)
        connection.commit()
        yield _Sqlite(connection, place.name, loaded=True)


def _load(connection: sqlite3.Connection, file: Path) -> None:
    table = _quoted(file.stem)
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (place TEXT, body TEXT)")
    lines = _csv_lines(file) if file.suffix == ".csv" else _json_lines(file)
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", lines)  # noqa: S608  (quoted)
    # A line that is no JSON object becomes an object that holds it.
    wrong = "CASE WHEN json_valid(body) THEN json_type(body) <> 'object' ELSE true END"
    connection.execute(f"UPDATE {table} SET body = json_object('{BROKEN}', body) WHERE {wrong}")  # noqa: S608  (quoted)
    for column in ("messageId", "agentId", "chatId"):
        name = _quoted(f"{file.stem} by {column}")
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS {name} ON {table} (json_extract(body, '$.\"{column}\"'))"
        )


def _json_lines(file: Path) -> Iterator[tuple[str, str]]:
    with _opened(file) as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text:
                yield f"{file.name}, line {number}", text


def _csv_lines(file: Path) -> Iterator[tuple[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with _opened(file) as lines:
        reader = csv.DictReader(lines)
        for row in reader:
            # CSV does not tell an empty text from none. A text has a text, or it would not have been stored.
            needed = NEEDED.get(row.get("type") or "")
            columns = {
                name: typed(name, value) if value else ("" if name == needed else None)
                for name, value in row.items()
            }
            yield f"{file.name}, line {reader.line_num}", json.encode(columns).decode()


@contextmanager
def _opened(file: Path) -> Generator[Iterator[str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="" if file.suffix == ".csv" else None) as lines:
            yield iter(lines)
    except UnicodeDecodeError as error:
        raise SourceUnreadable(f"{file}: it is not UTF-8: {error.reason} at byte {error.start}") from error
    except csv.Error as error:
        raise SourceUnreadable(f"{file}: it is no CSV: {error}") from error


def typed(column: str, value: Any) -> Any:
    """The value of a column in a place that has no JSON of its own, only texts that hold it."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    if isinstance(text, str) and column.endswith(JSON_COLUMNS):
        with contextlib.suppress(InvalidJson):
            return json.decode(text)
    return text


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
