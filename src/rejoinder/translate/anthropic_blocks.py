"""The blocks of an Anthropic message: how each kind begins, grows and ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Self

from msgspec import Struct, field

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.anthropic_sources import Sources
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import (
    object_of,
    objects_of,
    said_of,
    text_of,
    text_or_none,
    without,
)
from rejoinder.translate.model_calls import ModelCalls
from rejoinder.wire.chunks import Chunk, ProviderMetadata

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
RESULT: Final = "_tool_result"
"""How the types of blocks end that hold what a tool of Anthropic's answered."""

_OF_DELTA: Final = {"text_delta": "text", "citations_delta": "text", "thinking_delta": "thinking"}


class Block(Struct):
    """One block, as far as it came. `told` is how it began."""

    key: str
    type: str
    told: JsonObject
    call_id: str = ""
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""
    cited: list[JsonObject] = field(default_factory=list[JsonObject])
    citations: list[JsonObject] = field(default_factory=list[JsonObject])
    ended: bool = False

    @classmethod
    def of_delta(cls, key: str, delta: JsonObject) -> Self | None:
        """The block that a delta without a beginning belongs to, if the delta tells."""
        type = _OF_DELTA.get(text_of(delta, "type"))
        return None if type is None else cls(key, type, {})

    @property
    def name(self) -> str:
        """The tool's name."""
        return text_of(self.told, "name") or UNKNOWN_TOOL


class Blocks:
    """Says the blocks of a turn; remembers which of its calls a result belongs to, and what was cited."""

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls
        self._call_ids: dict[str, str] = {}
        self._sources = Sources(calls.sources)

    def begin(self, say: Emitter, block: Block) -> Iterator[Chunk]:
        """A block begins."""
        told = block.told
        match block.type:
            case "text":
                yield from self._text(say, block, text_of(told, "text"))
                for citation in objects_of(told, "citations"):
                    yield from self._cite(say, block, citation)
            case "thinking":
                block.signature = text_of(told, "signature")
                yield from say.reasoning_start(block.key)
                yield from self._think(say, block, text_of(told, "thinking"))
            case "redacted_thinking":
                about = self._about(redactedData=text_of(told, "data"))
                yield from say.reasoning_start(block.key, provider_metadata=about)
            case type if type in CALLS:
                yield from self._begin_call(say, block)
            case type if type.endswith(RESULT):
                yield from self._answer(say, block)
            case _:
                pass  # It is said when it is complete.

    def grow(self, say: Emitter, block: Block, delta: JsonObject) -> Iterator[Chunk]:
        """More of a block."""
        match text_of(delta, "type"):
            case "text_delta":
                yield from self._text(say, block, text_of(delta, "text"))
            case "thinking_delta":
                yield from self._think(say, block, text_of(delta, "thinking"))
            case "signature_delta":
                block.signature = text_of(delta, "signature")
            case "citations_delta":
                yield from self._cite(say, block, object_of(delta, "citation"))
            case "input_json_delta":
                piece = text_of(delta, "partial_json")
                block.pieces.append(piece)
                if block.call_id:
                    yield from say.tool_input_delta(block.call_id, piece)
            case _:
                block.told = {**block.told, **without(delta, "type")}

    def end(self, say: Emitter, block: Block, whole: JsonObject) -> Iterator[Chunk]:
        """A block is complete; the SDK's helper says once more all that it holds."""
        if block.ended:
            return
        block.ended = True
        match block.type:
            case "text":
                yield from self._text(say, block, _rest(block.pieces, text_of(whole, "text")))
                about = self._about(citations=block.cited) if block.cited else None
                yield from say.text_end(block.key, provider_metadata=about, citations=block.citations or None)
            case "thinking":
                yield from self._think(say, block, _rest(block.pieces, text_of(whole, "thinking")))
                signature = block.signature or text_of(whole, "signature")
                about = self._about(signature=signature) if signature else None
                yield from say.reasoning_end(block.key, provider_metadata=about)
            case "redacted_thinking":
                yield from say.reasoning_end(block.key)
            case type if type in CALLS:
                yield from self._end_call(say, block, whole)
            case type if type.endswith(RESULT):
                pass  # It came whole.
            case _:
                # Whatever it is: it is kept, and goes back as it came.
                about = self._about(block={**block.told, **whole})
                kind = f"{self._calls.provider}.{block.type or 'block'}"
                yield from say.custom(kind, provider_metadata=about)

    def _about(self, **more: Json) -> ProviderMetadata:
        return {self._calls.provider: more}

    def _text(self, say: Emitter, block: Block, delta: str) -> list[Chunk]:
        if not delta or block.type != "text":
            return []
        block.pieces.append(delta)
        return say.text(delta, block.key)

    def _think(self, say: Emitter, block: Block, delta: str) -> list[Chunk]:
        if not delta or block.type != "thinking":
            return []
        block.pieces.append(delta)
        return say.reasoning(delta, block.key)

    # Calls

    def _begin_call(self, say: Emitter, block: Block) -> list[Chunk]:
        given = text_of(block.told, "id")
        block.call_id = self._call_ids[given] = self._calls.call_id(say, given)
        hosted = block.type != "tool_use"
        kept = {name: block.told[name] for name in ("caller", "toolset_name") if block.told.get(name)}
        if block.type == "mcp_tool_use":
            kept = {**kept, "serverName": text_of(block.told, "server_name")}
        if hosted:
            kept = {"type": block.type, **kept}
        return say.tool_input_start(
            block.call_id,
            block.name,
            dynamic=block.type == "mcp_tool_use",
            provider_executed=hosted,
            title=text_or_none(block.told, "server_name"),
            provider_metadata=self._about(**kept) if kept else None,
        )

    def _end_call(self, say: Emitter, block: Block, whole: JsonObject) -> list[Chunk]:
        if "".join(block.pieces).strip():
            return say.tool_input_end(block.call_id)
        given = whole.get("input") or block.told.get("input")
        # No input at all is one that is empty, or one that was cut off: which, the end of the message tells.
        return say.tool_input(block.call_id, block.name, given) if given else []

    def _answer(self, say: Emitter, block: Block) -> Iterator[Chunk]:
        told = block.told
        asked = text_of(told, "tool_use_id")
        call_id, name = self._call_ids.get(asked, asked), block.type.removesuffix(RESULT)
        content = told.get("content")
        kind = text_of(content, "type")
        if told.get("is_error") is True or kind.endswith("_error"):
            words = text_of(content, "error_code") or _words(content)
            about = self._about(type=block.type, content=content)
            yield from say.tool_error(call_id, words or f"{name} failed.", name=name, provider_metadata=about)
            return
        yield from say.tool_output(
            call_id, content, name=name, provider_metadata=self._about(type=block.type)
        )
        yield from self._sources.found(say, content)

    # Citations

    def _cite(self, say: Emitter, block: Block, citation: JsonObject) -> list[Chunk]:
        if not citation or block.type != "text":
            return []
        block.cited.append(citation)
        said, cite = self._sources.cite(say, citation, self._calls.provider)
        block.citations.append(cite)
        return said


def _rest(pieces: list[str], whole: str) -> str:
    said = "".join(pieces)
    return whole[len(said) :] if whole.startswith(said) else ""


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    texts = [text_of(item, "text") for item in objects_of({"content": content}, "content")]
    return "".join(texts) or (said_of(content) if content else "")
