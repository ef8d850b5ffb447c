"""The journal of one turn, seen by its owner: what is said goes in at once, and is seen once it is durable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from rejoinder.engine.draft import Draft
from rejoinder.engine.writer import PageWriter
from rejoinder.ports.agents import Stop
from rejoinder.ports.journal import Appended, Claim, ClaimLost, Page

PAGES_AT_ONCE_MAX: Final = 16
"""So many pages of one turn go into one commit: the other turns want to be heard, too."""

DRAFT_BYTES_MAX: Final = 256 * 1024
"""An agent that speaks faster than the store writes is stopped here until the store has caught up."""

DRAFT_ITEMS_MAX: Final = 1024
"""The same for many small things."""

_NOT, _SOON, _NOW = range(3)
"""When the writer is expected to ask for pages."""

_log: Final = logging.getLogger(__name__)


class PageLog:
    """What the writer asks for the pages of one turn.

    `broken` comes to its end if the claim is lost or the store is out of reach; `failure` says which.
    """

    def __init__(
        self, claim: Claim, writer: PageWriter, *, committed: Callable[[Page], None], stop: Stop
    ) -> None:
        self.claim = claim
        self.failure: Exception | None = None
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writer = writer
        self._committed = committed
        self._stop = stop
        self._draft = Draft()
        self._expected = _NOT
        self._closing = False
        self._abandoned = False
        self._last: Page | None = None
        self._pages: Sequence[Page] = ()
        self._taken = 0
        self._added = 0
        self._durable = 0
        self._progress: asyncio.Future[None] | None = None

    @property
    def next_page(self) -> int:
        """The number of the next page."""
        return self._draft.next_page

    @property
    def crowded(self) -> bool:
        """Whether whoever speaks should wait for `room`."""
        return self._draft.size >= DRAFT_BYTES_MAX or len(self._draft) >= DRAFT_ITEMS_MAX

    def event(self, body: bytes) -> None:
        """Take in an event."""
        self._draft.event(body)
        self._grown(at_once=False)

    def frame(self, frame: bytes, *, at_once: bool) -> None:
        """Take in a frame; `at_once` does not wait for more."""
        self._draft.frame(frame)
        self._grown(at_once=at_once)

    async def room(self) -> None:
        """Come back when the log is no longer crowded."""
        while self.crowded:
            await self._next_commit()

    async def kept(self) -> None:
        """Come back when all that was taken in so far is durable."""
        goal = self._added
        while self._durable < goal:
            self._expect(_NOW)
            await self._next_commit()

    def lose(self) -> None:
        """The turn is somebody else's now."""
        self._fail(ClaimLost(f"turn {self.claim.turn_id!r} has another owner: stop working on it"))

    async def close(self, last: bytes) -> Page:
        """Write all but the last page, and give that one, with this frame as its end. May be called again."""
        self._closing = True
        while self._pages or self._draft.full:
            self._expect(_NOW)
            await self._next_commit()
        if self.failure is not None:
            raise self.failure
        if self._last is None:
            self._draft.frame(last)
            self._last = self._draft.cut()
        return self._last

    def show(self, page: Page) -> None:
        """Let readers have a page that is durable."""
        try:
            self._committed(page)
        except Exception:  # noqa: BLE001  # an answer does not depend on its readers
            _log.exception("turn %s: a page could not be given to readers", self.claim.turn_id)

    def abandon(self) -> None:
        """Write no more."""
        self._abandoned = True
        self.broken.cancel()

    def cut(self) -> Sequence[Page]:
        """The next pages, for the writer. What the last page will hold is left, once the log closes."""
        if self._pages:
            return ()  # it was due twice, because somebody began to wait for what was to be written soon
        self._expected = _NOT
        before = len(self._draft)
        pages: list[Page] = []
        while self._has_page and len(pages) < PAGES_AT_ONCE_MAX:
            pages.append(self._draft.cut())
        self._pages, self._taken = pages, before - len(self._draft)
        return pages

    def written(self, answers: Sequence[Appended]) -> None:
        """The pages that were cut are durable."""
        pages, self._pages = self._pages, ()
        self._durable += self._taken
        if self._abandoned:
            return
        for page in pages:
            self.show(page)
        if self._has_page:
            self._expect(_NOW)
        self._announce()
        if answers[-1].stop_requested:
            self._stop.press()

    def refused(self, error: Exception) -> None:
        """Nothing more can be written."""
        self._pages = ()
        self._fail(error)

    @property
    def _has_page(self) -> bool:
        if self._abandoned or self.failure is not None:
            return False
        return self._draft.full if self._closing else bool(self._draft)

    def _grown(self, *, at_once: bool) -> None:
        self._added += 1
        if at_once or self._draft.full:
            self._expect(_NOW)
        elif self._expected == _NOT:
            self._expect(_SOON)

    def _expect(self, when: int) -> None:
        """Ask the writer, if it has not been asked, to come by."""
        if when <= self._expected:
            return
        self._expected = when
        if when == _NOW:
            self._writer.now(self)
        else:
            self._writer.soon(self)

    async def _next_commit(self) -> None:
        if self.failure is not None:
            raise self.failure
        if self._progress is None:
            self._progress = asyncio.get_running_loop().create_future()
        # Several may wait, and one who is cancelled must not take it from the others.
        await asyncio.shield(self._progress)

    def _announce(self) -> None:
        if self._progress is not None:
            self._progress.set_result(None)
            self._progress = None

    def _fail(self, error: Exception) -> None:
        if self.failure is None:
            self.failure = error
        if not self.broken.done():
            self.broken.set_result(None)
        self._announce()
