"""The other commands over stored conversations, as a person calls them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from rejoinder.cli.tailing import Looked
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire import json
from tests.offline.conftest import fill
from tests.offline.test_replay import ROOT, rejoinder
from tests.stores.databases import Databases


def test_answers_are_made_anew_by_command_and_given_back(database: str) -> None:
    improved = ("--agent", "tests.offline.improved:AGENT")
    dry = rejoinder("reproject", *improved, "--dry-run", database=database)
    assert dry.returncode == 0, dry.stderr
    assert "answers would change" in dry.stdout
    assert "HELLO" in dry.stdout
    done = rejoinder("reproject", *improved, database=database)
    assert done.stdout.replace("answers changed", "answers would change") == dry.stdout
    back = rejoinder("reproject", *improved, "--undo", database=database)
    assert back.stdout.splitlines()[-1].endswith("answers given back")
    wrong = rejoinder("reproject", "--agent", "nobody", database=database)
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


def test_turns_are_counted_in_tables_and_in_json(database: str) -> None:
    table = rejoinder("stats", "turns", "endings", database=database)
    assert table.returncode == 0, table.stderr
    assert "succeeded" in table.stdout
    assert "13" in table.stdout
    lines = rejoinder("stats", "--json", "--by", "agent", database=database).stdout.splitlines()
    rows = [json.decode(line.encode()) for line in lines]
    turns = next(row for row in rows if row["measure"] == "turns")
    assert (turns["key"], turns["turns"]) == ("obedient", 13)
    tools = {row["tool"]: row["calls"] for row in rows if row["measure"] == "tools"}
    assert tools["weather"] == 2
    none = rejoinder("stats", "turns", "--from", "2020-01-01", "--to", "2020-01-02", database=database)
    assert "nothing in these days" in none.stdout
    wrong = rejoinder("stats", "--from", "2026-02-02", "--to", "2026-01-01", database=database)
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


def test_a_tail_without_anything_live_ends_when_asked_to(database: str) -> None:
    told = rejoinder("tail", "--once", database=database)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_a_tail_tells_turns_that_begin_and_end_between_two_looks(postgres: Databases) -> None:
    async def walk() -> None:
        store = PostgresConversationStore(postgres.fresh())
        await store.open()
        looked = Looked(store, None, "default")
        assert await looked.new_turns() == []
        await fill(store)
        await store.open()
        try:
            assert len(await looked.new_turns()) == 13
            assert await looked.new_turns() == []
            # One that begins to look now is told of what is live only.
            assert await Looked(store, None, "default").new_turns() == []
        finally:
            await store.close()

    asyncio.run(walk())


@pytest.mark.parametrize("lines", [1, 0])
def test_a_tail_whose_reader_has_gone_ends_without_a_word(database: str, lines: int) -> None:
    live = "UPDATE rejoinder.turn SET status = 'running', epoch = 9 WHERE conversation IN (SELECT key FROM"
    with psycopg.connect(database) as connection:
        connection.execute(f"{live} rejoinder.conversation WHERE id IN ('fails', 'tools'))".encode())
    environment = {**os.environ, "DATABASE_URL": database, "PYTHONPATH": str(ROOT / "src")}
    told = subprocess.run(
        f"{sys.executable} -m rejoinder tail | head -{lines}",
        shell=True,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stderr == ""
    assert len(told.stdout.splitlines()) == lines


def test_what_is_not_there_is_named_in_one_line(database: str, postgres: Databases) -> None:
    for words in (
        ("tail", "nothing", "--once"),
        ("replay", "nothing"),
        ("replay", "tools", "--turn", "nothing"),
        ("replay", "nothing", "--check"),
        ("replay", "--check", "--tenant", "nothing"),
        ("export", "--conversation", "nothing", "--format", "ui"),
    ):
        told = rejoinder(*words, database=database)
        assert (told.returncode, told.stdout, len(told.stderr.splitlines())) == (1, "", 1), words
        assert "'nothing'" in told.stderr
    empty = rejoinder("stats", database=postgres.fresh())
    assert empty.stdout.splitlines()[-1] == "nothing in these days"
    nobody = rejoinder("replay", "--check", database=postgres.fresh())
    assert nobody.stdout == "0 turns checked, 0 differ\n"


def test_every_command_over_stored_conversations_has_an_example(tmp_path: Path) -> None:
    for command in ("replay", "reproject", "export", "import", "stats", "tail"):
        told = rejoinder(command, "--help", database="")
        assert told.returncode == 0
        assert "Example" in told.stdout, command
