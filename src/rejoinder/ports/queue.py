"""Turns that wait for a process to carry them out: web processes put them in, workers take them out.

A turn is claimed before it is put in, so a conversation has one at a time wherever it runs. The claim goes along with
the order; who takes the order renews it, and finds out whether the turn is still to be carried out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.messages import JsonObject
from rejoinder.ports.journal import Claim


class QueueUnavailable(RejoinderError):
    """No turn can be put in now, so it will be sealed as interrupted. Try again later, with a new message."""

    code = "queue-unavailable"


class Order(Struct, frozen=True, kw_only=True):
    """A turn to be carried out. `branch` is the message that it answers; the rest is as in a `Call`."""

    claim: Claim
    branch: str | None
    extra: JsonObject = {}
    subject: str | None = None


class TurnQueue(Protocol):
    """First in, first out, each order once at most."""

    async def open(self) -> None:
        """Get ready. Raises `QueueUnavailable`."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...

    async def put(self, order: Order) -> None:
        """Put an order in. Raises `QueueUnavailable`."""
        ...

    async def work(self, carry: Callable[[Order], Awaitable[None]], *, concurrency: int) -> None:
        """Take orders out, so many at once, until this is cancelled. What is under way then is cancelled, too."""
        ...
