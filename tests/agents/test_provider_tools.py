"""Tools that the vendors run, and the sources that they name: shown, stored, and given back as they came."""

from __future__ import annotations

import pytest

from rejoinder import ModelAgent
from rejoinder.convert.answers import answered
from rejoinder.convert.ui import to_ui
from rejoinder.messages import JsonObject, SourceUrl
from rejoinder.ports.providers import ProviderToolDefinition
from rejoinder.testing.oracle import Oracle
from tests.agents.speaking import check_speech
from tests.agents.vendor_server import VendorServer, streamed
from tests.agents.wires import Said, answer, provider
from tests.engine.stage import Stage, asynchronous, calls, stage, texts

SEARCH: JsonObject = {"type": "search", "query": "weather in Ulm"}
CITED: JsonObject = {"url": "https://weather.example/ulm", "title": "Ulm"}


def hosted(kind: str) -> ProviderToolDefinition:
    return ProviderToolDefinition(name="web_search", provider_tool={"type": kind, "name": "web_search"})


async def check(on: Stage, oracle: Oracle) -> None:
    """The search is the vendor's call with its result, and the page that it found is a source."""
    message = await on.answer()
    (call,) = calls(message)
    assert call.provider_executed is True
    assert call.state == "output-available"
    assert "".join(texts(message)) == "Rain."
    sources = [part.url for part in message.parts if isinstance(part, SourceUrl)]
    assert CITED["url"] in sources
    await check_speech(on, oracle)


@asynchronous
async def test_openai_searches_and_its_items_go_back_whole(oracle: Oracle) -> None:
    search: JsonObject = {"type": "web_search_call", "id": "ws1", "status": "completed", "action": SEARCH}
    annotation = {"type": "url_citation", "start_index": 0, "end_index": 5, **CITED}
    message: JsonObject = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Rain.", "annotations": [annotation]}],
    }
    place = {"item_id": "m1", "output_index": 1, "content_index": 0}
    response: JsonObject = {"id": "r1", "object": "response", "model": "gpt-5-mini", "status": "in_progress"}
    usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
    events: list[JsonObject] = [
        {"type": "response.created", "response": {**response, "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**search, "status": "in_progress", "action": None},
        },
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws1"},
        {"type": "response.output_item.done", "output_index": 0, "item": search},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {**message, "status": "in_progress", "content": []},
        },
        {"type": "response.output_text.delta", **place, "delta": "Rain."},
        {
            "type": "response.output_text.annotation.added",
            **place,
            "annotation_index": 0,
            "annotation": annotation,
        },
        {"type": "response.output_item.done", "output_index": 1, "item": message},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [search, message], "usage": usage},
        },
    ]
    vendor = "openai-responses"
    async with stage() as on, VendorServer((streamed(events), answer(vendor, Said("Yes.")))) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[hosted("web_search")])
        assert (await on.run(agent)).status == "succeeded"
        assert len(server.requests) == 1, "nobody runs the tool of a vendor but the vendor"
        assert server.requests[0].body["tools"] == [{"type": "web_search", "name": "web_search"}]
        await check(on, oracle)
        await on.run(agent, await on.begin("second", text="Really?"))
        sent = [item for item in server.requests[1].body["input"] if item.get("type") == "web_search_call"]
        assert [(item["id"], item["action"]["query"]) for item in sent] == [("ws1", "weather in Ulm")]
        await agent.aclose()


@asynchronous
async def test_anthropic_searches_and_its_blocks_go_back_whole(oracle: Oracle) -> None:
    result: JsonObject = {
        "type": "web_search_result",
        **CITED,
        "encrypted_content": "sealed",
        "page_age": None,
    }
    cited: JsonObject = {
        "type": "web_search_result_location",
        **CITED,
        "encrypted_index": "sealed-index",
        "cited_text": "It will rain.",
    }
    blocks: list[tuple[JsonObject, list[JsonObject]]] = [
        (
            {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"query": "weather in Ulm"}'}],
        ),
        ({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [result]}, []),
        (
            {"type": "text", "text": "", "citations": []},
            [{"type": "citations_delta", "citation": cited}, {"type": "text_delta", "text": "Rain."}],
        ),
    ]
    events = anthropic(blocks, "end_turn")
    vendor = "anthropic"
    async with stage() as on, VendorServer((streamed(events), answer(vendor, Said("Yes.")))) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[hosted("web_search_20250305")])
        assert (await on.run(agent)).status == "succeeded"
        assert len(server.requests) == 1
        await check(on, oracle)
        await on.run(agent, await on.begin("second", text="Really?"))
        (said,) = [each for each in server.requests[1].body["messages"] if each["role"] == "assistant"]
        assert [block["type"] for block in said["content"]] == [
            "server_tool_use",
            "web_search_tool_result",
            "text",
        ]
        assert said["content"][1]["content"][0]["encrypted_content"] == "sealed"
        assert said["content"][2]["citations"] == [cited]
        await agent.aclose()


