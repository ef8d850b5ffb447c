"""A turn as server-sent events: from any place on, to its end, and never to an end that looks like one and is none.

Clients take the end of a body for the end of the answer. So a body ends cleanly only behind the last chunk and
`[DONE]`; whatever else happens, the connection is broken, which they see, and come back from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final, Self, TypeAlias

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
                    with tail.watching(reader.wake), self._patience(reader) as patience:
                        patience.sending()
                        await self._send_start(send)
                        patience.sent()
                        await self._send_events(tail, tail.told_in(self._dialect), reader, patience, send)
        finally:
            for task in tasks:
                task.cancel()

    def _patience(self, reader: Reader) -> Patience:
        return Patience(
            reader, silent_seconds_max=self._heartbeat_seconds, stalled_seconds_max=self._stalled_seconds_max
        )

    async def _send_start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": OPENING, "more_body": True})

    async def _send_events(
        self, tail: Tail, telling: Telling, reader: Reader, patience: Patience, send: Send
    ) -> None:
        place = self._start
        while not reader.gone:
            telling.catch_up()
            if reader.unknown:
                raise StreamBroken("a reader may not come in any more")
            if place < len(telling.events):
                place, piece = telling.piece(place, PIECE_BYTES_MAX)
            elif telling.complete:
                await send({"type": "http.response.body", "body": telling.since(place), "more_body": False})
                return
            elif tail.failure is not None:
                raise StreamBroken(f"turn {tail.turn_id} cannot be read on: {tail.failure}")
            elif patience.silent:
                piece = HEARTBEAT
            else:
                await reader.news()
                continue
            patience.sending()
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            patience.sent()


class Reader:
    """Somebody at the other end of a connection, who may have gone."""

    def __init__(self) -> None:
        self.gone = False
        self.unknown = False
        self._woken = False
        self._waiting: asyncio.Future[None] | None = None

    def wake(self) -> None:
        """There is something new."""
        self._woken = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def news(self) -> None:
        """Wait for something new."""
        if not self._woken:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        self._woken = False

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


class Patience:
    """How long a reader may hear nothing, and how long he may take nothing.

    One timer for a connection, and none for each piece: it looks when the time can have run out at the earliest, and
    comes again if it has not. Who has heard nothing for too long is woken, and is `silent`; who takes nothing is cut
    off as by `asyncio.timeout`, with `StreamBroken`.
    """

    def __init__(self, reader: Reader, *, silent_seconds_max: float, stalled_seconds_max: float) -> None:
        self.silent = False
        self._reader = reader
        self._silent_seconds_max = silent_seconds_max
        self._stalled_seconds_max = stalled_seconds_max
        self._sending = False
        self._stalled = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._look()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        cut = self._stalled and self._task.uncancel() <= self._cancelling
        if cut and isinstance(error, asyncio.CancelledError):
            raise StreamBroken(f"a reader took nothing for {self._stalled_seconds_max} s") from None

    def sending(self) -> None:
        """A piece is offered."""
        self.silent = False
        self._sending = True
        self._since = self._loop.time()

    def sent(self) -> None:
        """It was taken."""
        self._sending = False

    def _look(self) -> None:
        allowed = self._stalled_seconds_max if self._sending else self._silent_seconds_max
        left = self._since + allowed - self._loop.time()
        if left <= 0 and self._sending:
            self._stalled = True
            self._task.cancel()
            return
        if left <= 0:
            self.silent = True
            self._reader.wake()
            left = allowed
        # What begins to be sent meanwhile may have less time than that.
        self._timer = self._loop.call_later(min(left, self._stalled_seconds_max), self._look)
