"""Short words between processes, which may get lost: that there is something new to look at, never what it is.

Whoever waits looks by himself after a while. So a bus that loses words, or is gone, costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rejoinder.errors import RejoinderError


class BusUnavailable(RejoinderError):
    """The bus cannot be reached now. Nothing depends on it; try again later."""

    code = "bus-unavailable"


class Bus(Protocol):
    """Carries words to all who listen to a channel, as quickly as it can."""

    async def publish(self, channel: str, words: Sequence[str]) -> None:
        """Say words, each by itself. Raises `BusUnavailable`."""
        ...

    async def listen(self, channel: str, *, heard: Callable[[str], None], ready: Callable[[], None]) -> None:
        """Hand on what is said, from when `ready` is called until the bus is lost. Raises `BusUnavailable` then."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...
