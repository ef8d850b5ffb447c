"""The turns that run in this process, and a view of those that run elsewhere.

A turn belongs to the server: a task carries it out whether or not anybody reads, and only a stop stops it. Readers
get a `Tail`, the same kind for a turn of this process, one of another, and one that is over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

from rejoinder.convert.ui import to_ui
from rejoinder.engine.accounts import Price
from rejoinder.engine.running import TurnLimits, carry_out
from rejoinder.engine.writer import PageWriter
from rejoinder.live.tail import Tail
from rejoinder.messages import JsonObject, Message, Turn
from rejoinder.ports.agents import AgentProtocol, Stop
from rejoinder.ports.clock import Clock
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import ClaimLost, NoSuchTurn, StoreUnavailable, TurnBegun
from rejoinder.ports.observers import Observer
from rejoinder.ports.store import ConversationStore

FOLLOW_SECONDS_MAX: Final = 30.0
"""So long readers are kept while the store cannot be reached. They hear heartbeats meanwhile."""

FOLLOW_WAITS_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Between the attempts. The last one is repeated."""

_log: Final = logging.getLogger(__name__)


class Carrying(Struct, frozen=True, kw_only=True):
    """What every turn of a process is carried out with."""

    agent: AgentProtocol
    history: HistoryBuilder
    limits: TurnLimits
    price: Price | None = None
    observers: Sequence[Observer] = ()


class _Running:
    """A turn of this process."""

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.stop = Stop()
        self.task: asyncio.Task[None] | None = None


class _Followed:
    """A turn of another process, or one that is over, while somebody here reads it."""

    def __init__(self, tail: Tail, task: asyncio.Task[None]) -> None:
        self.tail = tail
        self.task = task
        self.readers = 0


