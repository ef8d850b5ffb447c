"""`rejoinder replay` as a person and a program use it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire import json

ROOT = Path(__file__).resolve().parents[2]
AGENT = ("--agent", "tests.server.agents:AGENT")


def rejoinder(*arguments: str, database: str, sent: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rejoinder", *arguments],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database, "PYTHONPATH": str(ROOT / "src")},
        input=sent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_turn_is_shown_as_it_streamed(database: str) -> None:
    shown = rejoinder("replay", "tools", "--speed", "max", database=database)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[1:] == [
        '→ weather {"city":"Oslo"}',
        '← {"degrees":3}',
        '→ weather {"city":"Rome"}',
        '← {"degrees":20}',
        "Cold there, warm here.",
        "── succeeded",
    ]


def test_at_real_speed_and_step_by_step_it_says_the_same(database: str) -> None:
    fast = rejoinder("replay", "words", "--speed", "20", database=database).stdout
    assert rejoinder("replay", "words", "--speed", "step", database=database, sent="\n" * 99).stdout == fast


def test_programs_get_chunks_and_the_same_ones_from_the_events(database: str) -> None:
    told = rejoinder("replay", "tools", "--speed", "max", "--json", database=database).stdout
    anew = rejoinder(
        "replay", "tools", "--speed", "max", "--json", "--from-events", *AGENT, database=database
    ).stdout
    assert told == anew
    frames = [json.decode(line.encode()) for line in told.splitlines()]
    assert [frame["seq"] for frame in frames] == [*range(len(frames))]
    assert frames[0]["chunk"]["type"] == "start"
    assert frames[-1]["chunk"]["type"] == "finish"


def test_everything_is_checked_and_what_differs_is_named(database: str) -> None:
    fine = rejoinder("replay", "--check", *AGENT, database=database)
    assert (fine.returncode, fine.stderr) == (0, "")
    assert fine.stdout.startswith("13 turns checked, 0 differ")

    async def spoil() -> str:
        store = PostgresConversationStore(database)
        await store.open()
        try:
            turn = (await store.list_turns("wants"))[-1]
            assert turn.message_id is not None
            stored = await store.get_message("wants", turn.message_id)
            assert stored is not None
            await store.delete_message("wants", turn.message_id)
            await store.append_messages(
                "wants", [type(stored.message)(id=turn.message_id, role="assistant")], turn_id=turn.id
            )
            return turn.id
        finally:
            await store.close()

    victim = asyncio.run(spoil())
    found = rejoinder("replay", "--check", *AGENT, database=database)
    assert found.returncode == 1
    assert victim in found.stderr
    assert "from its frames: parts[0]: kept nothing" in found.stderr
    assert "1 differ" in found.stdout
    named = rejoinder("replay", "wants", "--check", *AGENT, database=database)
    assert (named.returncode, victim in named.stderr) == (1, True)


def test_wrong_use_is_told_in_a_line(database: str) -> None:
    for arguments, code, clue in (
        (("replay",), 2, "name a conversation"),
        (("replay", "tools", "--speed", "quick"), 2, "--speed quick"),
        (("replay", "nobody"), 1, "there is no conversation 'nobody'"),
        (("replay", "tools", "--turn", "nobody"), 1, "has no turn 'nobody'"),
        (("replay", "tools", "--tenant", "other"), 1, "of tenant 'other'"),
        (("replay", "tools", "--agent", "nothing"), 1, "names no agent"),
        (("replay", "tools", "--from-events"), 2, "nobody here translates for 'obedient'"),
    ):
        told = rejoinder(*arguments, database=database)
        assert told.returncode == code, told
        assert clue in told.stderr
        assert len(told.stderr.splitlines()) == 1, told.stderr
