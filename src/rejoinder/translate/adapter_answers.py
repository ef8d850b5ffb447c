"""Answers of providers that speak in results and not in events, as the conversation-core specification has them.

A delta brings what is new. What the result holds beyond the deltas (files, calls, signatures, a text that was not
streamed) is said when it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, assert_never, get_args

from rejoinder.messages import Json
from rejoinder.messages.provider_message import (
    ProviderApprovalPart,
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderReasoningFilePart,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import said_of
from rejoinder.translate.model_events import ModelAnswered, ModelCalled, ModelSaid
from rejoinder.translate.notes import CallEnded, CallStarted, Finished, Problem
from rejoinder.wire.chunks import Chunk, FinishReason

_REASONS: Final[Mapping[str, FinishReason]] = {reason: reason for reason in get_args(FinishReason)}


class AdapterAnswers:
    """Remembers what of the answer under way has been said."""

    def __init__(self) -> None:
        self._said: set[type[ProviderContentPart]] = set()
        self._called: dict[str, str] = {}
        self._begun = False

    def event(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """Such providers have no events of their own."""
        say.note(Problem(text="an event that nobody here can have said"))
        return ()

    def told(self, say: Emitter, event: ModelSaid | ModelCalled | ModelAnswered) -> Iterator[Chunk]:
        """More of the answer, or all of it."""
        if not self._begun:
            self._begun = True
            yield from say.step()
        match event:
            case ModelSaid(delta=delta):
                for part in delta.content:
                    self._said.add(type(part))
                    yield from self._part(say, part)
            case ModelCalled():
                yield from self._call(say, event)
            case ModelAnswered():
                yield from self._answered(say, event)
            case _:
                assert_never(event)

    def _answered(self, say: Emitter, answer: ModelAnswered) -> Iterator[Chunk]:
        say.note(CallStarted(id=answer.id, provider="", model=""))
        yield from self._rest(say, answer.message)
        for call in answer.tool_calls:
            yield from self._call(say, call)
        yield from say.close()
        say.note(CallEnded(id=answer.id, usage=answer.usage, raw=answer.raw))
        reason: str | None = answer.finish_reason
        if reason is None:
            reason = "tool-calls" if self._called else "stop"
        say.note(Finished(reason=_reason(reason)))
        self._said.clear()
        self._called.clear()
        self._begun = False

    def _rest(self, say: Emitter, message: ProviderMessage) -> Iterator[Chunk]:
        for part in message.content:
            streamed = type(part) in self._said
            if not streamed:
                yield from self._part(say, part)
            elif part.provider_options is not None:
                # The vendor's own signature comes with the end of what it signs.
                yield from self._signed(say, part)

    def _signed(self, say: Emitter, part: ProviderContentPart) -> list[Chunk]:
        match part:
            case ProviderTextPart(provider_options=options):
                return say.text_end(provider_metadata=options)
            case ProviderReasoningPart(provider_options=options):
                return say.reasoning_end(provider_metadata=options)
            case _:
                return []  # whatever else was told came whole

    def _part(self, say: Emitter, part: ProviderContentPart) -> Iterator[Chunk]:
        options = part.provider_options
        match part:
            case ProviderTextPart(text=text):
                yield from say.text(text, provider_metadata=options)
            case ProviderReasoningPart(text=text):
                yield from say.reasoning(text, provider_metadata=options)
            case ProviderFilePart(url=str() as url, media_type=media_type):
                yield from say.file(url, media_type, provider_metadata=options)
            case ProviderFilePart():
                say.note(Problem(text="a file without a URL in an answer"))
            case ProviderReasoningFilePart(url=url, media_type=media_type):
                yield from say.reasoning_file(url, media_type, provider_metadata=options)
            case ProviderCustomPart(kind=kind):
                yield from say.custom(kind, provider_metadata=options)
            case ProviderToolCallPart(call_id=id, name=name, arguments=arguments):
                yield from self._call(
                    say,
                    ModelCalled(id=id, name=name, arguments=arguments),
                    at_provider=part.provider_executed,
                )
            case ProviderToolResultPart(call_id=id, result=result, is_error=is_error):
                own = self._called.get(id, id)
                yield from say.tool_error(own, said_of(result)) if is_error else say.tool_output(own, result)
            case ProviderApprovalPart():
                say.note(Problem(text="an answer of the user's in an answer of the model"))
            case _:
                assert_never(part)

    def _call(self, say: Emitter, call: ModelCalled, *, at_provider: bool = False) -> Iterator[Chunk]:
        if call.id in self._called:
            return  # it is in its event, in the message and in the list of calls
        own = self._called[call.id] = _free_id(say, call.id)
        yield from say.tool_input(own, call.name, call.arguments, provider_executed=at_provider)


def _free_id(say: Emitter, given: str) -> str:
    """An id that no other call of the answer has: some servers count from 0 in each call of the model."""
    number, id = 1, given or "call"
    while say.knows(id):
        number += 1
        id = f"{given or 'call'}-{number}"
    return id


def _reason(given: str) -> FinishReason:
    return _REASONS.get(given.replace("_", "-"), "other")
