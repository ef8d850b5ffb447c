"""The store in memory keeps the contract, by a clock that stands still: every order must survive ties."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.testing.store_contract import StoreContract, Subject


class Clock:
    """It moves only when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    async def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class TestMemoryStore(StoreContract):
    @asynccontextmanager
    async def subject(self) -> AsyncGenerator[Subject]:
        clock = Clock()
        store = InMemoryConversationStore(clock=clock)
        await store.open()
        # What lives in one process is its own peer.
        yield Subject(store=store, peer=store, advance=clock.advance)
        await store.close()
