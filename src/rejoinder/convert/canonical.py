"""`Message` ⇄ the canonical message of the agent-runtime specification (`format: 2`).

We write only the six part shapes of that specification. What they cannot say stands in one key of ours, so that
`from_canonical(to_canonical(message)) == message`. We read more: what Mastra and the AI SDK 4 write under the same
format number, and parts of unknown types, which are kept. The thread and the resource are for the caller to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from rejoinder.convert.canonical_parts import read_part, write_part
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.moments import iso_of, moment_of
from rejoinder.convert.remainder import REMAINDER, message_remainder, restored_message
from rejoinder.errors import InvalidJson, InvalidMessage
from rejoinder.messages import (
    File,
    Json,
    JsonObject,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    # Words of other systems; `extra` keeps them.
    "developer": "system",
    "function": "tool",
    "signal": "user",
}
_TYPES: Final = ("text", "tool", "event")
_MESSAGE_FIELDS: Final = frozenset({"id", "threadId", "resourceId", "role", "content", "createdAt", "type"})
_CONTENT_FIELDS: Final = frozenset({"format", "parts", "metadata", REMAINDER})


def to_canonical(message: Message, *, thread_id: str, resource_id: str | None = None) -> JsonObject:
    """Write one `CanonicalMessage`. `createdAt` is left out if the message does not know it."""
    content: JsonObject = {"format": 2, "parts": [write_part(part) for part in message.parts]}
    text = _text(message.parts)
    if text is not None:
        content["content"] = text
    if is_object(message.metadata):
        content["metadata"] = message.metadata
    kept = (message.extra or {}).get("content")
    if is_object(kept) and "providerMetadata" in kept:
        content["providerMetadata"] = kept["providerMetadata"]
    body: JsonObject = {
        "id": message.id,
        "threadId": thread_id,
        "role": message.role,
        "type": _type(message),
        "content": content,
    }
    if message.created_at is not None:
        body["createdAt"] = iso_of(message.created_at)
    if resource_id is not None:
        body["resourceId"] = resource_id
    rest = message_remainder(message, _read(message.id, message.role, body, content, message.parts))
    if rest:
        content[REMAINDER] = rest
    return body


def from_canonical(value: Json) -> Message:
    """Read one `CanonicalMessage`, ours or another system's.

    Raises `InvalidMessage`, naming the path, for what is no such message; unknown parts and fields are kept.
    """
    if not is_object(value):
        raise InvalidMessage(f"$: a canonical message is an object, this is {kind_of(value)}.")
    id, role = value.get("id"), value.get("role")
    if not isinstance(id, str):
        raise InvalidMessage(f"$.id: a message's id is a string, this is {kind_of(id)}.")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidMessage(f"$.role: system, user, assistant or tool, not {role!r}.")
    content = _content(value.get("content"))
    parts, rest_of_content = _parts(content)
    message = _read(id, _ROLES[role], value, rest_of_content, parts)
    return restored_message(message, content.get(REMAINDER, {}), f"$.content.{REMAINDER}")


def _read(id: str, role: Role, body: JsonObject, content: JsonObject, parts: tuple[Part, ...]) -> Message:
    """What the specification's own fields say, and foreign ones."""
    message = Message(
        id=id,
        role=role,
        parts=parts,
        created_at=moment_of(body.get("createdAt"), "$.createdAt"),
        extra=_extra(body, content, parts),
    )
    return structs.replace(message, metadata=content["metadata"]) if "metadata" in content else message


def _type(message: Message) -> str:
    """What was read as another type than we would say stays of that type."""
    kept = (message.extra or {}).get("type")
    return kept if kept in _TYPES else _type_of(message.parts)


def _type_of(parts: Sequence[Part]) -> str:
    # The specification names three types and defines none: what says something is text, what only calls is tool,
    # and what does neither (data, sources, steps) is an event.
    if any(isinstance(part, Text | File) for part in parts):
        return "text"
    if any(isinstance(part, ToolCall) for part in parts):
        return "tool"
    return "text" if not parts or any(isinstance(part, Reasoning) for part in parts) else "event"


