"""The one writer of a process: it commits the pages of all live turns together, and renews their leases.

While one commit is under way, pages gather for the next; nobody waits for company. So a hundred turns cost one commit
at a time, and a single turn is never delayed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, NamedTuple, Self

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


class _Waiting(NamedTuple):
    append: Append
    answer: asyncio.Future[Appended]


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
        self._waiting: deque[_Waiting] = deque()
        self._wake = asyncio.Event()
        self._held: dict[tuple[str, str], tuple[Claim, Callable[[], None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._renew())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _answer(self._waiting, StoreUnavailable("the writer has been closed: the page was not written"))
        self._waiting.clear()

    async def append(self, claim: Claim, page: Page) -> Appended:
        """Write a page, and come back when it is durable.

        Raises `ClaimLost` if the journal refuses it, `StoreUnavailable` if the store could not be reached for
        `RETRY_SECONDS_MAX`; then the page may be there or not, and sending it again is fine.
        """
        if not self._tasks:
            raise StoreUnavailable("the writer is closed: open it with `async with`")
        answer: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(Append(claim=claim, page=page), answer))
        self._wake.set()
        return await answer

    @contextmanager
    def holding(self, claim: Claim, lost: Callable[[], None]) -> Generator[None]:
        """Renew the claim's lease meanwhile. `lost` is called, at most once, when it turns out to be lost."""
        key = (claim.tenant, claim.turn_id)
        self._held[key] = (claim, lost)
        try:
            yield
        finally:
            self._held.pop(key, None)

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_PAGES_MAX))]
            if not self._waiting:
                self._wake.clear()
            try:
                await self._commit(group)
            finally:
                _answer(group, StoreUnavailable("the writer was closed while it wrote this page"))

    async def _commit(self, group: Sequence[_Waiting]) -> None:
        try:
            answers = await self._offer([waiting.append for waiting in group])
        except Exception as error:  # noqa: BLE001  # whatever a store raises is for those who wait for this page
            if len(group) == 1 or isinstance(error, StoreUnavailable):
                _answer(group, error)
                return
            # One page of these cannot be written. The others must not suffer for it.
            for waiting in group:
                await self._commit([waiting])
            return
        for waiting, answer in zip(group, answers, strict=True):
            if waiting.answer.done():
                continue
            if isinstance(answer, Fenced):
                waiting.answer.set_exception(_refused(waiting.append.claim, answer))
            else:
                waiting.answer.set_result(answer)

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


def _answer(group: Sequence[_Waiting] | deque[_Waiting], error: Exception) -> None:
    """Tell those who still wait that it went wrong."""
    for waiting in group:
        if not waiting.answer.done():
            waiting.answer.set_exception(error)


def _refused(claim: Claim, fenced: Fenced) -> ClaimLost:
    return ClaimLost(f"turn {claim.turn_id!r} refused a page ({fenced.reason}): stop working on it")
