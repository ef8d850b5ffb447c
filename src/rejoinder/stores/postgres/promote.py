"""Give a field of a tool's calls, or of a data part, a column of its own in the table of parts, with an index.

    promote("postgresql://…", promotion("tool", "confirmAction", "input.action", "text"))

adds the column `tool_confirmAction_input_action`. Whoever writes messages need not know: the database fills it.
Nothing is rewritten and nobody waits. PostgreSQL 18 computes the column when it is read, and the index holds the
expression; older ones only know generated columns that rewrite the table under a lock, so there a trigger fills an
ordinary column, and what was written before is filled in little by little. All steps can be repeated: whoever
interrupted a promotion asks for it again.

No value may make a message impossible to store. So a field that is not of the declared type is NULL there, and a
text is cut to what an index row can hold; the whole stays where it was.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, Literal, LiteralString, NamedTuple, TypeAlias, get_args

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine

from rejoinder.convert.escapes import store_text
from rejoinder.ports.journal import AlreadyExists
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.migrate import (
    ATTEMPT_PAUSE_SECONDS,
    ATTEMPTS_MAX,
    TURN_SECONDS_MAX,
    our_turn,
)
from rejoinder.stores.postgres.schema import SCHEMA, tables
from rejoinder.stores.postgres.sessions import session

Kind: TypeAlias = Literal["tool", "data"]
FieldType: TypeAlias = Literal["text", "integer", "number", "boolean", "json"]

TEXT_CHARACTERS_MAX: Final = 500
"""At most 2,000 bytes; an index row holds 2,704."""

COLUMN_BYTES_MAX: Final = 54
"""PostgreSQL cuts names after 63 bytes, and those of index and trigger are longer by a word."""

BATCH_ROWS: Final = 1000
"""How many old rows are filled in one transaction: a writer of one of them waits some 20 ms."""

VIRTUAL_SINCE: Final = 18

_COLUMN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_BUSY: Final = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
_COLUMN_TYPES: Final[dict[FieldType, LiteralString]] = {
    "text": 'text COLLATE "C"',
    "integer": "bigint",
    "number": "numeric",
    "boolean": "boolean",
    "json": "jsonb",
}
_VALUES: Final[dict[FieldType, LiteralString]] = {
    "text": 'left({base} #>> {path}, {characters}) COLLATE "C"',
    "integer": (
        "CASE WHEN jsonb_typeof({base} #> {path}) = 'number' "
        r"AND ({base} #>> {path}) ~ '^-?[0-9]{{1,18}}(\.0+)?$' "
        "THEN ({base} #> {path})::numeric::bigint END"
    ),
    "number": (
        "CASE WHEN jsonb_typeof({base} #> {path}) = 'number' AND octet_length({base} #>> {path}) <= 100 "
        "THEN ({base} #> {path})::numeric END"
    ),
    "boolean": "CASE WHEN jsonb_typeof({base} #> {path}) = 'boolean' THEN ({base} #> {path})::boolean END",
    "json": "{base} #> {path}",
}


class Promotion(NamedTuple):
    """A field that has a column: of the calls of the tool `name`, or of the data parts of that name."""

    kind: Kind
    name: str
    field: str
    type: FieldType
    column: str

    @property
    def index_name(self) -> str:
        """The name of the index, which on older servers is also that of the trigger and its function."""
        return f"promoted_{self.column}"


def promotion(kind: str, name: str, field: str, type: str, *, column: str | None = None) -> Promotion:
    """Declare one. `field` is a path of keys: `input.action` of a tool, `status` of a data part.

    Raises `ValueError`, with the way out, for what cannot be declared.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"a promotion is of a tool or of data, not of {kind!r}")
    if type not in get_args(FieldType):
        raise ValueError(f"the type of a field is {', '.join(get_args(FieldType))}, not {type!r}")
    keys = field.split(".")
    if not name or not all(keys):
        raise ValueError(f"a name and a path of keys are needed (input.action), not {name!r} and {field!r}")
    if kind == "tool" and keys[0] not in {"input", "output"}:
        raise ValueError(f"a tool has an input and an output: the field begins with one, {field!r} does not")
    made = "_".join((kind, name, *keys)) if column is None else column
    if _COLUMN.fullmatch(made) is None or len(made) > COLUMN_BYTES_MAX:
        raise ValueError(
            f"a column cannot be called {made!r}: name it yourself (--column), in letters, digits and _, "
            f"no digit in front, at most {COLUMN_BYTES_MAX}"
        )
    if made in tables().part.columns:
        raise ValueError(
            f"the table of parts has a column {made!r} of its own: name yours yourself (--column)"
        )
    return Promotion(_kind(kind), name, field, _type(type), made)


