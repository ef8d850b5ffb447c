"""What the content of a LangChain message says, piece by piece, whoever's model wrote it.

A content is a text, or blocks: LangChain's own of version 1, or the vendor's (Anthropic's, OpenAI's of both APIs).
Calls of the graph's own tools are not among the pieces: messages have them in fields of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.fields import (
    array_of,
    object_of,
    objects_of,
    said_of,
    text_of,
    text_or_none,
    without,
)
from rejoinder.wire.chunks import ProviderMetadata
from rejoinder.wire.json import is_array, is_object
from rejoinder.wire.openai_tool_items import (
    TOOL_ITEMS,
    arguments_of,
    error_of,
    image_of,
    input_of,
    output_of,
)

_TEXTS: Final = frozenset({"text", "text_delta", "output_text", "refusal", "text-plain"})
_THOUGHTS: Final = frozenset({"thinking", "reasoning", "reasoning_content", "thinking_delta"})
_FILES: Final = frozenset({"image", "file", "audio", "video", "image_url", "input_image", "media"})
_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use", "server_tool_call", "server_tool_call_chunk"})
_RESULT: Final = "_tool_result"
_OPENAI_CALL: Final = "_call"
_FAILED: Final = "The tool failed and did not say why."
_OURS: Final = frozenset({"function_call", "custom_tool_call", "tool_call"})
"""Calls of the graph's tools, as they stand in the content."""


class Said(Struct, frozen=True):
    """What was said, and the pages it rests on: URL and title."""

    text: str
    sources: tuple[tuple[str, str | None], ...] = ()


class Thought(Struct, frozen=True):
    """What was thought, with what the vendor wants to be told again."""

    text: str
    metadata: ProviderMetadata | None = None


class Shown(Struct, frozen=True):
    """A picture, or any other file."""

    url: str
    media_type: str


class Hosted(Struct, frozen=True, kw_only=True):
    """A call that the vendor makes itself, or more of its input; `index` tells which one."""

    id: str = ""
    name: str = ""
    input: Json = None
    delta: str = ""
    index: int | str | None = None


class Answered(Struct, frozen=True):
    """What came of such a call."""

    call_id: str
    output: Json
    error: str | None = None


Piece: TypeAlias = Said | Thought | Shown | Hosted | Answered


def pieces_of(message: JsonObject) -> Iterator[Piece]:
    """What a message of a model holds, in its order."""
    extra = object_of(message, "additional_kwargs")
    thought = text_of(extra, "reasoning_content")
    thought += "".join(text_of(part, "text") for part in objects_of(extra, "reasoning", "summary"))
    if thought:
        yield Thought(thought)
    content = message.get("content")
    if isinstance(content, str):
        yield Said(content)
    for block in content if is_array(content) else []:
        if isinstance(block, str):
            yield Said(block)
        elif is_object(block):
            yield from _pieces_in(block)
    if text_of(extra, "refusal"):
        yield Said(text_of(extra, "refusal"))
    data = text_of(extra, "audio", "data")
    if text_of(extra, "audio", "transcript"):
        yield Said(text_of(extra, "audio", "transcript"))
    if data:
        yield Shown(f"data:audio/wav;base64,{data}", "audio/wav")


def text_in(message: JsonObject) -> str:
    """All that was said in a message."""
    return "".join(piece.text for piece in pieces_of(message) if isinstance(piece, Said))


def thought_in(message: JsonObject) -> str:
    """All that was thought in a message."""
    return "".join(piece.text for piece in pieces_of(message) if isinstance(piece, Thought))


def _pieces_in(block: JsonObject) -> Iterator[Piece]:
    kind = text_of(block, "type")
    if kind == "non_standard" and object_of(block, "value"):
        yield from _pieces_in(object_of(block, "value"))
    elif kind in _TEXTS:
        said = text_of(block, "text") or text_of(block, "refusal")
        yield Said(said, tuple(_sources(block)))
    elif kind in _THOUGHTS:
        yield _thought(block)
    elif kind == "redacted_thinking":
        yield Thought("", {"anthropic": {"redactedData": text_of(block, "data")}})
    elif kind in _FILES:
        yield from _file(block)
    elif kind == "image_generation_call":
        yield from _openai_call(block, kind)
        image = image_of(block)
        if image is not None:
            yield Shown(*image)
    elif kind in _CALLS:
        yield _call(block)
    elif kind == "input_json_delta":
        yield Hosted(delta=text_of(block, "partial_json"), index=_index(block))
    elif kind == "server_tool_result" or kind.endswith(_RESULT):
        yield _answer(block)
    elif kind.endswith(_OPENAI_CALL) and kind not in _OURS and text_of(block, "id"):
        yield from _openai_call(block, kind)


