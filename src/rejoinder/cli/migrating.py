"""`rejoinder migrate`: messages that were stored in an older format, written in the newest."""

from __future__ import annotations

from typing import Annotated

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema, reached
from rejoinder.cli.offline import opened, progress, run
from rejoinder.offline.migrating import BATCH_MESSAGES, Migrated
from rejoinder.offline.migrating import migrate as migrate_store


def migrate(
    *,
    batch: Annotated[int, typer.Option(min=1, help="So many messages at a time.")] = BATCH_MESSAGES,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Write messages that were stored in an older format in the newest.

    They are read as the newest in any case: this lets SQL see them so, too. It may run beside a server, and be stopped
    at any time: what is done is done, and the next run does the rest.

    Example: rejoinder migrate --dry-run
    """
    if not database:
        from rejoinder.stores.postgres.migrate import upgrade

        upgrade(reached(database), schema=schema)
    so_far = Migrated()
    try:
        run(_migrate(so_far, batch, database, schema, dry_run=dry_run))
    except KeyboardInterrupt:
        typer.echo(f"stopped: {_said(so_far, dry_run=dry_run)}; run it again for the rest", err=True)
        raise SystemExit(130) from None
    typer.echo(_said(so_far, dry_run=dry_run))
    if not dry_run and so_far.written < so_far.older:
        typer.echo(f"{so_far.older - so_far.written} were being written by others: run it again", err=True)


def _said(so_far: Migrated, *, dry_run: bool) -> str:
    looked_at = f"{so_far.looked_at} messages looked at"
    if dry_run:
        return f"{looked_at}, {so_far.older} of them are of an older format"
    return f"{looked_at}, {so_far.written} of them upgraded"


async def _migrate(so_far: Migrated, batch: int, database: str | None, schema: str, *, dry_run: bool) -> None:
    async with opened(database, schema) as store:
        with progress("Upgrading", "messages") as told:
            await migrate_store(store, so_far=so_far, batch=batch, dry_run=dry_run, told=told)
