"""The network between a browser and a server: a relay that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator
from typing import Final
from urllib.parse import urlsplit

PIECE_BYTES_MAX: Final = 64 * 1024


class Wire:
    """Carries bytes to and fro. `cut` breaks every connection; `down` lets no new one through until `up`."""

    def __init__(self, address: str) -> None:
        self.address = ""
        parts = urlsplit(address)
        self._target = (parts.hostname or "", parts.port or 0)
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._broken = False
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def cut(self) -> None:
        """Break what is open. What comes next goes through."""
        self._do(self._break)

    def down(self) -> None:
        """Break what is open, and let nothing through."""

        def broken() -> None:
            self._broken = True
            self._break()

        self._do(broken)

    def up(self) -> None:
        """Let everything through again."""
        self._broken = False

    @contextlib.contextmanager
    def laid(self) -> Generator[str]:
        """The address at which the server seems to be."""
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._carry, "127.0.0.1", 0), self._loop
        ).result(10)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            self._do(server.close)
            self._do(self._break)
            asyncio.run_coroutine_threadsafe(_others_done(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    def _do(self, work: object) -> None:
        done = threading.Event()

        def both() -> None:
            assert callable(work)
            work()
            done.set()

        self._loop.call_soon_threadsafe(both)
        assert done.wait(10)

    def _break(self) -> None:
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._broken:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection(*self._target)
        self._open |= {writer, back}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, back))
                group.create_task(_copy(there, writer))
        except* OSError:
            pass  # One side is gone; the other goes with it.
        finally:
            self._open -= {writer, back}
            writer.transport.abort()
            back.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE_BYTES_MAX):
        writer.write(piece)
        await writer.drain()
    raise ConnectionError("the other side has ended")


async def _others_done() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*(others - {None}), return_exceptions=True)
