"""Turns that lose one owner after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from rejoinder.fold import accumulate
from rejoinder.live.recovery import OWNERS_READING_MAX, OWNERS_TRANSLATING_MAX, Recovery
from rejoinder.messages import Json, Text
from rejoinder.ports.clock import SystemClock
from rejoinder.ports.journal import Append, Event, NewTurn, Page, TurnBegun
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.translate import Emitter
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, Start, TextDelta, TextStart
from rejoinder.wire.codec import decode_chunk, encode_event
from rejoinder.wire.grammar import Grammar

SAID: tuple[Chunk, ...] = (Start(message_id="answer"), TextStart(id="t"), TextDelta(id="t", delta="So far"))


async def left_behind(store: InMemoryConversationStore, said: tuple[Chunk, ...]) -> None:
    """A turn that has said this much, with an event to go with it."""
    begun = await store.begin_turn(
        NewTurn(
            id="turn",
            conversation_id="c",
            assistant_message_id="answer",
            owner="first",
            lease_seconds=10,
            tenant="default",
            create_conversation=True,
        )
    )
    assert isinstance(begun, TurnBegun)
    if said:
        frames = b"".join(map(encode_event, said))
        event = Event(before=1, body=b'{"word": "So far"}')
        page = Page(number=0, first_seq=0, last_seq=len(said) - 1, frames=frames, events=(event,))
        await store.append_pages([Append(claim=begun.claim, page=page)])


async def journal(store: InMemoryConversationStore) -> list[Chunk]:
    """What its readers were told."""
    seen = await store.read_pages("turn")
    frames = b"".join(page.frames for page in seen.pages).split(b"\n\n")
    return [decode_chunk(frame.removeprefix(b"data: ")) for frame in frames if frame]


@pytest.mark.parametrize("said", [(), SAID], ids=["nothing was said", "something was said"])
@pytest.mark.parametrize(
    "owners", [1, OWNERS_TRANSLATING_MAX, OWNERS_READING_MAX], ids="{} owners died".format
)
def test_a_turn_comes_to_a_legal_end_however_many_owners_it_has_outlived(
    owners: int, said: tuple[Chunk, ...]
) -> None:
    translated: list[Json] = []

    def translate(_: Emitter, event: Json) -> Iterable[Chunk]:
        translated.append(event)
        return ()

    async def walk() -> None:
        moments = (datetime(2026, 5, 4, tzinfo=UTC) + timedelta(seconds=11 * each) for each in count())
        # A lease of ten seconds is over whenever the store is asked again.
        store = InMemoryConversationStore(clock=moments.__next__)
        await left_behind(store, said)
        for dead in range(1, owners):
            assert await store.stale_turns(owner=f"owner {dead}", lease_seconds=10)
        recovery = Recovery(store, clock=SystemClock(), owner="last", lease_seconds=10, translator=translate)
        assert await recovery.sweep() == 1

        turn = await store.get_turn("turn")
        assert turn is not None
        assert turn.status == ("failed" if owners >= OWNERS_READING_MAX else "interrupted")
        assert await store.live_turn("c") is None
        told = await journal(store)
        grammar = Grammar()
        for chunk in told:
            grammar.check(chunk)
        answer = accumulate(told)
        assert [part.text for part in answer.parts if isinstance(part, Text)] == ["So far"] * bool(said)
        stored = await store.get_message("c", "answer")
        if turn.status == "interrupted":
            assert stored is not None
            assert stored.message.parts == answer.parts
        else:
            assert turn.error is not None
            assert turn.error.code == "unsealable-turn"
        assert translated == (
            [json.decode(b'{"word": "So far"}')] if said and owners < OWNERS_TRANSLATING_MAX else []
        )

    asyncio.run(walk())
