"""A provider that answers what it is told to: exact calls of tools, without a key, for tests and first looks.

model = ScriptedModel(Calls("weather", {"city": "Ulm"}), "It will rain.")
chat = Chat(model, tools=[weather])
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.messages import Json, Usage
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderMessage,
    ProviderReasoningPart,
    ProviderTextPart,
)
from rejoinder.ports.clock import Clock, SystemClock
from rejoinder.ports.providers import (
    ProviderCallParams,
    ProviderCallResult,
    ProviderDelta,
    ProviderDone,
    ProviderStreamEvent,
    ProviderToolCall,
    ProviderToolCallEvent,
)

USAGE: Final = Usage(input_tokens=10, output_tokens=5)
"""What every answer is said to have consumed."""


class Calls(Struct, frozen=True):
    """The model wants a tool called. Without an `id` it gets one of its own."""

    name: str
    arguments: Json = None
    id: str | None = None


class Thinks(Struct, frozen=True):
    """The model thinks."""

    text: str


Piece: TypeAlias = str | Calls | Thinks | BaseException
Answer: TypeAlias = Piece | Sequence[Piece]
"""One answer of the model: a text, a call, a thought, several of them, or an exception to be raised."""

Answering: TypeAlias = Callable[[ProviderCallParams], Answer]
"""Says the answer to a request."""


class ScriptOver(RejoinderError):
    """The model was asked more often than it has answers. Give it more, or a function as the last one."""

    code = "script-over"


class ScriptedModel:
    """Gives its answers one after the other; one that is a function is asked what it is.

    A function in the last place answers everything that comes after. `asked` is what was asked.
    """

    name: Final = "scripted"

    def __init__(
        self, *answers: Answer | Answering, model: str = "scripted-1", clock: Clock | None = None
    ) -> None:
        self.model: Final = model
        self.asked: list[ProviderCallParams] = []
        self._answers = answers
        self._clock: Clock = clock or SystemClock()
        self._calls = 0

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        """The next answer, as a whole."""
        pieces = self._next(params)
        for piece in pieces:
            if isinstance(piece, BaseException):
                raise piece
        return self._result(pieces)

    async def complete_stream(self, params: ProviderCallParams) -> ScriptedAnswer:
        """The next answer, word by word."""
        pieces = self._next(params)
        return ScriptedAnswer(pieces, self._result(pieces))

    def _next(self, params: ProviderCallParams) -> list[Piece]:
        place = len(self.asked)
        self.asked.append(params)
        if place >= len(self._answers) and not (self._answers and callable(self._answers[-1])):
            raise ScriptOver(
                f"this model has {len(self._answers)} answers and is asked for one more: give it more"
            )
        answer = self._answers[min(place, len(self._answers) - 1)]
        if callable(answer):
            answer = answer(params)
        pieces = [answer] if isinstance(answer, str | Calls | Thinks | BaseException) else [*answer]
        return [self._with_id(piece) for piece in pieces]

    def _with_id(self, piece: Piece) -> Piece:
        if not isinstance(piece, Calls) or piece.id is not None:
            return piece
        self._calls += 1
        return Calls(piece.name, piece.arguments, f"call-{self._calls}")

    def _result(self, pieces: Sequence[Piece]) -> ProviderCallResult:
        content: list[ProviderContentPart] = []
        calls: list[ProviderToolCall] = []
        for piece in pieces:
            match piece:
                case str():
                    content.append(ProviderTextPart(text=piece))
                case Thinks(text=text):
                    content.append(ProviderReasoningPart(text=text))
                case Calls():
                    calls.append(_call(piece))
                case _:
                    pass  # it is raised before anybody gets a result
        return ProviderCallResult(
            id=f"answer-{len(self.asked)}",
            created_at=self._clock.now(),
            message=ProviderMessage(role="assistant", content=tuple(content)),
            tool_calls=tuple(calls) or None,
            usage=USAGE,
            finish_reason="tool-calls" if calls else "stop",
        )


class ScriptedAnswer:
    """One answer, as it comes."""

    def __init__(self, pieces: Sequence[Piece], result: ProviderCallResult) -> None:
        self._pieces = pieces
        self._result = result

    def __aiter__(self) -> AsyncIterator[ProviderStreamEvent]:
        """Its events."""
        return self._events()

    @property
    async def final(self) -> ProviderCallResult:
        """All of it."""
        return self._result

    async def _events(self) -> AsyncIterator[ProviderStreamEvent]:
        for piece in self._pieces:
            match piece:
                case str():
                    for word in re.findall(r"\S+\s*|\s+", piece):
                        yield _delta(ProviderTextPart(text=word))
                case Thinks(text=text):
                    yield _delta(ProviderReasoningPart(text=text))
                case Calls():
                    yield ProviderToolCallEvent(tool_call=_call(piece))
                case _:
                    raise piece
        yield ProviderDone(result=self._result)


def _call(piece: Calls) -> ProviderToolCall:
    return ProviderToolCall(id=piece.id or "", name=piece.name, arguments=piece.arguments)


def _delta(part: ProviderContentPart) -> ProviderDelta:
    return ProviderDelta(delta=ProviderMessage(role="assistant", content=(part,)))
