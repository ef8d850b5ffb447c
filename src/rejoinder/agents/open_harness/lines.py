"""A runtime at the other end of a byte stream: events come as JSON lines, commands go as JSON lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from types import TracebackType
from typing import Final, Self

from rejoinder.agents.open_harness.runtime import Listener, RuntimeStatus
from rejoinder.errors import InvalidJson
from rejoinder.messages import JsonObject
from rejoinder.ports.agents import AgentError
from rejoinder.translate.fields import text_of
from rejoinder.wire import json

LINE_BYTES_MAX: Final = 16 * 1024 * 1024
"""No event is longer: what goes on without an end is no stream of lines."""

_STATUS: Final[dict[str, RuntimeStatus]] = {
    "flow:start": "running",
    "flow:resumed": "running",
    "agent:start": "running",
    "flow:paused": "paused",
    "agent:paused": "paused",
    "flow:aborted": "aborted",
    "flow:complete": "complete",
}


class LineRuntime:
    """`async with LineRuntime(process.stdout, write) as runtime`: a runtime behind a pipe, a socket or a response.

    `events` are the bytes as they come, cut anywhere; `send` takes a command, a line of JSON. Every line is handed
    on as the bytes that it is. One may send to it at any time, so it counts as running until it says otherwise.
    """

    def __init__(self, events: AsyncIterable[bytes], send: Callable[[bytes], Awaitable[None]]) -> None:
        self._events = events
        self._send = send
        self._status: RuntimeStatus = "running"
        self._listeners: list[Listener] = []
        self._enders: list[Callable[[], None]] = []
        self._ended = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def status(self) -> RuntimeStatus:
        """What its flow is doing, as its events tell."""
        return self._status

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with the bytes of every event from now on."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_end(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called once the stream is over."""
        self._enders.append(listener)
        if self._ended:
            listener()
        return lambda: self._enders.remove(listener)

    async def dispatch(self, command: JsonObject) -> None:
        """Send a command."""
        if self._ended:
            raise AgentError("the runtime has closed its stream of events", provider="open-harness")
        await self._send(json.encode(command) + b"\n")

    async def _read(self) -> None:
        rest = b""
        try:
            async for piece in self._events:
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._tell(line)
                if len(rest) > LINE_BYTES_MAX:
                    raise AgentError(f"a line of more than {LINE_BYTES_MAX} bytes", provider="open-harness")
            self._tell(rest)
        finally:
            self._ended = True
            for listener in (*self._enders,):
                listener()

    def _tell(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            kind = text_of(json.decode(line), "type")
        except InvalidJson:
            kind = ""
        self._status = _STATUS.get(kind, self._status)
        for listener in (*self._listeners,):
            listener(line)