def promote(
    database: str | Engine,
    wanted: Promotion,
    *,
    schema: str = SCHEMA,
    filled: Callable[[int], None] | None = None,
) -> bool:
    """Make the column and its index, and answer whether they were not there. `filled` hears how many rows are done.

    Raises `AlreadyExists` if the column stands for something else; and what the database cannot do.
    """
    with _work(database, schema) as driver:
        statements = _Statements(driver, wanted, schema)
        is_new = not _declare(driver, wanted, schema)
        if driver.info.server_version // 10_000 >= VIRTUAL_SINCE:
            _patiently(driver, statements.virtual_column())
        else:
            for statement in statements.filled_column():
                _patiently(driver, statement)
            _fill(driver, statements, filled)
        if _is_broken(driver, wanted.index_name, schema):
            driver.execute(statements.drop_index())
        with _unhurried(driver):
            driver.execute(statements.build_index())
    return is_new


def promotions(database: str | Engine, *, schema: str = SCHEMA) -> list[Promotion]:
    """What has been promoted, by the names of the columns."""
    with _work(database, schema, alone=False) as driver:
        query = sql.SQL("SELECT kind, name, field, type, column_name FROM {} ORDER BY column_name")
        rows = driver.execute(query.format(sql.Identifier(schema, "promotion"))).fetchall()
    return [Promotion(*row) for row in rows]


def withdraw(database: str | Engine, column: str, *, schema: str = SCHEMA) -> bool:
    """Drop a promoted column with its index, and answer whether it was there. What was said stays."""
    found = next((each for each in promotions(database, schema=schema) if each.column == column), None)
    if found is None:
        return False
    with _work(database, schema) as driver:
        statements = _Statements(driver, found, schema)
        with _unhurried(driver):
            driver.execute(statements.drop_index())
        for statement in statements.drop():
            _patiently(driver, statement)
    return True


