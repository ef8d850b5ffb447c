"""The vendors through their own SDKs: what a turn stores, shows and asks is right, whichever of them answers."""

from __future__ import annotations

import asyncio

import pytest

from rejoinder import ModelAgent, Tool, tool
from rejoinder.convert.answers import answered
from rejoinder.convert.ui import to_ui
from rejoinder.messages import File, JsonObject, Message, Reasoning, Text, Turn, Usage
from rejoinder.testing.oracle import Oracle
from rejoinder.wire import json
from tests.agents.speaking import check_speech
from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import VENDORS, Called, Said, Thought, answer, provider
from tests.engine.stage import Stage, asynchronous, calls, stage, texts

pytestmark = pytest.mark.parametrize("vendor", VENDORS)
PIXEL = "data:image/png;base64,iVBORw0KGgo="
USAGE = Usage(input_tokens=20, output_tokens=9, cache_read_tokens=4, reasoning_tokens=3)


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


@tool(needs_approval=True)
async def erase(name: str) -> str:
    """Erase a file."""
    return f"erased {name}"


LOCATE = Tool(name="locate", description="Where the user is.")


def known(usage: Usage | None) -> Usage | None:
    """Usage without what not every vendor tells."""
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


async def check_calls(on: Stage, vendor: str, turn: Turn, count: int) -> None:
    """Every call of the model is recorded with its usage, and the turn has the sum."""
    recorded = await on.store.list_provider_calls(turn.id)
    assert [call.status for call in recorded] == ["succeeded"] * count
    assert {call.provider for call in recorded} == {vendor.partition("-")[0]}
    assert len({call.id for call in recorded}) == count
    for call in recorded:
        assert known(call.usage) == USAGE
        assert call.first_token_at is not None
    total = Usage()
    for _ in range(count):
        total += USAGE
    assert known(turn.usage) == total


async def again(on: Stage, agent: ModelAgent, before: Message, body: JsonObject, id: str) -> Turn:
    """The client's answers to a waiting turn, and what follows."""
    message = answered(before, body, open=True)
    begun = await on.begin(
        id, messages=(), continues=message, assistant_message_id=message.id, after=message.id
    )
    return await on.run(agent, begun, continues=message)


@asynchronous
async def test_what_is_said_and_thought_is_kept_and_given_back(vendor: str, oracle: Oracle) -> None:
    replies = (
        answer(vendor, Thought("Hm, hello."), Said("Grüße, 世界 🌍!"), id="a1"),
        answer(vendor, Said("Yes."), id="a2"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), instructions="Be kind.")
        turn = await on.run(agent)
        assert turn.status == "succeeded"
        message = await on.answer()
        assert texts(message) == ["Grüße, 世界 🌍!"]
        assert [part.text for part in message.parts if isinstance(part, Reasoning)] == ["Hm, hello."]
        await check_calls(on, vendor, turn, 1)
        await check_speech(on, oracle)
        second = await on.run(agent, await on.begin("second", text="Really?"))
        assert second.status == "succeeded"
        asked = json.encode(server.requests[1].body).decode()
        assert "Be kind." in asked
        assert "Grüße, 世界 🌍!" in asked
        if vendor != "openai-chat":  # there the server said no signature; its thoughts stay in their answer
            assert "signed-by-the-vendor" in asked
        await agent.aclose()


