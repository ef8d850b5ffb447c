"""The chat over one WebSocket, as the transport of AI SDK 7 speaks it: many requests, each with its frames.

Who asks is decided at the handshake, once. Of the headers in a frame, which anybody can write, only those that say
how to answer are looked at. A socket that closes ends the reading and no answer; an abort frame stops an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Message as Sent
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from rejoinder.chat.wishes import Principal, Wish
from rejoinder.errors import InvalidJson, InvalidRequest
from rejoinder.messages import Turn
from rejoinder.server.answering import DIALECT_HEADER, Answering
from rejoinder.server.bodies import checked_key
from rejoinder.server.doors import Gate
from rejoinder.server.principals import principal_of
from rejoinder.server.problems import Problem, problem_response, told_of
from rejoinder.server.streams import Reader, StreamBroken, Until
from rejoinder.wire.dialects import Dialect, dialect
from rejoinder.wire.requests import (
    AbortFrame,
    EndFrame,
    ErrorFrame,
    NoActiveFrame,
    ResumeFrame,
    SendFrame,
    StartFrame,
    checked_id,
    chunk_frame,
    decode_client_frame,
    encode_server_frame,
)

REQUESTS_MAX: Final = 32
"""So many answers are read over one socket at a time: a page shows a few."""

PROTOCOL_ERROR: Final = 1002
TOO_BIG: Final = 1009
POLICY: Final = 1008
"""Codes that a socket is closed with, by RFC 6455."""

KEEP_ALIVE: Final = encode_server_frame(StartFrame(request_id="keep-alive"))
"""A frame for a request that nobody made: clients pass it over, and proxies see that the line is not dead."""

BROKEN_TEXT: Final = "The answer cannot be read on. Ask for it again."

_log: Final = logging.getLogger(__name__)


class _Gone(Exception):
    """There is nobody to write to."""


Write: TypeAlias = Callable[[bytes], Awaitable[None]]


class Sockets:
    """The door, as an ASGI application."""

    def __init__(self, answering: Answering, gate: Gate) -> None:
        self._answering = answering
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket to its end."""
        socket = WebSocket(scope, receive, send)
        try:
            self._gate.origins.check_host(socket)
            self._gate.origins.check(socket)
            principal = await principal_of(socket, self._gate.authenticate)
        except Exception as error:  # noqa: BLE001  # whatever it is, the handshake is answered
            await _deny(socket, problem_response(error, correlation=self._gate.new_id()))
            return
        await socket.accept()
        line = _Line(self._answering, self._gate, principal, send)
        await line.serve(receive, self._gate.until_unknown(socket, principal))


