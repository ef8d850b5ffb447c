"""`UIMessage` JSON of the AI SDK 4 ⇄ `Message`.

Reading keeps everything that a field or a part says, in the older form (`content`, `reasoning`, `toolInvocations`,
`experimental_attachments`) as well as in the later one with parts. Writing is for programs that are still there:
what that version had no word for is left out, see docs/formats.md.
"""

from __future__ import annotations

from typing import Final, assert_never

from msgspec import structs

from rejoinder.convert.canonical import from_canonical
from rejoinder.convert.canonical_parts import write_part
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.moments import iso_of, moment_of
from rejoinder.convert.remainder import REMAINDER
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    Custom,
    Data,
    File,
    Json,
    JsonObject,
    Message,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    is_absent,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

DATA_MESSAGE: Final = "ai-sdk-4-data"
"""The type of a part that holds a message of the role `data`, which no later version has and no model was shown."""

_SAID: Final = ("content", "parts", "reasoning", "toolInvocations", "experimental_attachments")
_FIELDS: Final = frozenset({*_SAID, "id", "role", "createdAt", "metadata"})


def from_ui_4(value: Json, *, missing_id: str | None = None) -> Message:
    """Read one message. Raises `InvalidMessage`, naming the path, for what is none."""
    if not is_object(value):
        raise InvalidMessage(f"$: a message is an object, this is {kind_of(value)}.")
    id = value.get("id", missing_id)
    if value.get("role") == "data" and isinstance(id, str):
        return Message(
            id=id, role="assistant", parts=(Opaque(body={"type": DATA_MESSAGE, "message": value}),)
        )
    content = {key: value[key] for key in _SAID if key in value}
    read = from_canonical({"id": id, "role": value.get("role"), "content": content})
    rest = {key: item for key, item in value.items() if key not in _FIELDS}
    rest |= _not_said_twice((read.extra or {}).get("content", {}), value, read)
    message = structs.replace(
        read,
        parts=tuple(map(_plain, read.parts)),
        created_at=moment_of(value.get("createdAt"), "$.createdAt"),
        extra=rest or None,
    )
    return structs.replace(message, metadata=value["metadata"]) if "metadata" in value else message


def to_ui_4(message: Message) -> JsonObject:
    """Write one message, with its parts and, for readers that know none, its text, calls and attachments."""
    first = message.parts[0] if len(message.parts) == 1 else None
    if isinstance(first, Opaque) and first.kind == DATA_MESSAGE and is_object(first.body.get("message")):
        return dict(first.body["message"])
    body: JsonObject = {"id": message.id, "role": message.role, "content": _text(message)}
    if message.created_at is not None:
        body["createdAt"] = iso_of(message.created_at)
    if not is_absent(message.metadata):
        body["metadata"] = message.metadata
    attached = [_attachment(part) for part in message.parts if _is_attachment(part, message)]
    told = [_part(part) for part in message.parts if not _is_attachment(part, message)]
    parts = [part for part in told if part is not None]
    body["parts"] = parts
    calls = _invocations(parts)
    if calls:
        body["toolInvocations"] = calls
    if attached:
        body["experimental_attachments"] = attached
    return body | (message.extra or {})


def _text(message: Message) -> str:
    return json.rejoin_surrogates("".join(part.text for part in message.parts if isinstance(part, Text)))


def _not_said_twice(kept: JsonObject, value: JsonObject, read: Message) -> JsonObject:
    """What of the older fields the parts do not say: later versions wrote both."""
    rest = dict(kept)
    parts = value.get("parts")
    if rest.get("content") == _text(read):
        del rest["content"]
    if rest.get("toolInvocations") == _invocations(parts if is_array(parts) else []):
        rest.pop("toolInvocations", None)
    return rest


def _invocations(parts: list[Json]) -> list[Json]:
    return [
        part["toolInvocation"]
        for part in parts
        if is_object(part) and part.get("type") == "tool-invocation" and "toolInvocation" in part
    ]


def _usual_details(text: str) -> Json:
    return [{"type": "text", "text": text}]


def _plain(part: Part) -> Part:
    """The part without what `to_ui_4` says in any case."""
    usual: JsonObject = {}
    if isinstance(part, Reasoning):
        usual = {"details": _usual_details(part.text)}
    elif isinstance(part, ToolCall) and part.state == "output-error":
        usual = {"isError": True}
    rest = {key: item for key, item in (part.extra or {}).items() if key not in usual or usual[key] != item}
    return structs.replace(part, extra=rest or None)


def _is_attachment(part: Part, message: Message) -> bool:
    # Of a user's message that version shows a model the attachments only; of an assistant's, the parts.
    return isinstance(part, File) and message.role != "assistant"


def _attachment(part: Part) -> JsonObject:
    if not isinstance(part, File):
        return {}
    named: JsonObject = {} if part.filename is None else {"name": part.filename}
    return {**named, "contentType": part.media_type, "url": part.url}


def _part(part: Part) -> JsonObject | None:
    extra = part.extra or {}
    match part:
        case Text():
            return {"type": "text", "text": part.text, **extra}
        case Reasoning():
            shape = _shape(part)
            details = shape.get("details", _usual_details(part.text))
            return {"type": "reasoning", "reasoning": part.text, "details": details, **extra}
        case ToolCall():
            shape = _shape(part)
            invocation = {
                key: shape[key]
                for key in ("state", "toolCallId", "toolName", "args", "result")
                if key in shape
            }
            failed: JsonObject = {}
            if part.state == "output-error":
                failed = {"result": part.error_text or "", "isError": True}
            return {"type": "tool-invocation", "toolInvocation": {**invocation, **failed, **extra}}
        case File():
            return {**_shape(part), **extra}
        case SourceUrl():
            source: JsonObject = {"sourceType": "url", "id": part.source_id, "url": part.url}
            if part.title is not None:
                source["title"] = part.title
            if part.provider_metadata is not None:
                source["providerMetadata"] = part.provider_metadata
            return {"type": "source", "source": {**source, **extra}}
        case StepStart():
            return {"type": "step-start", **extra}
        case Opaque():
            return dict(part.body)
        case ReasoningFile() | SourceDocument() | Data() | Custom() | Steering():
            return None  # That version has no word for it.
        case _:
            assert_never(part)


def _shape(part: Part) -> JsonObject:
    shape = write_part(part)
    shape.pop(REMAINDER, None)
    return shape
