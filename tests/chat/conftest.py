"""Stores for tests of what stands on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from rejoinder.ports.store import ConversationStore
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.stores.databases import Databases

Walk = Callable[[ConversationStore], Awaitable[None]]

Opened = Callable[[Walk], Coroutine[Any, Any, None]]
"""Does something with a store that is open."""


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Opened:
    """An empty store of each kind."""

    async def walk_with(walk: Walk) -> None:
        store: ConversationStore
        if request.param == "memory":
            store = InMemoryConversationStore()
        else:
            databases: Databases = request.getfixturevalue("postgres")
            store = PostgresConversationStore(databases.fresh())
        await store.open()
        try:
            await walk(store)
        finally:
            await store.close()

    return walk_with
