"""The providers against a server that others wrote: the same turns, with wires that we had no hand in."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import pytest

from rejoinder import ModelAgent, Tool, tool
from rejoinder.agents.anthropic import AnthropicMessages
from rejoinder.agents.openai import OpenAIChat, OpenAIResponses
from rejoinder.convert.answers import answered
from rejoinder.convert.ui import to_ui
from rejoinder.messages import File, JsonObject, Message, Reasoning, Text, Turn
from rejoinder.testing.oracle import Oracle
from tests.agents.aimock import serving
from tests.agents.speaking import check_speech
from tests.agents.wires import VENDORS, Vendor
from tests.engine.stage import Stage, asynchronous, calls, stage, texts

USAGE: Final[JsonObject] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
PIXEL: Final = "data:image/png;base64,iVBORw0KGgo="


def call(id: str, name: str, /, **arguments: object) -> JsonObject:
    return {"id": id, "name": name, "arguments": arguments}


FIXTURES: Final[list[JsonObject]] = [
    {
        "match": {"userMessage": "Say hello"},
        "response": {"content": "Grüße, 世界 🌍!", "reasoning": "A greeting.", "usage": USAGE},
    },
    {"match": {"userMessage": "picture"}, "response": {"content": "A pixel.", "usage": USAGE}},
    {
        "match": {"userMessage": "Add", "hasToolResult": False},
        "response": {
            "toolCalls": [call("call_1", "add", one=1, other=2), call("call_2", "add", one=3, other=4)],
            "usage": USAGE,
        },
    },
    {
        "match": {"userMessage": "Add", "toolCallId": "call_2"},
        "response": {"toolCalls": [call("call_3", "add", one=3, other=7)], "usage": USAGE},
    },
    {
        "match": {"userMessage": "Add", "toolCallId": "call_3"},
        "response": {"content": "Ten.", "usage": USAGE},
    },
    {
        "match": {"userMessage": "Erase", "hasToolResult": False},
        "response": {"toolCalls": [call("call_1", "erase", name="x")]},
    },
    {
        "match": {"userMessage": "Erase", "toolResultContains": "erased x"},
        "response": {"content": "It is gone."},
    },
    {"match": {"userMessage": "Erase"}, "response": {"content": "It stays."}},
    {
        "match": {"userMessage": "Where", "hasToolResult": False},
        "response": {"toolCalls": [call("call_1", "locate")]},
    },
    {"match": {"userMessage": "Where", "toolResultContains": "Ulm"}, "response": {"content": "In Ulm."}},
    *[
        fixture
        for vendor in VENDORS
        for fixture in (
            {
                "match": {"userMessage": f"Busy {vendor}", "sequenceIndex": 0},
                "response": {"error": {"message": "Slow down.", "type": "rate_limit_error"}, "status": 429},
            },
            {"match": {"userMessage": f"Busy {vendor}"}, "response": {"content": "Here I am."}},
        )
    ],
    {
        "match": {"userMessage": "Fail"},
        "response": {"error": {"message": "Oh no.", "type": "server_error"}, "status": 500},
    },
    {
        "match": {"userMessage": "Break"},
        "latency": 5,
        "truncateAfterChunks": 6,
        "response": {"content": "This is an answer that will never come to its end, however long."},
    },
    {"match": {"userMessage": "Nonsense"}, "chaos": {"malformedRate": 1}, "response": {"content": "Never."}},
]


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


@tool(needs_approval=True)
async def erase(name: str) -> str:
    """Erase a file."""
    return f"erased {name}"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with serving(FIXTURES, tmp_path_factory.mktemp("aimock")) as found:
        yield found


@pytest.fixture(params=VENDORS)
def provider(request: pytest.FixtureRequest, address: str) -> Vendor:
    match request.param:
        case "openai-responses":
            return OpenAIResponses("gpt-5-mini", api_key="mock", base_url=f"{address}/v1", retries=1)
        case "openai-chat":
            return OpenAIChat(
                "deepseek-reasoner", api_key="mock", base_url=f"{address}/v1", name="deepseek", retries=1
            )
        case _:
            return AnthropicMessages("claude-sonnet-5", api_key="mock", base_url=address, retries=1)


async def asked(on: Stage, agent: ModelAgent, text: str, *files: File) -> Turn:
    """One turn with this question."""
    question = Message(id="question", role="user", parts=(Text(text=text), *files))
    return await on.run(agent, await on.begin(messages=(question,)))


@asynchronous
async def test_text_and_reasoning_with_their_usage(provider: Vendor, oracle: Oracle) -> None:
    async with stage() as on:
        agent = ModelAgent(provider)
        turn = await asked(on, agent, "Say hello")
        assert turn.status == "succeeded"
        message = await on.answer()
        assert texts(message) == ["Grüße, 世界 🌍!"]
        assert [part.text for part in message.parts if isinstance(part, Reasoning)] == ["A greeting."]
        assert turn.usage is not None
        assert (turn.usage.input_tokens, turn.usage.output_tokens) == (10, 5)
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_a_picture(provider: Vendor, oracle: Oracle) -> None:
    async with stage() as on:
        agent = ModelAgent(provider)
        await asked(on, agent, "What is in the picture?", File(media_type="image/png", url=PIXEL))
        assert texts(await on.answer()) == ["A pixel."]
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_two_calls_at_once_and_three_steps(provider: Vendor, oracle: Oracle) -> None:
    async with stage() as on:
        agent = ModelAgent(provider, tools=[add])
        turn = await asked(on, agent, "Add it all up")
        assert turn.status == "succeeded"
        message = await on.answer()
        assert [each.output for each in calls(message)] == [3, 7, 10]
        assert texts(message) == ["Ten."]
        recorded = await on.store.list_provider_calls("turn")
        assert [each.status for each in recorded] == ["succeeded"] * 3
        assert turn.usage is not None
        assert turn.usage.input_tokens == 30
        await check_speech(on, oracle)
        await agent.aclose()


@pytest.mark.parametrize("approved", [True, False])
@asynchronous
async def test_an_approval(provider: Vendor, approved: bool, oracle: Oracle) -> None:  # noqa: FBT001  # a case
    async with stage() as on:
        agent = ModelAgent(provider, tools=[erase])
        assert (await asked(on, agent, "Erase x")).status == "waiting"
        before = await on.answer()
        body = to_ui(before)
        part = body["parts"][-1]
        part |= {"state": "approval-responded", "approval": {**part["approval"], "approved": approved}}
        await goes_on(on, agent, before, body, oracle)
        assert texts(await on.answer()) == ["It is gone." if approved else "It stays."]
        await agent.aclose()


@asynchronous
async def test_a_tool_of_the_client(provider: Vendor, oracle: Oracle) -> None:
    async with stage() as on:
        agent = ModelAgent(provider, tools=[Tool(name="locate")])
        assert (await asked(on, agent, "Where am I?")).status == "waiting"
        before = await on.answer()
        body = to_ui(before)
        body["parts"][-1] |= {"state": "output-available", "output": {"city": "Ulm"}}
        await goes_on(on, agent, before, body, oracle)
        assert texts(await on.answer()) == ["In Ulm."]
        await agent.aclose()


async def goes_on(on: Stage, agent: ModelAgent, before: Message, body: JsonObject, oracle: Oracle) -> None:
    """The client's answers to a turn that waits, and what follows."""
    message = answered(before, body, open=True)
    begun = await on.begin(
        "second", messages=(), continues=message, assistant_message_id=message.id, after=message.id
    )
    assert (await on.run(agent, begun, continues=message)).status == "succeeded"
    await check_speech(on, oracle, "second", "turn", message)


@asynchronous
async def test_load_then_an_answer(provider: Vendor, request: pytest.FixtureRequest, oracle: Oracle) -> None:
    async with stage() as on:
        agent = ModelAgent(provider)
        vendor = request.node.callspec.params["provider"]
        assert (await asked(on, agent, f"Busy {vendor}?")).status == "succeeded"
        assert texts(await on.answer()) == ["Here I am."]
        await check_speech(on, oracle)
        await agent.aclose()


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("Fail", ("provider-unavailable",)),
        ("Break it off", ("provider-cut-off",)),
        ("Nonsense", ("provider-garbled", "provider-cut-off", "provider-error", "provider-unavailable")),
    ],
)
@asynchronous
async def test_what_fails_is_recorded_and_told(
    provider: Vendor, question: str, codes: tuple[str, ...], oracle: Oracle
) -> None:
    async with stage() as on:
        agent = ModelAgent(provider)
        turn = await asked(on, agent, question)
        assert turn.status == "failed"
        assert turn.error is not None
        assert turn.error.code in codes, turn.error
        await check_speech(on, oracle)
        await agent.aclose()
