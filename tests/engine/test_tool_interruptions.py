"""What is begun is begun once, announced before and said to be unknown if nobody saw its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from rejoinder import ModelAgent, Tool, ToolContext, tool
from rejoinder.engine.recovery import seal_interrupted
from rejoinder.messages import Conversation, Json, JsonObject, Message, Text, Turn
from rejoinder.ports.agents import Call, Stop
from rejoinder.ports.journal import Append, Page
from rejoinder.testing.scripted_model import Calls, ScriptedModel
from rejoinder.translate import Translation
from rejoinder.translate.known_calls import OUTCOME_UNKNOWN
from rejoinder.translate.model_events import ToolBegun, is_ours, read_event
from rejoinder.wire import json
from tests.engine.stage import Interrupted, asynchronous, calls, stage
from tests.engine.tool_stage import add, outcome, results


@asynchronous
async def test_no_tool_runs_before_the_intent_is_durable() -> None:
    async with stage() as on:
        kept: list[str] = []

        @tool
        async def act(context: ToolContext) -> str:
            seen = await on.store.read_pages("turn", events=True)
            decoded = [json.decode(event.body) for page in seen.pages for event in page.events]
            events = [read_event(event) for event in decoded if is_ours(event)]
            kept.extend(event.call_id for event in events if isinstance(event, ToolBegun))
            return context.call_id

        await outcome(on, act)
        assert kept == ["call-1"]


@asynchronous
async def test_a_call_that_was_cut_off_while_it_ran_is_said_to_be_unknown() -> None:
    async with stage() as on:
        running = asyncio.Event()

        @tool
        async def pay(amount: int) -> None:
            running.set()
            await asyncio.Event().wait()

        model = ScriptedModel([Calls("pay", {"amount": 5}), Calls("locate", {})])
        agent = ModelAgent(model, tools=[pay, Tool(name="locate")])
        task = asyncio.create_task(on.run(agent))
        await running.wait()
        task.cancel()
        await asyncio.wait({task})
        paid, located = calls(await on.answer())
        assert (paid.state, paid.error_text) == ("output-error", OUTCOME_UNKNOWN)
        assert located.error_text != OUTCOME_UNKNOWN


@asynchronous
async def test_after_a_crash_what_a_tool_was_doing_is_unknown_and_the_model_hears_so() -> None:
    running = asyncio.Event()

    @tool
    async def pay(amount: int) -> None:
        running.set()
        await asyncio.Event().wait()

    model = ScriptedModel(
        [Calls("add", {"one": 1, "other": 1}), Calls("pay", {"amount": 5})], lambda _: "I shall look."
    )
    agent = ModelAgent(model, tools=[add, pay])
    async with stage() as before:
        task = asyncio.create_task(before.run(agent))
        await running.wait()
        while not answered_in(before.shown):
            await before.clock.advance()
        kept = [*before.shown]
        task.cancel()
        await asyncio.wait({task})
    async with stage() as on:
        # What a process had committed when it died, and another one finds.
        begun = await on.begin()
        await on.store.append_pages([Append(claim=begun.claim, page=page) for page in kept])
        turn = await seal_interrupted(begun.claim, store=on.store, clock=on.clock, translator=agent.translate)
        assert turn.status == "interrupted"
        added, paid = calls(await on.answer())
        assert (added.state, added.output) == ("output-available", 2)
        assert (paid.state, paid.error_text) == ("output-error", OUTCOME_UNKNOWN)
        assert (await on.run(agent, await on.begin("next"))).status == "succeeded"
        told = {result.call_id: result for result in results(model.asked[-1])}
        assert told[paid.call_id].is_error
        assert told[paid.call_id].result == OUTCOME_UNKNOWN


def answered_in(pages: list[Page]) -> bool:
    """Whether a call has been answered in them."""
    return any(b"tool-output-available" in page.frames for page in pages)


@asynchronous
async def test_a_stop_ends_the_tools_that_run() -> None:
    async with stage() as on:
        running, ended = asyncio.Event(), asyncio.Event()

        @tool
        async def search() -> None:
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        model = ScriptedModel([Calls("search", {}), Calls("search", {})], "Never said.")
        before = asyncio.all_tasks()
        task = asyncio.create_task(on.run(ModelAgent(model, tools=[search])))
        await running.wait()
        on.stop.press("enough")
        turn = await task
        assert turn.status == "cancelled"
        assert ended.is_set()
        assert len(model.asked) == 1
        assert [call.error_text for call in calls(await on.answer())] == [OUTCOME_UNKNOWN] * 2
        assert asyncio.all_tasks() == before


@asynchronous
async def test_a_replay_runs_no_tool() -> None:
    async with stage() as on:
        runs: list[int] = []

        @tool
        async def once(context: ToolContext) -> str:
            runs.append(1)
            return context.subject or "nobody"

        agent = ModelAgent(ScriptedModel(Calls("once", {}), "Done."), tools=[once])
        await on.run(agent, subject="ada")
        translation = Translation(agent.translate, message_id="answer of turn")
        said = [*translation.begin()]
        for event in await on.events():
            said += translation.event(json.decode(event))
        assert [*said, *translation.end()] == await on.journal()
        assert runs == [1]
        assert calls(await on.answer())[0].output == "ada"


@pytest.mark.parametrize("kind", ["async", "thread", "generator"])
@asynchronous
async def test_cancelled_at_any_await_the_loop_leaves_nothing_running_and_runs_nothing_unannounced(
    kind: str,
) -> None:
    ran: list[str] = []

    @tool
    async def asynchronously(context: ToolContext) -> int:
        ran.append(context.call_id)
        await asyncio.sleep(0)
        return 1

    @tool
    def threaded(context: ToolContext) -> int:
        ran.append(context.call_id)
        return 1

    @tool
    async def generated(context: ToolContext) -> AsyncIterator[int]:
        ran.append(context.call_id)
        yield 1
        await asyncio.sleep(0)
        yield 2

    kinds: dict[str, Tool] = {"async": asynchronously, "thread": threaded, "generator": generated}
    given = kinds[kind]
    at = 0
    while True:
        at += 1
        model = ScriptedModel([Calls(given.name, {}), Calls(given.name, {})], "Done.")
        agent = ModelAgent(model, tools=[given])
        said: list[JsonObject] = []
        ran.clear()
        interrupted = Interrupted(at)
        task = asyncio.create_task(interrupted.run(heard(agent, said)))
        await asyncio.wait({task})
        assert asyncio.all_tasks() == {asyncio.current_task()}
        begun = {event["callId"] for event in said if event["rejoinder"] == "tool-begun"}
        assert begun >= set(ran)
        if not interrupted.reached:
            assert said[-1] == {"rejoinder": "turn-over"}
            break
    assert at > 3


async def heard(agent: ModelAgent, said: list[JsonObject]) -> None:
    """Ask an agent, and note its events."""
    when = datetime(2026, 5, 4, tzinfo=UTC)

    async def kept() -> None:
        await asyncio.sleep(0)

    call = Call(
        conversation=Conversation(id="chat", created_at=when, updated_at=when),
        turn=Turn(id="turn", conversation_id="chat", status="running", created_at=when),
        history=(Message(id="q", role="user", parts=(Text(text="Go"),)),),
        stop=Stop(),
        kept=kept,
    )
    events: Json = agent.run(call)
    async with aclosing(events):
        async for event in events:
            said += [event]
