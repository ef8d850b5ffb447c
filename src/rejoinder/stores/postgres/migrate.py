"""Bring a database's tables up to date, say as SQL what that would do, and check what is there.

    upgrade("postgresql://…")      create the tables, or change them to what this release needs
    check("postgresql://…")        raise if they are not what this release needs
    upgrade_sql()                  the same as a script, for those who run theirs by hand

Several processes may upgrade at once: one does, the others wait. In an Alembic environment of the user's own,
`include_object` keeps autogenerate away from our tables, and `upgrade` has a place in front of its migrations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import psycopg
from alembic import command, context
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from rejoinder.ports.journal import StoreMisconfigured, StoreUnavailable
from rejoinder.stores.postgres.migrations.statements import SCHEMA_ATTRIBUTE, VERSION_TABLE
from rejoinder.stores.postgres.schema import SCHEMA, tables
from rejoinder.stores.postgres.sessions import quoted, session
from rejoinder.stores.postgres.structure import missing

SCRIPTS: Final = "rejoinder.stores.postgres:migrations"

TURN_SECONDS_MAX: Final = 1800.0
"""How long to wait for another process that upgrades: it may be building an index on a large table."""

TURN_PAUSE_SECONDS: Final = 0.1
"""Between two looks whether it is our turn. Waiting in the lock itself would keep a snapshot open, and the other
process, building its index, would wait for our snapshot to go: for ever."""

ATTEMPTS_MAX: Final = 10
ATTEMPT_PAUSE_SECONDS: Final = 1.0
"""After a migration has let others pass that held a lock on its table."""

PROBLEMS_SHOWN_MAX: Final = 5

_one_at_a_time: Final = threading.Lock()
"""Alembic's environment is a global of the process."""


@dataclass(frozen=True, slots=True)
class Version:
    """Which migrations a schema has had, and which it still lacks."""

    revision: str | None
    pending: tuple[str, ...]


def upgrade(
    database: str | Engine,
    *,
    schema: str = SCHEMA,
    to: str = "head",
    turn_seconds_max: float = TURN_SECONDS_MAX,
) -> tuple[str, ...]:
    """Create the tables or bring them up to date; answers which migrations ran. Done already, it costs one look.

    The connection has to lead to the server itself, not through a pooler that changes sessions under its clients.
    Raises `StoreUnavailable` or `StoreMisconfigured`.
    """
    with session(database) as connection:
        if to == "head" and not version(connection, schema).pending:
            return ()
        with our_turn(connection, schema, turn_seconds_max):
            before = version(connection, schema).pending
            _create_schema(connection, schema)
            for attempt in range(1, ATTEMPTS_MAX + 1):
                try:
                    _migrate(connection, schema, to)
                    break
                except DBAPIError as error:
                    connection.rollback()
                    if not _was_locked_out(error) or attempt == ATTEMPTS_MAX:
                        raise
                    time.sleep(ATTEMPT_PAUSE_SECONDS)
            after = version(connection, schema).pending
    return tuple(revision for revision in before if revision not in after)


def upgrade_sql(*, schema: str = SCHEMA, start: str | None = None) -> str:
    """The script that makes the tables, or brings them from the revision `start` up to date.

    Run it with psql: indexes are built outside of any transaction.
    """
    script = StringIO()
    if start is None:
        script.write(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)};\n\n")
    config = configuration(schema, output_buffer=script)
    with _one_at_a_time, _environment_of_others():
        command.upgrade(config, f"{start or 'base'}:head", sql=True)
    return script.getvalue()


def check(database: str | Engine, *, schema: str = SCHEMA, thorough: bool = True) -> Version:
    """Raise `StoreMisconfigured` unless the tables are those of this release; the message names the way out.

    `thorough` also compares them with their definition, to the last constraint; it needs the right to create a
    schema, which it rolls back.
    """
    with session(database) as connection:
        found = version(connection, schema)
        if found.revision is None:
            raise StoreMisconfigured(
                f"the schema {schema!r} has no tables of ours: create them with `rejoinder db upgrade`, or name "
                "the schema that has them"
            )
        if found.pending:
            raise StoreMisconfigured(
                f"the schema {schema!r} is too old (at {found.revision}, lacks {', '.join(found.pending)}): "
                "bring it up to date with `rejoinder db upgrade`"
            )
        differences = missing(connection, schema) if thorough else []
    if differences:
        shown = "; ".join(differences[:PROBLEMS_SHOWN_MAX])
        more = (
            f" and {len(differences) - PROBLEMS_SHOWN_MAX} more"
            if len(differences) > PROBLEMS_SHOWN_MAX
            else ""
        )
        raise StoreMisconfigured(
            f"the schema {schema!r} was changed by hand, it lacks: {shown}{more}. Restore what is missing; "
            "`rejoinder db sql` prints how it was made"
        )
    return found


