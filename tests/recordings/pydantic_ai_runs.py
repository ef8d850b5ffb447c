"""Runs of Pydantic AI, at a server on loopback that speaks the wires of OpenAI and Anthropic.

python -m tests.recordings.pydantic_ai_runs
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry
from pydantic_ai.exceptions import AgentRunError, ToolFailed
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import KEY, Called, Said, Thought, answer
from tests.recordings.clients import OPEN, closing
from tests.recordings.hosted import hosted_anthropic, hosted_responses
from tests.recordings.plain import keep, plain


class Report(BaseModel):
    """What an agent with an output type gives."""

    city: str
    degrees: int


def model(vendor: str, url: str) -> Model:
    """The vendor's model, at this server."""
    if vendor == "anthropic":
        theirs = AsyncAnthropic(api_key=KEY, base_url=url)
        OPEN.append(theirs)
        return AnthropicModel("claude-sonnet-5", provider=AnthropicProvider(anthropic_client=theirs))
    client = AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1")
    OPEN.append(client)
    provider = OpenAIProvider(openai_client=client)
    if vendor == "openai-responses":
        return OpenAIResponsesModel("gpt-5-mini", provider=provider)
    return OpenAIChatModel("gpt-4.1", provider=provider)


def with_tools(agent: Agent[None, Any]) -> Agent[None, Any]:
    """Give the agent tools that answer, fail, want to be called again, and show pictures."""

    @agent.tool_plain
    def get_weather(city: str) -> dict[str, Any]:
        return {"city": city, "degrees": 18 if city == "Paris" else 3}

    @agent.tool_plain
    def get_time(city: str) -> str:
        raise ModelRetry(f"{city} has two times: say which")

    @agent.tool_plain
    def get_map(city: str) -> str:
        raise ToolFailed(f"no map of {city}")

    @agent.tool_plain
    def now() -> str:
        return "noon"

    @agent.tool_plain
    def get_photo(city: str) -> ToolReturn[Any]:
        picture = BinaryContent(b"\x89PNG\r\n", media_type="image/png")
        return ToolReturn(return_value={"photo_of": city}, content=["Here it is:", picture])

    return agent


def with_approval(agent: Agent[None, Any]) -> Agent[None, Any]:
    """Give the agent a tool that the user has to allow."""

    @agent.tool_plain(requires_approval=True)
    def delete_file(path: str) -> str:
        return f"deleted {path}"

    return agent


async def record(
    name: str, vendor: str, make: Callable[[Model], Agent[None, Any]], prompt: str, replies: Sequence[Reply]
) -> None:
    """One run, kept."""
    async with VendorServer(replies) as server:
        agent = make(model(vendor, server.url))
        events: list[Any] = []
        with contextlib.suppress(AgentRunError):
            async with agent.run_stream_events(prompt) as stream:
                async for event in stream:
                    events.append(event)  # noqa: PERF401  # what came before it broke is kept
        keep(name, map(plain, events))


async def tools() -> None:
    """Tools that answer, fail, and are called wrongly."""
    await record(
        "pydantic_ai_tools",
        "openai-responses",
        lambda made: with_tools(Agent(made)),
        "How is the weather in Paris and Oslo, and what is the time in Rome?",
        [
            answer(
                "openai-responses",
                Thought("Four calls."),
                Said("One moment."),
                Called("c1", "get_weather", '{"city":"Paris"}'),
                Called("c2", "get_weather", '{"city":"Oslo"}'),
                Called("c3", "get_time", '{"city":"Rome"}'),
                Called("c4", "get_map", '{"city":"Bonn"}'),
                Called("c5", "get_photo", '{"city":"Bonn"}'),
                Called("c6", "no_such_tool", "{}"),
                id="r1",
            ),
            answer(
                "openai-responses",
                Thought("Enough."),
                Said("18 in Paris, 3 in Oslo; "),
                Said("the time in Rome is unclear."),
                id="r2",
            ),
        ],
    )
    await record(
        "pydantic_ai_anthropic_invalid_arguments",
        "anthropic",
        lambda made: with_tools(Agent(made)),
        "How is the weather?",
        [
            answer(
                "anthropic", Thought("Which city?"), Called("c1", "get_weather", '{"town":"Paris"}'), id="r1"
            ),
            answer("anthropic", Said("Once more."), Called("c2", "get_weather", '{"city":"Paris"}'), id="r2"),
            answer("anthropic", Thought("There it is."), Said("18 degrees in Paris."), id="r3"),
        ],
    )


async def outputs() -> None:
    """Outputs of a type, questions, tools of the vendors, and an end too early."""
    await record(
        "pydantic_ai_output_type",
        "openai-chat",
        lambda made: with_tools(Agent(made, output_type=Report)),
        "A report on Paris.",
        [
            answer("openai-chat", Called("c1", "get_weather", '{"city":"Paris"}'), id="r1"),
            answer("openai-chat", Called("c2", "final_result", '{"city":"Paris","degrees":"warm"}'), id="r2"),
            answer("openai-chat", Called("c3", "final_result", '{"city":"Paris","degrees":18}'), id="r3"),
        ],
    )
    await record(
        "pydantic_ai_approval",
        "openai-chat",
        lambda made: with_approval(with_tools(Agent(made, output_type=[str, DeferredToolRequests]))),
        "Delete a.txt, and tell me the weather in Oslo.",
        [
            answer(
                "openai-chat",
                Said("May I?"),
                Called("c1", "delete_file", '{"path":"a.txt"}'),
                Called("c2", "get_weather", '{"city":"Oslo"}'),
                id="r1",
            )
        ],
    )
    for vendor, reply in (("openai-responses", hosted_responses()), ("anthropic", hosted_anthropic())):
        await record(
            f"pydantic_ai_hosted_{vendor.replace('-', '_')}",
            vendor,
            lambda made: with_tools(Agent(made)),
            "Search.",
            [reply, answer(vendor, Said("There it is."), id="r2")],
        )
    await record(
        "pydantic_ai_cut_off",
        "openai-chat",
        lambda made: with_tools(Agent(made)),
        "How is the weather in Paris?",
        [
            answer("openai-chat", Called("c1", "get_weather", '{"city":"Paris"}'), id="r1"),
            answer("openai-chat", Said("It is going to be"), id="r2", fault="cut"),
        ],
    )


async def main() -> None:
    """All of them."""
    async with closing():
        await tools()
        await outputs()


if __name__ == "__main__":
    asyncio.run(main())
