"""The one writer of a process: what it asks of turns, and in which company their pages are written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec import structs

from rejoinder.engine.page_log import PAGES_AT_ONCE_MAX, PageLog
from rejoinder.engine.writer import PageWriter
from rejoinder.ports.agents import Stop
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    ClaimLost,
    Durability,
    Fenced,
    NewTurn,
    Page,
    StoreUnavailable,
    TurnBegun,
)
from rejoinder.stores.memory import InMemoryConversationStore
from tests.engine.stage import asynchronous

FRAME = b'data: {"type":"text-delta","id":"t1","delta":"word "}\n\n'
BIG_FRAME = b'data: {"type":"text-delta","id":"t1","delta":"%b"}\n\n' % (b"x" * 20_000)


class Watched(InMemoryConversationStore):
    """A store of which one knows what was committed together. `gate` holds commits up, `poison` breaks them."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.poison: str | None = None

    async def append_pages(
        self, appends: Sequence[Append], *, durability: Durability = "full"
    ) -> list[Appended | Fenced]:
        turns = [append.claim.turn_id for append in appends]
        if self.poison in turns:
            raise ValueError("a page that no database takes")
        await self.gate.wait()
        self.commits.append(turns)
        return await super().append_pages(appends, durability=durability)

    async def claim(self, id: str) -> Claim:
        """A turn that has begun."""
        opening = await self.begin_turn(
            NewTurn(
                id=id,
                conversation_id=id,
                assistant_message_id="answer",
                owner="us",
                lease_seconds=10,
                tenant="default",
            )
        )
        assert isinstance(opening, TurnBegun)
        return opening.claim


class Turn:
    """A turn, as far as the writer sees it."""

    def __init__(self, claim: Claim, writer: PageWriter) -> None:
        self.pages: list[Page] = []
        self.log = PageLog(claim, writer, committed=self.pages.append, stop=Stop())

    def say(self, *, at_once: bool = False) -> None:
        self.log.frame(FRAME, at_once=at_once)

    @property
    def seen(self) -> int:
        return sum(page.last_seq + 1 - page.first_seq for page in self.pages)


@asynchronous
async def test_turns_that_speak_at_the_same_time_are_written_together() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        turns = [Turn(await store.claim(f"turn {n}"), writer) for n in range(5)]
        for turn in turns:
            turn.say()
            turn.say()
        await asyncio.gather(*(turn.log.kept() for turn in turns))
        assert store.commits == [[f"turn {n}" for n in range(5)]]
        assert [turn.seen for turn in turns] == [2] * 5


@asynchronous
async def test_what_is_said_during_a_commit_is_one_page_of_the_next() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        turn = Turn(await store.claim("turn"), writer)
        store.gate.clear()
        turn.say(at_once=True)
        await asyncio.sleep(0)
        for _ in range(10):
            turn.say(at_once=True)
            await asyncio.sleep(0)
        assert not turn.pages
        store.gate.set()
        await turn.log.kept()
        assert [(page.first_seq, page.last_seq) for page in turn.pages] == [(0, 0), (1, 10)]


@asynchronous
async def test_a_turn_that_is_due_twice_is_written_once() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        turn = Turn(await store.claim("turn"), writer)
        turn.say()
        turn.say(at_once=True)
        await turn.log.kept()
        turn.say()
        await turn.log.kept()
        assert turn.seen == 3
        assert [page.number for page in turn.pages] == [*range(len(turn.pages))]


@asynchronous
async def test_one_that_says_a_lot_is_written_in_pages_and_leaves_room_for_others() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        loud, quiet = [Turn(await store.claim(id), writer) for id in ("loud", "quiet")]
        for _ in range(2 * PAGES_AT_ONCE_MAX):
            loud.log.frame(BIG_FRAME, at_once=False)
        quiet.say(at_once=True)
        await asyncio.gather(loud.log.kept(), quiet.log.kept())
        assert store.commits[0] == ["loud"] * PAGES_AT_ONCE_MAX + ["quiet"]
        assert [page.number for page in loud.pages] == [*range(2 * PAGES_AT_ONCE_MAX)]


@asynchronous
async def test_a_page_that_cannot_be_written_is_no_other_turns_trouble() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        good, bad, late = [Turn(await store.claim(id), writer) for id in ("good", "bad", "late")]
        store.poison = "bad"
        for turn in (good, bad, late):
            turn.say(at_once=True)
        await asyncio.gather(good.log.kept(), late.log.kept())
        with pytest.raises(ValueError, match="no database takes"):
            await bad.log.kept()
        assert bad.log.broken.done()
        assert (good.seen, bad.seen, late.seen) == (1, 0, 1)


@asynchronous
async def test_a_turn_whose_pages_cannot_be_made_is_no_other_turns_trouble() -> None:
    class Broken(PageLog):
        def cut(self) -> Sequence[Page]:
            raise ValueError("no page can be made of this")

    store = Watched()
    async with PageWriter(store) as writer:
        broken = Broken(await store.claim("broken"), writer, committed=print, stop=Stop())
        sound = Turn(await store.claim("sound"), writer)
        broken.frame(FRAME, at_once=True)
        sound.say(at_once=True)
        await sound.log.kept()
        await broken.broken
    assert isinstance(broken.failure, ValueError)
    assert sound.seen == 1


@asynchronous
async def test_a_claim_that_is_lost_breaks_its_turn_alone() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        ours, theirs = [Turn(await store.claim(id), writer) for id in ("ours", "theirs")]
        theirs.log.lose()
        stale = Turn(structs.replace(ours.log.claim, epoch=0), writer)
        for turn in (ours, theirs, stale):
            turn.say(at_once=True)
        await ours.log.kept()
        for turn in (theirs, stale):
            with pytest.raises(ClaimLost):
                await turn.log.kept()
        assert (ours.seen, theirs.seen, stale.seen) == (1, 0, 0)


@asynchronous
async def test_a_writer_that_closes_leaves_nobody_waiting() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        written, waiting, growing = [Turn(await store.claim(id), writer) for id in "abc"]
        store.gate.clear()
        written.say(at_once=True)
        await asyncio.sleep(0)
        waiting.say(at_once=True)
        growing.say()
        await asyncio.sleep(0)
    for turn in (written, waiting, growing):
        assert isinstance(turn.log.failure, StoreUnavailable)
        assert turn.log.broken.done()
    late = Turn(await store.claim("late"), writer)
    late.say()
    assert isinstance(late.log.failure, StoreUnavailable)


@asynchronous
async def test_a_log_that_closes_writes_all_but_its_last_page() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        turn = Turn(await store.claim("turn"), writer)
        for _ in range(70):
            turn.say()
        last = await turn.log.close(FRAME)
        assert (turn.seen, last.first_seq, last.last_seq) == (64, 64, 70)
        assert await turn.log.close(FRAME) is last


@asynchronous
async def test_what_is_durable_after_a_turn_was_abandoned_is_shown_to_nobody() -> None:
    store = Watched()
    async with PageWriter(store) as writer:
        turn, other = [Turn(await store.claim(id), writer) for id in "ab"]
        store.gate.clear()
        turn.say(at_once=True)
        await asyncio.sleep(0)
        turn.log.abandon()
        store.gate.set()
        turn.say(at_once=True)
        other.say(at_once=True)
        await other.log.kept()
        assert (turn.seen, store.commits) == (0, [["a"], ["b"]])
