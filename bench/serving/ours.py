"""The agent that says when it said it, in a chat over the store that BENCH_STORE names."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable
from typing import Final

from starlette.types import ASGIApp

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.engine.running import TurnLimits
from rejoinder.messages import Json
from rejoinder.wire.chunks import Chunk

STORE: Final = "BENCH_STORE"
"""Environment variable: `memory`, or the URL of a database."""


async def run(call: Call) -> AsyncIterator[Json]:
    """`<words> <milliseconds>`: so many words, so far apart, or as fast as it can. Each is the time it is said at."""
    count, pause = map(int, call.prompt.split())
    for _ in range(count):
        yield f"{time.monotonic():.6f} "
        if pause:
            await asyncio.sleep(pause / 1000)


def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    """What that means."""
    yield from say.text(event)


CHAT: Final = Chat(
    Agent("clock", run, translate),
    store=os.environ.get(STORE, "memory"),
    # Streams that are held open say nothing for as long as the measuring takes.
    turn_limits=TurnLimits(idle_seconds=600.0),
    drain_seconds=0.0,
)

APP: Final[ASGIApp] = CHAT.app
