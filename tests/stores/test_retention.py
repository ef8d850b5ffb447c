"""What is forgotten, when, and what never is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import psycopg

from rejoinder.messages import Usage
from rejoinder.ports.journal import Seal
from rejoinder.ports.retention import Freed
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres import PostgresConversationStore
from rejoinder.testing.store_contract.samples import append, begin, call, ids, pages, said
from tests.stores.databases import Databases

DAY = timedelta(days=1)
FRAMES = b'data: {"type":"start"}\n\ndata: {"type":"finish"}\n\n'


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[PostgresConversationStore]:
    store = PostgresConversationStore(url, connections_max=4)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def run(steps: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(60):
            await steps()

    asyncio.run(whole())


async def ended(store: PostgresConversationStore, url: str, turn: str, *, days: float) -> None:
    """A turn with a journal, which ended so many days ago."""
    begun = await begin(store, turn, said("u"), conversation_id=turn)
    await append(store, begun.claim, *pages(2))
    await store.end_turn(
        Seal(
            claim=begun.claim,
            status="succeeded",
            messages=(said("a", role="assistant"),),
            usage=Usage(input_tokens=7),
            provider_calls=(call("c"),),
        )
    )
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE rejoinder.turn SET finished_at = now() - make_interval(secs => %s) WHERE id = %s",
            [days * DAY.total_seconds(), turn],
        )


async def joined(store: PostgresConversationStore, turn: str, *, pages: int = 2) -> Freed | None:
    return await store.join_pages(
        turn, pages=pages, frames=FRAMES, count=2, dry_run=False, tenant=DEFAULT_TENANT
    )


def test_events_go_and_what_was_said_and_consumed_stays(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            await ended(store, url, "new", days=0.5)
            await ended(store, url, "month", days=31)
            before = await store.list_messages("month")
            frames = [page.frames for page in (await store.read_pages("month")).pages]
            would = await store.count_old_events(30 * DAY)
            assert (would.turns, would.pages) == (1, 2)
            assert await store.forget_events(30 * DAY, limit=9) == would
            # Once is enough.
            assert await store.forget_events(30 * DAY, limit=9) == Freed()
            assert await store.list_messages("month") == before
            seen = (await store.read_pages("month", events=True)).pages
            assert [page.frames for page in seen] == frames
            assert not any(page.events for page in seen)
            assert all(page.events for page in (await store.read_pages("new", events=True)).pages)
            month = await store.get_turn("month")
            assert month is not None
            assert month.usage == Usage(input_tokens=7)
            assert len(await store.list_provider_calls("month")) == 1

    run(steps)


def test_old_turns_are_listed_from_the_oldest_on(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            for turn, days in (("b", 2), ("c", 1.5), ("a", 3), ("d", 0.5)):
                await ended(store, url, turn, days=days)
            first = await store.list_old_turns(DAY, remains="whole", limit=2)
            assert [turn.turn_id for turn in first] == ["a", "b"]
            rest = await store.list_old_turns(DAY, remains="whole", limit=9, behind=first[-1].place)
            assert [turn.turn_id for turn in rest] == ["c"]
            await store.forget_events(DAY, limit=1)
            assert [turn.turn_id for turn in await store.list_old_turns(DAY, remains="frames", limit=9)] == [
                "a"
            ]
            assert await store.count_old_turns(DAY, remains=("whole", "frames")) == 3

    run(steps)


def test_a_journal_becomes_one_page_once_if_it_is_the_one_that_was_read(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            await ended(store, url, "turn", days=2)
            assert await joined(store, "turn", pages=1) is None
            freed = await joined(store, "turn")
            assert freed is not None
            assert (freed.turns, freed.pages) == (1, 1)
            seen = await store.read_pages("turn", events=True)
            assert [(page.number, page.first_seq, page.last_seq, page.frames) for page in seen.pages] == [
                (0, 0, 1, FRAMES)
            ]
            assert (seen.next_page, seen.next_seq) == (1, 2)
            assert [page async for page in store.follow("turn")] == list(seen.pages)
            assert await joined(store, "turn", pages=1) is None
            assert await store.count_old_turns(DAY, remains=("whole", "frames")) == 0

    run(steps)


def test_a_turn_that_lives_loses_nothing_however_old_it_is(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            begun = await begin(store)
            await append(store, begun.claim, *pages(2))
            with psycopg.connect(url) as connection:
                connection.execute(
                    "UPDATE rejoinder.turn SET created_at = now() - interval '9 years', "
                    "started_at = now() - interval '9 years', finished_at = now() - interval '9 years'"
                )
            assert await store.count_old_events(DAY) == Freed()
            assert await store.forget_events(DAY, limit=9) == Freed()
            assert await store.list_old_turns(DAY, remains="whole", limit=9) == []
            assert await joined(store, "turn") is None
            assert len((await store.read_pages("turn", events=True)).pages) == 2

    run(steps)


def test_many_may_forget_at_once_and_each_turn_is_counted_once(postgres: Databases) -> None:
    url = postgres.fresh()

    async def forget(store: PostgresConversationStore) -> int:
        count = 0
        while (freed := await store.forget_events(DAY, limit=50)).turns:
            count += freed.turns
        return count

    async def steps() -> None:
        async with opened(url) as store, opened(url) as other:
            count = 450
            with psycopg.connect(url) as connection:
                connection.execute(
                    "INSERT INTO rejoinder.conversation (tenant, id) VALUES ('default', 'chat')"
                )
                connection.execute(
                    "INSERT INTO rejoinder.turn (tenant, conversation, id, status, finished_at, next_page) "
                    "SELECT 'default', key, 'turn-' || n, 'succeeded', now() - interval '2 days', 1 "
                    "FROM rejoinder.conversation, generate_series(1, %s) AS n",
                    [count],
                )
                connection.execute(
                    "INSERT INTO rejoinder.page (turn, number, first_seq, last_seq, epoch, codec, frames, events) "
                    "SELECT key, 0, 0, 0, 1, 1, 'x', 'y' FROM rejoinder.turn"
                )
            stripped = await asyncio.gather(*(forget(each) for each in (store, other) * 2))
            assert sum(stripped) == count
            with psycopg.connect(url) as connection:
                found = connection.execute("SELECT count(events), count(*) FROM rejoinder.page").fetchone()
            assert found == (0, count)
            assert ids(await store.list_messages("chat")) == []

    run(steps)
