"""However Claude Code comes to its end, the turn ends rightly, and no process is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions

from rejoinder.agents.claude_code import ClaudeCode
from rejoinder.messages import Turn
from tests.agents import bad_program
from tests.engine.stage import Stage, stage, texts


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "claude"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {bad_program.__file__}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _no_orphans() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


def children() -> set[int]:
    """The processes that this one has started and that are there."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


async def turn_of(agent: ClaudeCode, text: str, on: Stage) -> Turn:
    return await on.run(agent, await on.begin(text=text))


@pytest.mark.parametrize(
    ("how", "clues"),
    [
        ("die", ["exit code -9", "out of memory"]),
        ("exit", ["exit code 3", "cannot go on"]),
        ("leave", ["ended without a result"]),
        ("garble", ["JSON"]),
    ],
)
def test_a_program_that_breaks_off_fails_its_turn_with_its_last_words(
    program: Path, how: str, clues: list[str]
) -> None:
    async def walk() -> None:
        async with stage() as on:
            turn = await turn_of(ClaudeCode(ClaudeAgentOptions(cli_path=program)), how, on)
            assert turn.status == "failed"
            assert turn.error is not None
            for clue in clues:
                assert clue in turn.error.message
            assert "secret-canary" not in turn.error.message
            assert texts(await on.answer()) == ["So far so "]

    asyncio.run(walk())


def test_what_a_program_complains_about_floods_nobody(
    program: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def walk() -> None:
        async with stage() as on:
            turn = await turn_of(ClaudeCode(ClaudeAgentOptions(cli_path=program)), "flood", on)
            assert turn.status == "succeeded", turn.error
            assert texts(await on.answer()) == ["So far so good."]

    with caplog.at_level(logging.DEBUG, "rejoinder"):
        asyncio.run(walk())
    assert len(capfd.readouterr().err) < 10_000
    assert len(caplog.text) < 10_000


def test_a_program_that_does_not_go_is_ended(program: Path) -> None:
    async def walk() -> None:
        async with stage() as on:
            running = asyncio.create_task(
                turn_of(ClaudeCode(ClaudeAgentOptions(cli_path=program)), "cling", on)
            )
            turn = await running
            assert turn.status == "succeeded", turn.error

    asyncio.run(walk())


def test_a_turn_that_is_stopped_ends_its_program_whatever_it_does(program: Path) -> None:
    async def walk() -> None:
        async with stage() as on:
            agent = ClaudeCode(ClaudeAgentOptions(cli_path=program))
            running = asyncio.create_task(turn_of(agent, "hang", on))
            while b"So far" not in b"".join(page.frames for page in on.shown):
                await on.clock.advance(0.1)
                await asyncio.sleep(0.01)
            on.stop.press()
            while not running.done():
                await on.clock.advance(1)
                await asyncio.sleep(0.01)
            assert (await running).status == "cancelled"
            assert texts(await on.answer()) == ["So far so "]

    asyncio.run(walk())


@pytest.mark.parametrize(
    ("options", "clue"),
    [
        (ClaudeAgentOptions(cli_path="/nowhere/claude"), "not found"),
        (ClaudeAgentOptions(cwd="/nowhere/at/all"), "does not exist"),
    ],
)
def test_a_program_that_cannot_be_started_says_why(options: ClaudeAgentOptions, clue: str) -> None:
    async def walk() -> None:
        async with stage() as on:
            turn = await turn_of(ClaudeCode(options), "hello", on)
            assert turn.status == "failed"
            assert turn.error is not None
            assert clue in turn.error.message
            assert turn.error.code == "claude-code"

    asyncio.run(walk())
