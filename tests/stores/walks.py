"""Walks through a store on a database that is about to go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import pytest

from rejoinder.ports.journal import (
    StoreError,
)
from rejoinder.stores.postgres import PostgresConversationStore

Store: TypeAlias = PostgresConversationStore

SECONDS_MAX: Final = 120


def walk(steps: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(SECONDS_MAX):
            await steps()

    asyncio.run(whole())


@asynccontextmanager
async def opened(url: str, *, connections_max: int = 4) -> AsyncGenerator[Store]:
    store = PostgresConversationStore(url, connections_max=connections_max)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def refused(url: str) -> StoreError:
    """What a store says that cannot be opened; and it can be closed, and opened when things are better."""
    store = PostgresConversationStore(url)
    with pytest.raises(StoreError) as told:
        await store.open()
    return told.value
