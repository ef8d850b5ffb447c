"""The content blocks of Claude's messages: as they stream, and as the snapshot that says each of them once more.

A block comes twice when partial messages are on (its events, and an `assistant` message before its last event) and
once when they are off. The nth block of a kind in a message is the same block, whichever way it comes; a call is
known by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.anthropic_sources import Sources
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.claude_code.accounts import PROVIDER
from rejoinder.translate.claude_code.results import server_result
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, objects_of, text_of, text_or_none
from rejoinder.translate.notes import Problem
from rejoinder.wire.chunks import Chunk, ProviderMetadata

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})

_DELTA_FIELDS: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
}
"""Kind of delta: the kind of block that it opens if none is open, and the field that holds the text."""


class Block(Struct, kw_only=True):
    """What was said of one block."""

    kind: str
    key: str
    call_id: str = ""
    name: str = ""
    said: list[str] = field(default_factory=list[str])
    signature: str = ""
    cited: list[JsonObject] = field(default_factory=list[JsonObject])
    citations: list[JsonObject] = field(default_factory=list[JsonObject])
    confirmed: bool = False
    closed: bool = False


class Blocks:
    """The blocks of one thread: the main one, or that of a subagent (`parent` is the call that started it)."""

    def __init__(self, sources: Sources, parent: str | None = None) -> None:
        self.message_id = ""
        self.spoke = False
        self._sources = sources
        self._parent = parent
        self._open: dict[int, Block] = {}
        self._said: dict[str, list[Block]] = {}
        self._count = 0

    def begin(self, message_id: str) -> None:
        """A message begins to stream."""
        self.message_id = message_id
        self._open.clear()

    @property
    def speaking(self) -> bool:
        """Whether a block is being streamed."""
        return bool(self._open)

    def start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        """`content_block_start`."""
        given = object_of(event, "content_block")
        return self._start(say, integer_of(event, "index") or 0, given)

    def _start(self, say: Emitter, index: int, given: JsonObject) -> Iterator[Chunk]:
        kind = text_of(given, "type")
        if kind.endswith("_tool_result"):
            yield from server_result(say, given, self._sources)
            return
        block = self._open[index] = self._new(kind, given)
        if kind == "text" or kind in THOUGHTS:
            yield from self._say_start(say, block, given)
            yield from self._say_more(say, block, text_of(given, "text") or text_of(given, "thinking"))
        elif kind in CALLS and block.name and self._parent is None:
            yield from say.tool_input_start(
                block.call_id,
                block.name,
                dynamic=True,
                provider_executed=True,
                title=_title(block.name, given),
                provider_metadata=self._metadata(),
            )

    def delta(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """`content_block_delta`."""
        index = integer_of(event, "index") or 0
        delta = object_of(event, "delta")
        kind = text_of(delta, "type")
        if kind in _DELTA_FIELDS:
            opens, name = _DELTA_FIELDS[kind]
            if index not in self._open:
                yield from self._start(say, index, {"type": opens})
            block = self._open[index]
            if block.kind == opens:
                yield from self._say_more(say, block, text_of(delta, name))
            return
        block_or_none = self._open.get(index)
        if block_or_none is None:
            say.note(Problem(text=f"a {kind or 'delta'} of Claude belongs to no content block"))
            return
        match kind:
            case "input_json_delta":
                yield from self._say_more(say, block_or_none, text_of(delta, "partial_json"))
            case "signature_delta":
                block_or_none.signature += text_of(delta, "signature")
            case "citations_delta":
                yield from self._cite(say, block_or_none, object_of(delta, "citation"))
            case _ if block_or_none.kind == "text" or block_or_none.kind in CALLS | THOUGHTS:
                say.note(Problem(text=f"delta {kind!r} of Claude is not known: it is kept as it came"))
            case _:
                pass  # More of a block that we do not know: its snapshot shows it whole.

    def stop(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """`content_block_stop`."""
        block = self._open.pop(integer_of(event, "index") or 0, None)
        if block is not None:
            yield from self._say_end(say, block)

    def snapshot(self, say: Emitter, message_id: str, content: Json) -> Iterator[Chunk]:
        """The blocks of an `assistant` message: what of them was not said yet."""
        for given in [{"type": "text", "text": content}] if isinstance(content, str) else objects_of(content):
            kind = text_of(given, "type")
            if kind.endswith("_tool_result"):
                yield from server_result(say, given, self._sources)
            elif kind in CALLS:
                yield from self._snapshot_of_call(say, message_id, given)
            elif kind == "text" or kind in THOUGHTS:
                yield from self._snapshot_of_text(say, message_id, given)
            else:
                # Whatever it is: it is shown as it came. While it streams there is nothing to show of it.
                about = {**(self._metadata() or {}), PROVIDER: {"block": given}}
                yield from say.custom(f"{PROVIDER}.{kind or 'block'}", provider_metadata=about)

    def close(self, say: Emitter) -> Iterator[Chunk]:
        """End what is open: no more will come of it."""
        for block in [block for blocks in self._said.values() for block in blocks]:
            if block.kind not in CALLS:
                yield from self._say_end(say, block)

    def forget(self) -> None:
        """What the current message said was taken back."""
        self._open.clear()
        self._said.pop(self.message_id, None)

    def _snapshot_of_call(self, say: Emitter, message_id: str, given: JsonObject) -> Iterator[Chunk]:
        call_id = text_of(given, "id")
        calls = (block for block in self._blocks(message_id) if block.kind in CALLS)
        known = next((block for block in calls if block.call_id == call_id), None)
        if known is not None and known.closed:
            return
        block = known or self._new("tool_use", given, message_id)
        block.closed = True
        name = text_of(given, "name") or block.name or UNKNOWN_TOOL
        yield from say.tool_input(
            block.call_id,
            name,
            given.get("input"),
            dynamic=True,
            provider_executed=True,
            title=_title(name, given),
            provider_metadata=self._metadata(),
        )

    def _snapshot_of_text(self, say: Emitter, message_id: str, given: JsonObject) -> Iterator[Chunk]:
        kind = text_of(given, "type")
        text = text_of(given, "thinking" if kind in THOUGHTS else "text")
        streamed = (block for block in self._blocks(message_id) if block.kind == kind and not block.confirmed)
        block = next(streamed, None)
        if block is None:
            block = self._new(kind, given, message_id)
            block.signature = text_of(given, "signature")
            block.confirmed = True
            yield from self._say_start(say, block, given)
            yield from self._say_more(say, block, text)
            for citation in objects_of(given, "citations"):
                yield from self._cite(say, block, citation)
            yield from self._say_end(say, block)
            return
        block.confirmed = True
        block.signature = block.signature or text_of(given, "signature")
        said = "".join(block.said)
        if not block.closed and text.startswith(said):
            yield from self._say_more(say, block, text[len(said) :])
        elif not text.startswith(said):
            say.note(Problem(text=f"the snapshot of a {kind} block differs from what was streamed of it"))

    def _new(self, kind: str, given: JsonObject, message_id: str | None = None) -> Block:
        self._count += 1
        key = f"{self._parent or ''}/{self._count}"
        block = Block(kind=kind, key=key, call_id=text_of(given, "id") or key, name=text_of(given, "name"))
        self._said.setdefault(self.message_id if message_id is None else message_id, []).append(block)
        return block

    def _blocks(self, message_id: str) -> list[Block]:
        return self._said.get(message_id, [])

    def _say_start(self, say: Emitter, block: Block, given: JsonObject) -> list[Chunk]:
        if block.kind == "text":
            self.spoke = True
            return say.text_start(block.key, provider_metadata=self._metadata())
        redacted = text_or_none(given, "data")
        metadata = self._metadata()
        if redacted is not None:
            metadata = {**(metadata or {}), PROVIDER: {"redactedData": redacted}}
        return say.reasoning_start(block.key, provider_metadata=metadata)

    def _say_more(self, say: Emitter, block: Block, text: str) -> list[Chunk]:
        if not text or block.closed:
            return []
        block.said.append(text)
        if block.kind in CALLS:
            is_streamed = block.name and self._parent is None
            return say.tool_input_delta(block.call_id, text) if is_streamed else []
        # A step of another thread may have ended this part: then what follows is one of its own.
        begun = self._say_start(say, block, {})
        if block.kind == "text":
            return begun + say.text(text, block.key)
        return begun + say.reasoning(text, block.key)

    def _cite(self, say: Emitter, block: Block, citation: JsonObject) -> list[Chunk]:
        if not citation or block.closed:
            return []
        said, cite = self._sources.cite(say, citation, PROVIDER)
        block.cited.append(citation)
        block.citations.append(cite)
        return said

    def _say_end(self, say: Emitter, block: Block) -> list[Chunk]:
        if block.closed:
            return []
        block.closed = True
        if block.kind in CALLS:
            return self._say_call(say, block)
        if block.kind == "text":
            about = (
                {**(self._metadata() or {}), PROVIDER: {"citations": block.cited}} if block.cited else None
            )
            return say.text_end(block.key, provider_metadata=about, citations=block.citations or None)
        metadata: ProviderMetadata | None = self._metadata()
        if block.signature:
            metadata = {**(metadata or {}), PROVIDER: {"signature": block.signature}}
        return say.reasoning_end(block.key, provider_metadata=metadata)

    def _say_call(self, say: Emitter, block: Block) -> list[Chunk]:
        begun: list[Chunk] = []
        if self._parent is not None or not block.name:
            begun = say.tool_input_start(
                block.call_id,
                block.name or UNKNOWN_TOOL,
                dynamic=True,
                provider_executed=True,
                title=_title(block.name, {}),
                provider_metadata=self._metadata(),
            )
            begun += say.tool_input_delta(block.call_id, "".join(block.said))
        return begun + say.tool_input_end(block.call_id, provider_metadata=self._metadata())

    def _metadata(self) -> ProviderMetadata | None:
        return None if self._parent is None else {"claude-code": {"parentToolCallId": self._parent}}


def _title(name: str, given: JsonObject) -> str | None:
    """`mcp__demo__get_weather` in words for people."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and tool:
        return f"{tool} ({server})"
    server = text_of(given, "server_name")
    return f"{name} ({server})" if server else None
