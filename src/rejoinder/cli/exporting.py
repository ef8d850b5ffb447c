"""`rejoinder export`: all there is, or all of a tenant, in files, which `rejoinder import` brings into a database."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema, reached
from rejoinder.cli.forms import WRITERS
from rejoinder.cli.offline import DEFAULT_TENANT, opened, progress, run
from rejoinder.cli.streams import misuse, write_line
from rejoinder.offline.foreign_tables import KINDS
from rejoinder.wire import json

if TYPE_CHECKING:
    from rejoinder.offline.exporting import Told
    from rejoinder.offline.foreign_tables import Tables
    from rejoinder.stores.postgres.archive import PostgresArchive

FORMATS: Final = ("jsonl", "parquet")
OF_ONE: Final = (*WRITERS, *KINDS)


def export(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Where the files shall be, made if it is not there; of one conversation a file, else standard output."
        ),
    ] = None,
    *,
    format: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(FORMATS)}; of one conversation, of {', '.join(OF_ONE)}."),
    ] = "jsonl",
    conversation: Annotated[
        str | None, typer.Option(help="Only the messages of this one, in a form of other programs.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose; everybody's, if not given.")] = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Write nothing, and say the digest of what there is.")
    ] = False,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Export conversations, messages, parts, turns, provider calls, frames and events, a file for each table.

    JSON lines can be brought into another database, where they make an equal one: the digest is the same. Parquet is
    for asking questions, with DuckDB for instance. One moment is exported, whatever happens meanwhile; a folder is
    whole once it has its export.json.

    Examples: rejoinder export backup; rejoinder export tables --format parquet --tenant acme;
    rejoinder export chat.json --conversation greetings --format ui
    """
    if conversation is not None:
        if digest:
            misuse("--digest is for all that there is: leave --conversation out")
        _one(conversation, format, folder, tenant or DEFAULT_TENANT, database, schema)
        return
    if format in OF_ONE:
        misuse(f"--format {format} is for one conversation: say --conversation ID")
    if format not in FORMATS:
        misuse(f"--format {format}: say {' or '.join(FORMATS)}")
    if (folder is None) != digest:
        misuse("export: name a folder, or say --digest")
    from rejoinder.offline import exporting
    from rejoinder.stores.postgres import migrate
    from rejoinder.stores.postgres.archive import PostgresArchive

    url = reached(database)
    if not database:
        migrate.upgrade(url, schema=schema)
    archive = PostgresArchive(url, schema=schema)
    if folder is None:
        typer.echo(exporting.digest_of(archive, tenant=tenant).digest)
        return
    _write(archive, folder, format, tenant)


def _one(
    conversation: str, format: str, folder: Path | None, tenant: str, database: str | None, schema: str
) -> None:
    """One conversation, in a form of other programs."""
    if format not in OF_ONE:
        misuse(f"--conversation goes with --format {', '.join(OF_ONE)}")
    if format in WRITERS:
        _say(run(_told(conversation, format, tenant, database, schema)), folder)
    elif folder is None:
        misuse(f"export --format {format}: name a folder for its tables")
    else:
        _put_tables(folder, run(_tables(conversation, format, tenant, database, schema)))


def _write(archive: PostgresArchive, folder: Path, format: str, tenant: str | None) -> None:
    from rejoinder.offline import exporting

    with _bar("Exporting") as told:
        if format == "parquet":
            from rejoinder.offline.parquet import export_parquet

            counts = export_parquet(archive, folder, tenant=tenant, told=told)
            summary = ""
        else:
            listing = exporting.export_lines(archive, folder, tenant=tenant, told=told)
            counts = {name: file.rows for name, file in listing.tables.items()}
            summary = f"; digest {listing.digest}"
    typer.echo(
        f"{counts['conversation']} conversations, {counts['message']} messages and {counts['turn']} turns "
        f"exported to {folder}{summary}"
    )


async def _told(conversation: str, format: str, tenant: str, database: str | None, schema: str) -> bytes:
    from rejoinder.ports.journal import NoSuchConversation

    async with opened(database, schema) as store:
        if await store.get_conversation(conversation, tenant=tenant) is None:
            raise NoSuchConversation(f"there is no conversation {conversation!r} of the tenant {tenant!r}")
        stored = await store.list_messages(conversation, tenant=tenant)
    return json.encode(WRITERS[format](conversation, [each.message for each in stored]))


async def _tables(conversation: str, kind: str, tenant: str, database: str | None, schema: str) -> Tables:
    from rejoinder.offline.foreign_tables import rows_of

    async with opened(database, schema) as store:
        return await rows_of(store, conversation, kind, tenant=tenant)


def _put_tables(folder: Path, tables: Tables) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        _put(folder / f"{name}.jsonl", b"".join(row + b"\n" for row in rows))


def _say(text: bytes, file: Path | None) -> None:
    if file is None:
        write_line(text)
    else:
        _put(file, text + b"\n")


def _put(file: Path, content: bytes) -> None:
    partial = file.with_name(file.name + ".part")
    partial.write_bytes(content)
    partial.replace(file)


def bring_in(folder: Path, *, tenant: str | None, url: str, schema: str) -> None:
    """Import such a folder."""
    from rejoinder.offline.exporting import import_lines
    from rejoinder.stores.postgres.archive import PostgresArchive

    archive = PostgresArchive(url, schema=schema)
    with _bar("Importing") as told:
        listing = import_lines(archive, folder, tenant=tenant, told=told)
    counts = {name: file.rows for name, file in listing.tables.items()}
    typer.echo(
        f"{counts['conversation']} conversations, {counts['message']} messages and {counts['turn']} turns imported"
    )


@contextmanager
def _bar(what: str) -> Generator[Told]:
    with progress(what, "rows") as bar:

        def told(table: str, done: int, total: int) -> None:
            bar(done, max(done, total))

        yield told
