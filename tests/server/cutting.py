"""A line between a client and a server that can be cut, as a network is."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Generator
from urllib.parse import urlsplit

PIECE = 65_536
AT_ONCE = struct.pack("ii", 1, 0)


class Line:
    """Hands on what comes, in both directions, for any number of connections."""

    def __init__(self, address: str) -> None:
        self._to = (urlsplit(address).hostname or "", urlsplit(address).port or 0)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self.address = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, without a word to either end."""
        for end in [*self._open]:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._door.accept()
                there = socket.create_connection(self._to)
                self._open |= {here, there}
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._hand_on, args=(one, other), daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := one.recv(PIECE):
                other.sendall(piece)
            other.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def line_to(address: str) -> Generator[Line]:
    """A line to the server at this address."""
    line = Line(address)
    try:
        yield line
    finally:
        line.close()