def anthropic(blocks: list[tuple[JsonObject, list[JsonObject]]], reason: str) -> list[JsonObject]:
    """A message of these blocks, each with its deltas, that ends for that reason."""
    message: JsonObject = {
        "id": "a1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [],
        "usage": {"input_tokens": 20, "output_tokens": 1},
    }
    events: list[JsonObject] = [{"type": "message_start", "message": message}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    usage = {"output_tokens": 9, "server_tool_use": {"web_search_requests": 1}}
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
    return [*events, {"type": "message_stop"}]


@asynchronous
async def test_anthropic_pauses_and_is_asked_to_go_on(oracle: Oracle) -> None:
    found: JsonObject = {
        "type": "web_search_result",
        **CITED,
        "encrypted_content": "sealed",
        "page_age": None,
    }
    paused = anthropic(
        [
            (
                {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}},
                [{"type": "input_json_delta", "partial_json": '{"query": "weather in Ulm"}'}],
            ),
            ({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [found]}, []),
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "So far: "}]),
        ],
        "pause_turn",
    )
    vendor = "anthropic"
    async with (
        stage() as on,
        VendorServer((streamed(paused), answer(vendor, Said("rain."), id="a2"))) as server,
    ):
        agent = ModelAgent(provider(vendor, server.url), tools=[hosted("web_search_20250305")])
        assert (await on.run(agent)).status == "succeeded"
        assert len(server.requests) == 2
        said = server.requests[1].body["messages"][-1]
        assert said["role"] == "assistant"
        assert [block["type"] for block in said["content"]] == [
            "server_tool_use",
            "web_search_tool_result",
            "text",
        ]
        assert "".join(texts(await on.answer())) == "So far: rain."
        assert len(await on.store.list_provider_calls("turn")) == 2
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_a_chat_completions_server_names_its_sources(oracle: Oracle) -> None:
    head: JsonObject = {"id": "c1", "object": "chat.completion.chunk", "model": "search"}
    annotation = {"type": "url_citation", "url_citation": {**CITED, "start_index": 0, "end_index": 5}}
    deltas: list[JsonObject] = [{"role": "assistant", "content": "Rain."}, {"annotations": [annotation]}]
    events: list[JsonObject] = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    async with stage() as on, VendorServer((streamed(events, done=True),)) as server:
        agent = ModelAgent(provider("openai-chat", server.url))
        assert (await on.run(agent)).status == "succeeded"
        message = await on.answer()
        assert [part.url for part in message.parts if isinstance(part, SourceUrl)] == [CITED["url"]]
        await check_speech(on, oracle)
        await agent.aclose()


def created(id: str) -> JsonObject:
    empty: list[JsonObject] = []
    response = {"id": id, "object": "response", "model": "gpt-5-mini", "status": "in_progress"}
    return {"type": "response.created", "response": {**response, "output": empty}}


def completed(id: str, *items: JsonObject) -> list[JsonObject]:
    """A response of these items."""
    said: list[JsonObject] = []
    for place, item in enumerate(items):
        begun: JsonObject = {**item, "content": []} if item["type"] == "message" else item
        said.append({"type": "response.output_item.added", "output_index": place, "item": begun})
        said.append({"type": "response.output_item.done", "output_index": place, "item": item})
    usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
    response = {"id": id, "object": "response", "model": "gpt-5-mini", "status": "completed", "usage": usage}
    return [
        created(id),
        *said,
        {"type": "response.completed", "response": {**response, "output": list(items)}},
    ]


def message(id: str, text: str) -> JsonObject:
    content: list[JsonObject] = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content}


@pytest.mark.parametrize("approved", [True, False])
@asynchronous
async def test_openai_asks_before_it_calls_an_mcp_server(approved: bool, oracle: Oracle) -> None:  # noqa: FBT001  # a case
    question: JsonObject = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "erase",
        "server_label": "files",
        "arguments": '{"name":"x"}',
    }
    made: JsonObject = {
        "type": "mcp_call",
        "id": "mcp_1",
        "approval_request_id": "mcpr_1",
        "name": "erase",
        "server_label": "files",
        "arguments": '{"name":"x"}',
        "output": "erased x",
        "error": None,
    }
    after = [made, message("m2", "It is gone.")] if approved else [message("m2", "It stays.")]
    replies = (
        streamed(completed("r1", question)),
        streamed(completed("r2", *after)),
        streamed(completed("r3", message("m3", "Yes."))),
    )
    tools = ProviderToolDefinition(name="files", provider_tool={"type": "mcp", "server_label": "files"})
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider("openai-responses", server.url), tools=[tools])
        assert (await on.run(agent)).status == "waiting"
        before = await on.answer()
        body = to_ui(before)
        part = body["parts"][-1]
        part |= {"state": "approval-responded", "approval": {**part["approval"], "approved": approved}}
        decided = answered(before, body, open=True)
        begun = await on.begin(
            "second", messages=(), continues=decided, assistant_message_id=decided.id, after=decided.id
        )
        assert (await on.run(agent, begun, continues=decided)).status == "succeeded"
        asked = [item for item in server.requests[1].body["input"] if "mcp" in item.get("type", "")]
        assert asked == [
            question,
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": approved},
        ]
        (call,) = calls(await on.answer())
        assert call.state == ("output-available" if approved else "output-denied")
        await check_speech(on, oracle, "second", "turn", decided)
        assert (await on.run(agent, await on.begin("third", text="Sure?"))).status == "succeeded"
        kept = [item["type"] for item in server.requests[2].body["input"] if "mcp" in item.get("type", "")]
        assert kept == (["mcp_call"] if approved else ["mcp_approval_request", "mcp_approval_response"])
        await agent.aclose()
