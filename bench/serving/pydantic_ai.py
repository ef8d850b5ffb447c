"""Pydantic AI's own adapter to the AI SDK, over a model that says when it said it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def say(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
    """`<words> <milliseconds>`, as our agent has it."""
    count, pause = map(int, _prompt(messages[-1]).split())
    for _ in range(count):
        yield f"{time.monotonic():.6f} "
        if pause:
            await asyncio.sleep(pause / 1000)


def _prompt(message: ModelMessage) -> str:
    assert isinstance(message, ModelRequest)
    (said,) = (part.content for part in message.parts if isinstance(part, UserPromptPart))
    return said if isinstance(said, str) else "".join(item for item in said if isinstance(item, str))


AGENT: Final = Agent(FunctionModel(stream_function=say))


async def chat(request: Request) -> Response:
    """The door."""
    return await VercelAIAdapter[None, str].dispatch_request(request, agent=AGENT, sdk_version=6)


APP: Final = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])
