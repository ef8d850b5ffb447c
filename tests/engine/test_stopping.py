"""How a turn ends that does not end by itself: by a stop, by silence, by a limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from rejoinder.engine.running import TurnLimits
from rejoinder.messages import Json, Usage
from rejoinder.ports.agents import Agent, Call
from rejoinder.testing.scripted import scripted
from rejoinder.translate import CallEnded, CallStarted, Emitter, Finished
from rejoinder.translate.emitter import INTERRUPTED
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    Error,
    Finish,
    TextDelta,
    TextStart,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from tests.engine.stage import asynchronous, calls, chunks, stage, texts


@asynchronous
async def test_a_stop_ends_the_turn_as_cancelled_and_nothing_more_is_shown() -> None:
    async with stage() as on:
        seen: list[int] = []

        async def press(call: Call) -> None:
            await call.kept()
            on.stop.press("enough")
            seen.append(len(chunks(on.shown)))

        agent = scripted(
            ToolInputAvailable(tool_call_id="c", tool_name="t", input=1), "text ", press, "unheard", "unheard"
        )
        turn = await on.run(agent)
        assert turn.status == "cancelled"
        message = await on.answer()
        assert message.status == "cancelled"
        assert texts(message) == ["text "]
        assert calls(message)[0].error_text == INTERRUPTED
        after = (await on.journal())[seen[0] :]
        assert not any(isinstance(chunk, TextStart | TextDelta) for chunk in after)
        assert after[-1] == Abort(reason="enough")
        assert b'{"text":"unheard"}' in await on.events()


@asynchronous
async def test_a_stop_from_elsewhere_is_seen_at_the_next_page() -> None:
    async with stage() as on:

        async def ask(call: Call) -> None:
            assert await on.store.request_stop("turn")

        async def wait(call: Call) -> None:
            await call.stop.wait()

        turn = await on.run(scripted(ask, ToolInputAvailable(tool_call_id="c", tool_name="t", input=1), wait))
        assert turn.status == "cancelled"


@asynchronous
async def test_a_stop_from_elsewhere_reaches_an_agent_that_says_nothing() -> None:
    async with stage() as on:

        async def sleep(call: Call) -> None:
            await asyncio.Event().wait()

        running = asyncio.create_task(on.run(scripted("text", sleep)))
        await on.clock.advance()
        await on.store.request_stop("turn")
        await on.clock.advance(on.limits.look_seconds * 2 + on.limits.stop_seconds)
        assert (await running).status == "cancelled"


@asynchronous
async def test_an_agent_that_stops_by_itself_may_tell_what_it_consumed() -> None:
    usage = Usage(input_tokens=3)

    async def run(call: Call) -> AsyncIterator[Json]:
        yield "begun"
        on.stop.press()
        await call.stop.wait()
        yield "consumed"

    def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
        if event == "begun":
            say.note(CallStarted(id="c", provider="p", model="m"))
        else:
            say.note(CallEnded(id="c", status="cancelled", usage=usage))
        return say.text(event)

    async with stage() as on:
        turn = await on.run(Agent("careful", run, translate))
        assert turn.status == "cancelled"
        assert turn.usage == usage
        assert texts(await on.answer()) == ["begun"]


@asynchronous
async def test_an_agent_that_ignores_a_stop_is_cancelled() -> None:
    async with stage() as on:
        left: list[str] = []

        async def ignore(call: Call) -> None:
            on.stop.press()
            try:
                await asyncio.Event().wait()
            finally:
                left.append("gone")

        running = asyncio.create_task(on.run(scripted("text", ignore)))
        await on.clock.advance()
        assert not running.done()
        await on.clock.advance(on.limits.stop_seconds)
        assert (await running).status == "cancelled"
        assert left == ["gone"]


@asynchronous
async def test_an_agent_that_swallows_its_cancellation_holds_nobody_up() -> None:
    async with stage() as on:
        release = asyncio.Event()

        async def cling(call: Call) -> None:
            on.stop.press()
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        running = asyncio.create_task(on.run(scripted(cling)))
        try:
            await on.clock.advance(on.limits.stop_seconds + on.limits.close_seconds + 1)
            assert (await running).status == "cancelled"
        finally:
            release.set()


@asynchronous
async def test_a_silent_agent_stalls_after_its_limit_and_not_before() -> None:
    async with stage() as on:

        async def hang(call: Call) -> None:
            await asyncio.Event().wait()

        running = asyncio.create_task(on.run(scripted("so far", hang)))
        await on.clock.advance(on.limits.idle_seconds)
        assert not running.done()
        await on.clock.advance(2)
        turn = await running
        assert turn.status == "failed"
        assert turn.error is not None
        assert turn.error.code == "stalled"
        assert texts(await on.answer()) == ["so far"]
        assert Error(error_text="The answer stalled.") in await on.journal()


@asynchronous
async def test_while_a_tool_runs_silence_is_no_stall() -> None:
    async with stage() as on:
        done = asyncio.Event()

        async def work(call: Call) -> None:
            await done.wait()

        agent = scripted(
            ToolInputAvailable(tool_call_id="c", tool_name="t", input=1),
            work,
            ToolOutputAvailable(tool_call_id="c", output=2),
        )
        running = asyncio.create_task(on.run(agent))
        await on.clock.advance(on.limits.idle_seconds * 5)
        done.set()
        assert (await running).status == "succeeded"


@asynchronous
async def test_an_agent_that_speaks_for_ever_is_ended() -> None:
    async with stage() as on:

        async def run(call: Call) -> AsyncIterator[Json]:
            while True:
                await on.clock.sleep(1)
                yield "again "

        running = asyncio.create_task(on.run(Agent("loop", run, lambda say, event: say.text(event))))
        on.limits = TurnLimits(turn_seconds=30)
        await on.clock.advance(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        begun = await on.begin("second")
        running = asyncio.create_task(on.run(Agent("loop", run, lambda say, event: say.text(event)), begun))
        await on.clock.advance(31)
        turn = await running
        assert turn.error is not None
        assert turn.error.code == "too-long"


@asynchronous
async def test_an_agent_that_does_not_come_back_after_its_last_word_has_ended_well() -> None:
    async with stage() as on:

        async def run(call: Call) -> AsyncIterator[Json]:
            yield "last word"
            await asyncio.Event().wait()

        def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
            say.note(Finished(reason="stop"))
            return say.text(event)

        running = asyncio.create_task(on.run(Agent("lingering", run, translate)))
        await on.clock.advance(on.limits.close_seconds + 3)
        turn = await running
        assert turn.status == "succeeded"
        assert (await on.journal())[-1] == Finish(finish_reason="stop")
