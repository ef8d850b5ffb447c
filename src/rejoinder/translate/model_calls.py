"""The calls of a model within one turn, one after the other: what translators of models note in the same way."""

from __future__ import annotations

from typing import Final

from rejoinder.messages import ABSENT, JsonObject, Maybe, ProviderCallStatus, Usage
from rejoinder.translate.emitter import INTERRUPTED, Emitter
from rejoinder.translate.failures import cut_off
from rejoinder.translate.notes import CallEnded, CallStarted, Failed, Finished, Problem
from rejoinder.translate.sources import SourceIds
from rejoinder.wire.chunks import Chunk, FinishReason

DONE: Final = "[DONE]"
"""How some servers end a stream; it is no JSON, and comes here as a text."""


class ModelCalls:
    """Which call is under way, what it consumed, and which ids the answer has used up."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.count = 0
        self.open: str | None = None
        self.given = ""
        self.usage: Usage | None = None
        self.model = ""
        self._ids: set[str] = set()
        self._call_ids: set[str] = set()
        self.sources = SourceIds()

    def begin(self, say: Emitter, id: str, model: str) -> list[Chunk]:
        """A call begins, and a step with it. One that is still open was given up."""
        said: list[Chunk] = []
        if self.open is not None:
            say.note(Problem(text=f"a call of the model begins before the end of {self.open!r}"))
            said = self._end(say, "failed", interrupted=True)
        self.count += 1
        self.given = id
        self.open = _unique(id or f"call-{self.count}", self._ids)
        self.usage, self.model = None, model
        say.note(CallStarted(id=self.open, provider=self.provider, model=model))
        return said + say.step()

    def finish(
        self,
        say: Emitter,
        reason: FinishReason,
        metadata: JsonObject | None = None,
        *,
        paused: bool = False,
    ) -> list[Chunk]:
        """The model has said its last word of this call."""
        said = self._end(say, "succeeded", interrupted=reason in ("length", "content-filter"))
        told: Maybe = ABSENT if metadata is None else metadata
        say.note(Finished(reason=reason, metadata=told, paused=paused))
        return said

    def fail(self, say: Emitter, failed: Failed) -> list[Chunk]:
        """The call has failed; what came before is kept."""
        said = self._end(say, "failed", interrupted=True)
        say.note(failed)
        return said

    def close(self, say: Emitter) -> list[Chunk]:
        """No event will come: a call that is still open was cut off, and that is never a success."""
        return [] if self.open is None else self.fail(say, cut_off(self.provider))

    def call_id(self, say: Emitter, given: str) -> str:
        """An id for a tool call that no other call of the answer has: some servers count from 0 in each call."""
        given = given or f"call-{self.count}"
        number, id = 1, given
        while id in self._call_ids or say.knows(id):
            number += 1
            id = f"{given}-{number}"
        self._call_ids.add(id)
        return id

    def _end(self, say: Emitter, status: ProviderCallStatus, *, interrupted: bool) -> list[Chunk]:
        said = say.close(INTERRUPTED if interrupted else None)
        if self.open is not None:
            say.note(
                CallEnded(
                    id=self.open, status=status, usage=self.usage, provider=self.provider, model=self.model
                )
            )
        self.open = None
        return said


def _unique(id: str, taken: set[str]) -> str:
    number, given = 1, id
    while id in taken:
        number += 1
        id = f"{given}-{number}"
    taken.add(id)
    return id
