"""The user stories of the specification, scenario by scenario, and its edge cases."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rejoinder.agents.open_harness import OpenHarnessChatTransport, TransportOptions
from rejoinder.fold import accumulate
from rejoinder.messages import Data, JsonObject, Reasoning, StepStart, Text, ToolCall
from rejoinder.ports.agents import Stop
from rejoinder.wire.chunks import Error, Finish, Start, StartStep, TextDelta, TextEnd
from rejoinder.wire.codec import chunk_to_json
from tests.agents.open_harness.harness import (
    DONE,
    HELLO,
    Harness,
    Starting,
    answer_of,
    chunks_of,
    events,
    said,
    thought,
    types,
)
from tests.engine.stage import asynchronous
from tests.translate.contents import STEP, contents

FLOW: tuple[str, JsonObject] = ("flow:start", {"flowName": "report"})
FLOW_DONE: tuple[str, JsonObject] = ("flow:complete", {"flowName": "report", "status": "complete"})


def node(name: str, *told: tuple[str, JsonObject]) -> list[tuple[str, JsonObject]]:
    """What happens in a node, under a run of its own."""
    about = {"nodeId": name, "runId": f"run-of-{name}"}
    inside = [(kind, {**fields, **about}) for kind, fields in told]
    end = ("node:complete", {**about, "output": {"by": name}})
    return [("node:start", about), *inside, end]


def tool(name: str, given: Any, **more: Any) -> tuple[str, JsonObject]:
    """A tool that has run."""
    return ("agent:tool", {"toolName": name, "toolInput": given, **more})


# User story 1, a conversation


@asynchronous
async def test_a_transport_is_made_from_a_runtime_and_nothing_else() -> None:
    harness = Harness(events())
    async with OpenHarnessChatTransport(harness) as transport:
        assert transport.runtime is harness
        assert transport.options.send_reasoning
        assert await transport.reconnect_to_stream(chat_id="c1") is None


@asynchronous
async def test_the_last_message_of_the_user_is_dispatched() -> None:
    harness = Harness(events(*said("Hi."), DONE))
    before: JsonObject = {"id": "u0", "role": "user", "parts": [{"type": "text", "text": "earlier"}]}
    reply: JsonObject = {"id": "a0", "role": "assistant", "parts": [{"type": "text", "text": "yes?"}]}
    async with OpenHarnessChatTransport(harness) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[before, reply, HELLO])
        assert [chunk async for chunk in stream]
    (command,) = harness.commands
    assert (command["type"], command["message"]) == ("send", "hello")
    assert command["runId"]


@asynchronous
async def test_deltas_are_streamed_as_they_come() -> None:
    going_on = asyncio.Event()

    async def script(harness: Harness, message: str, run_id: str) -> None:
        about = {"runId": run_id, "nodeId": "main"}
        harness.tell("agent:text:delta", content="One", **about)
        await going_on.wait()
        harness.tell("agent:text:delta", content=" two", **about)
        harness.tell("agent:complete", result="", **about)

    async with OpenHarnessChatTransport(Harness(script)) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[HELLO])
        async for chunk in stream:
            if isinstance(chunk, TextDelta) and chunk.delta == "One":
                # The runtime has not said more yet, and this is here.
                going_on.set()
        assert going_on.is_set()


@asynchronous
async def test_the_end_of_the_agent_ends_the_stream() -> None:
    chunks = await chunks_of(Harness(events(*said("Hi."), DONE)))
    assert isinstance(chunks[0], Start)
    assert chunks[-1] == Finish(finish_reason="stop")


# User story 2, tools


@asynchronous
async def test_a_tool_is_a_part_with_its_input_and_then_its_output() -> None:
    harness = Harness(
        events(tool("read", {"path": "a.txt"}), tool("read", {"path": "a.txt"}, toolOutput="x"), DONE)
    )
    chunks = await chunks_of(harness)
    assert types(chunks) == ["tool-input-available", "tool-output-available"]
    (call,) = (part for part in accumulate(chunks).parts if isinstance(part, ToolCall))
    assert (call.name, call.input, call.output) == ("read", {"path": "a.txt"}, "x")


@asynchronous
async def test_several_tools_are_parts_of_their_own_in_their_order() -> None:
    runs = [tool("read", {"path": path}, toolOutput=path) for path in ("a", "b", "b")]
    calls = [
        part for part in (await answer_of(Harness(events(*runs, DONE)))).parts if isinstance(part, ToolCall)
    ]
    assert [call.output for call in calls] == ["a", "b", "b"]
    assert len({call.call_id for call in calls}) == 3


@asynchronous
async def test_a_tool_that_fails_is_a_failed_part_and_not_a_failed_stream() -> None:
    harness = Harness(events(tool("read", {}, error="no such file"), *said("Sorry."), DONE))
    chunks = await chunks_of(harness)
    assert not any(isinstance(chunk, Error) for chunk in chunks)
    assert contents(accumulate(chunks)) == [
        ("called", "read", {}, "failed", "no such file"),
        ("said", "Sorry."),
    ]


# User story 3, nodes


@asynchronous
async def test_a_node_is_a_step() -> None:
    chunks = await chunks_of(Harness(events(FLOW, *node("a", *said("A")), FLOW_DONE)))
    assert types(chunks) == ["start-step", "text-start", "text-delta", "text-end", "finish-step"]


@asynchronous
async def test_steps_separate_what_nodes_say() -> None:
    harness = Harness(events(FLOW, *node("a", *said("A"), DONE), *node("b", *said("B"), DONE), FLOW_DONE))
    assert contents(await answer_of(harness)) == [STEP, ("said", "A"), STEP, ("said", "B")]


@asynchronous
async def test_three_and_more_nodes_come_in_their_order() -> None:
    nodes = [told for name in "abcd" for told in node(name, *said(name), DONE)]
    message = await answer_of(Harness(events(FLOW, *nodes, FLOW_DONE)))
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["a", "b", "c", "d"]
    assert sum(isinstance(part, StepStart) for part in message.parts) == 4


# User story 4, reasoning


@asynchronous
async def test_thoughts_stream_into_a_reasoning() -> None:
    chunks = await chunks_of(Harness(events(*thought("Let me ", "see."), DONE)))
    assert types(chunks) == ["reasoning-start", "reasoning-delta", "reasoning-delta", "reasoning-end"]


@asynchronous
async def test_a_reasoning_is_done_when_the_thought_is() -> None:
    message = await answer_of(Harness(events(*thought("Let me see."), *said("Yes."), DONE)))
    assert [part.state for part in message.parts if isinstance(part, Reasoning)] == ["done"]


@asynchronous
async def test_reasoning_stands_before_the_text_and_again_before_the_next() -> None:
    harness = Harness(events(*thought("One."), *said("Uno."), *thought("Two."), *said("Due."), DONE))
    assert contents(await answer_of(harness)) == [
        ("thought", "One."),
        ("said", "Uno."),
        ("thought", "Two."),
        ("said", "Due."),
    ]


# User story 5, data parts


@asynchronous
async def test_what_nodes_give_is_data_for_those_who_want_it() -> None:
    script = events(FLOW, *node("a", *said("A")), FLOW_DONE)
    message = await answer_of(Harness(script), TransportOptions(send_node_outputs=True))
    (data,) = (part for part in message.parts if isinstance(part, Data))
    assert (data.name, data.data["nodeId"], data.data["output"]) == ("node-output", "a", {"by": "a"})
    assert not any(isinstance(part, Data) for part in (await answer_of(Harness(script))).parts)


@asynchronous
async def test_what_becomes_of_the_flow_is_data_for_those_who_want_it() -> None:
    script = events(FLOW, *node("a"), FLOW_DONE)
    chunks = [
        chunk_to_json(chunk)
        for chunk in await chunks_of(Harness(script), TransportOptions(send_flow_metadata=True))
    ]
    told = [chunk["data"] for chunk in chunks if chunk["type"] == "data-flow-status"]
    assert told == [{"status": status, "flowName": "report"} for status in ("running", "complete")]


@asynchronous
async def test_the_order_of_nodes_can_be_read_from_their_data() -> None:
    script = events(FLOW, *node("b"), *node("a"), *node("c"), FLOW_DONE)
    message = await answer_of(Harness(script), TransportOptions(send_node_outputs=True))
    assert [part.data["nodeId"] for part in message.parts if isinstance(part, Data)] == ["b", "a", "c"]


# Edge cases


@pytest.mark.parametrize("confirmed", [True, False])
@asynchronous
async def test_an_abort_stops_the_run_and_ends_the_stream_with_an_error(
    *, confirmed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rejoinder.agents.open_harness.transport.ABORT_SECONDS", 0.01)
    stop = Stop()

    async def script(harness: Harness, message: str, run_id: str) -> None:
        about = {"runId": run_id, "nodeId": "main"}
        harness.tell("agent:text:delta", content="It is", **about)
        stop.press("enough")
        await harness.aborted.wait()
        if confirmed:
            harness.tell("agent:aborted", reason="enough", **about)

    harness = Harness(script)
    chunks = await chunks_of(harness, stop=stop)
    assert [command["type"] for command in harness.commands] == ["send", "abort"]
    assert types(chunks) == ["text-start", "text-delta", "text-end", "error"]
    assert Error(error_text="enough") in chunks


@asynchronous
async def test_messages_at_the_same_time_have_runs_of_their_own() -> None:
    harness = Harness(events(*said("Hi."), DONE))
    async with OpenHarnessChatTransport(harness) as transport:
        streams = [await transport.send_messages(chat_id=f"c{n}", messages=[HELLO]) for n in range(3)]
        for stream in streams:
            assert [chunk async for chunk in stream]
    assert len({command["runId"] for command in harness.commands}) == 3


@asynchronous
async def test_a_runtime_that_was_not_started_makes_an_error_and_no_exception() -> None:
    chunks = await chunks_of(Harness(events(), status="idle"))
    assert chunks[1:] == [Error(error_text="The agent is not running."), Finish(finish_reason="error")]


@asynchronous
async def test_a_very_long_answer_is_not_held_back() -> None:
    words = [f"{number} " for number in range(5_000)]
    chunks = await chunks_of(Harness(events(*said(*words), DONE)))
    deltas = [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)]
    assert deltas == words


@asynchronous
async def test_a_tool_that_ran_out_of_time_says_so_in_its_part() -> None:
    harness = Harness(events(tool("crawl", {"url": "x"}, error="timed out after 30 s"), DONE))
    assert contents(await answer_of(harness)) == [
        ("called", "crawl", {"url": "x"}, "failed", "timed out after 30 s")
    ]


@asynchronous
async def test_nobody_reconnects_to_nothing() -> None:
    async with OpenHarnessChatTransport(Harness(events())) as transport:
        assert await transport.reconnect_to_stream(chat_id="c1") is None


@asynchronous
async def test_nodes_at_the_same_time_are_told_in_the_order_in_which_they_speak() -> None:
    a, b = {"nodeId": "a", "runId": "run-a"}, {"nodeId": "b", "runId": "run-b"}
    told: list[tuple[str, JsonObject]] = [
        FLOW,
        ("node:start", a),
        ("node:start", b),
        ("agent:text:delta", {"content": "A1", **a}),
        ("agent:text:delta", {"content": "B1", **b}),
        ("agent:text:delta", {"content": "A2", **a}),
        ("agent:text", {"content": "A1A2", **a}),
        ("node:complete", a),
        ("agent:text", {"content": "B1", **b}),
        ("node:complete", b),
        FLOW_DONE,
    ]
    chunks = await chunks_of(Harness(events(*told)))
    assert [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)] == ["A1", "B1", "A2"]
    message = accumulate(chunks)
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["A1A2", "B1"]


@asynchronous
async def test_a_flow_is_begun_by_the_first_message_and_gets_the_next_ones_while_it_runs() -> None:
    harness = Starting(events(FLOW, *node("a", *said("A")), FLOW_DONE), status="idle")
    assert contents(await answer_of(harness)) == [STEP, ("said", "A")]
    harness.status = "running"
    assert contents(await answer_of(harness)) == [STEP, ("said", "A")]
    assert [command["type"] for command in harness.commands] == ["run", "send"]


def steps(chunks: list[Any]) -> int:
    return sum(isinstance(chunk, StartStep) for chunk in chunks)


@asynchronous
async def test_without_step_markers_there_are_no_steps_and_no_text_is_joined() -> None:
    script = events(FLOW, *node("a", *said("A")), *node("b", *said("B")), FLOW_DONE)
    chunks = await chunks_of(Harness(script), TransportOptions(send_step_markers=False))
    assert steps(chunks) == 0
    assert sum(isinstance(chunk, TextEnd) for chunk in chunks) == 2
