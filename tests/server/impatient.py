"""A chat that is quick to say that it is there and quick to cut readers off, and an agent that says a lot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Json
from rejoinder.wire.chunks import Chunk

PIECE = "x" * 1000


async def run(call: Call) -> AsyncIterator[Json]:
    match call.prompt.split():
        case ["flood", count]:
            for _ in range(int(count)):
                yield PIECE
        case ["wait", *_]:
            yield "Waiting"
            await call.stop.wait()
        case words:
            for word in words:
                yield word


def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    yield from say.text(event)


CHAT = Chat(
    Agent("impatient", run, translate), store="memory", heartbeat_seconds=0.1, stalled_seconds_max=1.0
)
