"""How much of an answer the kernel takes for one reader, which no ASGI server lets an application say.

A socket that is accepted inherits the limit of the one that listens. So each process that serves looks for its own
listening sockets among its open files, once they are there.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
import time
from pathlib import Path
from typing import Final

SEND_BUFFER_BYTES: Final = 128 * 1024
"""What the kernel may hold for one reader. Left to itself it takes 4 MiB, and 10,000 who read nothing all there is."""

LOOK_SECONDS: Final = 0.05
"""Between two looks whether we listen already."""

LOOKS_MAX: Final = 1_200
"""A minute: opening a database may take so long."""

_FILES: Final = Path("/proc/self/fd")
"""Where Linux lists them. Elsewhere the kernel's own limit stays."""


def limit_soon() -> None:
    """Limit every socket that this process will listen at."""
    if _FILES.is_dir():
        threading.Thread(target=_limit, daemon=True, name="send-buffers").start()


def _limit() -> None:
    for _ in range(LOOKS_MAX):
        # Every one is looked at: two processes of ours may listen at several addresses.
        found = [_limited(int(file.name)) for file in _FILES.iterdir()]
        if any(found):
            return
        time.sleep(LOOK_SECONDS)


def _limited(file: int) -> bool:
    """Limit this file, if it is a socket that listens. Answers whether it was one."""
    try:
        if not stat.S_ISSOCK(os.fstat(file).st_mode):
            return False
        copy = os.dup(file)
    except OSError:
        return False  # closed meanwhile
    with socket.socket(fileno=copy) as found:
        if not found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return True
