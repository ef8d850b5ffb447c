"""How long an agent may be silent: as long as it says, and as long as it gives a sign of life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from msgspec import Struct

from rejoinder.messages import Json, Turn
from rejoinder.ports.agents import ALIVE, Agent, AgentProtocol, Call, Run
from rejoinder.translate import Emitter, Translator
from rejoinder.wire.chunks import Chunk
from tests.engine.stage import Stage, asynchronous, stage, texts

SILENT_SECONDS = 600.0


def say(say: Emitter, event: Json) -> Iterable[Chunk]:
    return say.text(event)


class Thinker(Struct, frozen=True):
    """An agent that says how long it may be silent."""

    run: Run
    idle_seconds: float
    name: str = "thinker"
    translate: Translator = say


async def ended(on: Stage, agent: AgentProtocol, *, after: float) -> Turn:
    running = asyncio.create_task(on.run(agent))
    await on.clock.advance(after - 2)
    assert not running.done(), "it may still be silent"
    await on.clock.advance(4)
    return await running


@asynchronous
async def test_who_gives_signs_of_life_does_not_stall_and_nothing_is_kept_of_them() -> None:
    async with stage() as on:

        async def think(call: Call) -> AsyncIterator[Json]:
            for _ in range(20):
                await on.clock.sleep(SILENT_SECONDS / 20)
                yield ALIVE
            yield "thought"

        running = asyncio.create_task(on.run(Agent("thinker", think, say)))
        await on.clock.advance(SILENT_SECONDS + 2)
        assert (await running).status == "succeeded"
        assert texts(await on.answer()) == ["thought"]
        assert await on.events() == [b'"thought"']


@asynchronous
async def test_a_sign_of_life_that_stays_away_is_missed() -> None:
    async with stage() as on:

        async def think(call: Call) -> AsyncIterator[Json]:
            await on.clock.sleep(30)
            yield ALIVE
            await asyncio.Event().wait()

        turn = await ended(on, Agent("thinker", think, say), after=30 + on.limits.idle_seconds)
        assert turn.error is not None
        assert turn.error.code == "stalled"


@asynchronous
async def test_an_agent_that_looks_after_its_silence_itself_is_given_its_time_and_a_little_more() -> None:
    async with stage() as on:

        async def think(call: Call) -> AsyncIterator[Json]:
            await asyncio.Event().wait()
            yield "never"

        patience = SILENT_SECONDS + on.limits.close_seconds
        turn = await ended(on, Thinker(think, idle_seconds=SILENT_SECONDS), after=patience)
        assert turn.error is not None
        assert turn.error.code == "stalled"


@asynchronous
async def test_a_turn_is_as_patient_as_its_own_limit_with_an_agent_that_is_less_so() -> None:
    async with stage() as on:

        async def think(call: Call) -> AsyncIterator[Json]:
            await asyncio.Event().wait()
            yield "never"

        turn = await ended(on, Thinker(think, idle_seconds=1.0), after=on.limits.idle_seconds)
        assert turn.status == "failed"