class _Line:
    """One open socket."""

    def __init__(self, answering: Answering, gate: Gate, principal: Principal, send: Send) -> None:
        self._answering = answering
        self._gate = gate
        self._principal = principal
        self._send = send
        self._sending = asyncio.Lock()
        self._requests: dict[str, _Request] = {}
        self._stalled = False

    async def serve(self, receive: Receive, until: Until | None) -> None:
        """Take frames in until the socket closes, the other end takes nothing any more, or may not."""
        serving = {asyncio.create_task(self._listen(receive)), asyncio.create_task(self._beat())}
        if until is not None:
            serving.add(asyncio.create_task(self._refuse(until)))
        try:
            await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = [*serving, *(request.task for request in self._requests.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._stalled:
            raise StreamBroken(f"a reader took nothing for {self._answering.stalled_seconds_max} s")

    async def _refuse(self, until: Until) -> None:
        await until()
        with contextlib.suppress(OSError, RuntimeError):
            await self._send({"type": "websocket.close", "code": POLICY})

    async def _listen(self, receive: Receive) -> None:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return
            code = self._take(message)
            if code is not None:
                await self._send({"type": "websocket.close", "code": code})
                return

    def _take(self, message: Sent) -> int | None:
        """Begin what a frame asks for. Answers with which code the socket is to be closed, if it is."""
        text: str | None = message.get("text")
        if text is None:
            return PROTOCOL_ERROR
        if len(text) > self._answering.body_bytes_max:
            return TOO_BIG
        try:
            frame = decode_client_frame(text)
        except (InvalidJson, InvalidRequest) as error:
            # The other requests of this socket are none the worse for it, but whose answer would this be?
            _log.info("a socket is closed: %s", error)
            return POLICY
        if isinstance(frame, AbortFrame):
            request = self._requests.get(frame.request_id)
            if request is not None:
                request.abort()
            return None
        if frame.request_id in self._requests or len(self._requests) >= REQUESTS_MAX:
            return POLICY
        self._requests[frame.request_id] = _Request(self._answering, self._principal, frame, self._carry)
        return None

    async def _carry(self, request: _Request) -> None:
        """Carry one request to its end, whatever that is."""
        id = request.frame.request_id
        try:
            await request.answer(self._write)
        except _Gone:
            pass
        except Exception as error:  # noqa: BLE001  # whatever it is, the client is told that there is no answer
            told = told_of(error, correlation=self._gate.new_id())
            with contextlib.suppress(_Gone):
                await self._write(encode_server_frame(ErrorFrame(request_id=id, error_text=told)))
        finally:
            self._requests.pop(id, None)

    async def _write(self, frame: bytes) -> None:
        async with self._sending:
            if self._stalled:
                raise _Gone
            try:
                async with asyncio.timeout(self._answering.stalled_seconds_max):
                    await self._send({"type": "websocket.send", "text": frame.decode()})
            except TimeoutError:
                self._stalled = True
                raise _Gone from None
            except (OSError, RuntimeError) as error:
                # Servers differ in what they say of a socket that is closed. The listener hears of it, too.
                raise _Gone from error

    async def _beat(self) -> None:
        """Say something now and then. Comes back when the other end takes nothing any more."""
        with contextlib.suppress(_Gone):
            while True:
                await asyncio.sleep(self._answering.heartbeat_seconds)
                await self._write(KEEP_ALIVE)


class _Request:
    """A request for an answer, or for the rest of one."""

    def __init__(
        self,
        answering: Answering,
        principal: Principal,
        frame: SendFrame | ResumeFrame,
        carry: Callable[[_Request], Awaitable[None]],
    ) -> None:
        self.frame = frame
        self._answering = answering
        self._principal = principal
        self._turn: Turn | None = None
        self._aborted = False
        self._stopping: asyncio.Task[bool] | None = None
        self.task = asyncio.ensure_future(carry(self))

    def abort(self) -> None:
        """The client wants the answer to stop."""
        self._aborted = True
        if self._turn is not None:
            self._stop(self._turn)

    async def answer(self, write: Write) -> None:
        """Send all frames of the answer."""
        with self._answering.counting.stream(self._principal):
            await self._answer(self._spoken, write)

    async def _answer(self, spoken: Dialect, write: Write) -> None:
        frame, id = self.frame, self.frame.request_id
        start = 0
        if isinstance(frame, SendFrame):
            turn: Turn | None = await self._asked(frame)
        else:
            start = 0 if frame.last_sequence is UNSET else frame.last_sequence + 1
            turn = await self._sought(frame)
        if turn is None:
            await write(encode_server_frame(NoActiveFrame(request_id=id)))
            return
        self._turn = turn
        if self._aborted:
            self._stop(turn)
        await write(encode_server_frame(StartFrame(request_id=id)))
        await self._stream(turn, spoken, start, write)
        if self._stopping is not None:
            await self._stopping

    async def _asked(self, frame: SendFrame) -> Turn:
        self._answering.counting.request(self._principal)
        key = frame.headers.get("idempotency-key")
        wish = Wish(
            principal=self._principal,
            conversation_id=frame.id,
            request=frame.request(),
            key=None if key is None else checked_key(key),
        )
        return await self._answering.turn_for(wish)

    async def _sought(self, frame: ResumeFrame) -> Turn | None:
        wanted = frame.body.get("turn")
        named = None if wanted is None else checked_id(wanted, "turn")
        return await self._answering.named_or_live(frame.id, named, self._principal)

    async def _stream(self, turn: Turn, spoken: Dialect, start: int, write: Write) -> None:
        reader, place, id = Reader(), start, self.frame.request_id
        async with self._answering.backend.reading(turn, tenant=self._principal.tenant) as tail:
            telling = tail.told_in(spoken)
            with tail.watching(reader.wake):
                while True:
                    telling.catch_up()
                    if place < len(telling.events):
                        await write(chunk_frame(id, place, telling.chunk(place)))
                        place += 1
                    elif telling.complete:
                        await write(encode_server_frame(EndFrame(request_id=id)))
                        return
                    elif tail.failure is not None:
                        raise Problem(503, "stream-broken", BROKEN_TEXT) from tail.failure
                    else:
                        await reader.news()

    @property
    def _spoken(self) -> Dialect:
        named = self.frame.headers.get(DIALECT_HEADER)
        if named is not None:
            return dialect(named)
        asked = self.frame.request().dialect if isinstance(self.frame, SendFrame) else None
        return self._answering.dialect if asked is None else asked

    def _stop(self, turn: Turn) -> None:
        if self._stopping is None:
            stop = self._answering.backend.live.stop(turn.id, tenant=self._principal.tenant)
            self._stopping = asyncio.ensure_future(stop)


async def _deny(socket: WebSocket, response: Response) -> None:
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(response)
    else:
        await socket.close(POLICY)
