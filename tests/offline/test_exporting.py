"""Out of one database and into another: nothing is lost, nothing half-written, and questions can be asked of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec import structs

from rejoinder.messages import Message, Text
from rejoinder.offline.exporting import NotAnExport, digest_of, export_lines, import_lines
from rejoinder.offline.parquet import export_parquet
from rejoinder.ports.archive import TABLES
from rejoinder.ports.journal import AlreadyExists, Checkpoint
from rejoinder.stores.postgres.archive import PostgresArchive
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.testing.store_contract.samples import ODD_TEXTS, PARTS
from tests.offline.test_checking import TRANSLATORS, checked
from tests.offline.test_replay import rejoinder
from tests.stores.databases import Databases


async def everything(database: str) -> None:
    """Rows in every table: parts of every kind, odd texts, blobs, checkpoints, branches, forks, another tenant."""
    store = PostgresConversationStore(database)
    await store.open()
    try:
        await store.create_conversation(
            id="parts", tenant="acme", metadata={"odd": "\u0000 \ud800", "n": 1e22}
        )
        odd = tuple(Text(text=text) for text in ODD_TEXTS.values())
        await store.append_messages(
            "parts",
            [
                Message(id="all", role="assistant", parts=(*PARTS.values(), *odd), metadata={"null": None}),
                Message(id="bare", role="user", metadata=None),
            ],
            tenant="acme",
        )
        await store.fork_conversation("parts", at="all", new_id="fork", tenant="acme")
        await store.put_blob(b"\x00\xff" * 1000, media_type="application/octet-stream", tenant="acme")
        conversation = await store.get_conversation("parts", tenant="acme")
        assert conversation is not None
        await store.add_checkpoint(
            Checkpoint(
                id="sum",
                conversation_id="parts",
                through_seq=0,
                strategy="test",
                summary=Message(id="s", role="system", parts=(Text(text="In short."),)),
                created_at=conversation.created_at,
            ),
            tenant="acme",
        )
    finally:
        await store.close()


def test_an_export_makes_an_equal_database(database: str, postgres: Databases, tmp_path: Path) -> None:
    asyncio.run(everything(database))
    source, target = PostgresArchive(database), PostgresArchive(postgres.fresh())
    written = export_lines(source, tmp_path, tenant=None)
    assert written.tables["part"].rows > 50
    read = import_lines(target, tmp_path)
    assert read == written
    assert digest_of(target).digest == digest_of(source).digest == written.digest

    async def look(url: str) -> None:
        store = PostgresConversationStore(url)
        await store.open()
        try:
            assert await store.list_tenants() == ["acme", "default"]
            assert not any(check.differences for check in await checked(store, TRANSLATORS))
        finally:
            await store.close()

    asyncio.run(look(database))


def test_one_tenant_goes_alone_and_under_another_name(
    database: str, postgres: Databases, tmp_path: Path
) -> None:
    asyncio.run(everything(database))
    source, target = PostgresArchive(database), PostgresArchive(postgres.fresh())
    export_lines(source, tmp_path, tenant="acme")
    import_lines(target, tmp_path, tenant="brick")
    import_lines(target, tmp_path)
    with target.reading(tenant="brick") as reader:
        assert len([*reader.rows("conversation")]) == 2
    assert digest_of(target, tenant="acme").tables == digest_of(source, tenant="acme").tables


def test_what_is_there_already_stops_an_import_and_nothing_is_written(database: str, tmp_path: Path) -> None:
    archive = PostgresArchive(database)
    export_lines(archive, tmp_path, tenant=None)
    before = digest_of(archive).digest
    with pytest.raises(AlreadyExists, match="is there already"):
        import_lines(archive, tmp_path)
    assert digest_of(archive).digest == before


@pytest.mark.parametrize(
    "fault", ["no list", "a list that is none", "a cut file", "a file is gone", "a later format"]
)
def test_an_export_that_is_not_whole_is_refused(
    fault: str, database: str, postgres: Databases, tmp_path: Path
) -> None:
    listing = export_lines(PostgresArchive(database), tmp_path, tenant=None)
    listed, file = tmp_path / "export.json", tmp_path / "message.jsonl"
    match fault:
        case "no list":
            listed.unlink()
        case "a list that is none":
            listed.write_text("[]")
        case "a cut file":
            file.write_bytes(file.read_bytes()[:-10])
        case "a file is gone":
            file.unlink()
        case _:
            listed.write_text(listed.read_text().replace('"format": 1', '"format": 2'))
    target = PostgresArchive(postgres.fresh())
    empty = digest_of(target).digest
    with pytest.raises(NotAnExport):
        import_lines(target, tmp_path)
    assert digest_of(target).digest == empty
    assert structs.replace(listing, tenant=None) == listing


def ask(question: str) -> list[Any]:
    with duckdb.connect() as connection:
        return connection.execute(question).fetchall()


def test_parquet_answers_questions(database: str, tmp_path: Path) -> None:
    asyncio.run(everything(database))
    counts = export_parquet(PostgresArchive(database), tmp_path, tenant=None)
    assert {file.stem for file in tmp_path.iterdir()} == set(TABLES)
    for table, count in counts.items():
        assert ask(f"SELECT count(*) FROM '{tmp_path / table}.parquet'") == [(count,)]
    tools = ask(
        f"SELECT tool_name, tool_input::JSON ->> 'city' AS city FROM '{tmp_path}/part.parquet'"
        " WHERE tool_name = 'weather' AND conversation_id = 'tools' ORDER BY 2"
    )
    assert tools == [("weather", "Oslo"), ("weather", "Rome")]
    ((said,),) = ask(
        f"SELECT count(*) FROM '{tmp_path}/event.parquet' WHERE body::JSON ->> 'say' IS NOT NULL"
    )
    assert said > 0


def test_the_command_says_what_it_did(database: str, postgres: Databases, tmp_path: Path) -> None:
    other = postgres.fresh()
    out = rejoinder("export", str(tmp_path / "all"), database=database)
    assert (out.returncode, out.stderr) == (0, "")
    assert "8 conversations" in out.stdout
    back = rejoinder("import", "--from", "rejoinder", str(tmp_path / "all"), database=other)
    assert (back.returncode, back.stderr) == (0, "")
    assert "13 turns imported" in back.stdout
    digests = [rejoinder("export", "--digest", database=url).stdout for url in (database, other)]
    assert digests[0] == digests[1] != ""
    assert digests[0].strip() in out.stdout
    again = rejoinder("import", "--from", "rejoinder", str(tmp_path / "all"), database=other)
    assert (again.returncode, len(again.stderr.splitlines())) == (1, 1)
    tables = rejoinder("export", str(tmp_path / "tables"), "--format", "parquet", database=database)
    assert tables.returncode == 0, tables.stderr