class _Statements:
    """The SQL of one promotion. Names are quoted as names, and all that somebody chose as literals."""

    def __init__(self, driver: psycopg.Connection[Any], wanted: Promotion, schema: str) -> None:
        keys = [store_text(key) for key in wanted.field.split(".")]
        tool = wanted.kind == "tool"
        self._base = f"tool_{keys.pop(0)}" if tool else "data_content"
        self._path = sql.Literal("{" + ",".join(_element(key) for key in keys) + "}")
        self._name = sql.Literal(store_text(wanted.name))
        self._owner = "tool_name" if tool else "data_name"
        self._wanted, self._driver = wanted, driver
        self._part = sql.Identifier(schema, "part")
        self._column = sql.Identifier(wanted.column)
        self._function = sql.Identifier(schema, wanted.index_name)
        self._promotion = sql.Identifier(schema, "promotion")
        self._type = sql.SQL(_COLUMN_TYPES[wanted.type])
        self._index = wanted.index_name
        self._schema = schema

    def value(self, row: LiteralString | None = None) -> sql.Composed:
        """What the column holds."""
        value = sql.SQL(_VALUES[self._wanted.type]).format(
            base=_of(row, self._base), path=self._path, characters=TEXT_CHARACTERS_MAX
        )
        return sql.SQL("CASE WHEN {} = {} THEN {} END").format(_of(row, self._owner), self._name, value)

    def virtual_column(self) -> sql.Composed:
        return sql.SQL(
            "ALTER TABLE {} ADD COLUMN IF NOT EXISTS {} {} GENERATED ALWAYS AS ({}) VIRTUAL"
        ).format(self._part, self._column, self._type, self.value())

    def filled_column(self) -> tuple[sql.Composed, ...]:
        body = sql.SQL("BEGIN NEW.{} := {}; RETURN NEW; END").format(self._column, self.value("NEW"))
        is_its = sql.SQL("{} = {} OR {} IS NOT NULL").format(
            _of("NEW", self._owner), self._name, sql.SQL("NEW.{}").format(self._column)
        )
        return (
            sql.SQL("ALTER TABLE {} ADD COLUMN IF NOT EXISTS {} {}").format(
                self._part, self._column, self._type
            ),
            sql.SQL("CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS {}").format(
                self._function, sql.Literal(body.as_string(self._driver))
            ),
            sql.SQL(
                "CREATE OR REPLACE TRIGGER {} BEFORE INSERT OR UPDATE ON {} "
                "FOR EACH ROW WHEN ({}) EXECUTE FUNCTION {}()"
            ).format(sql.Identifier(self._index), self._part, is_its, self._function),
        )

    def fill(self, conversation: int, message: int, order: int) -> sql.Composed:
        """Fill the next rows behind a place, and answer the last of them and how many."""
        return sql.SQL(
            """
            WITH batch AS (
                SELECT conversation, message, "order" FROM {part}
                WHERE (conversation, message, "order") > ({place})
                    AND {owner} = {name} AND {column} IS NULL AND ({value}) IS NOT NULL
                ORDER BY conversation, message, "order"
                LIMIT {rows}
            ), filled AS (
                UPDATE {part} AS part SET {column} = {of_part}
                FROM batch
                WHERE (part.conversation, part.message, part."order")
                    = (batch.conversation, batch.message, batch."order")
            )
            SELECT conversation, message, "order", count(*) OVER () AS rows FROM batch
            ORDER BY conversation DESC, message DESC, "order" DESC LIMIT 1
            """
        ).format(
            part=self._part,
            place=sql.SQL(", ").join((conversation, message, order)),
            owner=sql.Identifier(self._owner),
            name=self._name,
            column=self._column,
            value=self.value(),
            of_part=self.value("part"),
            rows=BATCH_ROWS,
        )

    def build_index(self) -> sql.Composed:
        method = "gin" if self._wanted.type == "json" else "btree"
        operators = " jsonb_path_ops" if self._wanted.type == "json" else ""
        virtual = self._driver.info.server_version // 10_000 >= VIRTUAL_SINCE
        held = sql.SQL("({})").format(self.value()) if virtual else self._column
        return sql.SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON {} USING {} ({}{}) WHERE {} IS NOT NULL"
        ).format(sql.Identifier(self._index), self._part, sql.SQL(method), held, sql.SQL(operators), held)

    def drop_index(self) -> sql.Composed:
        return sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(self._function)

    def drop(self) -> tuple[sql.Composed, ...]:
        return (
            sql.SQL("DROP TRIGGER IF EXISTS {} ON {}").format(sql.Identifier(self._index), self._part),
            sql.SQL("DROP FUNCTION IF EXISTS {}()").format(self._function),
            sql.SQL("ALTER TABLE {} DROP COLUMN IF EXISTS {}").format(self._part, self._column),
            sql.SQL("DELETE FROM {} WHERE column_name = {}").format(self._promotion, self._wanted.column),
        )


