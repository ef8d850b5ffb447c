"""The store in PostgreSQL keeps the contract, on every server of this machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest

from rejoinder.stores.postgres import PostgresConversationStore
from rejoinder.testing.store_contract import StoreContract, Subject


class TestPostgresStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _database(self, fresh_database: Callable[[], str]) -> None:
        self.url = fresh_database()

    @asynccontextmanager
    async def subject(self) -> AsyncGenerator[Subject]:
        store, peer = (PostgresConversationStore(self.url, connections_max=4) for _ in range(2))
        await store.open()
        await peer.open()

        async def advance(seconds: float) -> None:
            async with await psycopg.AsyncConnection.connect(self.url) as connection:
                await connection.execute(
                    "UPDATE rejoinder.turn SET lease_until = lease_until - make_interval(secs => %s)",
                    [seconds],
                )

        try:
            yield Subject(store=store, peer=peer, advance=advance)
        finally:
            await store.close()
            await peer.close()
