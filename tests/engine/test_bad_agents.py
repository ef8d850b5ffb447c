"""Whatever an agent does before, during and after its stream, the turn ends rightly, and frees what it held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from rejoinder.messages import Json
from rejoinder.ports.agents import Agent, Call, Run
from rejoinder.ports.journal import TurnBegun
from rejoinder.translate import Emitter, Finished
from rejoinder.wire.chunks import Chunk, Finish
from tests.engine.stage import Stage, asynchronous, stage, texts

LAST = "last word"


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    if event == LAST:
        say.note(Finished(reason="stop"))
    return say.text(event)


def _raises_when_called(call: Call) -> AsyncIterator[Json]:
    raise ValueError("before")


class _RaisesWhenIterated:
    def __init__(self, call: Call) -> None:
        pass

    def __aiter__(self) -> AsyncIterator[Json]:
        raise ValueError("before")


async def _raises_first(call: Call) -> AsyncIterator[Json]:
    if call.prompt == "never":
        yield "never"
    raise ValueError("before")


async def _raises_later(call: Call) -> AsyncIterator[Json]:
    yield "so far"
    raise ValueError("during")


async def _leaves_the_process(call: Call) -> AsyncIterator[Json]:
    yield "so far"
    raise SystemExit(3)


async def _raises_at_the_end(call: Call) -> AsyncIterator[Json]:
    yield LAST
    raise ValueError("after")


async def _goes_on_after_its_end(call: Call) -> AsyncIterator[Json]:
    yield LAST
    yield " and more"


async def _raises_on_close(call: Call) -> AsyncIterator[Json]:
    try:
        yield "so far"
        call.stop.press()
        await asyncio.Event().wait()
    finally:
        raise ValueError("closing")


async def _yields_while_it_is_closed(call: Call) -> AsyncIterator[Json]:
    try:
        yield "so far"
        call.stop.press()
        await asyncio.Event().wait()
    finally:
        yield "never"


async def _hangs_on_close(call: Call) -> AsyncIterator[Json]:
    try:
        yield "so far"
        call.stop.press()
        await asyncio.Event().wait()
    finally:
        await asyncio.Event().wait()


async def _hangs_after_its_last_word(call: Call) -> AsyncIterator[Json]:
    try:
        yield LAST
    finally:
        await asyncio.Event().wait()


AGENTS: dict[str, tuple[Run, str, list[str]]] = {
    "raises when it is called": (_raises_when_called, "failed", []),
    "raises when it is iterated": (_RaisesWhenIterated, "failed", []),
    "raises before its first event": (_raises_first, "failed", []),
    "raises between its events": (_raises_later, "failed", ["so far"]),
    "calls sys.exit": (_leaves_the_process, "failed", ["so far"]),
    "raises after its last word": (_raises_at_the_end, "succeeded", [LAST]),
    "goes on after its last word": (_goes_on_after_its_end, "succeeded", [LAST + " and more"]),
    "raises when it is closed": (_raises_on_close, "cancelled", ["so far"]),
    "yields while it is closed": (_yields_while_it_is_closed, "cancelled", ["so far"]),
    "hangs when it is closed": (_hangs_on_close, "cancelled", ["so far"]),
    "hangs after its last word": (_hangs_after_its_last_word, "succeeded", [LAST]),
}


@pytest.mark.parametrize("name", AGENTS)
@asynchronous
async def test_a_turn_outlives_its_agent(name: str) -> None:
    run, status, said = AGENTS[name]
    async with stage() as on:
        before = asyncio.all_tasks()
        running = asyncio.create_task(on.run(Agent("bad", run, _translate)))
        await _patiently(on, running.done)
        turn = await running
        assert turn.status == status
        assert texts(await on.answer()) == said
        assert isinstance((await on.journal())[-1], Finish) == (status != "cancelled")
        assert isinstance(await on.begin("next"), TurnBegun), "the conversation is free"
        await _patiently(on, lambda: asyncio.all_tasks() <= before)


async def _patiently(on: Stage, happened: Callable[[], bool]) -> None:
    """Let time pass until it has happened, but no longer than all patience together lasts."""
    for _ in range(200):
        if happened():
            return
        await on.clock.advance(0.25)
    assert happened()
