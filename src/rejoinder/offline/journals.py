"""The journal of a turn that is over, read whole: its frames with their times, and its events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from rejoinder.messages import Turn
from rejoinder.offline.retelling import Telling
from rejoinder.ports.journal import Event, Followed, Page
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
    """What there is of a turn. Retention takes the events first, then joins the frames.

    `gaps` say what is missing, or in a wrong place; `next_page` is how many pages there should be.
    """

    frames: tuple[Frame, ...]
    events: tuple[Event, ...]
    gaps: tuple[str, ...] = ()
    next_page: int = 0

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
    gaps: list[str] = []
    number, seq = 0, 0
    async for seen in _looks(store, turn_id, tenant):
        for page, at in zip(seen.pages, seen.written, strict=True):
            found = _frames(page, at)
            gaps += _gaps(page, number, seq, len(found))
            number, seq = page.number + 1, page.last_seq + 1
            frames += found
            events += page.events
        if number >= seen.next_page or not seen.pages:
            gaps += _ends((number, seq), (seen.next_page, seen.next_seq))
            return Journal(tuple(frames), tuple(events), tuple(gaps), seen.next_page)
    raise AssertionError("there is always another look")


async def pages_of(
    store: ConversationStore, turn_id: str, *, tenant: str
) -> AsyncIterator[tuple[list[Frame], tuple[Event, ...]]]:
    """The pages, each as its frames and its events."""
    async for seen in _looks(store, turn_id, tenant):
        for page, at in zip(seen.pages, seen.written, strict=True):
            yield _frames(page, at), page.events
        if not seen.pages or seen.pages[-1].number + 1 >= seen.next_page:
            return


async def _looks(store: ConversationStore, turn_id: str, tenant: str) -> AsyncIterator[Followed]:
    number = 0
    while True:
        seen = await store.read_pages(
            turn_id, from_page=number, limit=PAGES_AT_ONCE, events=True, tenant=tenant
        )
        yield seen
        number = seen.pages[-1].number + 1 if seen.pages else number


def _frames(page: Page, at: datetime) -> list[Frame]:
    texts = [frame for frame in page.frames.split(b"\n\n") if frame]
    return [
        Frame(page.first_seq + place, at, decode_chunk(text.removeprefix(b"data: ")))
        for place, text in enumerate(texts)
    ]


def _gaps(page: Page, number: int, seq: int, found: int) -> Iterator[str]:
    if page.number != number:
        yield f"page {number} is missing: behind it comes page {page.number}"
    elif page.first_seq != seq:
        yield f"page {page.number} begins with frame {page.first_seq}, and not with {seq}"
    if found != page.last_seq - page.first_seq + 1:
        yield f"page {page.number} holds {found} frames, and not {page.last_seq - page.first_seq + 1}"


def _ends(found: tuple[int, int], expected: tuple[int, int]) -> Iterator[str]:
    if found != expected:
        yield f"it ends before page {found[0]} and frame {found[1]}, and not before {expected[0]} and {expected[1]}"
