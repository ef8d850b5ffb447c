"""The clients, in a process of their own: raw sockets that count what comes and know when it was said.

`python -m bench.serving.load` reads one order (JSON) from its standard input and prints one line of JSON when all
streams have ended; or, of streams that are held, one when all of them are open, and ends when its input does.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import sys
import time
from typing import Final

import msgspec

OPENING_MAX: Final = 64
"""So many connect at a time: a queue of connections that overflows costs a second, and says nothing of a server."""

EVENT: Final = b"data: {"
DONE: Final = b"data: [DONE]"
SAID: Final = re.compile(rb'"delta":"(\d+\.\d{6}) "')

CARRIED: Final = 64
"""Bytes of one piece that are looked at again with the next, because what is looked for may lie across both."""


class Order(msgspec.Struct, frozen=True):
    """What is to be done. `hold` keeps the streams open once each has said its first word."""

    port: int
    streams: int
    words: int
    pause_ms: int
    run: str
    hold: bool = False


class Found(msgspec.Struct, frozen=True):
    """What came. Times in seconds."""

    chunks: int
    seconds: float
    failed: int
    first: list[float] = []
    latency: list[float] = []


class Stream(asyncio.Protocol):
    """One connection, one answer."""

    def __init__(self, body: bytes, *, hold: bool) -> None:
        self.chunks = 0
        self.first: float | None = None
        self.latency: list[float] = []
        self.complete = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.BaseTransport | None = None
        self._hold = hold
        self._asked = 0.0
        self._carried = b""
        head = "POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._request = head.encode() + body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        self._asked = time.monotonic()
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Count."""
        now = time.monotonic()
        piece = self._carried + data
        # What is carried on ends before the last thing that was not whole yet.
        kept = max(piece.rfind(b"\n") + 1, len(piece) - 4 * CARRIED)
        whole, self._carried = piece[:kept], piece[kept:]
        self.chunks += whole.count(EVENT)
        said = SAID.findall(whole)
        if said:
            self.latency.extend(now - float(each) for each in said)
            if self.first is None:
                self.first = now - self._asked
                if self._hold:
                    self.end()
        if DONE in whole:
            self.complete = True
            self.end()
            assert self.transport is not None
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over, one way or the other."""
        self.end()

    def end(self) -> None:
        """Nothing more is waited for."""
        if not self.over.done():
            self.over.set_result(None)

    def reset(self) -> None:
        """Go without a word."""
        if self.transport is None or self.transport.is_closing():
            return
        line: socket.socket = self.transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert isinstance(self.transport, asyncio.WriteTransport)
        self.transport.abort()


def request(order: Order, number: int) -> bytes:
    """What a client sends."""
    part = {"type": "text", "text": f"{order.words} {order.pause_ms}"}
    message = {"id": f"m-{number}", "role": "user", "parts": [part]}
    chat = f"{order.run}-{number}"
    return msgspec.json.encode({"id": chat, "trigger": "submit-message", "messages": [message]})


async def load(order: Order) -> tuple[Found, list[Stream]]:
    """Open all streams, and wait for the end of each, or its first word."""
    opening = asyncio.Semaphore(OPENING_MAX)
    loop = asyncio.get_running_loop()

    async def one(number: int) -> Stream:
        async with opening:
            _, stream = await loop.create_connection(
                lambda: Stream(request(order, number), hold=order.hold), "127.0.0.1", order.port
            )
        await stream.over
        return stream

    began = time.monotonic()
    streams = await asyncio.gather(*(one(number) for number in range(order.streams)))
    wrong = [each for each in streams if not (each.first is not None if order.hold else each.complete)]
    found = Found(
        chunks=sum(each.chunks for each in streams),
        seconds=time.monotonic() - began,
        failed=len(wrong),
        first=[each.first for each in streams if each.first is not None],
        latency=[late for each in streams for late in each.latency],
    )
    return found, streams


async def main() -> None:
    """Take one order."""
    order = msgspec.json.decode(sys.stdin.readline(), type=Order)
    found, streams = await load(order)
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    sys.stdout.flush()
    if order.hold:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        for stream in streams:
            stream.reset()
        await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(main())
