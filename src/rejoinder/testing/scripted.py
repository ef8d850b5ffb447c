"""An agent that says what it is told to: exact, without a key, for tests and first looks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeAlias

from rejoinder.messages import Json
from rejoinder.ports.agents import Agent, Call
from rejoinder.translate import Emitter
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json, chunk_to_json

Doing: TypeAlias = Callable[[Call], Awaitable[None]]

Line: TypeAlias = str | Chunk | BaseException | Doing
"""A line of a script: text to be said, a chunk, an exception to be raised, or something to be done and waited for."""


def scripted(*lines: Line, name: str = "scripted") -> Agent:
    """An agent that goes through these lines in every turn."""

    async def run(call: Call) -> AsyncIterator[Json]:
        for line in lines:
            if isinstance(line, str):
                yield {"text": line}
            elif isinstance(line, BaseException):
                raise line
            elif callable(line):
                await line(call)
            else:
                yield {"chunk": chunk_to_json(line)}

    return Agent(name, run, _translate)


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    return say.text(event["text"]) if "text" in event else say.chunk(chunk_from_json(event["chunk"]))
