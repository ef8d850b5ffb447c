"""A network between a store and its server that we rule: it can be cut at a place in the talk, and it can swallow."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from typing import Final

from psycopg.conninfo import conninfo_to_dict

NOTIFICATION: Final = b"A"
"""The letter with which the server's notifications begin."""

READY: Final = b"Z"
"""The letter with which the server says that it has done all it was told."""

READ_BYTES: Final = 65536

HEAD_BYTES: Final = 5
"""A letter and a length stand before every message of the server."""


class Network:
    """The talk between clients and one server, which listens on a Unix socket."""

    def __init__(self, url: str) -> None:
        known = conninfo_to_dict(url)
        self._place = f"{known['host']}/.s.PGSQL.{known.get('port', 5432)}"
        self._door = socket.create_server(("127.0.0.1", 0))
        port = self._door.getsockname()[1]
        self.url = f"postgresql://{known['user']}@127.0.0.1:{port}/{known['dbname']}?sslmode=disable&gssencmode=disable"
        self.swallow = b""
        """Letters of messages of the server that do not arrive."""
        self.cut_answer_to: bytes | None = None
        """A word; when a client says it, the server hears and obeys, and its answer is lost with the connection."""
        self.cuts = 0
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._do(self._serve)

    def close(self) -> None:
        """Hang up on everybody."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()

    def _do(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                there = socket.socket(socket.AF_UNIX)
                there.connect(self._place)
                self._sockets += (client, there)
                lost = threading.Event()
                self._do(self._up, client, there, lost)
                self._do(self._down, client, there, lost)

    def _up(self, client: socket.socket, there: socket.socket, lost: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while said := client.recv(READ_BYTES):
                if self.cut_answer_to is not None and self.cut_answer_to in said:
                    self.cut_answer_to = None
                    lost.set()
                there.sendall(said)
        _hang_up(there)

    def _down(self, client: socket.socket, there: socket.socket, lost: threading.Event) -> None:
        with contextlib.suppress(OSError), there.makefile("rb") as answers:
            while head := answers.read(HEAD_BYTES):
                body = answers.read(int.from_bytes(head[1:], "big") - 4)
                letter = head[:1]
                if lost.is_set() and letter == READY:
                    self.cuts += 1
                    break
                if not lost.is_set() and letter not in self.swallow:
                    client.sendall(head + body)
        _hang_up(client)


def _hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def network(url: str) -> Generator[Network]:
    """A network that leads to the server of this URL."""
    between = Network(url)
    try:
        yield between
    finally:
        between.close()