def _thought(block: JsonObject) -> Thought:
    words = [text_of(block, name) for name in ("thinking", "reasoning", "text")]
    pieces = [next(filter(None, words), "")]
    if not any(pieces):
        pieces = [text_of(part, "text") for part in objects_of(block, "summary")]
        pieces += [text_of(part, "text") for part in objects_of(block, "content")]
    extras = object_of(block, "extras")
    signature = text_of(block, "signature") or text_of(extras, "signature")
    encrypted = text_of(block, "encrypted_content") or text_of(extras, "encrypted_content")
    metadata: ProviderMetadata = {}
    if signature:
        metadata["anthropic"] = {"signature": signature}
    if encrypted:
        metadata["openai"] = {"itemId": text_of(block, "id"), "reasoningEncryptedContent": encrypted}
    return Thought("".join(pieces), metadata or None)


def _sources(block: JsonObject) -> Iterator[tuple[str, str | None]]:
    for cited in objects_of(block, "annotations") + objects_of(block, "citations"):
        told = object_of(cited, "url_citation") or cited
        url = text_of(told, "url") or text_of(told, "source")
        if url.startswith(("https://", "http://")):
            yield url, text_or_none(told, "title")


def _file(block: JsonObject) -> Iterator[Shown]:
    url = text_of(block, "url") or text_of(block, "image_url", "url") or text_of(block, "image_url")
    source = object_of(block, "source")
    data = text_of(block, "base64") or text_of(block, "data") or text_of(source, "data")
    media_type = text_of(block, "mime_type") or text_of(source, "media_type")
    if not media_type and url.startswith("data:"):
        media_type = url[5:].partition(",")[0].partition(";")[0]
    media_type = media_type or (
        "image/png" if "image" in text_of(block, "type") else "application/octet-stream"
    )
    url = url or text_of(source, "url")
    if url or data:
        yield Shown(url or f"data:{media_type};base64,{data}", media_type)


def _call(block: JsonObject) -> Hosted:
    given = block.get("input", block.get("args"))
    return Hosted(
        id=text_of(block, "id"),
        name=text_of(block, "name"),
        input=given if is_object(given) and given else None,
        delta=given if isinstance(given, str) else text_of(block, "partial_json"),
        index=_index(block),
    )


def _answer(block: JsonObject) -> Answered:
    output = block.get("output", block.get("content"))
    failed = text_of(block, "status") == "error" or block.get("is_error") is True
    kind = text_of(output, "type")
    error = None
    if failed or kind.endswith("_error"):
        said = text_of(output, "error_code") or text_of(block, "extras", "error")
        error = said or (said_of(output) if output else _FAILED)
    return Answered(text_of(block, "tool_use_id") or text_of(block, "tool_call_id"), output, error)


def _openai_call(block: JsonObject, kind: str) -> Iterator[Piece]:
    """A call of a tool that OpenAI runs: it comes whole, when it is over."""
    call_id, tool = text_of(block, "id"), TOOL_ITEMS.get(kind)
    told = without(block, "index")
    if tool is not None:
        yield Hosted(id=call_id, name=tool.name, input=input_of(told, tool))
        yield Answered(call_id, output_of(told, tool), error_of(told, tool.name))
        return
    name = text_of(block, "name") or kind.removesuffix(_OPENAI_CALL)
    yield Hosted(
        id=call_id,
        name=f"mcp.{name}" if kind == "mcp_call" else name,
        input=arguments_of(block.get("arguments", block.get("input"))),
    )
    yield Answered(call_id, block.get("output"), error_of(told, name))


def _index(block: JsonObject) -> int | str | None:
    index = block.get("index")
    return index if isinstance(index, int | str) and not isinstance(index, bool) else None


def calls_in(message: JsonObject) -> list[JsonObject]:
    """The calls that a message tells whole, those that could not be read among them."""
    broken = [{**call, "broken": True} for call in objects_of(message, "invalid_tool_calls")]
    return [*objects_of(message, "tool_calls"), *broken]


def has_words(message: JsonObject) -> bool:
    """Whether a message, or a piece of one, says anything at all."""
    said = any(not isinstance(piece, Said) or piece.text for piece in pieces_of(message))
    return said or bool(array_of(message, "tool_call_chunks")) or bool(array_of(message, "tool_calls"))
