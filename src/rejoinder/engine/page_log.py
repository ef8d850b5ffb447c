"""The journal of one turn, seen by its owner: what is said goes in at once, and is seen once it is durable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from rejoinder.engine.draft import Draft
from rejoinder.engine.writer import PageWriter
from rejoinder.ports.agents import Stop
from rejoinder.ports.journal import Claim, ClaimLost, Page

PAGE_AGE_SECONDS_MAX: Final = 0.02
"""What is said waits no longer than this for more: nobody sees the difference, and the database has a tenth to do."""

DRAFT_BYTES_MAX: Final = 256 * 1024
"""An agent that speaks faster than the store writes is stopped here until the store has caught up."""

DRAFT_ITEMS_MAX: Final = 1024
"""The same for many small things."""

_log: Final = logging.getLogger(__name__)


class PageLog:
    """Commits pages in a task of its own, one after the other, from `open` to `close`.

    `task` ends before that only if the claim is lost or the store is out of reach; `failure` says which.
    """

    def __init__(
        self, claim: Claim, writer: PageWriter, *, committed: Callable[[Page], None], stop: Stop
    ) -> None:
        self.claim = claim
        self.failure: Exception | None = None
        self._writer = writer
        self._committed = committed
        self._stop = stop
        self._draft = Draft()
        self._due = asyncio.Event()
        self._progress = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self._last: Page | None = None
        self._added = 0
        self._durable = 0
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._write())

    @property
    def task(self) -> asyncio.Task[None]:
        """Who writes."""
        assert self._task is not None, "the log is open"
        return self._task

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
        self._due.set()
        while self._durable < goal:
            await self._next_commit()

    def lose(self) -> None:
        """The turn is somebody else's now."""
        self._fail(ClaimLost(f"turn {self.claim.turn_id!r} has another owner: stop working on it"))

    async def close(self, last: bytes) -> Page:
        """Write all but the last page, and give that one, with this frame as its end. May be called again."""
        self._closing = True
        self._due.set()
        await asyncio.wait({self.task})
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

    async def abandon(self) -> None:
        """Write no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _write(self) -> None:
        try:
            while not self._closing or self._draft.full:
                await self._due.wait()
                if not self._closing or self._draft.full:
                    await self._write_page()
        except Exception as error:  # noqa: BLE001  # it is raised to whoever waits for the log
            self._fail(error)

    async def _write_page(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        before = len(self._draft)
        page = self._draft.cut() if before else None
        if not self._draft and not self._closing:
            self._due.clear()
        if page is None:
            return
        taken = before - len(self._draft)
        appended = await self._writer.append(self.claim, page)
        self._durable += taken
        self.show(page)
        self._announce()
        if appended.stop_requested:
            self._stop.press()

    def _grown(self, *, at_once: bool) -> None:
        self._added += 1
        if at_once or self._draft.full:
            self._due.set()
        elif self._timer is None and not self._due.is_set():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PAGE_AGE_SECONDS_MAX, self._due.set)

    async def _next_commit(self) -> None:
        if self.failure is not None:
            raise self.failure
        await self._progress.wait()

    def _announce(self) -> None:
        progress, self._progress = self._progress, asyncio.Event()
        progress.set()

    def _fail(self, error: Exception) -> None:
        if self.failure is None:
            self.failure = error
        self._announce()
        if self._task is not None:
            self._task.cancel()
