"""News of a turn: heard where they are told, found by looking where they are swallowed, never needed to be right."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from rejoinder.ports.journal import Page, Seal
from rejoinder.stores.postgres import PostgresConversationStore, hints
from rejoinder.testing.store_contract import Subject, beginnings, endings, journals, sharing
from rejoinder.testing.store_contract.samples import append, begin, pages
from tests.stores.databases import Databases
from tests.stores.proxy import NOTIFICATION, Network, network
from tests.stores.walks import Store, opened, walk

POOLER: Final = next(
    (Path(place) for place in ("/usr/sbin/pgbouncer", "/usr/bin/pgbouncer") if Path(place).exists()), None
)

SETTINGS: Final = """
[databases]
* = host={socket} port={port} user=rejoinder
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6543
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 200
server_idle_timeout = 1
logfile = {folder}/log
pidfile = {folder}/pid
ignore_startup_parameters = extra_float_digits
"""


async def follow_one(writer: Store, reader: Store) -> list[Page]:
    """What a reader sees of a turn that somebody else writes while it waits."""
    begun = await begin(writer, "turn")

    async def follow() -> list[Page]:
        return [page async for page in reader.follow("turn", events=True)]

    reading = asyncio.create_task(follow())
    for page in pages(5):
        await append(writer, begun.claim, page)
        await asyncio.sleep(0)
    await writer.end_turn(Seal(claim=begun.claim, status="succeeded"))
    return await reading


async def heard(store: Store, *, expected: bool) -> None:
    """Return when the store has found out whether notifications arrive."""
    while store.hears_hints != expected:  # noqa: ASYNC110  (what is waited for is nobody's event)
        await asyncio.sleep(0.01)


def test_readers_on_another_store_hear(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as writer, opened(url) as reader:
            assert await follow_one(writer, reader) == pages(5)
            await heard(reader, expected=True)

    walk(steps)


def test_a_pooler_that_swallows_notifications_is_found_out_and_readers_look(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "PROBE_SECONDS_MAX", 0.2)
    url = postgres.fresh()

    async def steps(between: Network) -> None:
        between.swallow = NOTIFICATION
        async with opened(url) as writer, opened(between.url) as reader:
            assert await follow_one(writer, reader) == pages(5)
            assert not reader.hears_hints

    with network(url) as between:
        walk(lambda: steps(between))


def test_a_way_around_the_pooler_is_taken_for_hints(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps(between: Network) -> None:
        between.swallow = NOTIFICATION
        reader = PostgresConversationStore(between.url, connections_max=4, listen_url=url)
        await reader.open()
        try:
            async with opened(url) as writer:
                assert await follow_one(writer, reader) == pages(5)
                await heard(reader, expected=True)
        finally:
            await reader.close()

    with network(url) as between:
        walk(lambda: steps(between))


def test_a_listener_that_is_cut_off_listens_again_and_nothing_is_missed(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "RECONNECT_SECONDS", 0.05)
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as writer, opened(url) as reader:
            begun = await begin(writer, "turn")
            seen: list[Page] = []

            async def follow() -> None:
                seen.extend([page async for page in reader.follow("turn", events=True)])

            reading = asyncio.create_task(follow())
            for page in pages(4):
                await heard(reader, expected=True)
                with psycopg.connect(url) as connection:
                    connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
                    )
                await append(writer, begun.claim, page)
            await writer.end_turn(Seal(claim=begun.claim, status="succeeded"))
            await reading
            assert seen == pages(4)

    walk(steps)


def test_a_hint_says_nothing_to_anybody(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store, await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
            await other.execute('LISTEN "rejoinder rejoinder"')
            begun = await begin(store, "secret turn", conversation_id="secret chat", tenant="secret")
            await append(store, begun.claim, *pages(2))
            async for said in other.notifies(timeout=60, stop_after=1):
                assert said.payload.replace(",", "").isdecimal()

    walk(steps)


if POOLER is not None:

    @contextlib.contextmanager
    def pooler(server: str) -> Generator[Callable[[str], str]]:
        """PgBouncer in transaction mode before this server; answers what makes its URLs of the server's."""
        assert POOLER is not None
        known = conninfo_to_dict(server)
        folder = Path(tempfile.mkdtemp(prefix="rj-")).resolve()
        folder.chmod(0o777)
        settings = folder / "settings"
        settings.write_text(
            SETTINGS.format(socket=known["host"], port=known.get("port", 5432), folder=folder), "utf-8"
        )
        # It refuses to be root, and the server's socket is for its owner only.
        as_owner = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
        with subprocess.Popen(
            [*as_owner, str(POOLER), "-q", str(settings)], stderr=subprocess.DEVNULL
        ) as process:
            try:
                there = folder / ".s.PGSQL.6543"
                while not there.exists():
                    assert process.poll() is None, (folder / "log").read_text("utf-8")

                def through(url: str) -> str:
                    database = conninfo_to_dict(url)["dbname"]
                    return f"postgresql://rejoinder@/{database}?host={folder}&port=6543"

                yield through
            finally:
                process.terminate()
        shutil.rmtree(folder)

    @pytest.fixture(scope="module")
    def through(postgres: Databases) -> Iterator[Callable[[str], str]]:
        with pooler(postgres.url) as through:
            yield through

    class TestPostgresStoreThroughAPooler(
        beginnings.Refusals, endings.Endings, endings.Claims, journals.Readers, sharing.Tenants, sharing.Races
    ):
        """What could go wrong on sessions that PgBouncer hands to somebody else after each transaction."""

        @pytest.fixture(autouse=True)
        def _database(self, postgres: Databases, through: Callable[[str], str]) -> None:
            self.direct = postgres.fresh()
            self.url = through(self.direct)

        @asynccontextmanager
        async def subject(self) -> AsyncGenerator[Subject]:
            async def advance(seconds: float) -> None:
                async with await psycopg.AsyncConnection.connect(self.direct) as connection:
                    await connection.execute(
                        "UPDATE rejoinder.turn SET lease_until = lease_until - make_interval(secs => %s)",
                        [seconds],
                    )

            async with opened(self.url) as store, opened(self.url) as peer:
                yield Subject(store=store, peer=peer, advance=advance)
