"""What goes wrong in the middle: a clear error, nothing half-written, and when it is over everything goes on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest

from rejoinder.messages import Message, Text
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    Followed,
    Seal,
    StoreUnavailable,
    TurnBegun,
    TurnExists,
)
from rejoinder.stores.postgres import PostgresConversationStore
from rejoinder.stores.postgres import database as connections
from rejoinder.stores.postgres.embedded import start, stop
from rejoinder.testing.store_contract.samples import append, begin, ids, new_turn, page, pages, said
from tests.stores.databases import Databases, server
from tests.stores.proxy import Network, network
from tests.stores.walks import Store, opened, refused, walk


@pytest.fixture(scope="module")
def spoilt() -> Iterator[Databases]:
    """A server to do things to that no other test should suffer from."""
    with server(None) as started:
        yield started


# In the middle


async def _waiting(url: str, count: int) -> None:
    """Return when so many sessions wait for somebody's lock."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        found = None
        while found != (count,):
            found = await (await connection.execute(query)).fetchone()


def test_connections_that_were_ended_while_nobody_used_them_are_not_noticed(spoilt: Databases) -> None:
    url = spoilt.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            for number in range(5):
                await asyncio.gather(*(store.list_conversations() for _ in range(4)))
                with psycopg.connect(url) as connection:
                    connection.execute(
                        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
                    )
                await store.create_conversation(id=f"chat-{number}")
            assert len(await store.list_conversations()) == 5

    walk(steps)


def test_a_server_that_goes_away_is_unavailable_and_when_it_is_back_everything_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECTION_SECONDS_MAX", 0.3)
    folder = Path(tempfile.mkdtemp(prefix="rj-")).resolve()
    folder.chmod(0o755)

    async def steps() -> None:
        store = PostgresConversationStore(folder=folder)
        await store.open()
        try:
            begun = await begin(store, "turn", said("u1"))
            await append(store, begun.claim, *pages(2))
            follower = asyncio.create_task(_followed(store))
            await asyncio.to_thread(stop, folder)
            for attempt in (
                store.append_messages("chat", [said("lost", "x"), said("too", "y")]),
                store.append_pages([Append(claim=begun.claim, page=pages(3)[2])]),
                store.list_messages("chat"),
                store.end_turn(Seal(claim=begun.claim, status="succeeded")),
            ):
                with pytest.raises(StoreUnavailable):
                    await attempt
            with pytest.raises(StoreUnavailable):
                await follower
            await asyncio.to_thread(start, folder)
            assert await append(store, begun.claim, pages(3)[2]) == [
                Appended(next_seq=6, stop_requested=False)
            ]
            assert ids(await store.list_messages("chat")) == ["u1"]
            assert list((await store.read_pages("turn", events=True)).pages) == pages(3)
            ended = await store.end_turn(Seal(claim=begun.claim, status="succeeded"))
            assert ended.status == "succeeded"
            assert await asyncio.wait_for(_followed(store), 30) == pages(3)
        finally:
            await store.close()

    async def _followed(store: Store) -> list[object]:
        return [each async for each in store.follow("turn", events=True)]

    try:
        walk(steps)
    finally:
        stop(folder)
        shutil.rmtree(folder)


def test_a_commit_whose_answer_is_lost_is_found_to_have_happened(spoilt: Databases) -> None:
    url = spoilt.fresh()

    async def steps(between: Network) -> None:
        async with opened(between.url) as store:
            request = new_turn("turn", said("u1"), idempotency_key="key", fingerprint="f")
            between.cut_answer_to = b"COMMIT"
            with pytest.raises(StoreUnavailable):
                await store.begin_turn(request)
            again = await store.begin_turn(request)
            assert isinstance(again, TurnExists)
            assert again.turn.id == "turn"
            await store.end_turn(Seal(claim=await _claim_of(store), status="succeeded"))
            begun = await begin(store, "second", said("u2"))
            between.cut_answer_to = b"append"
            with pytest.raises(StoreUnavailable):
                await append(store, begun.claim, page(0, 0, b"data: append\n\n"))
            assert await append(store, begun.claim, page(0, 0, b"data: append\n\n")) == [
                Appended(next_seq=1, stop_requested=False)
            ]
            seal = Seal(
                claim=begun.claim,
                status="succeeded",
                page=page(1, 1, b"data: last\n\n"),
                messages=(Message(id="a2", role="assistant", parts=(Text(text="Warm"),)),),
            )
            between.cut_answer_to = b"Warm"
            with pytest.raises(StoreUnavailable):
                await store.end_turn(seal)
            assert (await store.end_turn(seal)).status == "succeeded"
            assert ids(await store.list_messages("chat")) == ["u1", "u2", "a2"]
            assert len((await store.read_pages("second")).pages) == 2
            assert between.cuts == 3

    async def _claim_of(store: Store) -> Claim:
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE rejoinder.turn SET lease_until = now() - interval '1 hour'")
        (claim,) = await store.stale_turns(owner="other", lease_seconds=10)
        return claim

    with network(url) as between:
        walk(lambda: steps(between))


