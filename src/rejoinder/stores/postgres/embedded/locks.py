"""Advisory file locks with a bounded wait.

`flock` belongs to the open file and not to the process: a child that inherits the descriptor keeps the
lock when its parent dies. The launcher lives on this (see `server.py`), so nothing here ever unlocks;
a lock ends when the last descriptor of its open file closes.
"""

import contextlib
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.errors import ServerBusy, ServerFolderUnusable

POLL_SECONDS: Final = 0.005
"""How often a wait looks again: short beside a start of 100 ms, cheap beside a core."""


class Deadline:
    """A moment after which waiting ends."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def pause(self) -> bool:
        """Sleep one poll; false once the moment has passed."""
        if time.monotonic() >= self._end:
            return False
        time.sleep(POLL_SECONDS)
        return True


@contextlib.contextmanager
def hold(path: Path, deadline: Deadline) -> Generator[int]:
    """Hold the lock alone for the length of the block; yields the descriptor, for children to inherit."""
    descriptor = _open(path)
    try:
        while not _try(path, descriptor, alone=True):
            if not deadline.pause():
                raise ServerBusy(
                    f"another process has held the lock for {deadline.seconds:.0f} s",
                    where=str(path),
                    way_out="Wait for it to finish, or end it if it hangs.",
                )
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether any process holds the lock alone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        # Shared, so that two that ask at once do not take each other for the holder.
        return not _try(path, descriptor, alone=False)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error


def _try(path: Path, descriptor: int, *, alone: bool) -> bool:
    import fcntl  # Not on Windows, where `start` and `stop` refuse before they come here.

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # A network file system without locks, say.
        raise _unusable(path, error) from error
    return True


def _unusable(path: Path, error: OSError) -> ServerFolderUnusable:
    return ServerFolderUnusable(
        f"a lock file cannot be used: {error.strerror}",
        where=str(path),
        way_out="Make its folder readable and writable for this user, or set REJOINDER_HOME to one that is.",
    )
