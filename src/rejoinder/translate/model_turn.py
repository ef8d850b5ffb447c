"""Turns of a model with tools → chunks: the provider's events by its own translator, and ours between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import structs

from rejoinder.messages import Json
from rejoinder.translate.adapter_answers import AdapterAnswers
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.model_events import (
    ApprovalAsked,
    ModelAnswered,
    ModelAsked,
    ModelCalled,
    ModelSaid,
    Quoted,
    ToolBegun,
    ToolDenied,
    ToolFailed,
    ToolReturned,
    TurnOver,
    is_ours,
    read_event,
)
from rejoinder.translate.notes import CallStarted, Finished
from rejoinder.translate.translation import Closing, Translate, Translator
from rejoinder.wire.chunks import Chunk, FinishReason


class ModelTurn:
    """Remembers which call of the model and which calls of tools are under way.

    `provider` is the translator of the provider's events; without one, the answers are told in events of ours.
    """

    def __init__(self, provider: Translator | None = None) -> None:
        self._answers = AdapterAnswers()
        translator = self._answers.event if provider is None else provider
        self._translate: Translate = translator() if isinstance(translator, type) else translator
        self._asked: ModelAsked | None = None
        self._reason: FinishReason | None = None
        self._paused = False

    @property
    def paused(self) -> bool:
        """Whether the model wants to be asked again, with what it has said."""
        return self._paused

    @property
    def reason(self) -> FinishReason | None:
        """Why the model said its last word, in the newest of its calls."""
        return self._reason

    def __call__(self, say: Emitter, event: Json, /) -> Iterator[Chunk]:
        """The next event."""
        if is_ours(event):
            yield from self._ours(say, event)
        else:
            yield from self._theirs(say, event)

    def close(self, say: Emitter) -> Iterator[Chunk]:
        """No event will come any more: calls that are under way were cut off."""
        translator: object = self._translate
        if isinstance(translator, Closing):
            yield from translator.close(say)
        self._hear(say)
        # How a call ended that was under way, failed or cancelled, shows in how the turn did: nothing is noted here.
        self._asked = None
        yield from say.settle()

    def _ours(self, say: Emitter, event: Json) -> Iterator[Chunk]:
        ours = read_event(event)
        match ours:
            case ModelAsked():
                self._asked = ours
                self._reason, self._paused = None, False
                say.note(
                    CallStarted(
                        id=ours.id, provider=ours.provider, model=ours.model, extensions=ours.extensions
                    )
                )
            case ModelSaid() | ModelCalled() | ModelAnswered():
                try:
                    yield from self._answers.told(say, ours)
                finally:
                    self._hear(say)
            case ToolBegun(call_id=call_id):
                say.tool_begun(call_id)
            case ToolReturned(call_id=call_id, output=output, preliminary=preliminary):
                yield from say.tool_output(call_id, output, preliminary=preliminary)
            case ToolFailed(call_id=call_id, error=error):
                yield from say.tool_error(call_id, error)
            case ToolDenied(call_id=call_id):
                yield from say.tool_denied(call_id)
            case ApprovalAsked(approval_id=approval_id, call_id=call_id, signature=signature):
                yield from say.approval_request(approval_id, call_id, signature=signature)
            case TurnOver():
                say.note(Finished(reason=self._reason))
            case Quoted(event=theirs):
                yield from self._theirs(say, theirs)
            case _:
                assert_never(ours)

    def _theirs(self, say: Emitter, event: Json) -> Iterator[Chunk]:
        try:
            yield from self._translate(say, event)
        finally:
            self._hear(say)

    def _hear(self, say: Emitter) -> None:
        """Pass on what the provider's translator notes. The end of one call of the model is no end of the turn."""
        for note in say.take_notes():
            match note:
                case Finished(reason=reason, paused=paused):
                    self._reason, self._paused = reason, paused
                case CallStarted() if self._asked is not None:
                    asked, self._asked = self._asked, None
                    said = {**(asked.extensions or {}), **(note.extensions or {})}
                    say.note(
                        structs.replace(
                            note,
                            provider=note.provider or asked.provider,
                            model=note.model or asked.model,
                            extensions=said or None,
                            before=asked.id,
                        )
                    )
                case _:
                    say.note(note)
