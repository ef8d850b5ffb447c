"""`rejoinder import`: bring in what other programs have kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema, reached
from rejoinder.cli.exporting import bring_in
from rejoinder.cli.offline import DEFAULT_TENANT, opened
from rejoinder.cli.streams import Problems, misuse
from rejoinder.convert.documents import FORMS as DOCUMENTS

if TYPE_CHECKING:
    from rejoinder.offline.importing import Progress, Report

KINDS: Final = ("rejoinder", "persistence", "session-messages", *DOCUMENTS)


def import_(
    place: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="The folder of an export; or a PostgreSQL URL, an SQLite file, a folder of TABLE.jsonl or TABLE.csv "
            "files, or one such file; or a JSON file of messages.",
        ),
    ],
    *,
    source: Annotated[str, typer.Option("--from", help=f"What it holds: {', '.join(KINDS)}.")],
    conversation: Annotated[
        str | None, typer.Option(help="What the conversation of a JSON file shall be called.")
    ] = None,
    source_schema: Annotated[str, typer.Option(help="Where a PostgreSQL source has its tables.")] = "public",
    tenant: Annotated[
        str | None, typer.Option(help="Whose it shall be: default; of an export, whose it was.")
    ] = None,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Import an export of ours, or conversations that other programs have kept.

    `rejoinder`: what `rejoinder export` wrote, all of it or nothing. The others can be repeated, and go on where they
    were interrupted.
    `persistence`: the tables agents (or chats), messages, parts. `session-messages`: the table session_messages,
    whose contents hold aiSDKChunks and rawAgentMessages. The others are forms of messages, in a file with a JSON
    array, an object {"id": …, "messages": […]}, or a line for each message or conversation. What could not be
    carried over as it was is named, a line each; exit 1 if something was not imported.

    Examples: rejoinder import --from persistence postgresql://localhost/shop;
    rejoinder import --from ui chat.json --conversation greetings
    """
    if source not in KINDS:
        misuse(f"import knows --from {', '.join(KINDS)}")
    if conversation is not None and source not in DOCUMENTS:
        misuse(f"--conversation is for --from {', '.join(DOCUMENTS)}")
    from rejoinder.stores.postgres import migrate

    url = reached(database)
    if not database:
        migrate.upgrade(url, schema=schema)
    if source == "rejoinder":
        bring_in(Path(place), tenant=tenant, url=url, schema=schema)
        return
    owner = tenant or DEFAULT_TENANT
    if source in DOCUMENTS:
        report = asyncio.run(_import_file(Path(place), source, conversation, owner, url, schema))
    else:
        report = asyncio.run(_import(place, source, source_schema, owner, url, schema))
    _tell(report)


def _tell(report: Report) -> None:
    problems = Problems()
    for note in report.notes:
        problems.warn(note)
    for trouble in report.troubles:
        if trouble.kept:
            problems.warn(str(trouble))
        else:
            problems.tell("", trouble)
    typer.echo(
        f"{report.conversations} conversations, {report.messages} messages and {report.turns} turns imported; "
        f"{report.there} were there already"
    )
    problems.exit()


async def _import(
    place: str, kind: str, source_schema: str, tenant: str, database: str, schema: str
) -> Report:
    from rejoinder.offline.importing import import_persistence, import_session_messages, open_source
    from rejoinder.stores.postgres.store import PostgresConversationStore

    store = PostgresConversationStore(database, schema=schema)
    with open_source(place, schema=source_schema) as source, _bar() as progress:
        await store.open()
        try:
            run = import_persistence if kind == "persistence" else import_session_messages
            return await run(source, store, tenant=tenant, progress=progress)
        finally:
            await store.close()


async def _import_file(
    file: Path, form: str, conversation: str | None, tenant: str, database: str, schema: str
) -> Report:
    from rejoinder.offline.importing import import_documents

    async with opened(database, schema) as store:
        with _bar() as progress:
            return await import_documents(
                file, form, store, conversation=conversation, tenant=tenant, progress=progress
            )


@contextmanager
def _bar() -> Generator[Progress]:
    """A progress bar on a terminal, and nothing anywhere else."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("Importing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("rows", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield progress
