"""The one writer of a process: it commits the pages of all live turns together, and renews their leases.

Turns say that they have something to write, and when they are asked they cut their pages: so a page holds all that was
said until the moment it was written. One clock ticks for all of them. While one commit is under way, more gathers for
the next; so a hundred turns cost one commit at a time, and one that speaks after a silence is written at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

from rejoinder.ports.clock import Clock, SystemClock
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    ClaimLost,
    Durability,
    Fenced,
    Page,
    StoreUnavailable,
)
from rejoinder.ports.store import ConversationStore

PAGE_AGE_SECONDS_MAX: Final = 0.02
"""What is said waits no longer than this for more: nobody sees the difference, and the database has a tenth to do."""

GROUP_PAGES_MAX: Final = 256
"""So many pages go into one commit: some 2 MiB, which a database takes within milliseconds."""

RETRY_SECONDS_MAX: Final = 20.0
"""So long a page is offered to a store that cannot be reached; then somebody else has the turn anyhow."""

RETRY_WAITS_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Between the offers. The last one is repeated."""

LEASE_SECONDS: Final = 10.0
"""How long a turn is ours without a renewal: the time a dead owner's turn stays without one."""

RENEWALS_PER_LEASE: Final = 3
"""Two renewals may fail before a lease is lost."""

_log: Final = logging.getLogger(__name__)


def retry_seconds(attempt: int) -> float:
    """How long to wait before the next try, after so many."""
    return RETRY_WAITS_SECONDS[min(attempt, len(RETRY_WAITS_SECONDS) - 1)]


class PageSource(Protocol):
    """Who has pages to write: a turn. It is asked for the next pages once those before are written."""

    @property
    def claim(self) -> Claim:
        """By which right it writes."""
        ...

    def cut(self) -> Sequence[Page]:
        """The pages that are to be written now, in their order; there may be none."""
        ...

    def written(self, answers: Sequence[Appended]) -> None:
        """They are durable."""
        ...

    def refused(self, error: Exception) -> None:
        """They are not, and nothing more of this source can be written.

        `ClaimLost` if the journal refuses them; `StoreUnavailable` if the store could not be reached for
        `RETRY_SECONDS_MAX`, or the writer is closed: then the pages may be there or not.
        """
        ...


class _Asked(NamedTuple):
    """A source, and what it wants to have written."""

    source: PageSource
    pages: Sequence[Page]