def _text(parts: Sequence[Part]) -> str | None:
    texts = [part.text for part in parts if isinstance(part, Text)]
    return json.rejoin_surrogates("".join(texts)) if texts else None


def _extra(value: JsonObject, content: JsonObject, parts: Sequence[Part]) -> JsonObject | None:
    """What the message says that neither a field of ours nor its parts say."""
    extra = {key: item for key, item in value.items() if key not in _MESSAGE_FIELDS}
    role, kind = value["role"], value.get("type")
    if role != _ROLES[role]:
        extra["role"] = role
    if "type" in value and kind != _type_of(parts):
        extra["type"] = kind
    kept = {key: item for key, item in content.items() if key not in _CONTENT_FIELDS}
    if kept.get("content") == _text(parts):
        kept.pop("content", None)
    if kept:
        extra["content"] = kept
    return extra or None


def _content(value: Json) -> JsonObject:
    if is_array(value):
        return {"parts": value}
    if isinstance(value, str):
        return _stored(value) or {"content": value}
    if not is_object(value):
        raise InvalidMessage(f"$.content: an object with format 2 and parts, this is {kind_of(value)}.")
    if value.get("format", 2) != 2:
        raise InvalidMessage(f"$.content.format: we read format 2, not {value['format']!r}.")
    return value


def _stored(text: str) -> JsonObject | None:
    # Mastra's tables keep the content as JSON in a text column, and plain text in the same column.
    if not text.startswith("{"):
        return None
    try:
        value = json.decode(text)
    except InvalidJson:
        return None
    return value if is_object(value) and "parts" in value and value.get("format") == 2 else None


def _parts(content: JsonObject) -> tuple[tuple[Part, ...], JsonObject]:
    """The parts, and the content without what has become one."""
    listed = content.get("parts")
    if not (listed is None or is_array(listed)):
        raise InvalidMessage(f"$.content.parts: an array of parts, this is {kind_of(listed)}.")
    parts = [_part(body, f"$.content.parts[{index}]") for index, body in enumerate(listed or [])]
    used = {"parts"}
    if not parts:
        parts, used = _before_parts(content)
    attachments = content.get("experimental_attachments")
    if is_array(attachments) and not any(isinstance(part, File) for part in parts):
        files = [_attachment(item) for item in attachments]
        if all(file is not None for file in files):
            parts += [file for file in files if file is not None]
            used.add("experimental_attachments")
    return tuple(parts), {key: item for key, item in content.items() if key not in used}


def _part(body: Json, path: str) -> Part:
    if not is_object(body):
        raise InvalidMessage(f"{path}: a part is an object, this is {kind_of(body)}.")
    return read_part(body, path)


def _before_parts(content: JsonObject) -> tuple[list[Part], set[str]]:
    """What a message says in the fields that the AI SDK 4 had before it had parts."""
    parts: list[Part] = []
    used = {"parts"}
    thought, calls, text = content.get("reasoning"), content.get("toolInvocations"), content.get("content")
    if isinstance(thought, str) and thought:
        parts.append(Reasoning(text=thought))
        used.add("reasoning")
    if is_array(calls) and all(is_object(call) for call in calls):
        bodies = [{"type": "tool-invocation", "toolInvocation": call} for call in calls]
        parts += [read_part(body, f"$.content.toolInvocations[{n}]") for n, body in enumerate(bodies)]
        used.add("toolInvocations")
    if isinstance(text, str) and text:
        parts.append(Text(text=text))
    return parts, used


def _attachment(value: Json) -> File | None:
    if not is_object(value) or not isinstance(value.get("url"), str):
        return None
    kind, name = value.get("contentType"), value.get("name")
    return File(
        media_type=kind if isinstance(kind, str) else "application/octet-stream",
        url=value["url"],
        filename=name if isinstance(name, str) else None,
    )