@asynchronous
async def test_three_steps_with_two_calls_at_once_and_reasoning_in_between(
    vendor: str, oracle: Oracle
) -> None:
    replies = (
        answer(
            vendor,
            Thought("Two sums."),
            Said("Let me see."),
            Called("c1", "add", '{"one": 1, "other": 2}'),
            Called("c2", "add", '{"one": 3, "other": 4}'),
            id="a1",
        ),
        answer(vendor, Called("c3", "add", '{"one": 3, "other": 7}'), id="a2"),
        answer(vendor, Said("Ten."), id="a3"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[add])
        turn = await on.run(agent)
        assert turn.status == "succeeded"
        message = await on.answer()
        assert [(call.call_id, call.output) for call in calls(message)] == [("c1", 3), ("c2", 7), ("c3", 10)]
        assert texts(message) == ["Let me see.", "Ten."]
        await check_calls(on, vendor, turn, 3)
        await check_speech(on, oracle)
        assert _results(vendor, server.requests[1].body) == {"c1": "3", "c2": "7"}
        assert _results(vendor, server.requests[2].body) == {"c1": "3", "c2": "7", "c3": "10"}
        if vendor != "openai-chat":
            assert b"signed-by-the-vendor" in json.encode(server.requests[1].body)
        assert "add" in json.encode(server.requests[0].body["tools"]).decode()
        await agent.aclose()


@pytest.mark.parametrize("approved", [True, False])
@asynchronous
async def test_an_approval_is_asked_for_and_its_answer_acted_upon(
    vendor: str,
    approved: bool,  # noqa: FBT001  # a case
    oracle: Oracle,
) -> None:
    replies = (
        answer(vendor, Said("I shall."), Called("c1", "erase", '{"name": "x"}'), id="a1"),
        answer(vendor, Said("Done."), id="a2"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[erase], approval_secrets=["secret"])
        assert (await on.run(agent)).status == "waiting"
        before = await on.answer()
        await check_speech(on, oracle)
        body = to_ui(before)
        part = body["parts"][-1]
        part |= {"state": "approval-responded", "approval": {**part["approval"], "approved": approved}}
        turn = await again(on, agent, before, body, "second")
        assert turn.status == "succeeded"
        (call,) = calls(await on.answer())
        assert call.state == ("output-available" if approved else "output-denied")
        await check_speech(on, oracle, "second", "turn", answered(before, body, open=True))
        result = _results(vendor, server.requests[1].body)["c1"]
        assert ("erased x" in result) is approved
        await agent.aclose()


@asynchronous
async def test_a_tool_of_the_client_is_answered_by_it(vendor: str, oracle: Oracle) -> None:
    replies = (
        answer(vendor, Called("c1", "locate", "{}"), id="a1"),
        answer(vendor, Said("In Ulm."), id="a2"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[LOCATE])
        assert (await on.run(agent)).status == "waiting"
        before = await on.answer()
        await check_speech(on, oracle)
        body = to_ui(before)
        body["parts"][-1] |= {"state": "output-available", "output": {"city": "Ulm"}}
        assert (await again(on, agent, before, body, "second")).status == "succeeded"
        assert _results(vendor, server.requests[1].body) == {"c1": '{"city":"Ulm"}'}
        assert texts(await on.answer()) == ["In Ulm."]
        await check_speech(on, oracle, "second", "turn", answered(before, body, open=True))
        await agent.aclose()


@asynchronous
async def test_a_picture_is_shown_to_the_model(vendor: str) -> None:
    async with stage() as on, VendorServer((answer(vendor, Said("A pixel.")),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        question = Message(
            id="q", role="user", parts=(Text(text="What is it?"), File(media_type="image/png", url=PIXEL))
        )
        turn = await on.run(agent, await on.begin(messages=(question,)))
        assert turn.status == "succeeded"
        (shown,) = [each for each in _asked(vendor, server.requests[0].body) if "text" not in each["type"]]
        match vendor:
            case "openai-responses":
                assert shown == {"type": "input_image", "image_url": PIXEL, "detail": "auto"}
            case "openai-chat":
                assert shown == {"type": "image_url", "image_url": {"url": PIXEL}}
            case _:
                source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
                assert shown == {"type": "image", "source": source}
        await agent.aclose()


@asynchronous
async def test_a_refusal_is_an_answer(vendor: str, oracle: Oracle) -> None:
    async with stage() as on, VendorServer((answer(vendor, Said("I will not.", refusal=True)),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        assert turn.status == "succeeded"
        assert texts(await on.answer()) == ["I will not."]
        await check_speech(on, oracle)
        await check_calls(on, vendor, turn, 1)
        await agent.aclose()


@asynchronous
async def test_an_answer_of_a_shape_is_asked_for(vendor: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    async with stage() as on, VendorServer((answer(vendor, Said('{"n": 3}')),)) as server:
        agent = ModelAgent(provider(vendor, server.url), output_schema=schema)
        await on.run(agent)
        assert texts(await on.answer()) == ['{"n": 3}']
        body = server.requests[0].body
        match vendor:
            case "openai-responses":
                form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}
                assert body["text"] == {"format": form}
            case "openai-chat":
                form = {"name": "answer", "schema": schema, "strict": True}
                assert body["response_format"] == {"type": "json_schema", "json_schema": form}
            case _:
                assert body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
        await agent.aclose()


@asynchronous
async def test_a_call_with_an_input_that_is_no_json_is_told_to_the_model(vendor: str, oracle: Oracle) -> None:
    replies = (
        answer(vendor, Called("c1", "add", '{"one": 1, oth'), id="a1"),
        answer(vendor, Said("Sorry."), id="a2"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[add])
        turn = await on.run(agent)
        assert turn.status == "succeeded"
        assert texts(await on.answer()) == ["Sorry."]
        (call,) = calls(await on.answer())
        assert call.state == "output-error"
        assert "JSON" in _results(vendor, server.requests[1].body)["c1"]
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_the_same_id_twice_is_two_calls(vendor: str, oracle: Oracle) -> None:
    one, two = '{"one": 1, "other": 1}', '{"one": 2, "other": 2}'
    replies = (
        answer(vendor, Called("same", "add", one), id="a1"),
        answer(vendor, Called("same", "add", two), id="a2"),
        answer(vendor, Said("Done."), id="a3"),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[add])
        assert (await on.run(agent)).status == "succeeded"
        assert [(call.call_id, call.output) for call in calls(await on.answer())] == [
            ("same", 2),
            ("same-2", 4),
        ]
        assert _results(vendor, server.requests[2].body) == {"same": "2", "same-2": "4"}
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_a_stop_closes_the_connection(vendor: str) -> None:
    begun = answer(vendor, Said("So far, so good."), fault="stall")
    async with stage() as on, VendorServer((Reply(begun.pieces[:3], fault="stall"),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        task = asyncio.create_task(on.run(agent))
        while not any(b"text-delta" in page.frames for page in on.shown):
            await asyncio.sleep(0.001)
            await on.clock.advance()
        on.stop.press("enough")
        await on.clock.advance(2)
        async with asyncio.timeout(60):
            turn = await task
            await server.gone.wait()
        assert turn.status == "cancelled"
        (call,) = await on.store.list_provider_calls("turn")
        assert call.status == "cancelled"
        assert "".join(texts(await on.answer())) in "So far, so good."
        await agent.aclose()


def _asked(vendor: str, body: JsonObject) -> list[JsonObject]:
    """The content of the newest question."""
    said = body["input"] if vendor == "openai-responses" else body["messages"]
    content: list[JsonObject] = said[-1]["content"]
    return content


def _results(vendor: str, body: JsonObject) -> dict[str, str]:
    """The results of tools in a request, by their calls."""
    match vendor:
        case "openai-responses":
            outputs = [item for item in body["input"] if item.get("type") == "function_call_output"]
            return {item["call_id"]: item["output"] for item in outputs}
        case "openai-chat":
            return {
                said["tool_call_id"]: said["content"] for said in body["messages"] if said["role"] == "tool"
            }
        case _:
            blocks = [block for said in body["messages"] for block in said["content"]]
            results = [block for block in blocks if block["type"] == "tool_result"]
            return {block["tool_use_id"]: block["content"] for block in results}
