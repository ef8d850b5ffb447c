"""A turn told again: its kept events through the translator of today, to lay beside what was told when it ran.

Nothing is run and nothing is stored. What was not an event (a stop, a failure, an answer of the client) is taken from
the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from rejoinder.engine.closing import closing, interruption
from rejoinder.engine.recorder import failure_of
from rejoinder.errors import IllegalChunk
from rejoinder.fold import Accumulator
from rejoinder.messages import Message, Part, ToolCall, Turn, TurnError
from rejoinder.translate import Failed, Problem, Stopped, Translation, Translator
from rejoinder.translate.known_calls import grammar_of
from rejoinder.wire import json
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    Error,
    Finish,
    FinishStep,
    ReasoningEnd,
    TextEnd,
    ToolInputError,
    ToolOutputDenied,
    ToolOutputError,
)
from rejoinder.wire.codec import chunk_from_json

_ANSWERS: Final = ("output-available", "output-error")

_LAST_WORDS: Final = (
    Abort,
    Error,
    Finish,
    FinishStep,
    ReasoningEnd,
    TextEnd,
    ToolInputError,
    ToolOutputDenied,
    ToolOutputError,
)
"""Chunks with which an answer is broken off, by whoever broke it off."""


class Telling(Struct, frozen=True, kw_only=True):
    """What is kept of a turn: its chunks, and its events with the seq of the chunk that came next."""

    turn: Turn
    chunks: Sequence[Chunk]
    events: Sequence[tuple[int, bytes]] = ()


class Retold(Struct, frozen=True, kw_only=True):
    """What the events say today, the message that comes of it, and what was odd."""

    chunks: Sequence[Chunk]
    message: Message
    problems: Sequence[str]


def retell(telling: Telling, translator: Translator, *, continues: Message | None) -> Retold:
    """Tell the turn again. `continues` is the message that it went on with."""
    retelling = _Retelling(telling, translator, continues)
    retelling.tell()
    return Retold(
        chunks=retelling.said,
        message=retelling.accumulator.message,
        problems=retelling.problems,
    )


def begun_with(earlier: Iterable[Telling], stored: Message | None) -> Message | None:
    """The message with which a turn began that goes on with it: what earlier turns said, and what was answered."""
    message: Message | None = None
    for telling in earlier:
        accumulator = Accumulator(onto=message, message_id=telling.turn.message_id)
        for chunk in telling.chunks:
            accumulator.apply(chunk)
        message = answered(accumulator.message, stored)
    return message


def answered(message: Message, stored: Message | None) -> Message:
    """The message with the client's answers: they are no events, but they are in the stored message."""
    calls = {part.call_id: part for part in stored.parts if isinstance(part, ToolCall)} if stored else {}
    parts = [
        _decided(part, calls.get(part.call_id)) if isinstance(part, ToolCall) else part
        for part in message.parts
    ]
    return structs.replace(message, parts=tuple(parts))


def _decided(open: ToolCall, stored: ToolCall | None) -> Part:
    if stored is None:
        return open
    if (
        open.state == "approval-requested"
        and stored.approval is not None
        and stored.approval.approved is not None
    ):
        return structs.replace(open, state="approval-responded", approval=stored.approval)
    if open.state == "input-available" and not open.provider_executed and stored.state in _ANSWERS:
        return stored
    return open


class _Retelling:
    def __init__(self, telling: Telling, translator: Translator, continues: Message | None) -> None:
        self.said: list[Chunk] = []
        self.problems: list[str] = []
        self._telling = telling
        self._continues = continues
        self._begin()
        self._translation = Translation(
            translator, message_id=telling.turn.message_id or telling.turn.id, message=continues
        )

    def _begin(self) -> None:
        message_id = self._telling.turn.message_id or self._telling.turn.id
        self.accumulator = Accumulator(onto=self._continues, message_id=message_id)
        self._grammar = grammar_of(self._continues)

    def tell(self) -> None:
        """From the first chunk to the last."""
        self._say(self._translation.begin())
        try:
            for body in self._events():
                self._say(self._translation.event(json.decode(body)))
            self._end()
        except Exception as error:  # noqa: BLE001  # a translator is a user's: what it raises is what we came to see
            failure = failure_of(error)
            self.problems.append(failure[0].message)
            self._say(self._translation.fail(*failure))
        if not self._over:
            self._say(closing(self._grammar, self.accumulator.message))
            self._say([Abort()] if self._telling.turn.status == "cancelled" else [Finish()])
        self.problems += [note.text for note in self._translation.take_notes() if isinstance(note, Problem)]

    @property
    def _over(self) -> bool:
        return bool(self.said) and isinstance(self.said[-1], Finish | Abort)

    def _events(self) -> Iterable[bytes]:
        # What an agent says after it was stopped is kept, but not told: it came when only the last chunk was left.
        last = len(self._telling.chunks) - 1
        stopped = self._telling.turn.status == "cancelled"
        return (body for before, body in self._telling.events if not stopped or before < last)

    def _end(self) -> None:
        turn, translation = self._telling.turn, self._translation
        match turn.status:
            case "cancelled" if not isinstance(translation.ending, Stopped):
                self._say(translation.stop(self._told(Abort, "reason")))
            case "failed" if not isinstance(translation.ending, Failed):
                self._say(translation.close())
                error = turn.error or TurnError(message="failed")
                self._say(translation.fail(error, self._told(Error, "error_text") or ""))
            case "interrupted":
                self._cut()
                self._say(translation.interrupt())
                self._say(closing(self._grammar, self.accumulator.message))
                self._say(interruption())
            case _:
                self._say(translation.end())

    def _cut(self) -> None:
        """Take back what was told of the last events: they may have been kept, and their chunks lost with a page."""
        kept = self._telling.chunks
        same = next(
            (place for place, (one, other) in enumerate(zip(self.said, kept, strict=False)) if one != other),
            min(len(self.said), len(kept)),
        )
        if same < len(self.said) and all(isinstance(chunk, _LAST_WORDS) for chunk in kept[same:]):
            said, self.said = self.said[:same], []
            self._begin()
            self._say(said)

    def _told(self, kind: type[Chunk], name: str) -> str | None:
        """What the last chunk of that kind said when the turn ran."""
        found = next((chunk for chunk in reversed(self._telling.chunks) if isinstance(chunk, kind)), None)
        value = getattr(found, name, None)
        return value if isinstance(value, str) else None

    def _say(self, said: Iterable[Chunk]) -> None:
        for chunk in said:
            if self._over:
                return
            try:
                self._grammar.check(chunk)
                self.accumulator.apply(chunk)
            except IllegalChunk as problem:
                self.problems.append(str(problem))
            else:
                self.said.append(chunk)


def chunks_of(frames: bytes) -> list[Chunk]:
    """The chunks of a page."""
    return [
        chunk_from_json(json.decode(frame.removeprefix(b"data: ")))
        for frame in frames.split(b"\n\n")
        if frame
    ]
