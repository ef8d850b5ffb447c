"""Which field of a part's JSON is which attribute of ours: one table, read in both directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rejoinder.messages import (
    ABSENT,
    Approval,
    Custom,
    Data,
    File,
    Json,
    JsonObject,
    Part,
    Reasoning,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
)
from rejoinder.wire.json import is_array, is_object

MISFIT: Final = object()
"""What reading gives for a value that the attribute cannot hold: the value stays in `extra`."""


class Field(NamedTuple):
    """One field: the attribute that holds it, and how its value is read and written."""

    attribute: str
    read: Callable[[Json], Any]
    write: Callable[[Any], Json] | None = None
    payload: bool = False
    """A payload may be null, and then says so; of anything else, None means that there is none."""


class Form(NamedTuple):
    """The fields of one sort of part, by their names in JSON."""

    make: Callable[..., Any]
    fields: Mapping[str, Field]
    required: tuple[str, ...]
    typed: bool = True
    """Its `type` says which form it has, and is no field of its own."""


def filled(form: Form, body: JsonObject, known: dict[str, Any]) -> Any:
    """The value that the JSON object says, or `MISFIT` if a required field is missing or not what it must be.

    `known` holds the attributes that no field says.
    """
    extra: JsonObject = {}
    for key, value in body.items():
        field = form.fields.get(key)
        if field is None:
            if key != "type" or not form.typed:
                extra[key] = value
            continue
        read = field.read(value)
        if read is MISFIT:
            extra[key] = value
        else:
            known[field.attribute] = read
    for attribute in form.required:
        if attribute not in known:
            return MISFIT
    if extra:
        known["extra"] = extra
    return form.make(**known)


def written(form: Form, value: Part | Approval, body: JsonObject) -> JsonObject:
    """Write all fields of a value into `body`, and give it back."""
    for key, field in form.fields.items():
        held = getattr(value, field.attribute)
        if held is ABSENT or (held is None and not field.payload):
            continue
        if field.write is not None:
            held = field.write(held)
        if held is not ABSENT:
            body[key] = held
    if value.extra:
        body.update(value.extra)
    return body


def _string(value: Json) -> Json:
    return value if isinstance(value, str) else MISFIT


def _boolean(value: Json) -> Json:
    return value if isinstance(value, bool) else MISFIT


def _object(value: Json) -> Json:
    return value if is_object(value) else MISFIT


def _anything(value: Json) -> Json:
    return value


def _one_of(*texts: str) -> Callable[[Json], Json]:
    known = frozenset(texts)
    return lambda value: value if isinstance(value, str) and value in known else MISFIT


def _objects(value: Json) -> Json:
    return value if is_array(value) and all(isinstance(item, dict) for item in value) else MISFIT


def _strings(value: Json) -> Json:
    return value if is_object(value) and all(isinstance(item, str) for item in value.values()) else MISFIT


def _withdrawn(value: Json) -> Json:
    # `dynamic: false` is a mark that the SDK leaves; no other value of the field means anything.
    return True if value is False else MISFIT


def _write_withdrawn(withdrawn: bool) -> Json:  # noqa: FBT001  one signature for all writers
    return False if withdrawn else ABSENT


def _approval(value: Json) -> Json:
    return filled(_APPROVAL, value, {}) if is_object(value) else MISFIT


def _write_approval(approval: Approval) -> Json:
    return written(_APPROVAL, approval, {})


def _steering(value: Json) -> Json:
    if not is_array(value):
        return MISFIT
    parts = [_steering_part(part) for part in value]
    return MISFIT if MISFIT in parts else tuple(parts)


def _steering_part(value: Json) -> Json:
    if not is_object(value) or value.get("type") not in ("text", "file"):
        return MISFIT
    return filled(FORMS[value["type"]], value, {})


def _write_steering(parts: tuple[Text | File, ...]) -> Json:
    return [
        written(FORMS[kind], part, {"type": kind})
        for part in parts
        for kind in ["text" if isinstance(part, Text) else "file"]
    ]


_METADATA: Final = Field("provider_metadata", _object)
_PROGRESS: Final = Field("state", _one_of("streaming", "done"))

_APPROVAL: Final = Form(
    Approval,
    {
        "id": Field("id", _string),
        "approved": Field("approved", _boolean),
        "descriptor": Field("descriptor", _anything, payload=True),
        "requestReason": Field("request_reason", _string),
        "reason": Field("reason", _string),
        "isAutomatic": Field("is_automatic", _boolean),
        "signature": Field("signature", _string),
        "inputSchemaInput": Field("input_schema_input", _anything, payload=True),
    },
    required=("id",),
    typed=False,
)

_STATES: Final = _one_of(
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
)
_CALL_FIELDS: Final = {
    "toolCallId": Field("call_id", _string),
    "title": Field("title", _string),
    "toolMetadata": Field("metadata", _object),
    "state": Field("state", _STATES),
    "input": Field("input", _anything, payload=True),
    "rawInput": Field("raw_input", _anything, payload=True),
    "inputEncoding": Field("input_encoding", _one_of("json", "text")),
    "output": Field("output", _anything, payload=True),
    "errorText": Field("error_text", _string),
    "providerExecuted": Field("provider_executed", _boolean),
    "preliminary": Field("preliminary", _boolean),
    "callProviderMetadata": Field("call_provider_metadata", _object),
    "resultProviderMetadata": Field("result_provider_metadata", _object),
    "approval": Field("approval", _approval, _write_approval),
}
_CALL_REQUIRED: Final = ("name", "call_id", "state")
_WITHDRAWN: Final = Field("withdrawn", _withdrawn, _write_withdrawn)

STATIC_CALL: Final = Form(ToolCall, {"dynamic": _WITHDRAWN, **_CALL_FIELDS}, _CALL_REQUIRED)
"""`tool-NAME`; the type says the name."""

DATA: Final = Form(
    Data, {"id": Field("id", _string), "data": Field("data", _anything, payload=True)}, required=("name",)
)
"""`data-NAME`; the type says the name."""

FORMS: Final[Mapping[str, Form]] = {
    "text": Form(
        Text,
        {
            "text": Field("text", _string),
            "citations": Field("citations", _objects),
            "state": _PROGRESS,
            "providerMetadata": _METADATA,
        },
        required=("text",),
    ),
    "reasoning": Form(
        Reasoning,
        {
            "id": Field("id", _string),
            "text": Field("text", _string),
            "state": _PROGRESS,
            "providerMetadata": _METADATA,
        },
        required=("text",),
    ),
    "custom": Form(
        Custom, {"kind": Field("kind", _string), "providerMetadata": _METADATA}, required=("kind",)
    ),
    "source-url": Form(
        SourceUrl,
        {
            "sourceId": Field("source_id", _string),
            "url": Field("url", _string),
            "title": Field("title", _string),
            "providerMetadata": _METADATA,
        },
        required=("source_id", "url"),
    ),
    "source-document": Form(
        SourceDocument,
        {
            "sourceId": Field("source_id", _string),
            "mediaType": Field("media_type", _string),
            "title": Field("title", _string),
            "filename": Field("filename", _string),
            "providerMetadata": _METADATA,
        },
        required=("source_id", "media_type", "title"),
    ),
    "file": Form(
        File,
        {
            "mediaType": Field("media_type", _string),
            "filename": Field("filename", _string),
            "url": Field("url", _string),
            "providerReference": Field("provider_reference", _strings),
            "providerMetadata": _METADATA,
        },
        required=("media_type", "url"),
    ),
    "reasoning-file": Form(
        ReasoningFile,
        {
            "mediaType": Field("media_type", _string),
            "url": Field("url", _string),
            "providerMetadata": _METADATA,
        },
        required=("media_type", "url"),
    ),
    "steering-message": Form(
        Steering,
        {"id": Field("id", _string), "parts": Field("parts", _steering, _write_steering)},
        required=("id", "parts"),
    ),
    "step-start": Form(StepStart, {}, required=()),
    "dynamic-tool": Form(
        ToolCall,
        {"dynamic": _WITHDRAWN, "toolName": Field("name", _string), **_CALL_FIELDS},
        _CALL_REQUIRED,
    ),
}
"""Every part type that names itself."""
