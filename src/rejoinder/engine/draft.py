"""What a turn has said and no page holds yet, in order: frames, and the events between them."""

from __future__ import annotations

from collections import deque
from typing import Final

from rejoinder.ports.journal import Event, Page

PAGE_FRAMES_MAX: Final = 64
"""A page is written at so many frames: a row of some 8 KiB, a few writes a second."""

PAGE_BYTES_MAX: Final = 16 * 1024
"""Or at so many bytes of frames and events. The one that crosses the line still belongs to the page."""


class Draft:
    """Grows at its end and is cut into pages at its beginning. `full` says that there is enough for a page, `size` how
    many bytes there are.
    """

    def __init__(self) -> None:
        self.next_page = 0
        self.next_seq = 0
        self.full = False
        self.size = 0
        self._cut_seq = 0
        self._frames = 0
        self._items: deque[Event | bytes] = deque()

    def __len__(self) -> int:
        return len(self._items)

    def event(self, body: bytes) -> None:
        """Take in what the agent said; the frames that come of it follow."""
        self._items.append(Event(before=self.next_seq, body=body))
        self.size += len(body)
        self.full = self.full or self.size >= PAGE_BYTES_MAX

    def frame(self, frame: bytes) -> None:
        """Take in the next frame."""
        self._items.append(frame)
        self.next_seq += 1
        self._frames += 1
        self.size += len(frame)
        self.full = self._frames >= PAGE_FRAMES_MAX or self.size >= PAGE_BYTES_MAX

    def cut(self) -> Page:
        """The next page. It may be empty."""
        frames: list[bytes] = []
        events: list[Event] = []
        size = 0
        while self._items and len(frames) < PAGE_FRAMES_MAX and size < PAGE_BYTES_MAX:
            item = self._items.popleft()
            if isinstance(item, Event):
                events.append(item)
                size += len(item.body)
            else:
                frames.append(item)
                size += len(item)
        page = Page(
            number=self.next_page,
            first_seq=self._cut_seq,
            last_seq=self._cut_seq + len(frames) - 1,
            frames=b"".join(frames),
            events=tuple(events),
        )
        self.next_page += 1
        self._cut_seq += len(frames)
        self._frames -= len(frames)
        self.size -= size
        self.full = self._frames >= PAGE_FRAMES_MAX or self.size >= PAGE_BYTES_MAX
        return page
