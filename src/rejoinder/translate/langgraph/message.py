"""One message of a model in a graph: what was said of it so far, and the saying of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct, field

from rejoinder.messages import JsonObject, Usage
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import text_of
from rejoinder.translate.langgraph.content import (
    Answered,
    Hosted,
    Said,
    Shown,
    Thought,
    pieces_of,
    text_in,
    thought_in,
)
from rejoinder.translate.notes import CallEnded
from rejoinder.wire.chunks import Chunk, ProviderMetadata


class ModelMessage(Struct, kw_only=True):
    """What was said of one message, and how more of it is said. `sources` are those of the whole turn."""

    key: str
    sources: set[str]
    text: str = ""
    thought: str = ""
    metadata: ProviderMetadata | None = None
    call_ids: dict[int | str, str] = field(default_factory=dict[int | str, str])
    hosted: dict[int | str, str] = field(default_factory=dict[int | str, str])
    shown: set[str] = field(default_factory=set[str])
    usage: Usage | None = None
    complete: bool = False
    confirmed: bool = False

    def content(self, say: Emitter, message: JsonObject) -> Iterator[Chunk]:
        """What a piece of the message says, or the message as a whole."""
        for piece in pieces_of(message):
            match piece:
                case Said():
                    yield from self._speak(say, piece)
                case Thought():
                    yield from self._think(say, piece)
                case Shown():
                    yield from self._show(say, piece)
                case Hosted():
                    yield from self._hosted(say, piece)
                case Answered():
                    yield from self._answered(say, piece)
                case _:
                    assert_never(piece)

    def _speak(self, say: Emitter, said: Said) -> Iterator[Chunk]:
        if said.text:
            self.text += said.text
            yield from self._thought_ends(say)
            yield from say.text(said.text, self.key)
        for url, title in said.sources:
            if url not in self.sources:
                self.sources.add(url)
                yield from say.source_url(url, title)

    def _think(self, say: Emitter, thought: Thought) -> Iterator[Chunk]:
        self.metadata = thought.metadata or self.metadata
        if thought.text:
            self.thought += thought.text
            yield from say.text_end(self.key)
            yield from say.reasoning(thought.text, self.key)
        elif thought.metadata is not None and "redactedData" in thought.metadata.get("anthropic", {}):
            yield from say.reasoning_start(self.key)
            yield from self._thought_ends(say)

    def _show(self, say: Emitter, shown: Shown) -> list[Chunk]:
        if shown.url in self.shown:
            return []
        self.shown.add(shown.url)
        return say.file(shown.url, shown.media_type)

    def _hosted(self, say: Emitter, call: Hosted) -> Iterator[Chunk]:
        """A call that the vendor makes itself."""
        if call.id and not say.knows(call.id):
            yield from self._thought_ends(say)
            yield from say.text_end(self.key)
            yield from say.tool_input_start(call.id, call.name or UNKNOWN_TOOL, provider_executed=True)
        call_id = call.id or self.hosted.get(call.index or 0, "")
        if call.id:
            self.hosted[call.index or 0] = call.id
        if not call_id or say.complete(call_id):
            return
        if call.input is not None:
            yield from say.tool_input(call_id, call.name or UNKNOWN_TOOL, call.input)
        elif call.delta:
            yield from say.tool_input_delta(call_id, call.delta)

    def _answered(self, say: Emitter, answer: Answered) -> list[Chunk]:
        if not answer.call_id or say.answered(answer.call_id):
            return []
        if answer.error is not None:
            return say.tool_error(answer.call_id, answer.error)
        return say.tool_output(answer.call_id, answer.output)

    def piece_of_call(self, say: Emitter, chunk: JsonObject) -> Iterator[Chunk]:
        """More of a call of one of the graph's tools."""
        index = chunk.get("index")
        if not isinstance(index, int | str):
            index = len(self.call_ids) if chunk.get("id") else max(0, len(self.call_ids) - 1)
        call_id, name = text_of(chunk, "id"), text_of(chunk, "name")
        if call_id and self.call_ids.get(index) != call_id:
            self.call_ids[index] = call_id
            yield from self._thought_ends(say)
            yield from say.text_end(self.key)
            yield from say.tool_input_start(call_id, name or UNKNOWN_TOOL)
        if index in self.call_ids:
            yield from say.tool_input_delta(self.call_ids[index], text_of(chunk, "args"))

    def rest(self, say: Emitter, message: JsonObject) -> Iterator[Chunk]:
        """What a message has beyond what was streamed of it."""
        thought, text = (
            _missing(self.thought, thought_in(message)),
            _missing(self.text, text_in(message)),
        )
        if thought:
            yield from self._think(say, Thought(thought))
        if text:
            yield from self._speak(say, Said(text))
        for piece in pieces_of(message):
            match piece:
                case Said():
                    yield from self._speak(say, Said("", piece.sources))
                case Thought():
                    self.metadata = piece.metadata or self.metadata
                case Shown():
                    yield from self._show(say, piece)
                case Hosted():
                    yield from self._hosted(say, piece)
                case Answered():
                    yield from self._answered(say, piece)
                case _:
                    assert_never(piece)

    def whole_call(self, say: Emitter, call: JsonObject) -> Iterator[Chunk]:
        """Such a call, complete."""
        call_id, name = text_of(call, "id"), text_of(call, "name") or UNKNOWN_TOOL
        if not call_id or say.complete(call_id):
            return
        if call_id not in self.call_ids.values():
            self.call_ids[call_id] = call_id
        yield from self._thought_ends(say)
        yield from say.text_end(self.key)
        if call.get("broken"):
            error = text_of(call, "error") or "The input is not JSON."
            yield from say.tool_input_error(call_id, name, call.get("args"), error)
        else:
            yield from say.tool_input(call_id, name, call.get("args"))

    def _thought_ends(self, say: Emitter) -> list[Chunk]:
        ended = say.reasoning_end(self.key, provider_metadata=self.metadata)
        if ended:
            self.metadata = None
        return ended

    def finish(self, say: Emitter) -> Iterator[Chunk]:
        """The message is complete."""
        if self.complete:
            return
        self.complete = True
        yield from self._thought_ends(say)
        yield from say.text_end(self.key)
        for call_id in (*self.call_ids.values(), *self.hosted.values()):
            yield from say.tool_input_end(call_id)
        say.note(CallEnded(id=self.key, usage=self.usage))


def _missing(said: str, whole: str) -> str:
    return whole[len(said) :] if whole.startswith(said) else ""