class LiveTurns:
    """Carries turns out and lets them be read, from `async with` to its end."""

    def __init__(
        self, store: ConversationStore, *, writer: PageWriter, clock: Clock, carrying: Carrying
    ) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._carrying = carrying
        self._running: dict[tuple[str, str], _Running] = {}
        self._followed: dict[tuple[str, str], _Followed] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drain(0)
        for followed in (*self._followed.values(),):
            followed.task.cancel()
        await asyncio.gather(*(each.task for each in self._followed.values()), return_exceptions=True)

    def __len__(self) -> int:
        return len(self._running)

    def start(
        self, begun: TurnBegun, *, continues: Message | None, extra: JsonObject, subject: str | None
    ) -> asyncio.Task[None]:
        """Carry out a turn, in a task of its own. Waiting for it is not asked of anybody."""
        tail = Tail(begun.turn.id, continues=None if continues is None else to_ui(continues))
        running = _Running(tail)
        key = (begun.claim.tenant, begun.turn.id)
        self._running[key] = running
        running.task = asyncio.create_task(self._carry_out(key, running, begun, extra, subject))
        return running.task

    @asynccontextmanager
    async def reading(
        self, turn_id: str, *, tenant: str, continues: JsonObject | None = None
    ) -> AsyncGenerator[Tail]:
        """The turn as it stands and goes on, for one reader."""
        key = (tenant, turn_id)
        running = self._running.get(key)
        if running is not None:
            yield running.tail
            return
        followed = self._followed.get(key)
        if followed is None:
            tail = Tail(turn_id, continues=continues)
            followed = _Followed(tail, asyncio.create_task(self._follow(tail, tenant)))
            self._followed[key] = followed
        followed.readers += 1
        try:
            yield followed.tail
        finally:
            followed.readers -= 1
            if not followed.readers:
                followed.task.cancel()
                self._followed.pop(key, None)

    async def stop(self, turn_id: str, *, tenant: str) -> bool:
        """Ask a turn to stop, wherever it runs. Answers whether it was live."""
        # Written down first: should this process die of it, another one knows what was wanted.
        live = await self._store.request_stop(turn_id, tenant=tenant)
        running = self._running.get((tenant, turn_id))
        if running is not None:
            running.stop.press()
        return live

    async def drain(self, seconds: float) -> None:
        """Let the turns end; those that have not after so many seconds are sealed as interrupted."""
        tasks = {running.task for running in self._running.values() if running.task is not None}
        if not tasks:
            return
        if seconds > 0:
            patience = asyncio.ensure_future(self._clock.sleep(seconds))
            everything = asyncio.ensure_future(asyncio.wait(tasks))
            await asyncio.wait({patience, everything}, return_when=asyncio.FIRST_COMPLETED)
            patience.cancel()
            everything.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def let_go(self) -> None:
        """Break off reading what runs elsewhere: whoever reads comes back, and another process answers."""
        for followed in (*self._followed.values(),):
            if not followed.tail.ended:
                followed.tail.give_up(
                    StoreUnavailable("this process is about to end: read on at another one")
                )

    async def _carry_out(
        self,
        key: tuple[str, str],
        running: _Running,
        begun: TurnBegun,
        extra: JsonObject,
        subject: str | None,
    ) -> None:
        tail = running.tail
        try:
            turn = await carry_out(
                begun,
                self._carrying.agent,
                store=self._store,
                writer=self._writer,
                history=self._carrying.history,
                clock=self._clock,
                stop=running.stop,
                extra=extra,
                subject=subject,
                committed=tail.add,
                price=self._carrying.price,
                limits=self._carrying.limits,
            )
            tail.end()
            await self._observed(turn, begun.claim.tenant)
        except (ClaimLost, StoreUnavailable) as error:
            _log.warning("turn %s goes on without this process: %s", begun.turn.id, error)
            await self._follow(tail, begun.claim.tenant)
        except Exception as error:  # noqa: BLE001  # a task that dies unseen is worse
            # Our own bug. The lease runs out, and another process seals the turn.
            _log.exception("turn %s broke", begun.turn.id)
            tail.give_up(error)
        except asyncio.CancelledError:
            # It has sealed the turn first, if the store was there.
            await self._take_leave(tail, begun.claim.tenant)
            raise
        finally:
            del self._running[key]

    async def _observed(self, turn: Turn, tenant: str) -> None:
        if not self._carrying.observers:
            return
        try:
            calls = await self._store.list_provider_calls(turn.id, tenant=tenant)
            for observer in self._carrying.observers:
                observer.ended(turn, calls, tenant=tenant)
        except Exception:  # noqa: BLE001  # the answer is stored; what anybody makes of it is another matter
            _log.exception("turn %s could not be observed", turn.id)

    async def _follow(self, tail: Tail, tenant: str) -> None:
        """Take in the pages that another process commits."""
        waited, attempt = 0.0, 0
        while True:
            try:
                async for page in self._store.follow(tail.turn_id, from_seq=tail.next_seq, tenant=tenant):
                    tail.add(page)
                    waited, attempt = 0.0, 0
            except StoreUnavailable as error:
                if waited >= FOLLOW_SECONDS_MAX:
                    tail.give_up(error)
                    return
            except NoSuchTurn as error:
                tail.give_up(error)
                return
            else:
                tail.end()
                return
            seconds = FOLLOW_WAITS_SECONDS[min(attempt, len(FOLLOW_WAITS_SECONDS) - 1)]
            await self._clock.sleep(seconds)
            waited, attempt = waited + seconds, attempt + 1

    async def _take_leave(self, tail: Tail, tenant: str) -> None:
        try:
            seen = await self._store.read_pages(tail.turn_id, from_seq=tail.next_seq, tenant=tenant)
        except (StoreUnavailable, NoSuchTurn) as error:
            tail.give_up(error)
            return
        for page in seen.pages:
            tail.add(page)
        if seen.status in ("queued", "running") or tail.next_seq < seen.next_seq:
            tail.give_up(StoreUnavailable(f"turn {tail.turn_id!r} could not be sealed: read it again later"))
        else:
            tail.end()
