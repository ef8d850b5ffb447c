"""`UIMessage` JSON ⇄ `Message`, without loss: `to_ui(from_ui(json)) == json`, `from_ui(to_ui(message)) == message`.

Nothing is refused here but what is no message at all; for "does it fit the schema?" see `validate`. What a part
says beyond its fields, or says in a type that we did not expect (null, mostly), stays in `extra`; a part that
lacks what its type needs stays whole, as `Opaque`. Payloads are shared, not copied: messages are values.
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard, assert_never

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.ui_forms import DATA, FORMS, MISFIT, STATIC_CALL, filled, written
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    ABSENT,
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
    Role,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    is_absent,
)
from rejoinder.wire.javascript import text_of
from rejoinder.wire.json import is_array, is_object

_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})
_MESSAGE_FIELDS: Final = frozenset({"id", "role", "parts", "metadata"})


def from_ui(value: Json, *, missing_id: str | None = None) -> Message:
    """Read one `UIMessage`. `missing_id` is for a message that has no id (the SDK's converter asks for none).

    Raises `InvalidMessage` if the value is not an object with an id, a known role and an array of part objects.
    """
    if not is_object(value):
        raise InvalidMessage(
            f"A message is a JSON object, this is {kind_of(value)}: send id, role and parts."
        )
    role = value.get("role", ABSENT)
    if not _is_role(role):
        raise InvalidMessage(
            f"Unsupported role: {text_of(role)}. A message's role is system, user, assistant or tool."
        )
    id = value.get("id", ABSENT if missing_id is None else missing_id)
    if not isinstance(id, str):
        raise InvalidMessage(f"A message's id is a string, this one's is {kind_of(id)}: give it one.")
    parts = value.get("parts", ABSENT)
    if not is_array(parts):
        raise InvalidMessage(
            f"Message {id!r}: parts is {kind_of(parts)}. Send an array of part objects, empty if need be."
        )
    known: dict[str, Any] = {"metadata": value["metadata"]} if "metadata" in value else {}
    extra = {key: item for key, item in value.items() if key not in _MESSAGE_FIELDS}
    kept = tuple([_part(id, index, part) for index, part in enumerate(parts)])
    return Message(id=id, role=role, parts=kept, extra=extra or None, **known)


def to_ui(message: Message) -> JsonObject:
    """Write one `UIMessage`. What belongs to the store (`created_at`, `status`) is not the client's."""
    body: JsonObject = {"id": message.id, "role": message.role}
    if not is_absent(message.metadata):
        body["metadata"] = message.metadata
    body["parts"] = [part_to_ui(part) for part in message.parts]
    return body | message.extra if message.extra else body


def part_from_ui(body: JsonObject) -> Part:
    """Read one part of a `UIMessage`; what we do not know or cannot keep in fields becomes `Opaque`."""
    kind = body.get("type")
    known: dict[str, Any] = {}
    if not isinstance(kind, str):
        return Opaque(body=body)
    form = FORMS.get(kind)
    if form is None:
        if kind.startswith("tool-"):
            form = STATIC_CALL
        elif kind.startswith("data-"):
            form = DATA
        else:
            return Opaque(body=body)
        known["name"] = kind[5:]
    elif kind == "dynamic-tool":
        known["dynamic"] = True
    part = filled(form, body, known)
    return Opaque(body=body) if part is MISFIT else part


def part_to_ui(part: Part) -> JsonObject:
    """Write one part of a `UIMessage`."""
    match part:
        case Text() | Reasoning() | File() | ReasoningFile() | SourceUrl() | SourceDocument() | StepStart():
            kind = str(part.__struct_config__.tag)
        case Custom() | Steering():
            kind = str(part.__struct_config__.tag)
        case ToolCall(dynamic=True):
            kind = "dynamic-tool"
        case ToolCall():
            return written(STATIC_CALL, part, {"type": f"tool-{part.name}"})
        case Data():
            return written(DATA, part, {"type": f"data-{part.name}"})
        case Opaque():
            return dict(part.body)
        case _:
            assert_never(part)
    return written(FORMS[kind], part, {"type": kind})


def _part(id: str, index: int, value: Json) -> Part:
    if not is_object(value):
        raise InvalidMessage(
            f"Message {id!r}: parts[{index}] is {kind_of(value)}. A part is an object with a type: mend or drop it."
        )
    return part_from_ui(value)


def _is_role(value: Json) -> TypeGuard[Role]:
    return isinstance(value, str) and value in _ROLES
