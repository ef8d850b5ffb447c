"""One turn that runs: the history, the agent, the record, and an ending for whatever may happen on the way.

The agent is heard in a task of its own, and the writer of the process asks for the pages; this one waits for whichever
comes to something first, and seals the turn. It outlives its agent: one that raises, stalls, hangs or ignores a stop
fails or is cancelled, with everything kept that it said before.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Final

from msgspec import Struct, structs

from rejoinder.engine.accounts import Price
from rejoinder.engine.page_log import PageLog
from rejoinder.engine.past import call_for, continued, memory_for
from rejoinder.engine.recorder import Recorder, failure_of
from rejoinder.engine.sealing import seal_turn
from rejoinder.engine.tasks import dismiss
from rejoinder.engine.writer import RETRY_SECONDS_MAX, PageWriter, retry_seconds
from rejoinder.errors import RejoinderError
from rejoinder.history.budget import HistoryBudget
from rejoinder.messages import Json, JsonObject, Message, Turn, TurnError
from rejoinder.ports.agents import ALIVE, AgentError, AgentProtocol, Call, Patient, Stop
from rejoinder.ports.clock import Clock
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import NoSuchTurn, Page, Seal, StoreUnavailable, TurnBegun
from rejoinder.ports.store import ConversationStore

STALLED_TEXT: Final = "The answer stalled."
"""What a user is told of an agent that has said nothing for too long."""

TOO_LONG_TEXT: Final = "The answer took too long."
"""What a user is told of an agent that never ended."""

_log: Final = logging.getLogger(__name__)


class TurnLimits(Struct, frozen=True, kw_only=True):
    """How long what may last, in seconds."""

    idle_seconds: float = 60.0
    """An agent that says nothing for so long has stalled, unless it says of itself that it may be silent for longer."""

    tool_seconds: float = 900.0
    """While a call has no result it is the tool that is silent, and tools take their time."""

    turn_seconds: float = 3600.0
    """No turn lasts longer: a loop that never ends costs money."""

    stop_seconds: float = 0.2
    """So long an agent may take to end by itself after a stop; then it is cancelled: a user waits for half a second."""

    close_seconds: float = 5.0
    """So long it may take to come back after its last word, or after it was cancelled."""

    look_seconds: float = 1.0
    """How often a silent turn looks whether somebody elsewhere wants it to stop."""


async def carry_out(
    begun: TurnBegun,
    agent: AgentProtocol,
    *,
    store: ConversationStore,
    writer: PageWriter,
    history: HistoryBuilder,
    clock: Clock,
    stop: Stop | None = None,
    continues: Message | None = None,
    budget: HistoryBudget | None = None,
    extra: JsonObject | None = None,
    subject: str | None = None,
    committed: Callable[[Page], None] | None = None,
    price: Price | None = None,
    limits: TurnLimits | None = None,
) -> Turn:
    """Carry out a turn that has begun, and give it as it ended.

    `continues` is the message that the turn goes on writing; it need not be given if it is among the newest of its
    branch. `committed` is called with each page once it is durable, and with the last one once the answer is stored:
    what it gets may be shown. Pressing `stop` ends the turn, and so does `store.request_stop`, from anywhere.

    What an agent does wrong fails its turn and is not raised. Raises `ClaimLost` when the turn has become somebody
    else's, and `StoreUnavailable` when the store was out of reach for so long that it will. Cancelled, it seals the
    turn as interrupted before it goes.
    """
    stop = stop or Stop()
    log = PageLog(begun.claim, writer, committed=committed or _unseen, stop=stop)
    continues = continues or continued(begun)
    recorder = Recorder(begun, agent, log=log, clock=clock, continues=continues, price=price)

    async def ask() -> Call:
        memory = await memory_for(begun, agent.name, store=store)
        recorder.remember(memory)
        call, shown = await call_for(
            begun,
            store=store,
            history=history,
            budget=budget,
            continues=continues,
            stop=stop,
            memory=memory,
            extra=extra or {},
            subject=subject,
        )
        recorder.show(shown)
        return structs.replace(call, kept=log.kept)

    limits = limits or TurnLimits()
    running = _Running(
        agent, ask, recorder=recorder, log=log, store=store, clock=clock, stop=stop, limits=limits
    )
    with writer.holding(begun.claim, log.lose):
        return await running.carry_out()


class _Running:
    """One turn, and what of it has to be let go again."""

    def __init__(
        self,
        agent: AgentProtocol,
        ask: Callable[[], Awaitable[Call]],
        *,
        recorder: Recorder,
        log: PageLog,
        store: ConversationStore,
        clock: Clock,
        stop: Stop,
        limits: TurnLimits,
    ) -> None:
        self._agent = agent
        self._ask = ask
        self._recorder = recorder
        self._log = log
        self._store = store
        self._clock = clock
        self._stop = stop
        self._limits = limits
        self._heard = False
        self._seal: Seal | None = None

    async def carry_out(self) -> Turn:
        try:
            self._recorder.begin()
            await self._listen()
            return await self._store_answer()
        except asyncio.CancelledError:
            # Whoever cancels us wants the process or the task back, not the answer gone.
            self._recorder.interrupt()
            try:
                await self._store_answer()
            except RejoinderError as error:
                _log.warning("turn %s is left to be sealed by others: %s", self._log.claim.turn_id, error)
            raise
        finally:
            self._log.abandon()

    async def _listen(self) -> None:
        """Hear the agent until it has ended, or must."""
        agent = asyncio.create_task(self._hear())
        watch = asyncio.create_task(self._watch())
        stopped = asyncio.create_task(self._stop.wait())
        try:
            ends: set[asyncio.Future[Any]] = {agent, watch, stopped, self._log.broken}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            self._raise_failure()
            if self._stop.pressed and not self._recorder.announced:
                self._recorder.stop(self._stop.reason)
                await self._wait_for(agent, self._limits.stop_seconds)
            elif agent.done():
                self._end(agent)
            elif self._recorder.announced:
                _log.warning("agent %s said its last word and did not come back", self._agent.name)
                self._recorder.end()
            else:
                if stopped.done():
                    stopped.result()  # cancelled, by whoever ends the loop: then so is this turn
                error, text = watch.result()
                self._recorder.fail(error, text)
        finally:
            watch.cancel()
            stopped.cancel()
            agent.cancel()
            if not await dismiss(agent, clock=self._clock, seconds=self._limits.close_seconds):
                _log.error("agent %s cannot be cancelled: it is left to itself", self._agent.name)
            await asyncio.wait({watch, stopped})
        self._raise_failure()

    def _end(self, agent: asyncio.Task[None]) -> None:
        error = asyncio.CancelledError("it cancelled itself") if agent.cancelled() else agent.exception()
        if isinstance(error, AgentError):
            _log.warning("agent %s failed: %s", self._agent.name, error)  # it says all there is to know
        elif error is not None:
            _log.warning("agent %s failed", self._agent.name, exc_info=error)
        if error is None or self._recorder.announced:
            self._recorder.end()
        else:
            self._recorder.fail(*failure_of(error))

    async def _hear(self) -> None:
        """The agent, whatever it raises."""
        try:
            await self._hear_events()
        except SystemExit as error:
            # A library that exits means a program of its own: the loop would end, and every other turn with it.
            raise AgentError(f"agent {self._agent.name!r} called sys.exit({error.code!r})") from error

    async def _hear_events(self) -> None:
        """The agent's events, as they come."""
        call = await self._call()
        events: Json = self._agent.run(call)
        if inspect.iscoroutine(events):
            events.close()
            raise AgentError(f"agent {self._agent.name!r}: `run` must `yield` events, not return them")
        iterator = aiter(events)
        try:
            async for event in iterator:
                self._heard = True
                if self._stop.pressed:
                    self._recorder.stop(self._stop.reason)
                if event == ALIVE:
                    continue
                self._recorder.event(event)
                if self._log.crowded:
                    await self._log.room()
        finally:
            if isinstance(iterator, AsyncGenerator):
                await iterator.aclose()

    async def _call(self) -> Call:
        """What the agent is asked. A store that is out of reach is waited for: the turn has begun."""
        waited, attempt = 0.0, 0
        while True:
            try:
                return await self._ask()
            except StoreUnavailable as error:
                if waited >= RETRY_SECONDS_MAX:
                    raise
                _log.warning("turn %s does not know its history yet: %s", self._log.claim.turn_id, error)
            seconds = retry_seconds(attempt)
            await self._clock.sleep(seconds)
            waited, attempt = waited + seconds, attempt + 1

    async def _watch(self) -> tuple[TurnError, str]:
        """Come back when the agent has been silent, or busy, for too long; look after stops from elsewhere."""
        limits = self._limits
        pause = min(limits.look_seconds, limits.idle_seconds)
        silent = lasted = 0.0
        while True:
            await self._clock.sleep(pause)
            silent, lasted, self._heard = 0.0 if self._heard else silent + pause, lasted + pause, False
            if lasted >= limits.turn_seconds:
                return TurnError(message=f"not over after {lasted:g} seconds", code="too-long"), TOO_LONG_TEXT
            if silent >= self._silence_seconds_max:
                return TurnError(message=f"silent for {silent:g} seconds", code="stalled"), STALLED_TEXT
            if silent:
                await self._look()

    @property
    def _silence_seconds_max(self) -> float:
        if self._recorder.announced:
            return self._limits.close_seconds
        if self._recorder.waiting:
            return self._limits.tool_seconds
        # It gives up by itself then, and says it better; only if it does not, we do.
        patience = (
            self._agent.idle_seconds + self._limits.close_seconds if isinstance(self._agent, Patient) else 0
        )
        return max(self._limits.idle_seconds, patience)

    async def _look(self) -> None:
        """Whether somebody wants the turn to stop. While it speaks, every page that is written tells."""
        claim = self._log.claim
        try:
            seen = await self._store.read_pages(
                claim.turn_id, from_page=self._log.next_page, limit=1, tenant=claim.tenant
            )
        except NoSuchTurn:
            self._log.lose()
        except StoreUnavailable as error:
            _log.warning("turn %s cannot be looked at now: %s", claim.turn_id, error)
        else:
            if seen.stop_requested:
                self._stop.press()

    async def _wait_for(self, agent: asyncio.Task[None], seconds: float) -> None:
        patience = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({agent, patience, self._log.broken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()

    async def _store_answer(self) -> Turn:
        """Seal the turn, and show its last page. Doing it again is fine, should it have been cancelled."""
        page = await self._log.close(self._recorder.last)
        if self._seal is None:
            self._seal = self._recorder.seal(self._log.claim, page)
        turn = await seal_turn(self._seal, store=self._store, clock=self._clock)
        self._log.show(page)
        return turn

    def _raise_failure(self) -> None:
        if self._log.failure is not None:
            raise self._log.failure


def _unseen(page: Page) -> None:
    """Nobody watches."""
