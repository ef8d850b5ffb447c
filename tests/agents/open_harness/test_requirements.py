"""What the specification requires beyond its stories: events, options, rules, and where its own adapter was wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest

from rejoinder.agents.open_harness import OpenHarnessChatTransport, TransportOptions
from rejoinder.fold import accumulate
from rejoinder.messages import Data, Json, JsonObject, Reasoning, Text
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.chunks import Chunk, Error, Finish, Start, StartStep, TextDelta
from tests.agents.open_harness.harness import (
    DONE,
    Harness,
    answer_of,
    chunks_of,
    events,
    said,
    thought,
    types,
)
from tests.engine.stage import asynchronous
from tests.translate.contents import STEP, contents
from tests.translate.recorded import read_by, told

RUN: Final[JsonObject] = {"runId": "r", "nodeId": "n"}

EVERY_EVENT: Final[list[JsonObject]] = [
    {"type": "flow:start", "flowName": "report"},
    {"type": "command:received", "command": {"type": "send", "message": "hello"}},
    {"type": "node:start", **RUN},
    {"type": "recording:linked", **RUN, "invocation": 1, "providerType": "x", "recordingId": "y", "mode": "live"},
    {"type": "agent:start", **RUN, "sessionId": "s1", "model": "m", "prompt": "hello"},
    {"type": "agent:thinking:delta", **RUN, "content": "Hm", "tokenCount": 1},
    {"type": "agent:thinking", **RUN, "content": "Hm."},
    {"type": "agent:text:delta", **RUN, "content": "It"},
    {"type": "agent:text", **RUN, "content": "It is."},
    {"type": "agent:tool", **RUN, "toolName": "read", "toolInput": {"p": 1}, "toolOutput": "x", "durationMs": 4},
    {"type": "agent:tool", **RUN, "toolName": "read", "toolInput": {"p": 2}, "toolOutput": None, "error": "gone"},
    {"type": "agent:complete", **RUN, "result": "It is.", "structuredOutput": {"is": True}, "numTurns": 1,
     "usage": {"inputTokens": 3, "outputTokens": 2, "cacheReadInputTokens": 4}, "modelUsage": {"m": {}}},
    {"type": "state:patch", "patch": [{"op": "add", "path": "/a", "value": 1}]},
    {"type": "node:complete", **RUN, "output": "It is."},
    {"type": "edge:fire", "edgeId": "e", "from": "n", "to": "o"},
    {"type": "loop:iterate", "edgeId": "e", "iteration": 1},
    {"type": "node:skipped", "nodeId": "o", "reason": "when"},
    {"type": "flow:paused"},
    {"type": "flow:resumed"},
    {"type": "node:start", "runId": "q", "nodeId": "p"},
    {"type": "agent:error", "runId": "q", "nodeId": "p", "errorType": "limit", "message": "too much"},
    {"type": "agent:paused", "runId": "q", "nodeId": "p", "sessionId": "s2", "numTurns": 1},
    {"type": "agent:aborted", "runId": "q", "nodeId": "p", "reason": "enough"},
    {"type": "node:error", "runId": "q", "nodeId": "p", "error": "too much"},
    {"type": "flow:aborted"},
    {"type": "flow:complete", "flowName": "report", "status": "failed"},
]  # fmt: skip


def told_of(kind: str, **fields: Json) -> tuple[str, JsonObject]:
    return kind, fields


def test_every_event_of_the_list_is_understood() -> None:
    came = told("open-harness", [{**event, "timestamp": 1} for event in EVERY_EVENT])
    assert came.problems == []
    assert contents(came.message) == [
        STEP,
        ("thought", "Hm."),
        ("said", "It is."),
        ("called", "read", {"p": 1}, "answered", "x"),
        ("called", "read", {"p": 2}, "failed", "gone"),
        ("data-structured-output", {"is": True}),
        STEP,
    ]
    usage = came.calls[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (7, 2, 4)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": ""},
        {"type": 3},
        "agent:text",
        None,
        {"type": "agent:text", "nodeId": "n", "content": "x"},
        {"type": "agent:text", "runId": "r", "content": "x"},
        {"type": "agent:tool", **RUN, "toolInput": {}},
        {"type": "agent:dream", **RUN},
    ],
)
def test_an_event_that_lacks_what_it_needs_is_told_to_the_log_and_left_out(event: Json) -> None:
    came = told("open-harness", [event, {"type": "agent:complete", **RUN, "result": "Yes."}])
    assert len(came.problems) == 1
    assert contents(came.message) == [("said", "Yes.")]


# Each option has its effect


@asynchronous
async def test_thoughts_are_kept_from_those_who_are_not_to_see_them() -> None:
    script = events(*thought("Hm."), *said("Yes."), DONE)
    told_all, told_less = (
        await answer_of(Harness(script)),
        await answer_of(Harness(script), TransportOptions(send_reasoning=False)),
    )
    assert sum(isinstance(part, Reasoning) for part in told_all.parts) == 1
    assert not any(isinstance(part, Reasoning) for part in told_less.parts)


@pytest.mark.parametrize("markers", [True, False])
@asynchronous
async def test_step_markers_are_sent_or_not(*, markers: bool) -> None:
    script = events(
        told_of("flow:start", flowName="f"), told_of("node:start"), *said("A"), told_of("flow:complete")
    )
    chunks = await chunks_of(Harness(script), TransportOptions(send_step_markers=markers))
    assert any(isinstance(chunk, StartStep) for chunk in chunks) is markers


@pytest.mark.parametrize(
    ("ending", "status"),
    [("flow:paused", "paused"), ("flow:aborted", "aborted"), ("flow:complete", "complete")],
)
@asynchronous
async def test_flow_metadata_says_how_the_flow_ended(ending: str, status: str) -> None:
    script = events(told_of("flow:start", flowName="f"), told_of(ending))
    message = await answer_of(Harness(script), TransportOptions(send_flow_metadata=True))
    assert [part.data["status"] for part in message.parts if isinstance(part, Data)] == ["running", status]


@asynchronous
async def test_ids_of_messages_are_made_by_whom_one_likes() -> None:
    ids = iter(["m-one", "m-two"])
    options = TransportOptions(generate_message_id=lambda: next(ids))
    harness = Harness(events(*said("Hi."), DONE))
    assert [(await chunks_of(harness, options))[0] for _ in range(2)] == [
        Start(message_id="m-one"),
        Start(message_id="m-two"),
    ]


# How a stream ends


@asynchronous
async def test_a_stream_says_something_before_it_ends() -> None:
    for ending in (DONE, told_of("agent:paused"), told_of("flow:complete", status="complete")):
        chunks = await chunks_of(Harness(events(ending)))
        assert (type(chunks[0]), type(chunks[-1])) == (Start, Finish)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (told_of("agent:aborted", reason="enough"), "enough"),
        (told_of("agent:aborted"), "The run was aborted."),
        (told_of("agent:error", errorType="limit", message="The model is busy."), "The model is busy."),
        (told_of("flow:aborted"), "The run was aborted."),
        (told_of("flow:complete", status="failed"), "The flow failed."),
    ],
)
@asynchronous
async def test_what_goes_wrong_is_an_error_in_words_and_an_end(
    event: tuple[str, JsonObject], error: str
) -> None:
    chunks = await chunks_of(Harness(events(*said("So far"), event)))
    assert chunks[-2:] == [Error(error_text=error), Finish(finish_reason="error")]


@asynchronous
async def test_a_pause_ends_the_stream_and_the_next_message_resumes() -> None:
    harness = Harness(events(*said("May I?"), told_of("agent:paused", sessionId="s1")))
    assert (await chunks_of(harness))[-1] == Finish(finish_reason="other")
    harness.status = "paused"
    await chunks_of(harness)
    assert [command["type"] for command in harness.commands] == ["send", "resume"]


@asynchronous
async def test_a_runtime_that_raises_makes_an_error_that_shows_nothing_of_it() -> None:
    class Broken(Harness):
        async def dispatch(self, command: JsonObject) -> None:
            raise RuntimeError("secret-canary")

    chunks = await chunks_of(Broken(events()))
    assert chunks[1:] == [Error(error_text="The agent failed."), Finish(finish_reason="error")]


@asynchronous
async def test_a_tool_without_an_output_fails() -> None:
    message = await answer_of(Harness(events(told_of("agent:tool", toolName="read", toolInput={}), DONE)))
    assert contents(message) == [("called", "read", {}, "failed", "The tool gave no output.")]


# What the adapter that the specification describes got wrong


@asynchronous
async def test_a_second_thought_and_a_second_text_are_parts_of_their_own(oracle: Oracle) -> None:
    script = events(*thought("One."), *said("Uno."), *thought("Two."), *said("Due."), DONE)
    chunks = await chunks_of(Harness(script))
    for sdk in ("5", "6", "7"):
        read = read_by(oracle, sdk, chunks)
        assert [part["text"] for part in read["parts"] if "text" in part] == ["One.", "Uno.", "Two.", "Due."]


@asynchronous
async def test_a_whole_text_without_deltas_is_said_and_one_after_them_is_not_said_again() -> None:
    harness = Harness(events(told_of("agent:text", content="All at once."), DONE))
    assert types(await chunks_of(harness)) == ["text-start", "text-delta", "text-end"]
    harness = Harness(
        events(told_of("agent:text:delta", content="All"), told_of("agent:text", content="All of it"), DONE)
    )
    assert contents(await answer_of(harness)) == [("said", "All of it")]


@asynchronous
async def test_an_input_that_the_runtime_does_not_tell_is_an_empty_one() -> None:
    script = events(told_of("agent:tool", toolName="unknown", toolOutput="x"), DONE)
    assert contents(await answer_of(Harness(script))) == [("called", "unknown", {}, "answered", "x")]


@asynchronous
async def test_the_first_agent_to_complete_does_not_end_the_flow() -> None:
    script = events(
        told_of("flow:start", flowName="f"),
        *said("A"),
        DONE,
        told_of("agent:text", content="B", runId="other", nodeId="b"),
        told_of("flow:complete", status="complete"),
    )
    message = await answer_of(Harness(script))
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["A", "B"]


@asynchronous
async def test_what_a_node_gives_without_having_said_it_is_said() -> None:
    about: JsonObject = {"runId": "same", "nodeId": "a"}
    script = events(
        told_of("flow:start", flowName="f"),
        told_of("agent:text", content="A", **about),
        told_of("agent:complete", result="A", **about),
        told_of("agent:complete", result="B", runId="same", nodeId="b"),
        told_of("flow:complete", status="complete"),
    )
    message = await answer_of(Harness(script))
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["A", "B"]


@asynchronous
async def test_nodes_without_a_flow_end_when_the_runtime_has() -> None:
    async def script(harness: Harness, message: str, run_id: str) -> None:
        for name in ("a", "b"):
            about = {"runId": f"run-{name}", "nodeId": name}
            harness.tell("node:start", **about)
            harness.tell("agent:text", content=name, **about)
            harness.tell("agent:complete", result=name, **about)
            await asyncio.sleep(0)
            harness.status = "complete" if name == "b" else "running"
            harness.tell("node:complete", output=name, **about)

    assert contents(await answer_of(Harness(script))) == [STEP, ("said", "a"), STEP, ("said", "b")]


@asynchronous
async def test_a_hundred_streams_of_one_runtime_hear_nothing_of_each_other() -> None:
    async def script(harness: Harness, message: str, run_id: str) -> None:
        about = {"runId": run_id, "nodeId": "main"}
        for number in range(5):
            harness.tell("agent:text:delta", content=f"{message}.{number} ", **about)
            await asyncio.sleep(0)
        harness.tell("agent:complete", result="", **about)

    async with OpenHarnessChatTransport(Harness(script)) as transport:

        async def ask(number: int) -> str:
            question: JsonObject = {
                "id": "u",
                "role": "user",
                "parts": [{"type": "text", "text": f"q{number}"}],
            }
            stream = await transport.send_messages(chat_id=f"c{number}", messages=[question])
            return "".join([chunk.delta async for chunk in stream if isinstance(chunk, TextDelta)])

        heard = await asyncio.gather(*map(ask, range(100)))
    assert heard == ["".join(f"q{number}.{n} " for n in range(5)) for number in range(100)]


@asynchronous
async def test_what_names_no_run_belongs_to_the_one_whose_command_came_last() -> None:
    async def script(harness: Harness, message: str, run_id: str) -> None:
        harness.tell("command:received", command={"type": "send", "message": message, "runId": run_id})
        harness.tell("flow:start", flowName=message)
        harness.tell("node:start", runId=f"node-of-{message}", nodeId="n")
        await asyncio.sleep(0)
        harness.tell("agent:text", runId=f"node-of-{message}", nodeId="n", content=message)
        harness.tell("command:received", command={"type": "send", "message": message, "runId": run_id})
        harness.tell("flow:complete", flowName=message, status="complete")

    transport = OpenHarnessChatTransport(Harness(script))
    other = OpenHarnessChatTransport(transport.runtime)
    async with transport, other:
        streams: list[AsyncIterator[Chunk]] = []
        for place, each in enumerate((transport, other)):
            question: JsonObject = {
                "id": "u",
                "role": "user",
                "parts": [{"type": "text", "text": f"q{place}"}],
            }
            streams.append(await each.send_messages(chat_id="c", messages=[question]))
        messages = [accumulate([chunk async for chunk in stream]) for stream in streams]
    assert [contents(message) for message in messages] == [[STEP, ("said", "q0")], [STEP, ("said", "q1")]]
