"""An agent over a store, as a chat: turns begin here, run here, and are found again wherever they run."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final, Literal, Protocol, TypeAlias, assert_never, runtime_checkable

from msgspec import Struct, field

from rejoinder.chat.titles import Titler, name_conversation
from rejoinder.chat.wishes import CONTINUE, Redact, Wish, Wishes
from rejoinder.convert.accepted_messages import Declared
from rejoinder.convert.refusals import UnacceptableMessage
from rejoinder.convert.ui import to_ui
from rejoinder.engine.accounts import Price
from rejoinder.engine.prices import installed_price
from rejoinder.engine.running import TurnLimits
from rejoinder.engine.writer import LEASE_SECONDS, PageWriter
from rejoinder.errors import RejoinderError
from rejoinder.live.recovery import Recovery
from rejoinder.live.tail import Tail
from rejoinder.live.turns import Carrying, LiveTurns
from rejoinder.messages import Turn
from rejoinder.ports.agents import AgentProtocol, Resident
from rejoinder.ports.clock import Clock, NewId, SystemClock, random_id
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import (
    AlreadyContinued,
    ConversationBusy,
    Durability,
    NewTurn,
    NoSuchMessage,
    StoreError,
    TurnBegun,
    TurnExists,
    TurnInProgress,
)
from rejoinder.ports.observers import Observer
from rejoinder.ports.queue import Order, TurnQueue
from rejoinder.ports.store import PAST_MESSAGES_MAX, ConversationStore

BusyPolicy: TypeAlias = Literal["reject", "enqueue", "interrupt"]
"""What happens to a message that comes while an answer is being made: it is refused, it waits for its turn, or the
answer is stopped for it."""

QUEUE_SECONDS_MAX: Final = 60.0
"""So long a message waits for its turn: as long as proxies wait for an answer."""

LOOK_SECONDS: Final = 0.25
"""How often a silent turn looks whether somebody elsewhere wants it to stop: half of what a stop may take."""


DRAIN_SECONDS: Final = 30.0
"""So long the turns of a process that is to end may go on. What starts them anew waits a little longer."""

QUEUED_SECONDS_MAX: Final = 600.0
"""So long a turn waits for a worker. Nobody waits longer for an answer; it is sealed as interrupted then."""

CONCURRENCY: Final = 100
"""So many turns a worker carries out at once: they mostly wait for models."""

READY_SECONDS_MAX: Final = 2.0
"""A store that has not answered by then is not one to send people to."""

NOBODY: Final = "nobody"
"""Asking for what is not there costs a store as little as can be."""

_log: Final = logging.getLogger(__name__)


@runtime_checkable
class Closable(Protocol):
    """An agent that holds connections."""

    async def aclose(self) -> None:
        """Let go of them."""
        ...


class ShuttingDown(RejoinderError):
    """This process is about to end and takes no new turns. Try again: another one answers."""

    code = "shutting-down"


class TurnSettings(Struct, frozen=True, kw_only=True):
    """How turns are carried out, and what of a request is taken."""

    busy: BusyPolicy = "reject"
    data_parts: Collection[str] = ()
    redact: Redact | None = None
    limits: TurnLimits = TurnLimits(look_seconds=LOOK_SECONDS)
    durability: Durability = "full"
    lease_seconds: float = LEASE_SECONDS
    drain_seconds: float = DRAIN_SECONDS
    title: Titler | None = None
    price: Price | None = field(default_factory=installed_price)


class Backend:
    """Everything but the doors. Open it with `async with backend.running()`."""

    def __init__(
        self,
        agent: AgentProtocol,
        *,
        store: ConversationStore,
        history: HistoryBuilder,
        settings: TurnSettings,
        queue: TurnQueue | None = None,
        clock: Clock | None = None,
        new_id: NewId = random_id,
    ) -> None:
        self.agent = agent
        self.queue = queue
        self.observers: list[Observer] = []
        """Who is told of turns that ended. Put them here before this runs."""
        self.store = store
        self.settings = settings
        self.accepting = False
        self._leaving: asyncio.Task[None] | None = None
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{new_id()[:8]}"
        self._history = history
        self._clock: Clock = SystemClock() if clock is None else clock
        self._live: LiveTurns | None = None
        self._naming: set[asyncio.Task[None]] = set()
        self._wishes = Wishes(
            store,
            new_id=new_id,
            owner=self.owner,
            lease_seconds=settings.lease_seconds,
            agent=agent.name,
            declared=Declared(data_parts=settings.data_parts),
            redact=settings.redact,
            queued=queue is not None,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open the store, carry turns out and recover those of others, until the end; then let them come to theirs."""
        settings = self.settings
        carrying = Carrying(
            agent=self.agent,
            history=self._history,
            limits=settings.limits,
            price=settings.price,
            observers=tuple(self.observers),
        )
        async with AsyncExitStack() as stack:
            await self.store.open()
            stack.push_async_callback(self.store.close)
            if self.queue is not None:
                await self.queue.open()
                stack.push_async_callback(self.queue.close)
            if isinstance(self.agent, Resident):
                await stack.enter_async_context(self.agent.residing(self.store))
            writer = await stack.enter_async_context(
                PageWriter(
                    self.store,
                    clock=self._clock,
                    durability=settings.durability,
                    lease_seconds=settings.lease_seconds,
                )
            )
            recovery = Recovery(
                self.store,
                clock=self._clock,
                owner=self.owner,
                lease_seconds=settings.lease_seconds,
                translator=self.agent.translate,
                price=settings.price,
            )
            await stack.enter_async_context(recovery)
            live = LiveTurns(self.store, writer=writer, clock=self._clock, carrying=carrying)
            self._live = await stack.enter_async_context(live)
            self._leaving = None
            self.accepting = True
            try:
                yield
            finally:
                await self._leave_once()
                for task in (*self._naming,):
                    task.cancel()
                await asyncio.gather(*self._naming, return_exceptions=True)
                if isinstance(self.agent, Closable):
                    await self.agent.aclose()

    def leave(self) -> None:
        """Take no new turns, let those that run come to an end, and then let all readers go."""
        if self._live is not None:
            self._leave_once()

    def _leave_once(self) -> asyncio.Task[None]:
        self.accepting = False
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave())
        return self._leaving

    async def _leave(self) -> None:
        await self.live.drain(self.settings.drain_seconds)
        self.live.let_go()

    async def ready(self) -> bool:
        """Whether new turns are taken, and the store answers."""
        if not self.accepting:
            return False
        try:
            async with asyncio.timeout(READY_SECONDS_MAX):
                await self.store.get_conversation(NOBODY, tenant=NOBODY)
        except StoreError as error:
            _log.warning("not ready: %s", error)
            return False
        except TimeoutError:
            _log.warning("not ready: the store did not answer within %g s", READY_SECONDS_MAX)
            return False
        return True

    @property
    def live(self) -> LiveTurns:
        """The turns of this process."""
        if self._live is None:
            raise RuntimeError("this chat is not running: give the application its lifespan (chat.lifespan)")
        return self._live

    async def answer(self, wish: Wish) -> Turn:
        """The turn that answers a wish: begun now, or begun before by the same wish.

        Raises `Refused`, `InvalidRequest`, `StoreError`, `TurnInProgress` or `ShuttingDown`.
        """
        live = self.live
        waited = 0.0
        while True:
            if not self.accepting:
                raise ShuttingDown("this process is about to end: try again in a moment")
            found = await self._begin(wish)
            match found:
                case TurnExists(turn=turn):
                    return turn
                case TurnBegun(turn=turn):
                    return turn
                case ConversationBusy(turn=busy):
                    if self._is_same_regeneration(wish, busy):
                        return busy
                    if self.settings.busy == "reject" or waited >= QUEUE_SECONDS_MAX:
                        raise TurnInProgress(busy)
                    if self.settings.busy == "interrupt":
                        await live.stop(busy.id, tenant=wish.principal.tenant)
                    waited += await self._wait_for_end(busy, wish, QUEUE_SECONDS_MAX - waited)
                case _:
                    assert_never(found)

    def reading(self, turn: Turn, *, tenant: str) -> AbstractAsyncContextManager[Tail]:
        """The turn as it stands and goes on, for one reader."""
        return self._reading(turn, tenant)

    @asynccontextmanager
    async def _reading(self, turn: Turn, tenant: str) -> AsyncGenerator[Tail]:
        continues = None
        if turn.trigger == CONTINUE and turn.message_id is not None:
            stored = await self.store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
            continues = None if stored is None else to_ui(stored.message)
        async with self.live.reading(turn.id, tenant=tenant, continues=continues) as tail:
            yield tail

    async def _begin(self, wish: Wish) -> TurnBegun | TurnExists | ConversationBusy:
        try:
            new = await self._wishes.new_turn(wish)
        except (NoSuchMessage, UnacceptableMessage):
            # What the wish is about may be the very answer that is being made: it is stored at its end.
            busy = await self.store.live_turn(wish.conversation_id, tenant=wish.principal.tenant)
            if busy is None or busy.message_id not in _named(wish):
                raise
            return ConversationBusy(turn=busy)
        if isinstance(new, TurnExists):
            return new
        try:
            opening = await self.store.begin_turn(new)
        except AlreadyContinued:
            # Somebody was quicker with an answer to the same question: what that makes of this one is said anew.
            return await self._begin(wish)
        if isinstance(opening, TurnBegun):
            await self._start(opening, new, wish)
        return opening

    async def _start(self, begun: TurnBegun, new: NewTurn, wish: Wish) -> None:
        extra, subject = wish.request.extra, wish.principal.subject
        if self.settings.title is not None and [stored.seq for stored in begun.past] == [0]:
            naming = name_conversation(begun, self.settings.title, self.store)
            self._naming.add(task := asyncio.create_task(naming))
            task.add_done_callback(self._naming.discard)
        if self.queue is None:
            self.live.start(begun, continues=new.continues, extra=extra, subject=subject)
            return
        branch = begun.past[-1].message.id if begun.past else None
        await self.queue.put(Order(claim=begun.claim, branch=branch, extra=extra, subject=subject))
        # From now on it waits for a worker, also without us. Should we die before, it is sealed soon.
        await self.store.renew([begun.claim], lease_seconds=QUEUED_SECONDS_MAX)

    async def work(self, *, concurrency: int = CONCURRENCY) -> None:
        """Carry out the turns that others have put into the queue, until this is cancelled."""
        if self.queue is None:
            raise RuntimeError("this chat has no queue: give it one (Chat(queue=…))")
        await self.queue.work(self._carry, concurrency=concurrency)

    async def _carry(self, order: Order) -> None:
        claim = order.claim
        (held,) = await self.store.renew([claim], lease_seconds=self.settings.lease_seconds)
        turn = await self.store.get_turn(claim.turn_id, tenant=claim.tenant)
        conversation = await self.store.get_conversation(claim.conversation_id, tenant=claim.tenant)
        if held is None or turn is None or conversation is None or turn.status != "queued":
            _log.info("turn %s waits no longer", claim.turn_id)
            return
        past = await self.store.list_messages(
            conversation.id, limit=PAST_MESSAGES_MAX, branch=order.branch, tenant=claim.tenant
        )
        begun = TurnBegun(turn=turn, claim=held, conversation=conversation, past=tuple(past))
        continues = past[-1].message if turn.trigger == CONTINUE and past else None
        task = self.live.start(begun, continues=continues, extra=order.extra, subject=order.subject)
        # Whoever takes the worker away does not take the turn away: it has its time to come to an end.
        await asyncio.wait({task})

    def _is_same_regeneration(self, wish: Wish, busy: Turn) -> bool:
        """Whether a regeneration that does not say of what is the one that is under way."""
        ours = wish.request
        return busy.trigger == ours.trigger == "regenerate-message" and ours.message_id is None

    async def _wait_for_end(self, turn: Turn, wish: Wish, seconds: float) -> float:
        """Wait until the turn is over, or for so many seconds. Answers how many it took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        changed = asyncio.Event()
        async with self._reading(turn, wish.principal.tenant) as tail:
            with tail.watching(changed.set):
                try:
                    async with asyncio.timeout(seconds):
                        while not tail.ended and tail.failure is None:
                            await changed.wait()
                            changed.clear()
                except TimeoutError:
                    return seconds
        return max(loop.time() - began, 0.01)


def _named(wish: Wish) -> tuple[str | None, ...]:
    newest = wish.request.newest
    id = None if newest is None else newest.get("id")
    return (wish.request.message_id, id if isinstance(id, str) else None)