def version(connection: Connection, schema: str = SCHEMA) -> Version:
    """Which migrations the schema has had. Raises `StoreMisconfigured` if this release does not know them."""
    scripts = ScriptDirectory.from_config(configuration(schema)).walk_revisions()
    known = [script.revision for script in scripts][::-1]
    revision = None
    if connection.scalar(text("SELECT to_regclass(:name)"), {"name": f"{quoted(schema)}.{VERSION_TABLE}"}):
        query = f"SELECT version_num FROM {quoted(schema, VERSION_TABLE)}"  # noqa: S608  (quoted by the driver)
        revision = connection.exec_driver_sql(query).scalar()
    connection.commit()
    if revision is None:
        return Version(None, tuple(known))
    if revision not in known:
        raise StoreMisconfigured(
            f"the schema {schema!r} is too new: it has had the migration {revision}, and this release ends with "
            f"{known[-1]}. Install a newer Rejoinder"
        )
    return Version(revision, tuple(known[known.index(revision) + 1 :]))


def include_object(schema: str = SCHEMA) -> Callable[[Any, str | None, str, bool, Any], bool]:
    """For `context.configure(include_object=…)` in the user's own `env.py`: leaves our tables to us.

    Without it, `alembic revision --autogenerate` would drop what it does not find in the user's metadata.
    """
    ours = {table.name: table.columns.keys() for table in tables(schema).metadata.tables.values()}
    ours[VERSION_TABLE] = ["version_num"]

    def theirs(item: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:  # noqa: FBT001
        table = item if kind == "table" else getattr(item, "table", None)
        if table is None or table.schema is not None:
            return table is None or bool(table.schema != schema)
        # Where our schema is the first in somebody's search_path (as it is for a role of its name), Alembic finds
        # our tables without it.
        return table.name not in ours or not set(ours[table.name]) <= set(table.columns.keys())

    return theirs


def configuration(
    schema: str = SCHEMA, *, connection: Connection | None = None, output_buffer: StringIO | None = None
) -> Config:
    """What Alembic's own commands need to work on our migrations: `alembic.command.history(configuration())`."""
    tables(schema)  # Refuses a name that we cannot use.
    config = Config(output_buffer=output_buffer or StringIO())
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    config.attributes.update({SCHEMA_ATTRIBUTE: schema, "connection": connection})
    return config


def _migrate(connection: Connection, schema: str, to: str) -> None:
    with _one_at_a_time, _environment_of_others():
        command.upgrade(configuration(schema, connection=connection), to)
    connection.commit()


@contextmanager
def _environment_of_others() -> Generator[None]:
    """Give Alembic's environment back to the user whose own `env.py` calls us: there is one, a module's global."""
    theirs = vars(context).get("_proxy")
    try:
        yield
    finally:
        if isinstance(theirs, EnvironmentContext):
            theirs.__enter__()


def _create_schema(connection: Connection, schema: str) -> None:
    # Looked up first: `IF NOT EXISTS` asks for the right to create one even if it is there.
    if connection.scalar(text("SELECT to_regnamespace(:name)"), {"name": quoted(schema)}) is None:
        connection.exec_driver_sql(f"CREATE SCHEMA {quoted(schema)}")
    connection.commit()


@contextmanager
def our_turn(connection: Connection, schema: str, seconds_max: float) -> Generator[None]:
    """Nobody else changes this schema meanwhile. Raises `StoreUnavailable` if that takes too long."""
    name = {"name": f"rejoinder migrates {schema}"}
    end = time.monotonic() + seconds_max
    while not connection.scalar(text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))"), name):
        connection.commit()
        if time.monotonic() > end:
            raise StoreUnavailable(
                f"another session has been upgrading the schema {schema!r} for {seconds_max:.0f} s (it holds the "
                "advisory lock): wait for it, or end it with pg_terminate_backend"
            )
        time.sleep(TURN_PAUSE_SECONDS)
    connection.commit()
    try:
        yield
    finally:
        if not connection.closed and not connection.invalidated:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))"), name)
            connection.commit()


def _was_locked_out(error: DBAPIError) -> bool:
    return isinstance(error.orig, psycopg.errors.LockNotAvailable)
