"""Runs of the OpenAI Agents SDK, at a server on loopback that speaks OpenAI's wires.

python -m tests.recordings.openai_agents_runs
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from agents import (
    Agent,
    AgentsException,
    GuardrailFunctionOutput,
    Model,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    WebSearchTool,
    function_tool,
    input_guardrail,
    set_tracing_disabled,
)
from agents.items import RunItemBase
from openai import AsyncOpenAI
from pydantic import BaseModel

from rejoinder.messages import Json
from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import KEY, Called, Said, Thought, answer
from tests.recordings.clients import OPEN, closing
from tests.recordings.hosted import hosted_responses
from tests.recordings.plain import keep, plain
from tests.recordings.whole import whole


def model(vendor: str, url: str) -> Model:
    """The vendor's model, at this server."""
    client = AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1")
    OPEN.append(client)
    if vendor == "openai-responses":
        return OpenAIResponsesModel("gpt-5-mini", client)
    return OpenAIChatCompletionsModel("gpt-4.1", client)


@function_tool
def get_weather(city: str) -> dict[str, Any]:
    """Weather."""
    return {"city": city, "degrees": 18}


@function_tool
def get_map(city: str) -> str:
    """Map."""
    raise ValueError(f"no map of {city}")


@function_tool(needs_approval=True)
def delete_file(path: str) -> str:
    """Delete."""
    return f"deleted {path}"


class Report(BaseModel):
    """What an agent with an output type gives."""

    city: str
    degrees: int


def event_of(event: Any) -> Json:
    """An event as the fixtures have it: of a run's item its type, what the model said of it, and the output."""
    match event.type:
        case "raw_response_event":
            return {"type": event.type, "data": plain(event.data)}
        case "run_item_stream_event":
            item: RunItemBase[Any] = event.item
            output = plain(getattr(item, "output", None))
            return {
                "type": event.type,
                "name": event.name,
                "item": {
                    "type": plain(getattr(item, "type", None)),
                    "raw_item": plain(item.raw_item),
                    "output": output,
                },
            }
        case _:
            return {"type": event.type, "new_agent": event.new_agent.name}


async def record(
    name: str, vendor: str, make: Callable[[Model], Agent[Any]], prompt: str, replies: Sequence[Reply]
) -> None:
    """One run, kept."""
    async with VendorServer(replies) as server:
        run = Runner.run_streamed(make(model(vendor, server.url)), prompt)
        events: list[Json] = []
        with contextlib.suppress(AgentsException):
            async for event in run.stream_events():
                events.append(event_of(event))  # noqa: PERF401  # what came before it broke is kept
        keep(name, events)


def team(made: Model) -> Agent[Any]:
    """One that hands over, and has another one as a tool."""
    critic = Agent(name="Critic", model=made)
    writer = Agent(name="Writer", model=made, tools=[critic.as_tool("ask_critic", "Asks the critic.")])
    return Agent(name="Triage", model=made, tools=[get_weather], handoffs=[writer])


async def tools() -> None:
    """Tools, handing over and asking another agent, with models of both APIs."""
    for vendor, name in (
        ("openai-responses", "openai_agents_tools"),
        ("openai-chat", "openai_agents_chat_tools"),
    ):
        await record(
            name,
            vendor,
            lambda made: Agent(name="Assistant", model=made, tools=[get_weather, get_map]),
            "Weather in Paris and Oslo, and a map of Rome?",
            [
                answer(
                    vendor,
                    Thought("Three calls."),
                    Said("One moment."),
                    Called("c1", "get_weather", '{"city":"Paris"}'),
                    Called("c2", "get_weather", '{"city":"Oslo"}'),
                    Called("c3", "get_map", '{"city":"Rome"}'),
                    id="r1",
                ),
                answer(vendor, Thought("Enough."), Said("18 degrees in both; "), Said("no map."), id="r2"),
            ],
        )
        await record(
            name.replace("tools", "team"),
            vendor,
            team,
            "A line on the weather in Paris.",
            [
                answer(vendor, Said("I look."), Called("c1", "get_weather", '{"city":"Paris"}'), id="r1"),
                answer(vendor, Called("c2", "transfer_to_writer", "{}"), id="r2"),
                answer(
                    vendor, Said("A draft."), Called("c3", "ask_critic", '{"input":"18 degrees"}'), id="r3"
                ),
                whole(vendor, Said("Too dry."), id="r4"),
                answer(vendor, Said("Eighteen, and the sky is in a good mood."), id="r5"),
            ],
        )


async def outputs() -> None:
    """Questions, tools of OpenAI's, outputs of a type, and a guardrail."""
    await record(
        "openai_agents_approval",
        "openai-responses",
        lambda made: Agent(name="Assistant", model=made, tools=[get_weather, delete_file]),
        "Delete a.txt.",
        [
            answer(
                "openai-responses",
                Said("May I?"),
                Called("c1", "delete_file", '{"path":"a.txt"}'),
                Called("c2", "get_weather", '{"city":"Oslo"}'),
                id="r1",
            )
        ],
    )
    await record(
        "openai_agents_hosted",
        "openai-responses",
        lambda made: Agent(name="Assistant", model=made, tools=[WebSearchTool(), get_map]),
        "Search.",
        [hosted_responses(), answer("openai-responses", Said("There it is."), id="r2")],
    )
    await record(
        "openai_agents_output_type",
        "openai-responses",
        lambda made: Agent(name="Assistant", model=made, output_type=Report),
        "A report.",
        [answer("openai-responses", Said('{"city":"Paris","degrees":18}'), id="r1")],
    )

    @input_guardrail
    async def no_weather(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info="weather", tripwire_triggered=True)

    await record(
        "openai_agents_guardrail",
        "openai-responses",
        lambda made: Agent(name="Assistant", model=made, input_guardrails=[no_weather]),
        "Weather?",
        [answer("openai-responses", Said("It is fine."), id="r1")],
    )


async def main() -> None:
    """All of them."""
    set_tracing_disabled(True)
    async with closing():
        await tools()
        await outputs()


if __name__ == "__main__":
    asyncio.run(main())
