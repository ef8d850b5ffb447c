"""Alembic's entrance: it runs this file for every command. What it needs to know comes in `config.attributes`."""

from __future__ import annotations

from typing import Any

from alembic import context

from rejoinder.stores.postgres.migrations.statements import VERSION_TABLE, schema
from rejoinder.stores.postgres.schema import tables


def migrate() -> None:
    """Run the migrations that are asked for, each in a transaction of its own, or write them down as SQL."""
    offline = context.is_offline_mode()
    context.configure(
        connection=None if offline else context.config.attributes["connection"],
        dialect_name="postgresql" if offline else None,
        target_metadata=tables(schema()).metadata,
        include_schemas=True,
        include_name=_is_ours,
        version_table=VERSION_TABLE,
        version_table_schema=schema(),
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def _is_ours(name: str | None, kind: str, parents: Any) -> bool:
    """Whether `alembic check` is to look at it: what others have put into the database is theirs."""
    if kind == "schema":
        return name == schema()
    known = tables(schema()).metadata.tables
    if kind == "table":
        return f"{schema()}.{name}" in known
    table = known.get(f"{schema()}.{parents.get('table_name')}")
    if table is None or kind not in {"column", "index"}:
        return True
    ours = table.columns.keys() if kind == "column" else [index.name for index in table.indexes]
    return name in ours


migrate()
