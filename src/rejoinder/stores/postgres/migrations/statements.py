"""What the migrations are made of: SQL for a schema whose name is a setting, and indexes that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alembic import context, op
from sqlalchemy import text

from rejoinder.stores.postgres.sessions import LOCK_WAIT_MS_MAX, quoted

SCHEMA_ATTRIBUTE: Final = "rejoinder_schema"
"""The attribute of an Alembic configuration that names the schema."""

VERSION_TABLE: Final = "migration"
"""Our own record of which migrations a schema has had: a user's `alembic_version` is theirs."""


def schema() -> str:
    """The schema that is being migrated."""
    return str(context.config.attributes[SCHEMA_ATTRIBUTE])


def run_file(beside: str, name: str) -> None:
    """Run the statements of the SQL file that lies beside a migration."""
    for statement in _statements((Path(beside).parent / name).read_text("utf-8")):
        run(statement)


def run(statement: str) -> None:
    """Run one statement, in which `{schema}` stands for the schema."""
    # A colon would announce a parameter, and statements here have none.
    op.execute(text(statement.replace("{schema}", quoted(schema())).replace(":", "\\:")))


def build_index(name: str, definition: str) -> None:
    """Build an index while everybody goes on reading and writing. `definition` is what follows its name.

    What an attempt that was interrupted has left behind, an index that is kept up and never used, goes first.
    """
    with op.get_context().autocommit_block():
        # Nobody waits for us while we wait for old transactions to end, so there is no hurry.
        run("SET lock_timeout = 0")
        if not context.is_offline_mode() and _is_broken(name):
            run(f"DROP INDEX CONCURRENTLY {{schema}}.{quoted(name)}")
        run(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {quoted(name)} {definition}")
        run(f"SET lock_timeout = {LOCK_WAIT_MS_MAX}")


def _is_broken(name: str) -> bool:
    found = op.get_bind().execute(
        text(
            "SELECT NOT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
            "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = :schema AND relname = :name"
        ),
        {"schema": schema(), "name": name},
    )
    return bool(found.scalar())


def _statements(file: str) -> Iterator[str]:
    lines = [line for line in file.splitlines() if not line.startswith("--")]
    return (
        statement.strip().removesuffix(";")
        for statement in "\n".join(lines).split(";\n")
        if statement.strip()
    )
