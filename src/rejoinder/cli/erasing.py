"""`rejoinder erase`: everything that a person has said, and that was said to that person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, Tenant, opened, progress, run
from rejoinder.cli.streams import Problems

if TYPE_CHECKING:
    from rejoinder.stores.postgres.erasing import Erased


def erase(
    *,
    subject: Annotated[
        str, typer.Option(help="Who: the subject of the principal that asked, letter by letter.")
    ],
    tenant: Tenant = DEFAULT_TENANT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how much would go.")] = False,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Erase what a subject has said and what was said to it: for good, and whole conversations where nobody else spoke.

    One transaction for each conversation: interrupted, it is taken up again by the same command.

    Example: rejoinder erase --subject ada@example.com --dry-run
    """
    run(_erase(subject, tenant, database, schema, dry_run=dry_run))


async def _erase(subject: str, tenant: str, database: str | None, schema: str, *, dry_run: bool) -> None:
    from rejoinder.stores.postgres.erasing import Erased

    whole, in_part, total = 0, 0, Erased()
    async with opened(database, schema) as store:
        with progress("Erasing", "conversations") as told:
            found = await store.list_erasures(subject, tenant=tenant)
            for done, each in enumerate(found):
                told(done, len(found))
                erased = await store.erase(subject, each, tenant=tenant, dry_run=dry_run)
                if erased is not None:
                    total = total.plus(erased)
                    whole += each.whole
                    in_part += not each.whole
            told(len(found), len(found))
        left = 0 if dry_run else len(await store.list_erasures(subject, tenant=tenant))
    typer.echo(_told(whole, in_part, total, dry_run=dry_run))
    if left:
        problems = Problems()
        problems.tell("", f"{left} conversations have come since, or were changed meanwhile: erase again")
        problems.exit()


def _told(whole: int, in_part: int, erased: Erased, *, dry_run: bool) -> str:
    verb = "would be erased" if dry_run else "erased"
    counts = (f"{count:>12,}  {name.replace('_', ' ')}" for name, count in erased._asdict().items())
    return "\n".join([f"{whole} conversations {verb} whole, {in_part} in part", *counts])
