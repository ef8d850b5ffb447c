"""What is forgotten, when, and what never is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import psycopg
import pytest

from rejoinder.messages import Usage
from rejoinder.ports.journal import Seal
from rejoinder.stores.postgres import PostgresConversationStore
from rejoinder.stores.postgres.retention import Stripped
from rejoinder.testing.store_contract.samples import append, begin, call, ids, pages, said
from tests.stores.databases import Databases

DAY = timedelta(days=1)


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


async def left(store: PostgresConversationStore, turn: str) -> str:
    found = (await store.read_pages(turn, events=True)).pages
    return "none" if not found else "whole" if all(page.events for page in found) else "frames"


def test_events_go_first_then_frames_and_what_was_said_and_consumed_stays(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            for turn, days in (("new", 0.5), ("month", 31), ("year", 366)):
                await ended(store, url, turn, days=days)
            before = [await store.list_messages(turn) for turn in ("new", "month", "year")]
            assert await store.retain() == Stripped(events=0, pages=0)
            stripped = await store.retain(events_after=30 * DAY, frames_after=365 * DAY)
            assert stripped == Stripped(events=1, pages=1)
            assert [await left(store, turn) for turn in ("new", "month", "year")] == [
                "whole",
                "frames",
                "none",
            ]
            # Once is enough.
            assert await store.retain(events_after=30 * DAY, frames_after=365 * DAY) == Stripped(0, 0)
            assert [await store.list_messages(turn) for turn in ("new", "month", "year")] == before
            year = await store.get_turn("year")
            assert year is not None
            assert year.usage == Usage(input_tokens=7)
            assert len(await store.list_provider_calls("year")) == 1
            assert [page async for page in store.follow("year")] == []

    run(steps)


def test_events_alone_may_go_and_frames_stay_for_ever(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            await ended(store, url, "turn", days=400)
            frames = [page.frames for page in (await store.read_pages("turn")).pages]
            assert await store.retain(events_after=DAY) == Stripped(events=1, pages=0)
            assert [page.frames for page in (await store.read_pages("turn")).pages] == frames

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
            assert await store.retain(events_after=DAY, frames_after=DAY) == Stripped(0, 0)
            assert await left(store, "turn") == "whole"

    run(steps)


def test_a_policy_that_keeps_events_without_frames_is_none(postgres: Databases) -> None:
    url = postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            with pytest.raises(ValueError, match="later than frames_after"):
                await store.retain(events_after=2 * DAY, frames_after=DAY)

    run(steps)


def test_many_may_forget_at_once_and_each_turn_is_counted_once(postgres: Databases) -> None:
    url = postgres.fresh()

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
            stripped = await asyncio.gather(*(each.retain(events_after=DAY) for each in (store, other) * 2))
            assert sum(each.events for each in stripped) == count
            with psycopg.connect(url) as connection:
                found = connection.execute("SELECT count(events), count(*) FROM rejoinder.page").fetchone()
            assert found == (0, count)
            assert ids(await store.list_messages("chat")) == []

    run(steps)