def _declare(driver: psycopg.Connection[Any], wanted: Promotion, schema: str) -> bool:
    """Write the promotion down before anything is made of it. Answers whether all of it is there already."""
    table = sql.Identifier(schema, "promotion")
    query = sql.SQL("SELECT kind, name, field, type, column_name FROM {} WHERE column_name = %s").format(
        table
    )
    known = driver.execute(query, [wanted.column]).fetchone()
    if known is not None and Promotion(*known) != wanted:
        kind, name, field, type, _ = known
        raise AlreadyExists(
            f"the column {wanted.column!r} stands for {field!r} of {kind} {name!r} as {type}: name another "
            "(--column), or drop that one first (rejoinder db promote drop)"
        )
    there = driver.execute(_COLUMN_EXISTS, [schema, wanted.column]).fetchone()
    if known is None and there is not None:
        raise AlreadyExists(
            f"somebody has added a column {wanted.column!r} to the table of parts: name another (--column)"
        )
    if known is None:
        insert = sql.SQL(
            "INSERT INTO {} (kind, name, field, type, column_name, index_name) VALUES (%s, %s, %s, %s, %s, %s)"
        )
        driver.execute(insert.format(table), [*wanted, wanted.index_name])
    index = driver.execute(_INDEX_IS_VALID, [schema, wanted.index_name]).fetchone()
    return known is not None and there is not None and index is not None and bool(index[0])


def _fill(
    driver: psycopg.Connection[Any], statements: _Statements, filled: Callable[[int], None] | None
) -> None:
    place, rows = [-1, -1, -1], 0
    while (done := _patiently(driver, statements.fill(*place))) is not None:
        *place, count = done
        rows += count
        if filled is not None:
            filled(rows)


def _patiently(driver: psycopg.Connection[Any], statement: sql.Composed) -> Any:
    """Run a statement that gives way, when it has waited for a lock, to those who wait behind it; and try again."""
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            cursor = driver.execute(statement)
            return cursor.fetchone() if cursor.description else None
        except _BUSY:
            if attempt == ATTEMPTS_MAX:
                raise
            time.sleep(ATTEMPT_PAUSE_SECONDS)
    return None


@contextmanager
def _work(database: str | Engine, schema: str, *, alone: bool = True) -> Generator[psycopg.Connection[Any]]:
    """A connection whose every statement is a transaction; `alone`, nobody else changes this schema meanwhile."""
    tables(schema)  # Refuses a name that we cannot use.
    where = failures.place(database) if isinstance(database, str) else database.url.render_as_string()
    with session(database) as shared:
        connection = shared.execution_options(isolation_level="AUTOCOMMIT")
        with failures.told(where):
            if alone:
                with our_turn(connection, schema, TURN_SECONDS_MAX):
                    yield _driver(connection)
            else:
                yield _driver(connection)


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] | Any = connection.connection.driver_connection
    return driver


@contextmanager
def _unhurried(driver: psycopg.Connection[Any]) -> Generator[None]:
    """Wait for old transactions to end: nobody waits for us meanwhile."""
    (before,) = driver.execute("SHOW lock_timeout").fetchone() or ("0",)
    driver.execute("SET lock_timeout = 0")
    yield
    driver.execute(sql.SQL("SET lock_timeout = {}").format(before))


def _is_broken(driver: psycopg.Connection[Any], index: str, schema: str) -> bool:
    found = driver.execute(_INDEX_IS_VALID, [schema, index]).fetchone()
    return found is not None and not found[0]


_COLUMN_EXISTS: Final = """
SELECT 1 FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %s AND relname = 'part' AND attname = %s AND attnum > 0 AND NOT attisdropped
"""

_INDEX_IS_VALID: Final = """
SELECT indisvalid FROM pg_index
JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %s AND relname = %s
"""


def _of(row: LiteralString | None, column: str) -> sql.Composable:
    return (
        sql.Identifier(column)
        if row is None
        else sql.SQL("{}.{}").format(sql.SQL(row), sql.Identifier(column))
    )


def _element(key: str) -> str:
    """A key in the text of an array."""
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _kind(text: str) -> Kind:
    return "tool" if text == "tool" else "data"


def _type(text: str) -> FieldType:
    return next(known for known in get_args(FieldType) if known == text)
