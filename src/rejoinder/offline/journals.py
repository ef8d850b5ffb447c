"""The journal of a turn that is over, read whole: its frames with their times, and its events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final, NamedTuple

from rejoinder.messages import Turn
from rejoinder.offline.retelling import Telling
from rejoinder.ports.journal import Event
from rejoinder.ports.store import ConversationStore
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import decode_chunk

PAGES_AT_ONCE: Final = 64
"""So many pages are read at a time: 1 MiB or so."""


class Frame(NamedTuple):
    """One chunk, its place, and when it came into the journal."""

    seq: int
    at: datetime
    chunk: Chunk


class Journal(NamedTuple):
    """What there is of a turn. Retention takes the events first, then the frames."""

    frames: tuple[Frame, ...]
    events: tuple[Event, ...]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """What was said, without places and times."""
        return tuple(frame.chunk for frame in self.frames)

    def telling(self, turn: Turn) -> Telling:
        """The turn as it was told, to be told again."""
        events = [(event.before, event.body) for event in self.events]
        return Telling(turn=turn, chunks=self.chunks, events=events)


async def read_journal(store: ConversationStore, turn_id: str, *, tenant: str) -> Journal:
    """All of it. Raises `NoSuchTurn`."""
    frames: list[Frame] = []
    events: list[Event] = []
    async for page, more in pages_of(store, turn_id, tenant=tenant):
        frames += page
        events += more
    return Journal(tuple(frames), tuple(events))


async def pages_of(
    store: ConversationStore, turn_id: str, *, tenant: str
) -> AsyncIterator[tuple[list[Frame], tuple[Event, ...]]]:
    """The pages, each as its frames and its events."""
    number = 0
    while True:
        seen = await store.read_pages(
            turn_id, from_page=number, limit=PAGES_AT_ONCE, events=True, tenant=tenant
        )
        for page, at in zip(seen.pages, seen.written, strict=True):
            texts = [frame for frame in page.frames.split(b"\n\n") if frame]
            frames = [
                Frame(page.first_seq + place, at, decode_chunk(text.removeprefix(b"data: ")))
                for place, text in enumerate(texts)
            ]
            yield frames, page.events
        if not seen.pages or seen.pages[-1].number + 1 >= seen.next_page:
            return
        number = seen.pages[-1].number + 1
