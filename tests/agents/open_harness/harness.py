"""A runtime of Open Harness in this process, which does what it is told: for each command, the events of a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias

from rejoinder.agents.open_harness import OpenHarnessChatTransport, RuntimeStatus, TransportOptions
from rejoinder.agents.open_harness.runtime import Listener
from rejoinder.fold import accumulate
from rejoinder.messages import Json, JsonObject, Message
from rejoinder.ports.agents import Stop
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json
from tests.translate.recorded import check

Script: TypeAlias = Callable[["Harness", str, str], Awaitable[None]]
"""What the runtime does for a message, in a run."""

HELLO: Final[JsonObject] = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hello"}]}


class Harness:
    """A runtime. `status` is what a test wants it to be."""

    def __init__(self, script: Script, *, status: RuntimeStatus = "running") -> None:
        self.status: RuntimeStatus = status
        self.commands: list[JsonObject] = []
        self.listeners: list[Listener] = []
        self.aborted = asyncio.Event()
        self._script = script
        self._tasks: set[asyncio.Task[None]] = set()

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Listen."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    async def dispatch(self, command: JsonObject) -> None:
        """Take a command."""
        self.commands.append(command)
        if command["type"] in ("send", "resume"):
            task = asyncio.create_task(self._run(command))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif command["type"] == "abort":
            self.aborted.set()

    async def _run(self, command: JsonObject) -> None:
        await self._script(self, command.get("message", ""), command["runId"])

    def tell(self, type: str, **fields: Json) -> None:
        """Tell everybody of an event."""
        for listener in (*self.listeners,):
            listener({"type": type, "timestamp": 1, **fields})


class Starting(Harness):
    """A runtime whose flow begins with a message."""

    async def run(self, message: str, run_id: str) -> None:
        """Run it."""
        self.commands.append({"type": "run", "message": message, "runId": run_id})
        self.status = "running"
        await self._script(self, message, run_id)
        self.status = "complete"


def events(*told: tuple[str, JsonObject]) -> Script:
    """A script that tells events, about the run unless they say of which."""

    async def script(harness: Harness, message: str, run_id: str) -> None:
        for kind, fields in told:
            about = {} if kind.startswith("flow:") else {"runId": run_id, "nodeId": "main"}
            harness.tell(kind, **{**about, **fields})
            await asyncio.sleep(0)

    return script


DONE: Final = ("agent:complete", {"result": "", "usage": {"inputTokens": 3, "outputTokens": 2}})


def said(*words: str) -> list[tuple[str, JsonObject]]:
    """Words, one delta each, and their end."""
    deltas: list[tuple[str, JsonObject]] = [("agent:text:delta", {"content": word}) for word in words]
    return [*deltas, ("agent:text", {"content": "".join(words)})]


def thought(*words: str) -> list[tuple[str, JsonObject]]:
    """Thoughts, the same way."""
    deltas: list[tuple[str, JsonObject]] = [("agent:thinking:delta", {"content": word}) for word in words]
    return [*deltas, ("agent:thinking", {"content": "".join(words)})]


async def chunks_of(
    harness: Harness, options: TransportOptions | None = None, *, stop: Stop | None = None
) -> list[Chunk]:
    """All that is said for one message, legal from the first chunk to the last."""
    async with OpenHarnessChatTransport(harness, options) as transport:
        stream = await transport.send_messages(chat_id="c1", messages=[HELLO], abort_signal=stop)
        chunks = [chunk async for chunk in stream]
    check(chunks)
    return chunks


async def answer_of(harness: Harness, options: TransportOptions | None = None) -> Message:
    """The message that comes of it."""
    return accumulate(await chunks_of(harness, options))


def types(chunks: list[Chunk]) -> list[str]:
    """What the chunks are, without the frame of every stream."""
    return [chunk_to_json(chunk)["type"] for chunk in chunks][1:-1]


async def lines(*pieces: bytes) -> AsyncIterator[bytes]:
    """A byte stream."""
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece
