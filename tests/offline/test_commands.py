"""The other commands over stored conversations, as a person calls them."""

from __future__ import annotations

from pathlib import Path

from rejoinder.wire import json
from tests.offline.test_replay import rejoinder


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


def test_every_command_over_stored_conversations_has_an_example(tmp_path: Path) -> None:
    for command in ("replay", "reproject", "export", "import", "stats", "tail"):
        told = rejoinder(command, "--help", database="")
        assert told.returncode == 0
        assert "Example" in told.stdout, command
