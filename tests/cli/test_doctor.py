"""`rejoinder doctor` says what is wrong, and what to do about it, and never ends in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from rejoinder import Chat
from tests.cli.filters import run
from tests.server.agents import AGENT
from tests.server.serving import chatting


def test_a_set_up_that_is_well_is_said_to_be(postgres_url: str) -> None:
    with chatting(Chat(AGENT, store="memory")) as api:
        address = api.removesuffix("/api")
        ran = run(
            "doctor", "--agent", "tests.server.agents:AGENT", "--database", postgres_url, "--server", address
        )
    assert ran.code == 0, ran.out
    assert "WRONG" not in ran.out
    assert "ok    database: it can be reached" in ran.out
    assert "it takes new turns" in ran.out


def test_what_is_wrong_is_said_each_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_the_kind")
    monkeypatch.chdir(tmp_path)
    nowhere = "127.0.0.1:1"
    ran = run(
        *("doctor", "--agent", "broken:agent", "--database", f"postgresql://user:secret@{nowhere}/x"),
        *("--redis", f"redis://{nowhere}", "--server", f"http://{nowhere}"),
    )
    assert ran.code == 1
    assert not ran.err
    wrong = [line.split()[1] for line in ran.out.splitlines() if line.startswith("WRONG")]
    assert wrong == ["database:", "agent:", "redis:", "server:"]
    assert "nothing_of_the_kind" in ran.out
    assert "secret" not in ran.out


def test_an_address_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "memory")
    ran = run("doctor", "--redis", "foo", "--server", "http://[")
    assert (ran.code, ran.err) == (1, "")
    wrong = [line.split()[1] for line in ran.out.splitlines() if line.startswith("WRONG")]
    assert wrong == ["redis:", "server:"]


def test_a_database_without_tables_is_told_from_one_that_is_not_there(postgres_empty_url: str) -> None:
    ran = run("doctor", "--database", postgres_empty_url)
    assert ran.code == 1
    assert "rejoinder db upgrade" in ran.out
