"""Anthropic Messages → chunks: the raw events of its stream, and those that its SDK's stream helper adds.

A tool that Anthropic runs answers in a block of its own, now and then only in the next call. What such a block
says is the tool's output as it came, so that it can go back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rejoinder.messages import Json, JsonObject, Usage
from rejoinder.translate.anthropic_blocks import Block, Blocks
from rejoinder.translate.emitter import INTERRUPTED, Emitter
from rejoinder.translate.failures import failed
from rejoinder.translate.fields import integer_of, kind_of, object_of, objects_of, text_of
from rejoinder.translate.model_calls import DONE, ModelCalls
from rejoinder.translate.notes import Problem
from rejoinder.wire.chunks import Chunk, FinishReason

_PAUSED: Final = "pause_turn"
"""A long turn with Anthropic's own tools, which is to be gone on with."""

_REASONS: Final[Mapping[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    _PAUSED: "other",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
_CUT: Final = ("length", "content-filter")
_HELPERS: Final = frozenset({"text", "thinking", "signature", "input_json", "citation", "compaction"})
"""What the SDK's helper says once more in its own words."""


class Anthropic:
    """Remembers the blocks of the call that is under way."""

    provider = "anthropic"

    def __init__(self) -> None:
        self._calls = ModelCalls(self.provider)
        self._speaker = Blocks(self._calls)
        self._blocks: dict[int, Block] = {}
        self._reason: FinishReason | None = None
        self._paused = False
        self._usage: JsonObject = {}

    def __call__(self, say: Emitter, event: Json, /) -> Iterator[Chunk]:
        """The next event."""
        kind = text_of(event, "type")
        match kind:
            case "message_start":
                yield from self._begin(say, object_of(event, "message"))
            case "error":
                error = object_of(event, "error") or event
                yield from self._calls.fail(say, failed(error, provider=self.provider))
            case "message":
                yield from self._whole(say, event)
            case "ping":
                pass  # The connection lives.
            case _ if kind in _HELPERS:
                pass  # It was said before, in the event that this one repeats.
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                if self._calls.count == 0:
                    yield from self._begin(say, {})
                if self._calls.open is None:
                    say.note(Problem(text=f"an event {kind!r} after the end of the answer"))
                else:
                    yield from self._block(say, event, kind)
            case "message_delta":
                yield from self._delta(say, event)
            case "message_stop":
                yield from self._end(say)
            case _ if event != DONE:
                say.note(
                    Problem(text=f"an event {kind_of(event, 'type')}, which Anthropic Messages does not have")
                )
            case _:
                pass  # The word that ends the stream.

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more."""
        return self._calls.close(say)

    # The call

    def _begin(self, say: Emitter, message: JsonObject) -> list[Chunk]:
        id = text_of(message, "id")
        if self._calls.open is not None and id == self._calls.given:
            say.note(Problem(text=f"the message {id!r} begins a second time"))
            return []
        self._blocks, self._reason, self._usage = {}, None, {}
        self._paused = False
        said = self._calls.begin(say, id, text_of(message, "model"))
        self._consumed(object_of(message, "usage"))
        return said

    def _delta(self, say: Emitter, event: Json) -> Iterator[Chunk]:
        if self._calls.open is None:
            say.note(Problem(text="a 'message_delta' outside of a message"))
            return
        self._consumed(object_of(event, "usage"))
        told = text_of(event, "delta", "stop_reason")
        if told:
            self._reason = _REASONS.get(told, "other")
            self._paused = told == _PAUSED
            if self._reason in _CUT:
                yield from say.close(INTERRUPTED)

    def _end(self, say: Emitter) -> Iterator[Chunk]:
        if self._calls.open is None:
            say.note(Problem(text="a 'message_stop' outside of a message"))
            return
        for block in self._blocks.values():
            yield from self._speaker.end(say, block, {})
            yield from say.tool_input_end(block.call_id)
        yield from self._calls.finish(say, self._reason or "other", paused=self._paused)

    def _consumed(self, usage: JsonObject) -> None:
        """What the events tell adds up to what was consumed: later figures replace earlier ones."""
        self._usage |= {name: value for name, value in usage.items() if value is not None}
        self._calls.usage = usage_of(self._usage)

    def _whole(self, say: Emitter, message: Json) -> Iterator[Chunk]:
        """A message that was not streamed."""
        yield from self._begin(say, message)
        for index, told in enumerate(objects_of(message, "content")):
            yield from self._block(say, {"index": index, "content_block": told}, "content_block_start")
            yield from self._block(say, {"index": index, "content_block": told}, "content_block_stop")
        yield from self._delta(say, {"delta": message, "usage": {}})
        yield from self._end(say)

    def _block(self, say: Emitter, event: Json, kind: str) -> Iterator[Chunk]:
        index = integer_of(event, "index")
        at = index if index is not None else len(self._blocks) - (kind != "content_block_start")
        block = self._blocks.get(at)
        if kind == "content_block_start":
            if block is not None:
                say.note(Problem(text=f"block {at} begins a second time"))
                return
            told = object_of(event, "content_block")
            block = self._blocks[at] = Block(f"{self._calls.count}:{at}", text_of(told, "type"), told)
            yield from self._speaker.begin(say, block)
            return
        if block is None:
            # The start was lost: a delta says what kind of block it is, too.
            block = Block.of_delta(f"{self._calls.count}:{at}", object_of(event, "delta"))
            if block is None:
                say.note(Problem(text=f"{kind!r} for block {at}, which never began"))
                return
            self._blocks[at] = block
            yield from self._speaker.begin(say, block)
        if block.ended:
            say.note(Problem(text=f"{kind!r} for block {at}, which has ended"))
        elif kind == "content_block_delta":
            yield from self._speaker.grow(say, block, object_of(event, "delta"))
        else:
            yield from self._speaker.end(say, block, object_of(event, "content_block"))


def usage_of(told: JsonObject) -> Usage | None:
    """What Anthropic says that a call consumed. It counts the cache beside the input, and not as part of it."""
    if not told:
        return None
    input = integer_of(told, "input_tokens")
    read = integer_of(told, "cache_read_input_tokens")
    written = integer_of(told, "cache_creation_input_tokens")
    return Usage(
        input_tokens=None if input is None else input + (read or 0) + (written or 0),
        output_tokens=integer_of(told, "output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=integer_of(told, "output_tokens_details", "thinking_tokens"),
    )
