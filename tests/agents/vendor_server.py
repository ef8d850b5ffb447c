"""A server on loopback that plays a vendor: it answers requests with scripted bytes, and fails as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from msgspec import Struct, field

from rejoinder.messages import Json, JsonObject
from rejoinder.wire import json
from rejoinder.wire.json import is_object

Fault: TypeAlias = Literal["cut", "stall", "think"]
"""`cut` drops the connection after the last piece, `stall` says nothing more and keeps it. `think` says comments before
its last piece, as gateways do while a model thinks, until `heard` is set."""

COMMENT: Final = b": keep-alive\n\n"


class Reply(Struct, frozen=True):
    """What is answered to one request: pieces of the body, each sent by itself."""

    pieces: tuple[bytes, ...]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream"),)
    fault: Fault | None = None


class Request(Struct):
    """What was asked."""

    path: str
    headers: dict[str, str]
    body: Json


class VendorServer(Struct):
    """Answers the first request with the first reply, and so on; the last reply is for all that follow."""

    replies: Sequence[Reply]
    requests: list[Request] = field(default_factory=list[Request])
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    """To be set when it has thought for long enough."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has left while it was answered."""
    _server: asyncio.Server | None = None
    _answering: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            pass  # the server is being closed, and nobody waits for this task but it
        finally:
            self._answering.discard(task)
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, piece: bytes) -> None:
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.requests.append(Request(lines[0].split()[1], headers, json.decode(body) if body else None))
            reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
            status = f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"
            said = [
                status,
                *(f"{name}: {value}" for name, value in reply.headers),
                "transfer-encoding: chunked",
            ]
            writer.write("\r\n".join([*said, "", ""]).encode())
            for place, piece in enumerate(reply.pieces, 1):
                while reply.fault == "think" and place == len(reply.pieces) and not self.heard.is_set():
                    await self._send(writer, COMMENT)
                    await asyncio.sleep(0.01)
                await self._send(writer, piece)
            if reply.fault == "cut":
                return
            if reply.fault == "stall":
                await reader.read()
                self.gone.set()
                return
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def streamed(events: Iterable[Json], *, done: bool = False, fault: Fault | None = None) -> Reply:
    """A stream of events, each a piece."""
    pieces = tuple(event_bytes(event) for event in events)
    return Reply((*pieces, b"data: [DONE]\n\n") if done else pieces, fault=fault)


def event_bytes(event: Json) -> bytes:
    """An event as the vendors write it."""
    kind = event.get("type") if is_object(event) else None
    named = b"" if kind is None else b"event: " + kind.encode() + b"\n"
    return named + b"data: " + json.encode(event) + b"\n\n"


def refused(status: int, error: JsonObject, **headers: str) -> Reply:
    """A refusal with an error in its body. What is refused for load may be tried again at once."""
    told = (("content-type", "application/json"), ("retry-after-ms", "1"))
    more = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply((json.encode({"error": error}),), status=status, headers=(*told, *more))


NOTHING: Final = Reply(())
"""A stream that says nothing."""
