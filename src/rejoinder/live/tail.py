"""The pages of one turn as they are committed: a list that grows, and whoever reads it at his own pace.

A late reader begins where he likes and loses nothing; a slow one holds nobody up, for nothing is kept for him. What
a dialect is told is made once, for all its readers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from rejoinder.messages import JsonObject
from rejoinder.ports.journal import Page
from rejoinder.wire.codec import DONE, decode_chunk, encode_chunk
from rejoinder.wire.dialects import NEWEST, Dialect
from rejoinder.wire.downlevel import Downlevel

_EVENT_END: Final = b"\n\n"
_DATA: Final = b"data: "


class Tail:
    """One turn. It grows by `add`, and ends by `end`, or by `give_up` if nobody can say how it goes on.

    `continues` is the message that the turn goes on writing, as a client holds it.
    """

    def __init__(self, turn_id: str, *, continues: JsonObject | None = None) -> None:
        self.turn_id = turn_id
        self.continues = continues
        self.pages: list[Page] = []
        self.ended = False
        self.failure: Exception | None = None
        self._watchers: set[Callable[[], None]] = set()
        self._tellings: dict[Dialect, Telling] = {}

    @property
    def next_seq(self) -> int:
        """Which frame comes next."""
        return self.pages[-1].last_seq + 1 if self.pages else 0

    @property
    def watched(self) -> bool:
        """Whether anybody reads."""
        return bool(self._watchers)

    def add(self, page: Page) -> None:
        """Take in a page that is durable. One that is here already is passed over."""
        if page.last_seq >= self.next_seq:
            self.pages.append(page)
            self._wake()

    def end(self) -> None:
        """All pages are here, and the turn is sealed."""
        self.ended = True
        self._wake()

    def give_up(self, failure: Exception) -> None:
        """What comes next cannot be had. Readers must not take this for an end."""
        self.failure = failure
        self._wake()

    @contextmanager
    def watching(self, wake: Callable[[], None]) -> Generator[None]:
        """Have `wake` called whenever something has changed."""
        self._watchers.add(wake)
        try:
            yield
        finally:
            self._watchers.discard(wake)

    def told_in(self, dialect: Dialect) -> Telling:
        """The turn in the words of a dialect."""
        telling = self._tellings.get(dialect)
        if telling is None:
            telling = self._tellings[dialect] = Telling(self, dialect)
        return telling

    def _wake(self) -> None:
        for wake in (*self._watchers,):
            wake()


class Telling:
    """What a dialect is told of a turn, as server-sent events. An event's place in the list is its number.

    Where the dialect is the newest one, places and frames are the same.
    """

    def __init__(self, tail: Tail, dialect: Dialect) -> None:
        self.events: list[bytes] = []
        self._tail = tail
        self._pages = 0
        self._closed = False
        self._name = tail.turn_id.encode()
        newest = dialect.release >= NEWEST[7]
        self._downlevel = None if newest else Downlevel(dialect, message=tail.continues)

    @property
    def complete(self) -> bool:
        """Whether these are all events, the closing `DONE` aside."""
        return self._closed

    def catch_up(self) -> None:
        """Tell what has been committed since."""
        pages = self._tail.pages
        while self._pages < len(pages):
            self._tell(pages[self._pages].frames)
            self._pages += 1
        if self._tail.ended and not self._closed:
            for chunk in () if self._downlevel is None else self._downlevel.close():
                self._say(_DATA + encode_chunk(chunk))
            self._closed = True

    def chunk(self, place: int) -> bytes:
        """The chunk in a place, as JSON."""
        return self.events[place].partition(b"\n" + _DATA)[2].removesuffix(_EVENT_END)

    def piece(self, place: int, bytes_max: int) -> tuple[int, bytes]:
        """The events from a place on, so many bytes or a single event, and the place behind them."""
        events, end, size = self.events, place + 1, len(self.events[place])
        while end < len(events) and (size := size + len(events[end])) <= bytes_max:
            end += 1
        return end, events[place] if end == place + 1 else b"".join(events[place:end])

    def since(self, place: int) -> bytes:
        """The events from a place on, in one piece, and the closing `DONE` behind the last."""
        piece = b"".join(self.events[place:])
        return piece + DONE if self._closed else piece

    def _tell(self, frames: bytes) -> None:
        for frame in frames.split(_EVENT_END):
            if not frame:
                continue  # behind the last one
            if self._downlevel is None:
                self._say(frame)
                continue
            for chunk in self._downlevel.feed(decode_chunk(frame.removeprefix(_DATA))):
                self._say(_DATA + encode_chunk(chunk))

    def _say(self, frame: bytes) -> None:
        self.events.append(b"id: %b:%d\n%b\n\n" % (self._name, len(self.events), frame))