def test_a_server_that_no_longer_answers_is_given_up(
    spoilt: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ANSWER_SECONDS_MAX", 0.3)
    url = spoilt.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            await store.create_conversation(id="chat")
            with psycopg.connect(url) as other:
                other.execute("SELECT FROM rejoinder.conversation FOR UPDATE")
                with pytest.raises(StoreUnavailable, match="has not answered"):
                    await store.update_conversation("chat", title="late")
                assert await store.get_conversation("chat") is not None
            found = await store.update_conversation("chat", title="now")
            assert found is not None
            assert found.title == "now"

    walk(steps)


def test_a_pool_that_is_used_up_is_told_and_is_there_again_afterwards(
    spoilt: Databases,
) -> None:
    url = spoilt.fresh()

    async def steps() -> None:
        async with opened(url, connections_max=3) as store:
            await store.create_conversation(id="chat")
            begun = await begin(store, "turn", conversation_id="other")
            with psycopg.connect(url) as other:
                other.execute("SELECT FROM rejoinder.conversation WHERE id = 'chat' FOR UPDATE")
                waiting = [asyncio.create_task(store.update_conversation("chat")) for _ in range(2)]
                await _waiting(url, 2)
                with pytest.raises(StoreUnavailable, match="all 2 connections of this store that are shared"):
                    await store.get_conversation("chat")
                # A turn that is live goes on: one connection is kept for that.
                assert await append(store, begun.claim, *pages(2))
                assert await store.renew([begun.claim], lease_seconds=10) != [None]
            assert all(await asyncio.gather(*waiting))
            assert all(await asyncio.gather(*(store.get_conversation("chat") for _ in range(20))))

    walk(steps)


def test_a_server_whose_connections_are_all_taken_says_so(spoilt: Databases) -> None:
    url = spoilt.fresh()
    name = url.split("?")[0].rsplit("/", 1)[1]
    with psycopg.connect(spoilt.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN CONNECTION LIMIT 1")
        connection.execute("GRANT pg_read_all_data TO guest")

    async def steps() -> None:
        guest = url.replace("rejoinder@", "guest@", 1)
        with psycopg.connect(guest):
            error = await refused(guest)
        assert isinstance(error, StoreUnavailable)
        assert "too many connections" in str(error)
        assert name in str(error)
        # The server counts a connection for a moment after it was closed, so room is made by the limit.
        with psycopg.connect(spoilt.url, autocommit=True) as connection:
            connection.execute("ALTER ROLE guest CONNECTION LIMIT -1")
        async with opened(guest, connections_max=1) as store:
            assert await store.list_conversations() == []

    try:
        walk(steps)
    finally:
        with psycopg.connect(spoilt.url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY guest")
            connection.execute("DROP ROLE guest")


def test_whoever_is_cancelled_while_the_database_works_leaves_a_connection_that_works(
    spoilt: Databases,
) -> None:
    url = spoilt.fresh()

    async def steps() -> None:
        async with opened(url, connections_max=1) as store:
            await store.create_conversation(id="chat")
            for _ in range(5):
                with psycopg.connect(url) as other:
                    other.execute("SELECT FROM rejoinder.conversation FOR UPDATE")
                    task = asyncio.create_task(store.append_messages("chat", [said("m")]))
                    await _waiting(url, 1)
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    assert task.cancelled()
            assert await store.list_messages("chat") == []
            assert len(await store.append_messages("chat", [said("m")])) == 1

    walk(steps)


# The disk

DISK_BYTES: Final = 160 << 20
if os.geteuid() == 0:

    @contextmanager
    def small_disk() -> Generator[Path]:
        """A folder on a disk of its own, which is small."""
        folder = Path(tempfile.mkdtemp(prefix="rj-")).resolve()
        folder.chmod(0o755)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=755", "tmpfs", str(folder)], check=True
        )
        try:
            yield folder
        finally:
            stop(folder / "server")
            # A process of the server's may take a moment longer to go; the disk goes with the last of them.
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
            folder.rmdir()

    def test_a_full_disk_is_told_and_nothing_is_half_written_and_reading_goes_on() -> None:
        async def fill(store: Store, begun: TurnBegun) -> int:
            """Write until nothing more goes in; answers how many pages went in."""
            number = 0
            try:
                while True:
                    blob = os.urandom(1 << 20)
                    answers = await append(store, begun.claim, page(number, number, blob))
                    assert answers == [Appended(next_seq=number + 1, stop_requested=False)]
                    number += 1
            except StoreUnavailable:
                return number

        async def steps(folder: Path) -> None:
            ballast = folder / "ballast"
            ballast.write_bytes(bytes(24 << 20))
            async with opened_folder(folder / "server") as store:
                begun = await begin(store, "turn", said("u1"))
                written = await fill(store, begun)
                with pytest.raises(StoreUnavailable):
                    await store.append_messages("chat", [said("u2", "x" * (4 << 20)) for _ in range(1)])
                ballast.unlink()
                found = await _when_it_answers(store, "turn")
                assert found.next_page == written
                assert ids(await store.list_messages("chat")) == ["u1"]
                assert await append(store, begun.claim, page(written, written, b"again")) == [
                    Appended(next_seq=written + 1, stop_requested=False)
                ]
                ended = await store.end_turn(Seal(claim=begun.claim, status="failed"))
                assert ended.status == "failed"

        with small_disk() as folder:
            walk(lambda: steps(folder))

    @asynccontextmanager
    async def opened_folder(folder: Path) -> AsyncGenerator[Store]:
        store = PostgresConversationStore(folder=folder)
        await store.open()
        try:
            yield store
        finally:
            await store.close()

    async def _when_it_answers(store: Store, turn: str) -> Followed:
        while True:
            with contextlib.suppress(StoreUnavailable):
                return await store.read_pages(turn, limit=1)
