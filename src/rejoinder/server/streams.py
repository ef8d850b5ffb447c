"""A turn as server-sent events: from any place on, to its end, and never to an end that looks like one and is none.

Clients take the end of a body for the end of the answer. So a body ends cleanly only behind the last chunk and
`[DONE]`; whatever else happens, the connection is broken, which they see, and come back from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from typing import Final, TypeAlias

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rejoinder.errors import RejoinderError
from rejoinder.live.tail import Tail, Telling
from rejoinder.wire.dialects import Dialect

HEARTBEAT_SECONDS: Final = 15.0
"""Proxies give up on a connection that is silent for 60 s, some for 30."""

STALLED_SECONDS_MAX: Final = 30.0
"""A reader that takes nothing for so long is cut off. What he has not read is in the journal."""

PIECE_BYTES_MAX: Final = 64 * 1024
"""So much is written at once, or one event if that is longer: a long replay does not fill a buffer for each reader."""

OPENING: Final = b": stream-open\n\n"
HEARTBEAT: Final = b": keep-alive\n\n"

HEADERS: Final[Mapping[str, str]] = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    # Compressors hold events back until they have enough of them; only this keeps them away.
    "content-encoding": "identity",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}


Until: TypeAlias = Callable[[], Coroutine[None, None, None]]
"""Comes back when somebody may not read any more."""


class StreamBroken(RejoinderError):
    """A stream was cut before its end, on purpose, because a clean end would look like success."""

    code = "stream-broken"


class TurnStream(Response):
    """An ASGI response. `opened` gives the tail, and takes it back when the reader has gone."""

    def __init__(
        self,
        opened: AbstractAsyncContextManager[Tail],
        dialect: Dialect,
        *,
        headers: Mapping[str, str],
        start: int = 0,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        stalled_seconds_max: float = STALLED_SECONDS_MAX,
        counted: AbstractContextManager[object] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({**HEADERS, **headers})
        self._opened = opened
        self._dialect = dialect
        self._start = start
        self._heartbeat_seconds = heartbeat_seconds
        self._stalled_seconds_max = stalled_seconds_max
        self._counted = nullcontext() if counted is None else counted
        self._until: Until | None = None

    def last(self, until: Until) -> None:
        """Break off when this comes back: the reader may not read on then."""
        self._until = until

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it all."""
        reader = Reader()
        tasks = [asyncio.create_task(reader.listen(receive))]
        if self._until is not None:
            tasks.append(asyncio.create_task(reader.lose(self._until)))
        try:
            with self._counted:
                async with self._opened as tail:
                    with tail.watching(reader.wake):
                        await self._send_start(send)
                        await self._send_events(tail, tail.told_in(self._dialect), reader, send)
        finally:
            for task in tasks:
                task.cancel()

    async def _send_start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send_piece(send, OPENING)

    async def _send_events(self, tail: Tail, telling: Telling, reader: Reader, send: Send) -> None:
        place = self._start
        while not reader.gone:
            telling.catch_up()
            if reader.unknown:
                raise StreamBroken("a reader may not come in any more")
            if place < len(telling.events):
                end = telling.stretch(place, PIECE_BYTES_MAX)
                await self._send_piece(send, b"".join(telling.events[place:end]))
                place = end
            elif telling.complete:
                await send({"type": "http.response.body", "body": telling.since(place), "more_body": False})
                return
            elif tail.failure is not None:
                raise StreamBroken(f"turn {tail.turn_id} cannot be read on: {tail.failure}")
            elif not await reader.wait(self._heartbeat_seconds):
                await self._send_piece(send, HEARTBEAT)

    async def _send_piece(self, send: Send, piece: bytes) -> None:
        try:
            async with asyncio.timeout(self._stalled_seconds_max):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise StreamBroken(f"a reader took nothing for {self._stalled_seconds_max} s") from None


class Reader:
    """Somebody at the other end of a connection, who may have gone."""

    def __init__(self) -> None:
        self.gone = False
        self.unknown = False
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There is something new."""
        self._woken.set()

    async def news(self) -> None:
        """Wait for something new."""
        await self._woken.wait()
        self._woken.clear()

    async def wait(self, seconds: float) -> bool:
        """Wait for something new, or for so many seconds. Answers which it was."""
        loop = asyncio.get_running_loop()
        silence = False

        def be_silent() -> None:
            nonlocal silence
            silence = True
            self._woken.set()

        timer = loop.call_later(seconds, be_silent)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()
        self._woken.clear()
        return not silence

    async def listen(self, receive: Receive) -> None:
        """Notice that he leaves."""
        while not self.gone:
            message = await receive()
            self.gone = message["type"] == "http.disconnect"
        self.wake()

    async def lose(self, until: Until) -> None:
        """Notice that he may not read on."""
        await until()
        self.unknown = True
        self.wake()
