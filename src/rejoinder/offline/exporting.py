"""An export: a folder with a file for each table, and a list of them with counts and digests.

JSON lines are for bringing it back; Parquet is for asking questions of it (DuckDB, pandas, Spark). A file that is
there under its own name is whole: it is written under another one first, and the list comes last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.ports.archive import TABLES, Archive, ArchiveReader

LIST: Final = "export.json"
FORMAT: Final = 1
LINES: Final = ".jsonl"
PARTIAL: Final = ".part"
READ_BYTES: Final = 1 << 20

Told: TypeAlias = Callable[[str, int, int], None]
"""Hears of which table how many rows are done, and of about how many."""


class NotAnExport(RejoinderError):
    """The folder is no export of ours, or not whole: a file is missing or was changed. Export again."""

    code = "not-an-export"


class FileDigest(Struct, frozen=True, kw_only=True, rename="camel"):
    """One file: how many rows it has, and the SHA-256 of its bytes."""

    rows: int
    sha256: str


class Listing(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an export consists of. `digest` stands for all of its content: two equal databases have the same."""

    format: int
    tenant: str | None
    tables: dict[str, FileDigest]

    @property
    def digest(self) -> str:
        """One digest of all files."""
        told = "".join(f"{name} {self.tables[name].sha256}\n" for name in sorted(self.tables))
        return hashlib.sha256(told.encode()).hexdigest()


def nobody(table: str, done: int, total: int) -> None:
    """Nobody hears."""


def export_lines(archive: Archive, folder: Path, *, tenant: str | None, told: Told = nobody) -> Listing:
    """Write everything, or all of one tenant, as JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    # A list of an older export must not vouch for files of this one.
    (folder / LIST).unlink(missing_ok=True)
    with archive.reading(tenant=tenant) as reader:
        found = {
            table: _write_lines(folder / (table + LINES), counted(reader, table, told)) for table in TABLES
        }
    listing = Listing(format=FORMAT, tenant=tenant, tables=found)
    (folder / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(listing)) + b"\n")
    return listing


def import_lines(
    archive: Archive, folder: Path, *, tenant: str | None = None, told: Told = nobody
) -> Listing:
    """Bring an export into a store: all of it, or nothing. Raises `NotAnExport` or `StoreError`."""
    listing = read_listing(folder)
    for table, digest in listing.tables.items():
        _check(folder / (table + LINES), digest)
    if tenant is not None and listing.tenant is None:
        tenants = {_tenant_of(line) for line in _lines(folder / ("conversation" + LINES))}
        if len(tenants) > 1:
            raise NotAnExport(
                f"{folder} holds {len(tenants)} tenants: export one of them to bring it in under another name"
            )
    with archive.writing(tenant=tenant) as writer, ExitStack() as files:
        for table in TABLES:
            total = listing.tables[table].rows
            rows = _told(_lines(folder / (table + LINES), files), table, total, told)
            events = _lines(folder / ("event" + LINES), files) if table == "page" else None
            writer.put(table, rows, events=events)
    return listing


def digest_of(archive: Archive, *, tenant: str | None = None) -> Listing:
    """The list that an export would have now, without writing it."""
    with archive.reading(tenant=tenant) as reader:
        found = {table: _digested(reader.rows(table)) for table in TABLES}
    return Listing(format=FORMAT, tenant=tenant, tables=found)


def read_listing(folder: Path) -> Listing:
    """The list of an export. Raises `NotAnExport`."""
    try:
        listing = msgspec.json.decode((folder / LIST).read_bytes(), type=Listing)
    except FileNotFoundError:
        raise NotAnExport(f"{folder} has no {LIST}: name the folder of a finished export") from None
    except msgspec.MsgspecError as error:
        raise NotAnExport(f"{folder / LIST} cannot be read: {error}") from error
    if listing.format != FORMAT:
        raise NotAnExport(f"{folder} is of format {listing.format}: install a newer release")
    if missing := set(TABLES) - set(listing.tables):
        raise NotAnExport(f"{folder / LIST} lacks {', '.join(sorted(missing))}")
    return listing


def _check(file: Path, digest: FileDigest) -> None:
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotAnExport(f"{file} is missing: export again") from None
    if found != digest.sha256:
        raise NotAnExport(f"{file} is not as it was written: export again")


def _write_lines(file: Path, rows: Iterable[bytes]) -> FileDigest:
    digest, count = hashlib.sha256(), 0
    partial = file.with_name(file.name + PARTIAL)
    with partial.open("wb") as opened:
        for row in rows:
            opened.write(row + b"\n")
            digest.update(row + b"\n")
            count += 1
    partial.replace(file)
    return FileDigest(rows=count, sha256=digest.hexdigest())


def _digested(rows: Iterable[bytes]) -> FileDigest:
    digest, count = hashlib.sha256(), 0
    for row in rows:
        digest.update(row + b"\n")
        count += 1
    return FileDigest(rows=count, sha256=digest.hexdigest())


def counted(reader: ArchiveReader, table: str, told: Told) -> Iterator[bytes]:
    """The rows of a table, while somebody hears how many there were."""
    return _told(reader.rows(table), table, reader.count(table), told)


def _told(rows: Iterator[bytes], table: str, total: int, told: Told) -> Iterator[bytes]:
    done = 0
    told(table, 0, total)
    for row in rows:
        yield row
        done += 1
        if done % 100 == 0:
            told(table, done, total)
    told(table, done, done)


def _lines(file: Path, files: ExitStack | None = None) -> Iterator[bytes]:
    if files is None:
        with file.open("rb") as opened:
            yield from opened
    else:
        yield from files.enter_context(file.open("rb"))


def _tenant_of(line: bytes) -> str:
    row = msgspec.json.decode(line)
    return str(row.get("tenant"))
