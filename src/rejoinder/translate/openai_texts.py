"""Messages and reasonings of an OpenAI response."""

from __future__ import annotations

from collections.abc import Iterator

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import object_of, objects_of, text_of
from rejoinder.translate.model_calls import ModelCalls
from rejoinder.translate.openai_items import Item, TextPart, rest_of
from rejoinder.translate.sources import cite_annotation
from rejoinder.wire.chunks import Chunk


class Texts:
    """What was said and thought in the call that is under way. `refused` is whether the model would not answer."""

    def __init__(self, calls: ModelCalls) -> None:
        self.refused = False
        self._calls = calls

    # Messages

    def delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of a text."""
        return self._more(say, item, item.part(event, "t", "content_index"), text_of(event, "delta"))

    def refusal_delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of a refusal."""
        part = item.part(event, "t", "content_index")
        self.refused = part.refusal = True
        return self._more(say, item, part, text_of(event, "delta"))

    def done(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """The whole of a text or of a refusal."""
        part = item.part(event, "t", "content_index")
        if text_of(event, "refusal"):
            self.refused = part.refusal = True
        whole = text_of(event, "text") or text_of(event, "refusal")
        return self._more(say, item, part, rest_of(part.pieces, whole))

    def annotation(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """What a text rests on."""
        return self._annotate(
            say, item, item.part(event, "t", "content_index"), object_of(event, "annotation")
        )

    def part_done(self, say: Emitter, item: Item, event: Json) -> Iterator[Chunk]:
        """A text with its annotations, as it is in the end."""
        told = object_of(event, "part")
        if text_of(told, "type") not in ("output_text", "text", "refusal"):
            return
        yield from self.done(say, item, {"content_index": event.get("content_index"), **told})
        part = item.part(event, "t", "content_index")
        for annotation in objects_of(told, "annotations"):
            yield from self._annotate(say, item, part, annotation)
        yield from self._end(say, item, part)

    def message_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A message as it is in the end."""
        item.phase = item.phase or text_of(told, "phase")
        for index, part in enumerate(objects_of(told, "content")):
            yield from self.part_done(say, item, {"part": part, "content_index": index})
        for text in item.parts.values():
            yield from self._end(say, item, text)

    def _more(self, say: Emitter, item: Item, part: TextPart, delta: str) -> list[Chunk]:
        if part.ended or not delta:
            return []
        began: list[Chunk] = []
        if not part.pieces:
            about = item.about(phase=item.phase, refusal=part.refusal or None)
            began = say.text_start(part.key, provider_metadata=about)
        part.pieces.append(delta)
        return began + say.text(delta, part.key)

    def _annotate(self, say: Emitter, item: Item, part: TextPart, annotation: JsonObject) -> list[Chunk]:
        if not annotation or part.ended or annotation in part.annotations:
            return []
        part.annotations.append(annotation)
        said, citation = cite_annotation(say, self._calls.sources, annotation, provider=item.provider)
        if citation is not None:
            part.citations.append(citation)
        return said

    def _end(self, say: Emitter, item: Item, part: TextPart) -> list[Chunk]:
        part.ended = True
        refusal = part.refusal or None
        about = item.about(phase=item.phase, refusal=refusal, annotations=part.annotations)
        return say.text_end(part.key, provider_metadata=about, citations=part.citations or None)

    # Reasonings

    def summary_began(self, say: Emitter, item: Item, event: Json) -> Iterator[Chunk]:
        """Another summary of the same reasoning: the one before is complete."""
        begun = item.part(event, "s", "summary_index")
        for part in item.parts.values():
            if part is not begun:
                yield from self._end_thought(say, item, part)

    def summary_delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of a summary of what is thought."""
        part = item.part(event, "s", "summary_index")
        return self._think(say, item, part, text_of(event, "delta"))

    def summary_done(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """The whole of a summary."""
        part = item.part(event, "s", "summary_index")
        whole = text_of(event, "text") or text_of(event, "part", "text")
        return self._think(say, item, part, rest_of(part.pieces, whole))

    def thought_delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of what is thought, in full."""
        part = item.part(event, "f", "content_index")
        return self._think(say, item, part, text_of(event, "delta"), full=True)

    def thought_done(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """The whole of what was thought."""
        part = item.part(event, "f", "content_index")
        return self._think(say, item, part, rest_of(part.pieces, text_of(event, "text")), full=True)

    def reasoning_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A reasoning as it is in the end; without a word it is kept for the vendor's next call."""
        for index, part in enumerate(objects_of(told, "summary")):
            yield from self.summary_done(say, item, {"summary_index": index, **part})
        for index, part in enumerate(objects_of(told, "content")):
            yield from self.thought_done(say, item, {"content_index": index, **part})
        encrypted = text_of(told, "encrypted_content")
        spoken = [part for part in item.parts.values() if part.pieces and not part.ended]
        for thought in spoken[:-1]:
            yield from self._end_thought(say, item, thought)
        if spoken:
            yield from self._end_thought(say, item, spoken[-1], encrypted)
        elif item.id or encrypted:
            yield from say.reasoning_start(item.key)
            about = item.about(reasoningEncryptedContent=encrypted)
            yield from say.reasoning_end(item.key, provider_metadata=about)

    def _think(
        self, say: Emitter, item: Item, part: TextPart, delta: str, *, full: bool = False
    ) -> list[Chunk]:
        if part.ended or not delta:
            return []
        began: list[Chunk] = []
        if not part.pieces:
            began = say.reasoning_start(part.key, provider_metadata=item.about(fullReasoning=full or None))
        part.pieces.append(delta)
        return began + say.reasoning(delta, part.key)

    def _end_thought(self, say: Emitter, item: Item, part: TextPart, encrypted: str = "") -> list[Chunk]:
        part.ended = True
        full = part.key.rpartition(":")[2].startswith("f") or None
        about = item.about(fullReasoning=full, reasoningEncryptedContent=encrypted)
        return say.reasoning_end(part.key, provider_metadata=about)
