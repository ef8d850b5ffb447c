"""What translators speak through: it keeps the grammar, so that they can follow their vendor.

    def translate(say: Emitter, event: Event) -> Iterable[Chunk]:
        yield from say.text(event["word"])

Every method gives the chunks to be said now, as a list, and has taken them as said. What a vendor says twice, too
late, or of something that nobody has heard of, makes no chunk but a `Problem`: an answer never dies of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from rejoinder.errors import IllegalChunk
from rejoinder.messages import ABSENT, Json, JsonObject, Maybe, Message, is_absent
from rejoinder.translate.calls import Calls
from rejoinder.translate.fields import given as _given
from rejoinder.translate.notes import Note, Problem
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    CustomChunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    FinishReason,
    FinishStep,
    MessageMetadata,
    ProviderMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    ResetStep,
    SourceDocumentChunk,
    SourceUrlChunk,
    Start,
    StartStep,
    SteeringMessage,
    TextDelta,
    TextEnd,
    TextStart,
)

INTERRUPTED: Final = "The answer was interrupted before this call had a result."


class Emitter(Calls):
    """Says one answer. `message` is the one that it continues, if it does.

    A text or a reasoning is told from others of its kind by `key`, which may be whatever the vendor numbers them
    with; without one, it goes on until something else is said. Ids of parts are unique in the answer: one that a
    vendor gave is used where nothing else has it.

    Steps begin by themselves where something of the model begins, unless the vendor tells its steps (`own_steps`).
    """

    def __init__(self, message: Message | None = None) -> None:
        super().__init__(message)
        self._open_texts: dict[str | int | None, str] = {}
        self._open_reasonings: dict[str | int | None, str] = {}
        self._counts = {"t": 0, "r": 0}
        self._sources = 0
        self.own_steps = False
        self._metadata: Json = None if message is None else _json(message.metadata)
        self._ids: set[str] = set()

    def note(self, note: Note) -> None:
        """Say something to the record."""
        self._notes.append(note)

    def take_notes(self) -> Sequence[Note]:
        """What was noted since the last time."""
        notes, self._notes = self._notes, []
        return notes

    # The answer

    def start(self, message_id: str, metadata: Maybe = ABSENT) -> list[Chunk]:
        """The answer begins. Whoever runs the turn says this, and `end`, `stop` or `fail`."""
        return self._say(Start(message_id=message_id, message_metadata=self._merged(metadata)))

    def end(self, reason: FinishReason | None = None, metadata: Maybe = ABSENT) -> list[Chunk]:
        """The answer is complete: what is open ends."""
        ending = self._ending()
        said: Json = self._merged(metadata)
        if self._answered_last and not self.waiting and not self.own_steps:
            # Clients that send on their own when the last step consists of answered calls would do so for ever.
            # A step that they hear of, which takes metadata, tells them that the model had its say.
            ending += self._say(StartStep(), FinishStep())
            said = {} if said is UNSET else said
        return ending + self._say(Finish(finish_reason=_given(reason), message_metadata=said))

    def stop(self, reason: str | None = None) -> list[Chunk]:
        """The answer was stopped: what is open ends, and calls without a result get to know."""
        return self._ending(INTERRUPTED) + self._say(Abort(reason=_given(reason)))

    def fail(self, error_text: str, metadata: Maybe = ABSENT) -> list[Chunk]:
        """The answer failed, in words for the user."""
        ending = self._ending(INTERRUPTED) + self._say(Error(error_text=error_text))
        return ending + self._say(Finish(finish_reason="error", message_metadata=self._merged(metadata)))

    def interrupt(self) -> list[Chunk]:
        """The answer breaks off here: what is open ends, and calls without a result get to know. No end is said."""
        return self._ending(INTERRUPTED)

    def metadata(self, metadata: Json) -> list[Chunk]:
        """More metadata for the message."""
        said = self._merged(metadata)
        return [] if said is UNSET else self._say(MessageMetadata(message_metadata=said))

    # Steps

    def step(self) -> list[Chunk]:
        """A model call begins; the one before ends."""
        ended = self.step_end() if self._grammar.in_step else []
        self._answered_last = False
        return ended + self._say(StartStep())

    def step_end(self) -> list[Chunk]:
        """The model call has ended. What it began has, too."""
        if not self._grammar.in_step:
            return []
        return self.close() + self._say(FinishStep())

    def reset_step(self) -> list[Chunk]:
        """Take back what this step has said."""
        if not self._grammar.in_step:
            return []
        self._open_texts.clear()
        self._open_reasonings.clear()
        self._answered_last = False
        return self._say(ResetStep())

    def close(self, interrupted: str | None = None) -> list[Chunk]:
        """End the texts, reasonings and tool inputs that are open; the inputs with an error, if one is given."""
        said = [chunk for key in (*self._open_texts,) for chunk in self.text_end(key)]
        said += [chunk for key in (*self._open_reasonings,) for chunk in self.reasoning_end(key)]
        return said + self._end_inputs(interrupted)

    # What is said and thought

    def text_start(
        self,
        key: str | int | None = None,
        *,
        id: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """A text begins, which may stay empty."""
        if key in self._open_texts:
            return []
        before = self._beginning(keep_text=True)
        part_id = self._open_texts[key] = self._part_id("t", id)
        return before + self._say(TextStart(id=part_id, provider_metadata=_given(provider_metadata)))

    def text(
        self, delta: str, key: str | int | None = None, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """More text."""
        if not delta and provider_metadata is None:
            return []
        id = self._open_texts.get(key)
        if id is None:
            begun = self.text_start(key)
            return begun + self.text(delta, key, provider_metadata=provider_metadata)
        return self._say(TextDelta(id=id, delta=delta, provider_metadata=_given(provider_metadata)))

    def text_end(
        self,
        key: str | int | None = None,
        *,
        provider_metadata: ProviderMetadata | None = None,
        citations: list[JsonObject] | None = None,
    ) -> list[Chunk]:
        """The text is complete."""
        id = self._open_texts.pop(key, None)
        if id is None:
            return []
        return self._say(
            TextEnd(id=id, provider_metadata=_given(provider_metadata), citations=_given(citations))
        )

    def reasoning_start(
        self,
        key: str | int | None = None,
        *,
        id: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """A reasoning begins, which may stay empty: some vendors show a signature and no word."""
        if key in self._open_reasonings:
            return []
        before = self._beginning(keep_reasoning=True)
        part_id = self._open_reasonings[key] = self._part_id("r", id)
        return before + self._say(ReasoningStart(id=part_id, provider_metadata=_given(provider_metadata)))

    def reasoning(
        self, delta: str, key: str | int | None = None, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """More reasoning."""
        if not delta and provider_metadata is None:
            return []
        id = self._open_reasonings.get(key)
        if id is None:
            begun = self.reasoning_start(key)
            return begun + self.reasoning(delta, key, provider_metadata=provider_metadata)
        return self._say(ReasoningDelta(id=id, delta=delta, provider_metadata=_given(provider_metadata)))

    def reasoning_end(
        self, key: str | int | None = None, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """The reasoning is complete; its signature comes with its end."""
        id = self._open_reasonings.pop(key, None)
        if id is None:
            return []
        return self._say(ReasoningEnd(id=id, provider_metadata=_given(provider_metadata)))

    # What else an answer holds

    def file(
        self, url: str, media_type: str, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """A file; a `data:` URL holds it inline."""
        metadata = _given(provider_metadata)
        return self._beginning() + self._say(
            FileChunk(url=url, media_type=media_type, provider_metadata=metadata)
        )

    def reasoning_file(
        self, url: str, media_type: str, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """A file that belongs to what was thought."""
        metadata = _given(provider_metadata)
        return self._beginning() + self._say(
            ReasoningFileChunk(url=url, media_type=media_type, provider_metadata=metadata)
        )

    def custom(self, kind: str, *, provider_metadata: ProviderMetadata | None = None) -> list[Chunk]:
        """A vendor's own kind of content."""
        return self._beginning() + self._say(
            CustomChunk(kind=kind, provider_metadata=_given(provider_metadata))
        )

    def source_url(
        self,
        url: str,
        title: str | None = None,
        *,
        source_id: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """A web page that the answer rests on. It may come in the middle of a text."""
        return self._say(
            SourceUrlChunk(
                source_id=self._source_id(source_id),
                url=url,
                title=_given(title),
                provider_metadata=_given(provider_metadata),
            )
        )

    def source_document(
        self,
        title: str,
        media_type: str,
        *,
        filename: str | None = None,
        source_id: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """A document that the answer rests on."""
        return self._say(
            SourceDocumentChunk(
                source_id=self._source_id(source_id),
                media_type=media_type,
                title=title,
                filename=_given(filename),
                provider_metadata=_given(provider_metadata),
            )
        )

    def data(
        self, name: str, data: Json, *, id: str | None = None, transient: bool | None = None
    ) -> list[Chunk]:
        """The application's own part. With an id, it replaces the one before; transient ones are not kept."""
        return self._say(DataChunk(name=name, data=data, id=_given(id), transient=_given(transient)))

    def steering(self, id: str, parts: list[JsonObject]) -> list[Chunk]:
        """What the user said meanwhile."""
        return self._say(SteeringMessage(id=id, parts=parts))

    def chunk(self, chunk: Chunk) -> list[Chunk]:
        """Any chunk as it is, if it may come now."""
        if isinstance(chunk, MessageMetadata):
            return self.metadata(chunk.message_metadata)
        said = self._say(chunk)
        for heard in said:
            self._heed(heard)
        return said

    def _heed(self, chunk: Chunk) -> None:
        """Remember what a chunk opened or answered that did not go through the methods for it."""
        match chunk:
            case TextStart(id=id):
                self._open_texts[id] = id
                self._ids.add(id)
            case TextEnd(id=id):
                self._open_texts = {key: open for key, open in self._open_texts.items() if open != id}
            case ReasoningStart(id=id):
                self._open_reasonings[id] = id
                self._ids.add(id)
            case ReasoningEnd(id=id):
                self._open_reasonings = {
                    key: open for key, open in self._open_reasonings.items() if open != id
                }
            case StartStep():
                self._answered_last = False
            case _:
                self._heed_call(chunk)

    def _part_id(self, letter: str, given: str | None) -> str:
        if given is not None and given not in self._ids:
            self._ids.add(given)
            return given
        while True:
            part_id = f"{letter}{self._counts[letter]}"
            self._counts[letter] += 1
            if part_id not in self._ids:
                self._ids.add(part_id)
                return part_id

    def _source_id(self, given: str | None) -> str:
        self._sources += 1
        return f"s{self._sources - 1}" if given is None else given

    def _beginning(self, *, keep_text: bool = False, keep_reasoning: bool = False) -> list[Chunk]:
        """Something of the model begins: end what was said without a key, and see that a step is open."""
        said: list[Chunk] = []
        if not keep_text and None in self._open_texts:
            said += self.text_end()
        if not keep_reasoning and None in self._open_reasonings:
            said += self.reasoning_end()
        if not self.own_steps and (not self._grammar.in_step or self._answered_last):
            # A model that goes on after its calls were answered has been asked again.
            said += self.step()
        return said

    def _ending(self, unanswered: str | None = None) -> list[Chunk]:
        said = self.close(unanswered)
        if unanswered is not None:
            said += self.settle(unanswered)
        return said + self.step_end()

    def _merged(self, metadata: Maybe) -> Json:
        """Metadata as a chunk says them: not, if clients would die of merging them into what they have.

        What was once a text, a number or a boolean takes no more. Use objects.
        """
        if is_absent(metadata) or metadata is None:
            return UNSET if is_absent(metadata) else None
        known = self._metadata
        if isinstance(known, str | int | float) and metadata and not isinstance(metadata, int | float):
            self.note(
                Problem(text="metadata that are no object take no more: what came is kept and left out")
            )
            return UNSET
        # What is merged is an object from then on, whatever it was.
        self._metadata = metadata if known is None else {}
        return metadata

    def _say(self, *chunks: Chunk) -> list[Chunk]:
        said: list[Chunk] = []
        for chunk in chunks:
            try:
                self._grammar.check(chunk)
            except IllegalChunk as error:
                self._notes.append(Problem(text=str(error)))
            else:
                said.append(chunk)
        return said


def _json(value: Maybe) -> Json:
    return None if is_absent(value) else value
