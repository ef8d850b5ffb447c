"""Runs of the `openai` and `anthropic` packages, streams and stream helpers, at a server on loopback.

python -m tests.recordings.provider_runs
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from anthropic import AnthropicError, AsyncAnthropic
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel

from rejoinder.messages import Json
from tests.agents.vendor_server import VendorServer
from tests.agents.wires import KEY, Called, Said, Thought, answer
from tests.recordings.hosted import (
    failing_responses,
    hosted_anthropic,
    hosted_responses,
    overloaded_anthropic,
)
from tests.recordings.plain import keep


def dumped(event: Any) -> Json:
    """An event of an SDK as its wire has it; helpers have fields of their own beside it."""
    if isinstance(event, BaseModel):
        # The SDKs leave fields of the wire as they came, whatever their models say.
        return event.model_dump(mode="json", exclude_unset=True, warnings=False)
    return event


async def events_of(stream: Any) -> list[Json]:
    """All that a stream yields, as far as it gets."""
    events: list[Json] = []
    with contextlib.suppress(OpenAIError, AnthropicError):
        async for event in stream:
            events.append(dumped(event))  # noqa: PERF401  # what came before it broke is kept
    return events


PIECES = (
    Thought("Two calls, at once."),
    Said("One moment."),
    Called("c1", "get_weather", '{"city":"Paris"}'),
    Called("c2", "get_weather", '{"city":"Oslo","unit":"c"}'),
)
REFUSAL = (Said("I cannot help with that.", refusal=True),)


async def openai_runs(url: str) -> None:
    """Responses and Chat Completions, in the order of the replies."""
    client = AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
    for name in ("openai_responses_hosted", "openai_responses_fails", "openai_responses_parallel"):
        stream: AsyncIterator[Any] = await client.responses.create(model="gpt-5-mini", input="?", stream=True)
        keep(name, await events_of(stream))
    async with client.responses.stream(model="gpt-5-mini", input="?") as helper:
        keep("openai_responses_helper", await events_of(helper))
    for name in ("openai_chat_parallel", "openai_chat_refuses", "openai_chat_cut_off"):
        stream = await client.chat.completions.create(model="gpt-4.1", messages=[], stream=True)
        keep(name, await events_of(stream))
    async with client.chat.completions.stream(model="gpt-4.1", messages=[]) as chat_helper:
        keep("openai_chat_helper", await events_of(chat_helper))


async def anthropic_runs(url: str) -> None:
    """Messages, in the order of the replies."""
    client = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
    for name in ("anthropic_hosted", "anthropic_fails", "anthropic_parallel"):
        stream = await client.messages.create(
            model="claude-sonnet-5", messages=[], max_tokens=99, stream=True
        )
        keep(name, await events_of(stream))
    async with client.messages.stream(model="claude-sonnet-5", messages=[], max_tokens=99) as helper:
        keep("anthropic_helper_hosted", await events_of(helper))


async def main() -> None:
    """All of them."""
    replies = [
        hosted_responses(),
        failing_responses(),
        answer("openai-responses", *PIECES, id="r1"),
        hosted_responses(),
        answer("openai-chat", *PIECES, id="r1"),
        answer("openai-chat", *REFUSAL, id="r2"),
        answer("openai-chat", *PIECES, id="r3", fault="cut"),
        answer("openai-chat", *PIECES, id="r4"),
    ]
    async with VendorServer(replies) as server:
        await openai_runs(server.url)
    replies = [
        hosted_anthropic(),
        overloaded_anthropic(),
        answer("anthropic", *PIECES, id="a1"),
        hosted_anthropic(),
    ]
    async with VendorServer(replies) as server:
        await anthropic_runs(server.url)


if __name__ == "__main__":
    asyncio.run(main())
