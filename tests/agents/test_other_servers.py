"""Agents that are servers of somebody else: AG-UI and the AI SDK, on loopback and in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from ag_ui.core import RunAgentInput
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.ui.ag_ui import AGUIAdapter

from rejoinder import Call, Chat
from rejoinder.agents.ag_ui import AgUi
from rejoinder.agents.ai_sdk import AiSdk
from rejoinder.messages import Json
from tests.agents.talking import talk
from tests.agents.test_frameworks import asked_of, decided
from tests.agents.vendor_server import Reply, VendorServer, refused
from tests.agents.wires import Called, Said, answer
from tests.engine.stage import asynchronous
from tests.recordings import pydantic_ai_runs
from tests.recordings.clients import closing
from tests.translate.contents import STEP, contents
from tests.translate.recorded import FOLDER, events_of, told

VENDOR: Final = "openai-chat"


def lines_of(run: str) -> list[bytes]:
    return (FOLDER / "events" / f"{run}.jsonl").read_bytes().splitlines()


def as_events(run: str) -> Reply:
    """A recording as a server would send it."""
    return Reply(tuple(b"data: " + line + b"\n\n" for line in [*lines_of(run), b"[DONE]"]))


@pytest.mark.parametrize("run", ["ag_ui_tools", "ag_ui_everything", "pydantic_ai_agui"])
@asynchronous
async def test_a_server_of_ag_ui_is_heard_byte_for_byte(run: str) -> None:
    async with (
        VendorServer([as_events(run)]) as server,
        talk(Chat(AgUi(f"{server.url}/agent"), store="memory")) as client,
    ):
        came = await client.ask("c1", "Weather?")
        kept = await client.events(came.turn)
    assert kept == lines_of(run)
    assert contents(came.message) == contents(told("ag-ui", events_of(run)).message)
    (asked,) = server.requests
    assert asked.path == "/agent"
    assert (asked.body["threadId"], asked.body["messages"][0]["content"]) == ("c1", "Weather?")


@pytest.mark.parametrize("speaks", ["chunks", "parts"])
@asynchronous
async def test_a_server_of_the_ai_sdk_is_heard_byte_for_byte(speaks: Any) -> None:
    run = "ai_sdk_ui_tools_7" if speaks == "chunks" else "ai_sdk_stream_tools_7"
    reply = as_events(run)
    if speaks == "parts":
        kind = (("content-type", "application/x-ndjson"),)
        reply = Reply(tuple(line + b"\n" for line in lines_of(run)), headers=kind)
    async with VendorServer([reply]) as server:
        agent = AiSdk(f"{server.url}/api/chat", speaks=speaks, body={"model": "x"})
        async with talk(Chat(agent, store="memory")) as client:
            came = await client.ask("c1", "Weather?")
            kept = await client.events(came.turn)
    assert kept == lines_of(run)
    vendor = "ai-sdk-ui" if speaks == "chunks" else "ai-sdk-stream"
    assert contents(came.message) == contents(told(vendor, events_of(run)).message)
    (asked,) = server.requests
    assert asked.body["messages"][-1]["parts"] == [{"type": "text", "text": "Weather?"}]
    assert (asked.body["id"], asked.body["model"]) == ("c1", "x")


@asynchronous
async def test_a_function_may_yield_chunks() -> None:
    async def chunks(call: Call) -> AsyncIterator[Json]:
        for event in events_of("ai_sdk_ui_hosted_7"):
            yield event

    async with talk(Chat(AiSdk(chunks), store="memory")) as client:
        came = await client.ask("c1", "Search.")
    assert contents(came.message) == contents(told("ai-sdk-ui", events_of("ai_sdk_ui_hosted_7")).message)


@asynchronous
async def test_a_server_that_refuses_or_is_not_there_fails_the_turn() -> None:
    async with (
        VendorServer([refused(500, {"message": "secret-canary"})]) as server,
        talk(Chat(AgUi(server.url), store="memory")) as client,
    ):
        url = server.url
        failed = await client.ask("c1", "Weather?")
    assert failed.turn.status == "failed"
    assert "secret-canary" not in str(failed.chunks)
    async with talk(Chat(AiSdk(url), store="memory")) as client:
        gone = await client.ask("c1", "Weather?")
    assert gone.turn.error is not None
    assert gone.turn.error.code == "provider-unavailable"


@pytest.mark.parametrize("approved", [True, False])
@asynchronous
async def test_an_agent_over_ag_ui_in_this_process_asks_and_goes_on(*, approved: bool) -> None:
    replies = [
        answer(VENDOR, Said("May I?"), Called("c1", "delete_file", '{"path":"a.txt"}'), id="r1"),
        answer(VENDOR, Said("As you like."), id="r2"),
    ]
    async with VendorServer(replies) as server, closing():
        made = Agent(pydantic_ai_runs.model(VENDOR, server.url), output_type=[str, DeferredToolRequests])
        agent = pydantic_ai_runs.with_approval(made)

        def source(given: RunAgentInput) -> AsyncIterator[Any]:
            return AGUIAdapter(agent, run_input=given).run_stream()

        async with talk(Chat(AgUi(source), store="memory")) as client:
            asking = await client.ask("c1", "Delete a.txt.")
            assert asking.turn.status == "waiting"
            ended = await client.answer("c1", decided(asking, approved=approved))
    assert ended.turn.status == "succeeded"
    said = contents(ended.stored)
    assert (said[0], said[1], said[-1]) == (STEP, ("said", "May I?"), ("said", "As you like."))
    assert ("tool", "c1") in asked_of(server.requests[-1].body)
    assert ("deleted a.txt" in str(said)) is approved
