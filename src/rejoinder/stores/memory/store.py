"""The store itself: what `rejoinder.ports.store` promises, said as plainly as it can be said.

No method awaits between reading the shared state and changing it, so each call is one transaction. Whatever comes
in or goes out is `detached`. Nothing survives the process (D0), so `durability` means nothing here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from rejoinder.stores.memory.analytics import Counting
from rejoinder.stores.memory.conversations import Conversations
from rejoinder.stores.memory.journal import Journal
from rejoinder.stores.memory.shelf import Shelves
from rejoinder.stores.memory.transcripts import Transcripts


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid.uuid4().hex


class InMemoryConversationStore(Conversations, Journal, Counting, Transcripts):
    """A store without dependencies. Time and fresh ids are arguments, so that tests can say what they are."""

    volatile: Final = True
    """What it holds goes with the process: answers say so (`x-durability: D0`)."""

    def __init__(self, *, clock: Callable[[], datetime] = _now, make_id: Callable[[], str] = _new_id) -> None:
        self._shelves = Shelves(clock=clock, make_id=make_id)
        self._transcripts = {}

    async def open(self) -> None:
        """There is nothing to get ready."""

    async def close(self) -> None:
        """What is stored stays for as long as the store does."""
