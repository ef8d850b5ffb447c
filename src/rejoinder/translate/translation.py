"""One turn's translation, from its first chunk to its last: the same for a turn that runs and for its replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, assert_never, runtime_checkable

from rejoinder.messages import ABSENT, Json, Maybe, Message, TurnError
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.notes import SAFE_ERROR_TEXT, Ending, Failed, Finished, Note, Stopped
from rejoinder.wire.chunks import Chunk

Translate: TypeAlias = Callable[[Emitter, Json], Iterable[Chunk]]
"""Says what one event means. It is given the event as a JSON value, and the emitter to say it with.

One that has to remember what came before is a class: an instance is made for each turn, and called with each event.
"""

Translator: TypeAlias = Translate | type["TranslatorClass"]
"""What an agent brings: a function, or a class of which every turn gets an instance."""


class TranslatorClass(Protocol):
    """A translator with a memory. It is made without arguments."""

    def __init__(self) -> None: ...

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """The next event."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A translator that wants to know that no event will come any more: it sees whether its vendor was cut off."""

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """What is still to be said; an ending is noted here if the vendor has told none."""
        ...


class Translation:
    """Events of one turn in, chunks out. `message` is the one that the turn continues, if it does.

    `begin` comes first; `event` for each event; then one of `end`, `stop` and `fail`. What the translator noted is
    taken with `take_notes`; an ending that it noted is kept, and said by `end`.
    """

    def __init__(self, translator: Translator, *, message_id: str, message: Message | None = None) -> None:
        self.say = Emitter(message)
        self.ending: Ending | None = None
        self._message_id = message_id
        self._translate: Translate = translator() if isinstance(translator, type) else translator
        self._notes: list[Note] = []

    def begin(self, metadata: Maybe = ABSENT) -> list[Chunk]:
        """The first chunk."""
        return self.say.start(self._message_id, metadata)

    def event(self, event: Json) -> Iterator[Chunk]:
        """What the event means. What a translator raises comes through, after the chunks that it gave before."""
        try:
            yield from self._translate(self.say, event)
        finally:
            self._hear()

    def close(self) -> Iterator[Chunk]:
        """No event will come any more: what the translator still has to say. `end` does this, too."""
        translator: object = self._translate
        self._translate = _silent
        if isinstance(translator, Closing):
            try:
                yield from translator.close(self.say)
            finally:
                self._hear()

    def end(self) -> Iterator[Chunk]:
        """The last chunks: as the translator said that it ended, or else an end without a reason."""
        yield from self.close()
        match self.ending:
            case None:
                yield from self.say.end()
            case Finished(reason=reason, metadata=metadata):
                yield from self.say.end(reason, metadata)
            case Failed(error_text=error_text):
                yield from self.say.fail(error_text)
            case Stopped(reason=reason):
                yield from self.say.stop(reason)
            case _:
                assert_never(self.ending)

    def stop(self, reason: str | None = None) -> Iterator[Chunk]:
        """The last chunks of an answer that was stopped from outside."""
        self.ending = Stopped(reason=reason)
        yield from self.say.stop(reason)

    def fail(self, error: TurnError, error_text: str = SAFE_ERROR_TEXT) -> Iterator[Chunk]:
        """The last chunks of an answer that failed outside of the agent's own words."""
        self.ending = Failed(error=error, error_text=error_text)
        yield from self.say.fail(error_text)

    def interrupt(self) -> Iterator[Chunk]:
        """What is said of an answer that breaks off, before whoever breaks it off says so."""
        yield from self.say.interrupt()

    def take_notes(self) -> Sequence[Note]:
        """What was noted since the last time, endings left out."""
        self._hear()
        notes, self._notes = self._notes, []
        return notes

    def _hear(self) -> None:
        for note in self.say.take_notes():
            if not isinstance(note, Finished | Failed | Stopped):
                self._notes.append(note)
            elif not isinstance(self.ending, Failed):
                # A failure is not taken back: some vendors say "done" after it.
                self.ending = note


def _silent(say: Emitter, event: Json) -> Iterable[Chunk]:
    """What is left of a translator that was closed."""
    return ()
