"""`rejoinder reproject`: answers made anew from what agents said, after a translator has improved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, Tenant, opened, progress, run, translators
from rejoinder.cli.streams import misuse

if TYPE_CHECKING:
    from rejoinder.offline.checking import Translators
    from rejoinder.offline.reprojecting import Change


def reproject(
    *,
    agent: Annotated[
        str,
        typer.Option(
            help="Whose answers: a vendor that we translate, such as claude-code, or your agent as module:attribute."
        ),
    ],
    since: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Only turns that began on this day or later."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Give the answers back as they were before.")] = False,
    tenant: Tenant = DEFAULT_TENANT,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Make stored answers anew from the agent's events, and say what changes. The old ones are kept.

    Example: rejoinder reproject --agent claude-code --since 2026-11-01 --dry-run
    """
    named = [agent] if ":" in agent else []
    known = translators(named)
    name = next((each for each in known if each == agent), None) if not named else _name_of(known)
    if name is None:
        misuse(f"--agent {agent}: nobody here translates for it; name your agent as module:attribute")
    day = None if since is None else since.replace(tzinfo=UTC)
    changed = run(_reproject(name, day, known, tenant, database, schema, dry_run=dry_run, undone=undo))
    what = "given back" if undo else "would change" if dry_run else "changed"
    typer.echo(f"{changed} answers {what}")


def _name_of(known: Translators) -> str:
    """The agent that was brought: it stands last."""
    return [*known][-1]


async def _reproject(
    name: str,
    since: datetime | None,
    known: Translators,
    tenant: str,
    database: str | None,
    schema: str,
    *,
    dry_run: bool,
    undone: bool,
) -> int:
    from rejoinder.offline import reprojecting

    changed = 0
    async with opened(database, schema) as store:
        with progress("Making anew", "answers changed") as told:
            changes: AsyncIterator[Change]
            if undone:
                changes = reprojecting.undo(store, tenant=tenant, agent=name)
            else:
                changes = reprojecting.reproject(
                    store,
                    tenant=tenant,
                    agent=name,
                    translators=known,
                    now=datetime.now(UTC),
                    since=since,
                    dry_run=dry_run,
                )
            async for change in changes:
                changed += 1
                told(changed, None)
                typer.echo(str(change))
    return changed
