"""Our chunks beside those of Pydantic AI's own adapters, on the same run: what differs is listed, nothing else does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ag_ui.core import RunAgentInput
from pydantic_ai import Agent
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai.request_types import SubmitMessage, TextUIPart, UIMessage

from rejoinder import Chat
from rejoinder.agents.ag_ui import AgUi
from rejoinder.agents.pydantic_ai import PydanticAI
from rejoinder.messages import Json, JsonObject
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json
from tests.agents.talking import talk
from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import Called, Said, Thought, answer
from tests.engine.stage import asynchronous
from tests.recordings.clients import closing
from tests.recordings.pydantic_ai_runs import model, with_tools

VENDOR: Final = "anthropic"


def replies() -> list[Reply]:
    """A thought, parallel calls of which one fails, and an answer."""
    return [
        answer(
            VENDOR,
            Thought("Two calls."),
            Said("One moment."),
            Called("c1", "get_weather", '{"city":"Paris"}'),
            Called("c2", "get_map", '{"city":"Oslo"}'),
            id="r1",
        ),
        answer(VENDOR, Thought("Enough."), Said("18 degrees in Paris."), id="r2"),
    ]


def told(chunks: Iterable[JsonObject]) -> list[JsonObject]:
    """What chunks say: deltas of a part joined, ids of parts and what else is made anew in each run left out."""
    said: list[JsonObject] = []
    for chunk in chunks:
        plain = {name: value for name, value in chunk.items() if name not in ("id", "messageId", "timestamp")}
        delta = next((name for name in ("delta", "inputTextDelta") if name in plain), None)
        if delta and said and said[-1]["type"] == plain["type"]:
            said[-1][delta] += plain[delta]
        else:
            said.append(plain)
    return said


def without(chunks: Iterable[JsonObject], *names: str) -> list[JsonObject]:
    return [{name: value for name, value in chunk.items() if name not in names} for chunk in chunks]


def ours(chunks: Iterable[Chunk]) -> list[JsonObject]:
    return [chunk_to_json(chunk) for chunk in chunks]


def in_order_of_calls(chunks: list[JsonObject]) -> list[JsonObject]:
    """The chunks of each call where its first one stands: the two tell parallel calls in different order."""
    calls = [chunk["toolCallId"] for chunk in chunks if chunk["type"] == "tool-input-start"]
    about = {call: [chunk for chunk in chunks if chunk.get("toolCallId") == call] for call in calls}
    said: list[JsonObject] = []
    for chunk in chunks:
        if "toolCallId" not in chunk:
            said.append(chunk)
        elif chunk["type"] == "tool-input-start":
            said += about[chunk["toolCallId"]]
    return said


@asynchronous
async def test_we_say_of_a_run_of_pydantic_ai_what_its_own_adapter_says() -> None:
    async with VendorServer([*replies(), *replies()]) as server, closing():
        agent = with_tools(Agent(model(VENDOR, server.url)))
        async with talk(Chat(PydanticAI(agent), store="memory")) as client:
            mine = ours((await client.ask("c", "Weather?")).chunks)
        message = UIMessage(id="u1", role="user", parts=[TextUIPart(text="Weather?")])
        request = SubmitMessage(id="c", trigger="submit-message", messages=[message])
        adapter: VercelAIAdapter[Any, Any] = VercelAIAdapter(agent, run_input=request, sdk_version=6)
        written = [chunk.encode(6) async for chunk in adapter.run_stream()]
    theirs: list[JsonObject] = [json.decode(chunk.encode()) for chunk in written if chunk != "[DONE]"]
    # It tells what each provider wants back on the first chunk and every delta as well as on the last; we say it
    # where it is complete, on the last one, and what it calls the metadata of the run we keep with the turn.
    left = without(in_order_of_calls(told(mine)), "providerMetadata")
    right = [
        chunk
        for chunk in without(in_order_of_calls(told(theirs)), "providerMetadata")
        if chunk["type"] != "message-metadata"
    ]
    assert len(left) > 15
    assert left == right
    kept = [
        chunk["providerMetadata"]["pydantic_ai"]["signature"]
        for chunk in mine
        if chunk["type"] == "reasoning-end"
    ]
    assert kept == ["signed-by-the-vendor"] * 2


@asynchronous
async def test_we_say_of_its_ag_ui_events_what_we_say_of_its_own_but_for_what_that_protocol_cannot_say() -> (
    None
):
    async with VendorServer([*replies(), *replies()]) as server, closing():
        agent = with_tools(Agent(model(VENDOR, server.url)))
        async with talk(Chat(PydanticAI(agent), store="memory")) as client:
            direct = ours((await client.ask("c", "Weather?")).chunks)

        def source(given: RunAgentInput) -> Any:
            return AGUIAdapter(agent, run_input=given).run_stream()

        async with talk(Chat(AgUi(source), store="memory")) as client:
            through = ours((await client.ask("c", "Weather?")).chunks)
    # AG-UI has results as text, and does not say that one is a failure; it has no metadata of providers.
    left = [as_text(chunk) for chunk in without(in_order_of_calls(told(direct)), "providerMetadata")]
    right = without(in_order_of_calls(told(through)), "providerMetadata")
    assert len(left) > 15
    assert left == right


def as_text(chunk: JsonObject) -> JsonObject:
    """An outcome as AG-UI has it."""
    if chunk["type"] == "tool-output-error":
        return {
            "type": "tool-output-available",
            "toolCallId": chunk["toolCallId"],
            "output": chunk["errorText"],
        }
    output: Json = chunk.get("output")
    if chunk["type"] == "tool-output-available" and not isinstance(output, str):
        return {**chunk, "output": json.encode(output).decode()}
    return chunk