class PageWriter:
    """Writes pages and keeps leases, from `async with` to its end."""

    def __init__(
        self,
        store: ConversationStore,
        *,
        clock: Clock | None = None,
        durability: Durability = "full",
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.lease_seconds = lease_seconds
        self._store = store
        self._clock: Clock = SystemClock() if clock is None else clock
        self._durability: Durability = durability
        self._growing: list[PageSource] = []
        self._due: deque[PageSource] = deque()
        self._wake = asyncio.Event()
        self._tick: asyncio.TimerHandle | None = None
        self._quiet_until = 0.0
        self._held: dict[tuple[str, str], tuple[Claim, Callable[[], None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._renew())]
        for task in self._tasks:
            task.add_done_callback(self._ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = self._close()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._refuse_all()

    def _close(self) -> list[asyncio.Task[None]]:
        tasks, self._tasks = self._tasks, []
        if self._tick is not None:
            self._tick.cancel()
        for task in tasks:
            task.cancel()
        return tasks

    def _refuse_all(self) -> None:
        for source in (*self._due, *self._growing):
            source.refused(StoreUnavailable("the writer has been closed: the page was not written"))

    def _ended(self, task: asyncio.Task[None]) -> None:
        """One of our tasks has ended before we closed: somebody ends the loop, or we have made a mistake.

        Leases that are renewed for turns that nobody can write would hold them for ever.
        """
        if not self._tasks:
            return
        _log.error("the writer of this process has ended: its turns are left to others")
        self._close()
        self._refuse_all()
        for _, lost in [*self._held.values()]:
            lost()

    def soon(self, source: PageSource) -> None:
        """It has something to write: at once if nothing was written just now, else at the next tick."""
        if not self._tasks:
            source.refused(_closed())
            return
        self._growing.append(source)
        if self._tick is None:
            self._tick = asyncio.get_running_loop().call_at(self._quiet_until, self._all_are_due)

    def now(self, source: PageSource) -> None:
        """It has something to write that somebody waits for."""
        if not self._tasks:
            source.refused(_closed())
            return
        self._due.append(source)
        self._wake.set()

    @contextmanager
    def holding(self, claim: Claim, lost: Callable[[], None]) -> Generator[None]:
        """Renew the claim's lease meanwhile. `lost` is called, at most once, when it turns out to be lost."""
        key = (claim.tenant, claim.turn_id)
        self._held[key] = (claim, lost)
        try:
            yield
        finally:
            self._held.pop(key, None)

    def _all_are_due(self) -> None:
        self._tick = None
        self._due.extend(self._growing)
        self._growing.clear()
        self._quiet_until = asyncio.get_running_loop().time() + PAGE_AGE_SECONDS_MAX
        self._wake.set()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            group = self._group()
            if not self._due:
                self._wake.clear()
            try:
                await self._commit(group)
            except asyncio.CancelledError:
                _refuse(group, StoreUnavailable("the writer was closed while it wrote this page"))
                raise

    def _group(self) -> list[_Asked]:
        """What goes into the next commit."""
        group: list[_Asked] = []
        count = 0
        while self._due and count < GROUP_PAGES_MAX:
            source = self._due.popleft()
            try:
                pages = source.cut()
            except Exception as error:  # noqa: BLE001  # our own bug, and one turn's: this task writes for all
                _log.exception("the pages of turn %s cannot be cut", source.claim.turn_id)
                source.refused(error)
                continue
            if pages:
                group.append(_Asked(source, pages))
                count += len(pages)
        return group

    async def _commit(self, group: Sequence[_Asked]) -> None:
        if not group:
            return
        appends = [Append(claim=asked.source.claim, page=page) for asked in group for page in asked.pages]
        try:
            answers = iter(await self._offer(appends))
        except Exception as error:  # noqa: BLE001  # whatever a store raises is for those who wait for these pages
            if len(group) > 1 and not isinstance(error, StoreUnavailable):
                # One page of these cannot be written. The others must not suffer for it.
                for asked in group:
                    await self._commit([asked])
                return
            _refuse(group, error)
            return
        for asked in group:
            _tell(asked, [*islice(answers, len(asked.pages))])

    async def _offer(self, appends: Sequence[Append]) -> list[Appended | Fenced]:
        waited, attempt = 0.0, 0
        while True:
            try:
                return await self._store.append_pages(appends, durability=self._durability)
            except StoreUnavailable as error:
                if waited >= RETRY_SECONDS_MAX:
                    raise
                _log.warning("pages of %d turns are not written yet: %s", len(appends), error)
            seconds = retry_seconds(attempt)
            await self._clock.sleep(seconds)
            waited, attempt = waited + seconds, attempt + 1

    async def _renew(self) -> None:
        while True:
            await self._clock.sleep(self.lease_seconds / RENEWALS_PER_LEASE)
            held = [*self._held.items()]
            if not held:
                continue
            try:
                renewed = await self._store.renew(
                    [claim for _, (claim, _) in held], lease_seconds=self.lease_seconds
                )
            except Exception as error:  # noqa: BLE001  # a renewal that failed is tried again; a lease lasts for three
                _log.warning("the leases of %d turns are not renewed yet: %s", len(held), error)
                continue
            for (key, entry), claim in zip(held, renewed, strict=True):
                if claim is None and self._held.get(key) is entry:
                    del self._held[key]
                    entry[1]()


def _tell(asked: _Asked, answers: Sequence[Appended | Fenced]) -> None:
    taken = [answer for answer in answers if isinstance(answer, Appended)]
    for answer in answers:
        if isinstance(answer, Fenced):
            asked.source.refused(_fenced(asked.source.claim, answer))
            return
    asked.source.written(taken)


def _refuse(group: Sequence[_Asked], error: Exception) -> None:
    for asked in group:
        asked.source.refused(error)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the writer is closed: open it with `async with`")


def _fenced(claim: Claim, fenced: Fenced) -> ClaimLost:
    return ClaimLost(f"turn {claim.turn_id!r} refused a page ({fenced.reason}): stop working on it")
