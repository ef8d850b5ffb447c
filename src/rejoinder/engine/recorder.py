"""One answer in the making: events in, frames out, and at the end all that is to be stored of it.

It takes nobody's word for the grammar: what a translator gives is checked again, so that a chunk that may not come
now is left out, and everything that was begun is ended. The last chunk is held back until the answer is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import structs

from rejoinder.engine.accounts import Accounts, Price, cost_of, usage_of
from rejoinder.engine.closing import closing, interruption
from rejoinder.engine.histories import HISTORY
from rejoinder.engine.page_log import PageLog
from rejoinder.errors import IllegalChunk, InvalidJson
from rejoinder.fold import Accumulator
from rejoinder.messages import (
    Json,
    JsonObject,
    Message,
    MessageStatus,
    ProviderCall,
    ProviderCallStatus,
    ToolCall,
    TurnError,
)
from rejoinder.ports.agents import AgentError, AgentProtocol
from rejoinder.ports.clock import Clock
from rejoinder.ports.journal import Claim, Page, Seal, TurnBegun, TurnEnding
from rejoinder.translate import (
    CallEnded,
    CallStarted,
    Failed,
    Finished,
    Problem,
    Remember,
    Stopped,
    Translation,
)
from rejoinder.translate.known_calls import grammar_of
from rejoinder.translate.notes import SAFE_ERROR_TEXT
from rejoinder.wire import chunks as wire
from rejoinder.wire import json
from rejoinder.wire.chunks import Abort, Chunk, Finish
from rejoinder.wire.codec import encode_event

AT_ONCE: Final = frozenset(
    {
        wire.Start,
        wire.ToolInputStart,
        wire.ToolInputAvailable,
        wire.ToolInputError,
        wire.ToolOutputAvailable,
        wire.ToolOutputError,
        wire.ToolOutputDenied,
        wire.ToolApprovalRequest,
        wire.ToolApprovalResponse,
        wire.Error,
    }
)
"""Chunks that somebody waits for, or that stand for something done: they are written without waiting for more."""

_LAST: Final = frozenset({Finish, Abort})

_FIRST_TOKENS: Final = frozenset(
    {wire.TextDelta, wire.ReasoningDelta, wire.ToolInputStart, wire.ToolInputAvailable}
)

_ENDINGS: Final[dict[TurnEnding, tuple[MessageStatus, ProviderCallStatus]]] = {
    "waiting": ("complete", "interrupted"),
    "succeeded": ("complete", "interrupted"),
    "failed": ("failed", "failed"),
    "cancelled": ("cancelled", "cancelled"),
    "interrupted": ("interrupted", "interrupted"),
}
"""What the ending of a turn makes of its message, and of a call that was still under way."""

_log: Final = logging.getLogger(__name__)


class Recorder:
    """Makes one answer out of the events of one agent."""

    def __init__(
        self,
        begun: TurnBegun,
        agent: AgentProtocol,
        *,
        log: PageLog,
        clock: Clock,
        continues: Message | None,
        memory: Json = None,
        price: Price | None = None,
    ) -> None:
        turn = begun.turn
        self._turn_id = turn.id
        self._metadata = turn.metadata
        self._shown: JsonObject | None = None
        message_id = turn.message_id or turn.id
        self._log = log
        self._clock = clock
        self._memory = memory
        self._translation = Translation(agent.translate, message_id=message_id, message=continues)
        self._grammar = grammar_of(continues)
        self._accumulator = Accumulator(onto=continues, message_id=message_id)
        self._accounts = Accounts(turn.started_at or turn.created_at, price=price, context=turn.agent_context)
        self._status: TurnEnding | None = None
        self._error: TurnError | None = None
        self._last: Chunk | None = None

    @property
    def ended(self) -> bool:
        """Whether all but the last chunk is said."""
        return self._last is not None

    @property
    def announced(self) -> bool:
        """Whether the agent has said that it ended."""
        return self._translation.ending is not None

    @property
    def waiting(self) -> bool:
        """Whether a call has no result yet."""
        return self._translation.say.waiting or self._translation.say.working

    def remember(self, memory: Json) -> None:
        """What the agent wanted to be told, as long as it says nothing new."""
        self._memory = memory

    def show(self, history: JsonObject) -> None:
        """What the model is shown of the conversation, and what not, for the record."""
        self._shown = history

    def begin(self) -> None:
        """Say the first chunk."""
        self._say(self._translation.begin())

    def event(self, event: Json | bytes) -> None:
        """Keep an event and say what it means. What the translator raises comes through."""
        body = event if isinstance(event, bytes) else _written(event)
        self._log.event(body)
        try:
            value = json.decode(body)
        except InvalidJson as error:
            raise AgentError(f"the agent's event is not JSON: {error}") from error
        try:
            self._say(self._translation.event(value))
        finally:
            self._take_notes()

    def end(self) -> None:
        """The agent has come to its end, as it said, or without a word."""
        if not self.ended:
            try:
                self._say(self._translation.end())
            except Exception as error:  # noqa: BLE001  # a translator is a user's: the turn outlives it
                self._fail(*failure_of(error))
            self._take_notes()
            self._settle(Finish())

    def stop(self, reason: str | None) -> None:
        """Somebody wished it. What the agent says from here on is kept, but not said."""
        if not self.ended:
            self._status = "cancelled"
            self._try(self._translation.stop(reason))
            self._settle(Abort())

    def fail(self, error: TurnError, text: str) -> None:
        """The agent could not go on."""
        if not self.ended:
            self._try(self._translation.close())
            self._fail(error, text)
            self._settle(Finish(finish_reason="error"))

    def interrupt(self) -> None:
        """We cannot go on: the process has to leave."""
        if not self.ended:
            self._status = "interrupted"
            self._try(self._translation.interrupt())
            self._settle(*interruption())

    @property
    def last(self) -> bytes:
        """The frame of the last chunk."""
        assert self._last is not None, "the answer has ended"
        return encode_event(self._last)

    def seal(self, claim: Claim, page: Page) -> Seal:
        """All that is to be stored of the turn."""
        message = self._accumulator.message
        status = self._status or self._outcome(message)
        of_message, of_calls = _ENDINGS[status]
        # An agent that was stopped may have told by now what it consumed.
        self._try(self._translation.close())
        self._take_notes(cut_off=of_calls)
        calls = self._accounts.close(of_calls, self._clock.now())
        return Seal(
            claim=claim,
            status=status,
            page=page,
            messages=(structs.replace(message, status=of_message),),
            usage=usage_of(calls),
            cost=cost_of(calls),
            provider_calls=calls,
            error=self._error,
            agent_memory=self._memory,
            metadata=self._told(calls),
        )

    def _told(self, calls: Sequence[ProviderCall]) -> JsonObject | None:
        """The metadata of the turn with its history, and beside it what the first call took that for."""
        if self._shown is None:
            return None
        counted = calls[0].usage.input_tokens if calls and calls[0].usage is not None else None
        shown = self._shown if counted is None else {**self._shown, "inputTokens": counted}
        return {**(self._metadata or {}), HISTORY: shown}

    def _fail(self, error: TurnError, text: str) -> None:
        self._status, self._error = "failed", error
        self._try(self._translation.fail(error, text))

    def _outcome(self, message: Message) -> TurnEnding:
        """How a turn ended that nobody stopped: by the agent's word, or else by what it said."""
        ending = self._translation.ending
        told = self._accumulator
        if isinstance(ending, Failed):
            self._error = ending.error
            return "failed"
        if isinstance(ending, Stopped) or told.aborted:
            return "cancelled"
        if told.errors or told.finish_reason == "error":
            text = told.errors[0] if told.errors else "the agent said that it ended with an error"
            self._error = self._error or TurnError(message=text, code="agent")
            return "failed"
        return "waiting" if any(map(_is_open, message.parts)) else "succeeded"

    def _say(self, said: Iterable[Chunk]) -> None:
        for chunk in said:
            try:
                self._take(chunk)
            except IllegalChunk as error:
                self._note_problem(str(error))

    def _try(self, said: Iterable[Chunk]) -> None:
        """Say it as far as the translator gets. The turn ends in any case."""
        try:
            self._say(said)
        except Exception:  # noqa: BLE001  # a translator is a user's: the turn outlives it
            _log.exception("turn %s: its translator cannot end", self._turn_id)

    def _take(self, chunk: Chunk) -> None:
        if self._last is not None:
            return
        self._grammar.check(chunk)
        self._accumulator.apply(chunk)
        kind = type(chunk)
        if self._accounts.expecting and kind in _FIRST_TOKENS:
            self._accounts.heard(self._clock.now())
        if kind in _LAST:
            self._last = chunk
        else:
            self._log.frame(encode_event(chunk), at_once=kind in AT_ONCE)

    def _settle(self, *last: Chunk) -> None:
        """See that the answer has ended: translators that go their own ways leave things open."""
        if not self.ended:
            self._say(closing(self._grammar, self._accumulator.message))
            self._say(last)
            # Metadata that no client could merge refuses the last chunk that carries it.
            self._last = self._last or last[-1]

    def _take_notes(self, *, cut_off: ProviderCallStatus = "failed") -> None:
        """Hear what the translator noted. `cut_off` is what a call is that did not come to its end."""
        notes = self._translation.take_notes()
        if not notes:
            return  # as after nearly every event, and then nobody has to know what time it is
        now = self._clock.now()
        for note in notes:
            match note:
                case CallStarted():
                    self._accounts.started(note, now)
                case CallEnded(status="failed"):
                    self._accounts.ended(structs.replace(note, status=cut_off), now)
                case CallEnded():
                    self._accounts.ended(note, now)
                case Remember(memory=memory):
                    self._memory = memory
                case Problem(text=text):
                    self._note_problem(text)
                case Finished() | Failed() | Stopped():
                    pass  # the translation keeps its ending

    def _note_problem(self, text: str) -> None:
        if not self.ended:
            _log.warning("turn %s: %s", self._turn_id, text)


def failure_of(error: BaseException) -> tuple[TurnError, str]:
    """What the record says of an exception, and what the user is told."""
    inner = _members(error)
    told = [each for each in inner if isinstance(each, AgentError)]
    if told or len(inner) == 1:
        return failure_of(told[0] if told else inner[0])
    if isinstance(error, AgentError):
        return TurnError(message=str(error), code=error.code, provider=error.provider), error.user_text
    return TurnError(message=f"{type(error).__name__}: {error}", code=AgentError.code), SAFE_ERROR_TEXT


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """What a group of exceptions consists of. Asked of the class, because checkers narrow a group to unknown ones."""
    return getattr(error, "exceptions", ()) if issubclass(type(error), BaseExceptionGroup) else ()


def _written(event: Json) -> bytes:
    try:
        return json.encode(event)
    except (TypeError, ValueError, InvalidJson) as error:
        raise AgentError(
            f"the agent's event is a {type(event).__name__} that JSON cannot hold ({error}): yield JSON or bytes"
        ) from error


def _is_open(part: object) -> bool:
    """Whether this is a call that the client has to answer, or its user."""
    if not isinstance(part, ToolCall):
        return False
    if part.state == "approval-requested":
        return True
    return part.state == "input-available" and part.provider_executed is not True
