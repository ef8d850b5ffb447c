"""Whom a newcomer talks to: a vendor's model if there is a key for one, else a local one, else a scripted one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from typing import Final

from msgspec import Struct

from rejoinder.engine.model_agent import ModelAgent
from rejoinder.messages import Json
from rejoinder.ports.agents import Agent, AgentProtocol, Call
from rejoinder.ports.providers import ProviderAdapter
from rejoinder.translate import Emitter
from rejoinder.wire.chunks import Chunk

OPENAI_MODEL: Final = "gpt-5-mini"
ANTHROPIC_MODEL: Final = "claude-haiku-4-5"
MODEL_VARIABLE: Final = "REJOINDER_MODEL"
"""The environment variable that names another model of the same vendor; or `local`, or `scripted`, whatever keys there
are."""

LOCAL: Final = "local"
SCRIPTED: Final = "scripted"

BRIEFLY: Final = "You are a friendly assistant. Answer in a few short sentences."
"""What the local model is told, which knows little and likes to go on."""

WORD_SECONDS: Final = 0.03
"""Between two words of the scripted agent: so that one sees an answer come, and can press stop."""


class FirstLook(Struct, frozen=True):
    """An agent, and why it is this one, in words for the person who started us."""

    agent: AgentProtocol | ProviderAdapter
    why: str


def first_look() -> FirstLook:
    """The best agent that this machine can run."""
    model = os.environ.get(MODEL_VARIABLE)
    if model not in {LOCAL, SCRIPTED}:
        if os.environ.get("OPENAI_API_KEY"):
            from rejoinder.agents.openai import OpenAIResponses

            name = model or OPENAI_MODEL
            return FirstLook(OpenAIResponses(name), f"OpenAI's {name}, since OPENAI_API_KEY is set")
        if os.environ.get("ANTHROPIC_API_KEY"):
            from rejoinder.agents.anthropic import AnthropicMessages

            name = model or ANTHROPIC_MODEL
            return FirstLook(AnthropicMessages(name), f"Anthropic's {name}, since ANTHROPIC_API_KEY is set")
    local = None if model == SCRIPTED else _local()
    if local is not None:
        return FirstLook(
            ModelAgent(local, instructions=BRIEFLY),
            "a very small model on this machine; set OPENAI_API_KEY or ANTHROPIC_API_KEY for a large one",
        )
    return FirstLook(
        Agent("scripted", _run, _translate),
        "a scripted agent that repeats what you say; set OPENAI_API_KEY or ANTHROPIC_API_KEY for a model",
    )


def _local() -> ProviderAdapter | None:
    from rejoinder.agents.local import local_model
    from rejoinder.agents.provider import InvalidSetting, NotInstalled

    try:
        return local_model()
    except (NotInstalled, InvalidSetting):
        return None


async def _run(call: Call) -> AsyncIterator[Json]:
    """Repeat what was said, word by word; whoever asks for the weather sees a call of a tool first."""
    words = call.prompt.split()
    if "weather" in call.prompt.lower():
        city = words[-1].strip("?!.,").title()
        yield {"tool": "weather", "id": f"{call.turn.id}-1", "input": {"city": city}}
        await asyncio.sleep(10 * WORD_SECONDS)
        yield {"result": {"city": city, "degrees": 20, "sky": "clear"}, "id": f"{call.turn.id}-1"}
        words = f"It is 20 degrees and clear in {city}, as always in a script.".split()
    else:
        words = ["You", "said:", *words]
    for word in words:
        if call.stop.pressed:
            return
        yield {"say": f"{word} "}
        await asyncio.sleep(WORD_SECONDS)


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    match event:
        case {"say": text}:
            yield from say.text(text)
        case {"tool": name, "id": id, "input": given}:
            yield from say.step()
            yield from say.tool_input_start(id, name)
            yield from say.tool_input(id, name, given)
        case {"result": result, "id": id}:
            yield from say.tool_output(id, result)
            yield from say.step()
        case _:
            raise ValueError(f"no event of the scripted agent: {event!r}")
