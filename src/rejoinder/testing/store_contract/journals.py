"""Promises about the journal: what the fence refuses, and what readers get."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
from msgspec import structs

from rejoinder.ports.journal import Append, Appended, Event, Fenced, NoSuchTurn, Page, Seal
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import (
    LEASE_SECONDS,
    append,
    begin,
    frame,
    page,
    pages,
    record,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise

EVENTS = {
    "not utf-8": b"\xff\xfe\x00",
    "escaped nul": b'{"a":"\\u0000"}',
    "half a character": b'{"a":"\\ud83d"}',
    "duplicate keys": b'{"a":1,"a":2,"b":1}',
    "numbers": b'{"a":1e131071,"b":1E2,"c":-0,"d":1.10,"e":12345678901234567890123}',
    "spaces": b' {\t"a" :1}\r\n ',
    "nothing": b"",
    "a megabyte": bytes(range(256)) * 4096,
}
"""Events that a parser, jsonb or a text column would change."""


class Journals(Suite):
    """Pages are kept in order and whole, and those of anybody but the owner are refused."""

    @promise
    async def test_pages_come_back_as_they_were(self, store: ConversationStore) -> None:
        begun = await begin(store)
        assert await append(store, begun.claim, *pages(3)) == [
            Appended(next_seq=2, stop_requested=False),
            Appended(next_seq=4, stop_requested=False),
            Appended(next_seq=6, stop_requested=False),
        ]
        found = await store.read_pages("turn", events=True)
        assert list(found.pages) == pages(3)
        assert (found.next_page, found.next_seq, found.status, found.stop_requested) == (
            3,
            6,
            "running",
            False,
        )

    @promise
    async def test_every_page_says_when_it_was_written(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(3))
        found = await store.read_pages("turn", from_page=1)
        assert len(found.written) == len(found.pages) == 2
        assert list(found.written) == sorted(found.written)

    @pytest.mark.parametrize("body", EVENTS.values(), ids=EVENTS)
    @promise
    async def test_events_come_back_byte_for_byte(self, store: ConversationStore, body: bytes) -> None:
        begun = await begin(store)
        odd = page(0, 0, frame(0), events=[body, b"", body])
        await append(store, begun.claim, odd)
        assert (await store.read_pages("turn", events=True)).pages == (odd,)

    @promise
    async def test_frames_come_back_byte_for_byte(self, store: ConversationStore) -> None:
        begun = await begin(store)
        odd = page(0, 0, bytes(range(256)) * 100, b'data: {"delta":"\\ud83d"}\n\n')
        await append(store, begun.claim, odd)
        assert (await store.read_pages("turn", events=True)).pages == (odd,)

    @promise
    async def test_an_event_knows_which_frame_came_next(self, store: ConversationStore) -> None:
        begun = await begin(store)
        events = (Event(before=0, body=b"a"), Event(before=1, body=b"b"), Event(before=2, body=b"c"))
        whole = structs.replace(page(0, 0, frame(0), frame(1)), events=events)
        await append(store, begun.claim, whole)
        assert (await store.read_pages("turn", events=True)).pages == (whole,)

    @promise
    async def test_events_of_twenty_megabytes_come_back_byte_for_byte(self, store: ConversationStore) -> None:
        begun = await begin(store)
        large = page(0, 0, frame(0), events=[b'{"output":"%s"}' % (b"0123456789\\u0000" * 1_250_000)])
        await append(store, begun.claim, large)
        # A failure that printed what is compared here would print for minutes.
        assert bool((await store.read_pages("turn", events=True)).pages == (large,))

    @promise
    async def test_a_page_without_frames_is_a_page(self, store: ConversationStore) -> None:
        begun = await begin(store)
        silent = [
            page(0, 0, events=[b"one"]),
            page(1, 0, events=[b"two"]),
            page(2, 0, frame(0), events=[b"three"]),
        ]
        for each in silent:
            assert await append(store, begun.claim, each) == [
                Appended(next_seq=each.last_seq + 1, stop_requested=False)
            ]
        assert list((await store.read_pages("turn", events=True)).pages) == silent

    @promise
    async def test_pages_of_many_turns_are_written_in_one_call(self, store: ConversationStore) -> None:
        claims = [(await begin(store, f"t{n}", conversation_id=f"c{n}")).claim for n in range(20)]
        appends = [Append(claim=claim, page=each) for each in pages(3) for claim in claims]
        assert all(isinstance(answer, Appended) for answer in await store.append_pages(appends))
        for claim in claims:
            assert list((await store.read_pages(claim.turn_id, events=True)).pages) == pages(3)

    @promise
    async def test_each_page_of_a_call_is_refused_by_itself(self, store: ConversationStore) -> None:
        good = (await begin(store, "good", conversation_id="a")).claim
        bad = structs.replace((await begin(store, "bad", conversation_id="b")).claim, epoch=7)
        zero, one, two, three = pages(4)
        answers = await store.append_pages(
            [
                Append(claim=good, page=zero),
                Append(claim=bad, page=zero),
                Append(claim=good, page=one),
                Append(claim=good, page=three),
                Append(claim=bad, page=one),
                Append(claim=good, page=two),
                Append(claim=good, page=three),
            ]
        )
        assert [answer.reason if isinstance(answer, Fenced) else answer.next_seq for answer in answers] == [
            2,
            "stale-epoch",
            4,
            "gap",
            "stale-epoch",
            6,
            8,
        ]
        assert list((await store.read_pages("good", events=True)).pages) == pages(4)
        assert (await store.read_pages("bad")).next_page == 0

    @promise
    async def test_no_pages_are_no_trouble(self, store: ConversationStore) -> None:
        assert await store.append_pages([]) == []

    @promise
    async def test_a_fast_append_is_an_append(self, store: ConversationStore) -> None:
        begun = await begin(store)
        appends = [Append(claim=begun.claim, page=each) for each in pages(2)]
        assert all(
            isinstance(each, Appended) for each in await store.append_pages(appends, durability="fast")
        )
        assert list((await store.read_pages("turn", events=True)).pages) == pages(2)

    # The fence: a test for each reason

    @promise
    async def test_a_page_of_a_turn_that_is_not_there_is_refused(self, store: ConversationStore) -> None:
        begun = await begin(store)
        for claim in (
            structs.replace(begun.claim, turn_id="elsewhere"),
            structs.replace(begun.claim, tenant="somebody else"),
        ):
            assert await append(store, claim, *pages(1)) == [Fenced(reason="unknown-turn")]

    @promise
    async def test_a_page_of_an_owner_who_lost_the_turn_is_refused(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        begun = await begin(store)
        zero, one, _ = pages(3)
        await append(store, begun.claim, zero)
        await advance(2 * LEASE_SECONDS)
        (taken,) = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS)
        refused = Fenced(reason="stale-epoch", next_page=1, next_seq=2)
        assert await append(store, begun.claim, one) == [refused]
        # Not even what came before is confirmed: the old owner has to stop, whatever it asks.
        assert await append(store, begun.claim, zero) == [refused]
        assert await append(store, taken, one) == [Appended(next_seq=4, stop_requested=False)]

    @promise
    async def test_a_page_of_an_epoch_that_is_still_to_come_is_refused(
        self, store: ConversationStore
    ) -> None:
        begun = await begin(store)
        claim = structs.replace(begun.claim, epoch=begun.claim.epoch + 1)
        assert await append(store, claim, *pages(1)) == [
            Fenced(reason="stale-epoch", next_page=0, next_seq=0)
        ]

    @promise
    async def test_a_page_of_a_turn_that_is_over_is_refused(self, store: ConversationStore) -> None:
        begun = await begin(store)
        zero, one = pages(2)
        await append(store, begun.claim, zero)
        await store.end_turn(Seal(claim=begun.claim, status="succeeded"))
        refused = Fenced(reason="closed", next_page=1, next_seq=2)
        assert await append(store, begun.claim, one) == [refused]
        assert await append(store, begun.claim, zero) == [refused]

    @promise
    async def test_a_page_of_a_turn_that_was_only_recorded_is_refused(self, store: ConversationStore) -> None:
        begun = await begin(store, "live")
        await store.append_turn(record("turn"))
        claim = structs.replace(begun.claim, turn_id="turn")
        (answer,) = await append(store, claim, *pages(1))
        assert isinstance(answer, Fenced)
        assert answer.reason in {"stale-epoch", "closed"}

    @pytest.mark.parametrize(
        "wrong",
        [page(2, 4, frame(4)), page(2, 2, frame(2)), page(1, 3, frame(3)), page(1, 9, frame(9))],
        ids=["page and frame", "page", "frame", "many frames"],
    )
    @promise
    async def test_a_page_that_leaves_a_gap_is_refused(self, store: ConversationStore, wrong: Page) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        assert await append(store, begun.claim, wrong) == [Fenced(reason="gap", next_page=1, next_seq=2)]
        assert (await store.read_pages("turn")).next_page == 1

    @pytest.mark.parametrize(
        "wrong",
        [
            page(0, 0, frame(0), b"data: other\n\n", events=[b'{"n": 0}']),
            page(0, 0, frame(0), frame(1), events=[b'{"n":0}']),
            page(0, 0, frame(0), frame(1)),
            page(0, 0, frame(0), events=[b'{"n": 0}']),
            page(1, 1, frame(1)),
            page(1, 0, frame(0)),
        ],
        ids=[
            "frames",
            "events",
            "no events",
            "fewer frames",
            "next page, old frame",
            "next page, first frame",
        ],
    )
    @promise
    async def test_a_page_in_a_place_that_is_taken_is_refused(
        self, store: ConversationStore, wrong: Page
    ) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        assert await append(store, begun.claim, wrong) == [Fenced(reason="taken", next_page=1, next_seq=2)]
        assert list((await store.read_pages("turn", events=True)).pages) == pages(1)

    @promise
    async def test_the_same_page_twice_is_appended_once(self, store: ConversationStore) -> None:
        begun = await begin(store)
        zero, one, two = pages(3)
        await append(store, begun.claim, zero, one)
        assert await append(store, begun.claim, zero) == [Appended(next_seq=4, stop_requested=False)]
        assert await append(store, begun.claim, one, two) == [
            Appended(next_seq=4, stop_requested=False),
            Appended(next_seq=6, stop_requested=False),
        ]
        assert list((await store.read_pages("turn", events=True)).pages) == [zero, one, two]


class Readers(Suite):
    """A reader gets whole pages, in order, each once."""

    @pytest.mark.parametrize(
        ("from_seq", "numbers"), [(0, [0, 1, 2]), (1, [0, 1, 2]), (2, [1, 2]), (5, [2]), (6, []), (99, [])]
    )
    @promise
    async def test_pages_are_read_from_a_frame_on(
        self, store: ConversationStore, from_seq: int, numbers: list[int]
    ) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(3))
        found = await store.read_pages("turn", from_seq=from_seq)
        assert [each.number for each in found.pages] == numbers
        assert (found.next_page, found.next_seq) == (3, 6)

    @promise
    async def test_pages_are_read_on_from_a_page_on(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(5))
        first = await store.read_pages("turn", limit=2)
        second = await store.read_pages("turn", limit=2, from_page=first.pages[-1].number + 1)
        third = await store.read_pages("turn", limit=2, from_page=second.pages[-1].number + 1)
        assert [each.number for each in (*first.pages, *second.pages, *third.pages)] == [0, 1, 2, 3, 4]
        assert (await store.read_pages("turn", from_page=5)).pages == ()

    @promise
    async def test_without_events_pages_without_frames_are_left_out(self, store: ConversationStore) -> None:
        begun = await begin(store)
        written = [page(0, 0, events=[b"a"]), page(1, 0, frame(0), events=[b"b"]), page(2, 1, events=[b"c"])]
        await append(store, begun.claim, *written)
        plain = await store.read_pages("turn", limit=1)
        assert plain.pages == (structs.replace(written[1], events=()),)
        assert (plain.next_page, plain.next_seq) == (3, 1)
        assert [each.number for each in (await store.read_pages("turn", events=True, from_seq=1)).pages] == [
            2
        ]

    @promise
    async def test_a_journal_without_pages_can_be_read(self, store: ConversationStore) -> None:
        await begin(store)
        found = await store.read_pages("turn")
        assert (found.pages, found.next_page, found.next_seq, found.status) == ((), 0, 0, "running")

    @promise
    async def test_a_turn_that_is_over_can_be_read(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        await store.end_turn(Seal(claim=begun.claim, status="cancelled", page=pages(2)[1]))
        found = await store.read_pages("turn", events=True)
        assert list(found.pages) == pages(2)
        assert found.status == "cancelled"

    @promise
    async def test_a_turn_that_is_not_there_cannot_be_read(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchTurn):
            await store.read_pages("turn")
        with pytest.raises(NoSuchTurn):
            await anext(aiter(store.follow("turn")))

    @promise
    async def test_a_follower_gets_what_is_there_and_what_comes(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(2))
        async with following(peer, events=True) as followed:
            assert [await anext(followed) for _ in range(2)] == pages(2)
            for each in pages(5)[2:]:
                await append(store, begun.claim, each)
                assert await anext(followed) == each
            await store.end_turn(Seal(claim=begun.claim, status="succeeded", page=pages(6)[5]))
            assert [each async for each in followed] == pages(6)[5:]

    @promise
    async def test_a_follower_of_a_turn_that_is_over_gets_all_of_it(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(100))
        await store.end_turn(Seal(claim=begun.claim, status="failed"))
        assert [each async for each in store.follow("turn", events=True)] == pages(100)
        assert [each.number async for each in store.follow("turn", from_seq=190)] == [95, 96, 97, 98, 99]

    @promise
    async def test_many_followers_get_the_same(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)

        async def follower(each: ConversationStore) -> list[Page]:
            return [page async for page in each.follow("turn", events=True)]

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(follower(each)) for each in (store, peer) * 5]
            for each in pages(30):
                await append(store, begun.claim, each)
            await store.end_turn(Seal(claim=begun.claim, status="succeeded"))
        assert all(task.result() == pages(30) for task in tasks)

    @promise
    async def test_a_follower_who_leaves_leaves_nothing_behind(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        for _ in range(30):
            async with following(store) as followed:
                await anext(followed)
        assert await append(store, begun.claim, pages(2)[1]) == [Appended(next_seq=4, stop_requested=False)]

    @promise
    async def test_a_follower_of_a_turn_that_is_deleted_is_told(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        async with following(peer) as followed:
            await anext(followed)
            await store.delete_conversation("chat")
            with pytest.raises(NoSuchTurn):
                await anext(followed)


@contextlib.asynccontextmanager
async def following(store: ConversationStore, *, events: bool = False) -> AsyncGenerator[AsyncIterator[Page]]:
    """The pages of the turn `turn`, closed behind whoever does not read them all."""
    followed = store.follow("turn", events=events)
    try:
        yield followed
    finally:
        if isinstance(followed, AsyncGenerator):
            await followed.aclose()
