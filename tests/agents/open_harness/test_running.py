"""Reading a run again, running it in a chat, and hearing it over a byte stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from rejoinder import Chat
from rejoinder.agents.open_harness import LineRuntime, OpenHarnessChatTransport, Runtime
from rejoinder.convert.ui import from_ui
from rejoinder.fold import accumulate
from rejoinder.ports.agents import Stop
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.wire import json
from rejoinder.wire.chunks import TextDelta
from tests.agents.open_harness.harness import (
    DONE,
    HELLO,
    Harness,
    events,
    lines,
    said,
)
from tests.agents.talking import talk
from tests.engine.stage import asynchronous
from tests.translate.contents import contents

# Reading it again


@asynchronous
async def test_a_reader_that_leaves_ends_nothing_and_reads_from_the_start_when_it_returns() -> None:
    going_on = asyncio.Event()

    async def script(harness: Harness, message: str, run_id: str) -> None:
        about = {"runId": run_id, "nodeId": "main"}
        harness.tell("agent:text:delta", content="One", **about)
        await going_on.wait()
        harness.tell("agent:text:delta", content=" two", **about)
        harness.tell("agent:complete", result="", **about)

    harness = Harness(script)
    async with OpenHarnessChatTransport(harness) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[HELLO])
        async for chunk in stream:
            if isinstance(chunk, TextDelta):
                break
        await stream.aclose()
        again = await transport.reconnect_to_stream(chat_id="c1")
        assert again is not None
        going_on.set()
        assert contents(accumulate([chunk async for chunk in again])) == [("said", "One two")]
        assert [command["type"] for command in harness.commands] == ["send"]
        assert await transport.reconnect_to_stream(chat_id="c1") is None


@asynchronous
async def test_with_the_store_of_a_chat_its_journal_is_read() -> None:
    going_on = asyncio.Event()

    async def script(harness: Harness, message: str, run_id: str) -> None:
        about = {"runId": run_id, "nodeId": "main"}
        harness.tell("agent:text:delta", content="One", **about)
        await going_on.wait()
        harness.tell("agent:text:delta", content=" two", **about)
        harness.tell("agent:complete", result="", **about)

    store = InMemoryConversationStore()
    chat = Chat(OpenHarnessChatTransport(Harness(script)), store=store)
    elsewhere = OpenHarnessChatTransport(Harness(script), store=store)
    async with talk(chat) as client:
        asking = asyncio.create_task(client.ask("c1", "hello"))
        again = None
        while again is None:
            again = await elsewhere.reconnect_to_stream(chat_id="c1")
            await asyncio.sleep(0)
        going_on.set()
        assert contents(accumulate([chunk async for chunk in again])) == [("said", "One two")]
        answer = await asking
    assert contents(answer.message) == [("said", "One two")]
    assert await elsewhere.reconnect_to_stream(chat_id="c1") is None


# As an agent, and over a byte stream


@asynchronous
async def test_a_transport_is_an_agent_whose_events_and_usage_are_kept() -> None:
    harness = Harness(events(*said("Hi."), DONE))
    async with talk(Chat(OpenHarnessChatTransport(harness), store="memory")) as client:
        answer = await client.ask("c1", "hello")
        kept = await client.events(answer.turn)
    assert contents(answer.message) == [("said", "Hi.")]
    assert [json.decode(event)["type"] for event in kept] == [
        "agent:text:delta",
        "agent:text",
        "agent:complete",
    ]
    assert answer.turn.usage is not None
    assert (answer.turn.usage.input_tokens, answer.turn.usage.output_tokens) == (3, 2)


@asynchronous
async def test_a_stop_of_the_turn_aborts_the_run() -> None:
    async def script(harness: Harness, message: str, run_id: str) -> None:
        harness.tell("agent:text:delta", content="It is", runId=run_id, nodeId="main")
        await harness.aborted.wait()
        harness.tell("agent:aborted", runId=run_id, nodeId="main")

    harness = Harness(script)
    async with talk(Chat(OpenHarnessChatTransport(harness), store="memory")) as client:
        answer = await client.ask("c1", "hello", stop_at="It is")
    assert [command["type"] for command in harness.commands] == ["send", "abort"]
    assert answer.turn.status == "cancelled"
    assert contents(answer.message) == [("said", "It is")]


@asynchronous
async def test_events_of_a_byte_stream_are_kept_byte_for_byte_however_it_is_cut() -> None:
    odd = b'{"type":"agent:text","runId":"r1","nodeId":"n","content":"\\u0000 1e2","b":1,"a":1e2,"a":2}'
    broken = b"{no json"
    done = b'{"type":"agent:complete","runId":"r1","nodeId":"n","result":""}'
    stream = b"\n".join([odd, broken, b"", done])
    pieces = [stream[place : place + 7] for place in range(0, len(stream), 7)]
    sent: list[bytes] = []
    begin = asyncio.Event()

    async def send(line: bytes) -> None:
        sent.append(line)
        begin.set()

    async def reading() -> AsyncGenerator[bytes, None]:
        await begin.wait()
        async for piece in lines(*pieces):
            yield piece

    async with LineRuntime(reading(), send) as runtime:
        same: Runtime = runtime
        async with talk(Chat(OpenHarnessChatTransport(same), store="memory")) as client:
            answer = await client.ask("c1", "hello")
            kept = await client.events(answer.turn)
    assert [json.decode(line)["message"] for line in sent] == ["hello"]
    assert kept == [odd, json.encode(broken.decode()), done]
    assert contents(answer.message) == [("said", "\x00 1e2")]
    assert answer.turn.status == "succeeded"


@asynchronous
async def test_a_byte_stream_that_breaks_off_fails_the_turn_and_keeps_what_came() -> None:
    begin = asyncio.Event()

    async def send(line: bytes) -> None:
        begin.set()

    async def reading() -> AsyncGenerator[bytes, None]:
        await begin.wait()
        yield b'{"type":"agent:text:delta","runId":"r1","nodeId":"n","content":"It is"}\n'

    async with (
        LineRuntime(reading(), send) as runtime,
        talk(Chat(OpenHarnessChatTransport(runtime), store="memory")) as client,
    ):
        answer = await client.ask("c1", "hello")
    assert answer.turn.status == "failed"
    assert contents(answer.message) == [("said", "It is")]


@asynchronous
async def test_messages_of_ours_are_taken_as_well_as_those_of_clients() -> None:
    harness = Harness(events(*said("Hi."), DONE))
    async with OpenHarnessChatTransport(harness) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[from_ui(HELLO)], abort_signal=Stop())
        assert [chunk async for chunk in stream]
    assert harness.commands[0]["message"] == "hello"


@asynchronous
async def test_ten_and_more_tools_leave_nothing_behind() -> None:
    tools = [("agent:tool", {"toolName": "t", "toolInput": {"n": n}, "toolOutput": n}) for n in range(40)]
    harness = Harness(events(*tools, DONE))
    async with OpenHarnessChatTransport(harness) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[HELLO])
        message = accumulate([chunk async for chunk in stream])
    assert len(message.parts) == 40
    assert harness.listeners == []


def test_less_than_ten_lines_make_a_chat_of_a_runtime() -> None:
    runtime = Harness(events())
    chat = Chat(OpenHarnessChatTransport(runtime), store="memory")
    assert chat.routes("/api")
