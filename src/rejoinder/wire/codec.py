"""Chunks ⇄ JSON ⇄ server-sent events, strictly in and exactly out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from rejoinder.errors import InvalidChunk
from rejoinder.wire import json
from rejoinder.wire.chunks import (
    CHUNK_TYPES,
    Chunk,
    DataChunk,
    KnownChunk,
    MessageMetadata,
    ReasoningDelta,
    TextDelta,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolOutputAvailable,
    UnknownChunk,
)
from rejoinder.wire.json import Json, JsonObject

DONE: Final = b"data: [DONE]\n\n"
"""What ends a stream that came to its end. Clients neither need nor check it."""

_PAYLOADS: Final[dict[type, str]] = {
    ToolInputAvailable: "input",
    ToolInputError: "input",
    ToolOutputAvailable: "output",
    MessageMetadata: "message_metadata",
}

_SPECIAL: Final = frozenset({*_PAYLOADS, DataChunk, UnknownChunk})
"""Chunks that are not written as they stand: a required payload may be missing, or the type is a name."""

_DELTAS: Final = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(KnownChunk).decode


def decode_chunk(text: bytes | str) -> Chunk:
    """Read one chunk from its JSON. Raises `InvalidJson` or `InvalidChunk`."""
    try:
        chunk: Chunk = _decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return chunk_from_json(json.decode(text))
    return chunk


def chunk_from_json(value: Json) -> Chunk:
    """Read one chunk from a JSON value that is decoded already."""
    if not json.is_object(value):
        raise InvalidChunk(f"a chunk is a JSON object, this is {_describe(value)}")
    kind = value.get("type")
    if not isinstance(kind, str):
        has = _describe(kind) if "type" in value else "none"
        raise InvalidChunk(f"a chunk names its type as a string, this one has {has}")
    try:
        if kind.startswith("data-"):
            return _data_chunk(kind, value)
        if kind not in CHUNK_TYPES:
            return UnknownChunk(body=value)
        chunk: KnownChunk = json.read_as(value, KnownChunk)
    except msgspec.ValidationError as error:
        raise InvalidChunk(f"{kind}: {error}") from None
    return chunk


def unread_fields(value: JsonObject) -> tuple[str, ...]:
    """The fields of a chunk's JSON that the protocol does not name. We pass over them; strict clients die of them."""
    kind = CHUNK_TYPES.get(value["type"])
    if kind is None:
        return ()
    return tuple(name for name in value if name != "type" and name not in kind.__struct_encode_fields__)


def encode_chunk(chunk: Chunk) -> bytes:
    """Write one chunk as JSON that every client can parse."""
    if type(chunk) in _SPECIAL:
        return json.encode_harmless(_complete(chunk))
    return json.encode_harmless(chunk)


def chunk_to_json(chunk: Chunk) -> JsonObject:
    """The chunk as a JSON value."""
    fields: JsonObject = msgspec.to_builtins(_complete(chunk) if type(chunk) in _SPECIAL else chunk)
    return fields


def encode_event(chunk: Chunk, *, event_id: str | None = None) -> bytes:
    """Write one chunk as a server-sent event, as the AI SDK's own server does, plus an `id:` line if asked."""
    if event_id is None:
        if type(chunk) in _DELTAS and getattr(chunk, "provider_metadata", msgspec.UNSET) is msgspec.UNSET:
            try:
                # Nearly every chunk is one of these. It has no keys of anybody's choice, so none can do harm.
                return b"data: %b\n\n" % _encode(chunk)
            except UnicodeEncodeError:
                pass  # half a character, which `encode_chunk` can say
        return b"data: %b\n\n" % encode_chunk(chunk)
    return b"id: %b\ndata: %b\n\n" % (event_id.encode(), encode_chunk(chunk))


def encode_stream(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """Write chunks as server-sent events, one piece of bytes each, and the closing `[DONE]`."""
    for chunk in chunks:
        yield encode_event(chunk)
    yield DONE


def _data_chunk(kind: str, value: JsonObject) -> DataChunk:
    rest = dict(value)
    del rest["type"]
    known: JsonObject = {name: rest.pop(name) for name in ("id", "data", "transient") if name in rest}
    fields: JsonObject = {"name": kind[5:], "extra": rest or None, **known}
    chunk: DataChunk = json.read_as(fields, DataChunk)
    return chunk


def _complete(chunk: Chunk) -> Chunk | JsonObject:
    """The chunk with its payload key, which must be there whatever it holds: null stands for nothing."""
    if isinstance(chunk, UnknownChunk):
        return chunk.body
    if isinstance(chunk, DataChunk):
        fields: JsonObject = {"type": chunk.type, "data": None if chunk.data is msgspec.UNSET else chunk.data}
        if chunk.id is not msgspec.UNSET:
            fields["id"] = chunk.id
        if chunk.transient is not msgspec.UNSET:
            fields["transient"] = chunk.transient
        return fields | (chunk.extra or {})
    name = _PAYLOADS[type(chunk)]
    if getattr(chunk, name) is msgspec.UNSET:
        return msgspec.structs.replace(chunk, **{name: None})
    return chunk


def _describe(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
