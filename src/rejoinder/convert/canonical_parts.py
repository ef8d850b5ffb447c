"""The parts of the canonical message: the six shapes that we write, and the many that we read.

Between the two formats stands the JSON of a `UIMessage` part, which says everything: reading is renaming fields to
its names, and whatever has no name there is kept under its own.
"""

from __future__ import annotations

import base64
import re
from typing import Final, assert_never

from rejoinder.convert.remainder import REMAINDER, outcome, remainder, restored
from rejoinder.convert.ui import part_from_ui, part_to_ui
from rejoinder.messages import (
    ABSENT,
    Custom,
    Data,
    File,
    Json,
    JsonObject,
    Maybe,
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
    ToolState,
    is_absent,
)
from rejoinder.wire import json
from rejoinder.wire.javascript import property_order
from rejoinder.wire.json import is_array, is_object

_WRITTEN_STATES: Final[dict[ToolState, str]] = {
    "input-streaming": "partial-call",
    "input-available": "call",
    "approval-requested": "call",
    "approval-responded": "call",
    "output-available": "result",
    "output-error": "result",
    "output-denied": "result",
}
_READ_STATES: Final[dict[str, str]] = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
    **{state: state for state in map(str, _WRITTEN_STATES)},
}
_UNKNOWN_MEDIA_TYPE: Final = "application/octet-stream"
_BASE64: Final = re.compile(r"(?=(?:.{4})+\Z)[A-Za-z0-9+/_-]+={0,2}\Z")
"""Content, padded as everybody writes it. A path of another length, such as `/files/abc`, is an address."""

_DATA_URL_MEDIA_TYPE: Final = re.compile(r"data:([^;,]+)")


def write_part(part: Part) -> JsonObject:
    """Write a part in one of the six shapes, and what the shape cannot say under our own key."""
    said = part_to_ui(part)
    shape = _shape(part)
    if shape is None:
        # None of the six: it is data for whoever knows it, in the words of a `UIMessage`.
        return {"type": "data", "data": said, REMAINDER: {"whole": True}}
    rest = remainder(said, _said_by(shape) or {})
    return {**shape, REMAINDER: rest} if rest else shape


def read_part(body: JsonObject, path: str) -> Part:
    """Read a part of any shape; an unknown one is kept whole. Raises `InvalidMessage` for a damaged remainder."""
    shape = {key: value for key, value in body.items() if key != REMAINDER}
    rest = body.get(REMAINDER, {})
    if is_object(rest) and rest.get("whole") is True and is_object(shape.get("data")):
        return part_from_ui(shape["data"])
    said = _said_by(shape)
    if said is None:
        return Opaque(body=body)
    whole = restored(said, rest, f"{path}.{REMAINDER}")
    if _outdated(shape, whole.get("state")):
        whole["state"] = said["state"]
    return part_from_ui(whole)


def _outdated(shape: JsonObject, state: Json) -> bool:
    # Somebody has moved the call on (added a result, say) and does not know our key: theirs is the newer word.
    if (
        shape.get("type") != "tool-invocation"
        or not isinstance(state, str)
        or is_object(shape.get("toolInvocation"))
    ):
        return False
    return any(state == ours and shape.get("state") != theirs for ours, theirs in _WRITTEN_STATES.items())


def _shape(part: Part) -> JsonObject | None:
    match part:
        case Text():
            shape: JsonObject = {"type": "text", "text": part.text}
            metadata = part.provider_metadata
        case Reasoning():
            shape = {"type": "reasoning", "reasoning": part.text}
            details = (part.extra or {}).get("details", _details(part.text, part.provider_metadata))
            if not is_absent(details):
                shape["details"] = details
            metadata = part.provider_metadata
        case ToolCall():
            shape = _tool_invocation(part)
            metadata = part.call_provider_metadata
        case File() | ReasoningFile():
            # Without a scheme, `data` is base64: the usual form of an inline file.
            data = part.url.removeprefix(f"data:{part.media_type};base64,") or part.url
            return {"type": "file", "data": data, "mimeType": part.media_type}
        case SourceUrl():
            shape = {"type": "source", "id": part.source_id, "url": part.url}
            if part.title is not None:
                shape["title"] = part.title
            metadata = part.provider_metadata
        case SourceDocument():
            shape = {"type": "source", "id": part.source_id, "title": part.title}
            metadata = part.provider_metadata
        case Data():
            return {"type": "data", "data": None if is_absent(part.data) else part.data}
        case StepStart() | Custom() | Steering() | Opaque():
            return None
        case _:
            assert_never(part)
    if metadata is not None:
        shape["providerMetadata"] = metadata
    return shape


def _tool_invocation(call: ToolCall) -> JsonObject:
    shape: JsonObject = {
        "type": "tool-invocation",
        "toolCallId": call.call_id,
        "toolName": call.name,
        "state": _WRITTEN_STATES[call.state],
    }
    if not is_absent(call.input):
        shape["args"] = call.input
    result = outcome(call)
    if not is_absent(result):
        shape["result"] = result
    return shape


def _said_by(shape: JsonObject) -> JsonObject | None:
    """The `UIMessage` part that a canonical part is, or None if nobody can tell."""
    match shape.get("type"):
        case "reasoning" if isinstance(shape.get("reasoning"), str):
            return _reasoning(shape)
        case "tool-invocation" | "tool-call" | "tool-result" if "toolName" in _invocation(shape):
            return _call(_invocation(shape))
        case "tool-invocation":
            return None
        case "file" if "data" in shape:
            return _file(shape)
        case "source":
            return _source(shape)
        case "data" if "data" in shape:
            # The specification's data part has no name, and neither has what we make of it.
            return {**shape, "type": "data-"}
        case _:
            # `text` is the same in both, and what the AI SDK 5 to 7 write is written among these by others.
            return shape


def _reasoning(shape: JsonObject) -> JsonObject:
    body = {key: value for key, value in shape.items() if key not in {"reasoning", "details"}}
    details = shape.get("details", ABSENT)
    items: list[Json] = details if is_array(details) else []
    texts = [item.get("text") for item in items if is_object(item) and item.get("type") == "text"]
    body["text"] = shape["reasoning"] or "".join(text for text in texts if isinstance(text, str))
    metadata = body.get("providerMetadata", {})
    if is_object(metadata) and "anthropic" not in metadata:
        signed = _vendor(items)
        if signed:
            body["providerMetadata"] = {**metadata, "anthropic": signed}
    if not is_absent(details) and details != _details(body["text"], body.get("providerMetadata")):
        body["details"] = details
    return body


def _details(text: str, provider_metadata: Json) -> Maybe:
    """Where the AI SDK 4 kept the vendor's signature, which its readers need to send the thought back."""
    vendor = provider_metadata.get("anthropic") if is_object(provider_metadata) else None
    if is_object(vendor) and isinstance(vendor.get("signature"), str):
        return [{"type": "text", "text": text, "signature": vendor["signature"]}]
    if is_object(vendor) and isinstance(vendor.get("redactedData"), str):
        return [{"type": "redacted", "data": vendor["redactedData"]}]
    return ABSENT


def _vendor(details: list[Json]) -> JsonObject:
    for item in details:
        if is_object(item) and isinstance(item.get("signature"), str):
            return {"signature": item["signature"]}
        if is_object(item) and item.get("type") == "redacted" and isinstance(item.get("data"), str):
            return {"redactedData": item["data"]}
    return {}


def _invocation(shape: JsonObject) -> JsonObject:
    # The AI SDK 4, and Mastra after it, put the fields one level down.
    inner = shape.get("toolInvocation")
    if not is_object(inner):
        return shape
    outer = {key: value for key, value in shape.items() if key != "toolInvocation"}
    return {**inner, **outer}


def _call(shape: JsonObject) -> JsonObject | None:
    name, kind = shape["toolName"], shape.get("type")
    state = shape.get("state", {"tool-call": "call", "tool-result": "result"}.get(str(kind)))
    if not isinstance(name, str) or not isinstance(state, str) or state not in _READ_STATES:
        return None
    renamed = {"args": "input", "result": "output", "providerMetadata": "callProviderMetadata"}
    body: JsonObject = {"type": f"tool-{name}"}
    for key, value in shape.items():
        if key not in {"type", "toolName", "state"}:
            body[renamed.get(key, key)] = value
    body["state"] = _READ_STATES[state]
    if state == "result" and (shape.get("isError") is True or isinstance(shape.get("errorText"), str)):
        body["state"] = "output-error"
    if body["state"] == "output-error" and "errorText" not in body:
        output = body.pop("output", None)
        body["errorText"] = output if isinstance(output, str) else json.encode(output).decode()
    return body


def _file(shape: JsonObject) -> JsonObject | None:
    renamed = {"mimeType": "mediaType"}
    body = {renamed.get(key, key): value for key, value in shape.items() if key != "data"}
    data = shape["data"]
    if isinstance(data, str):
        inline = _BASE64.match(data) is not None
        scheme = _DATA_URL_MEDIA_TYPE.match(data)
        body.setdefault("mediaType", _UNKNOWN_MEDIA_TYPE if scheme is None else scheme[1])
    else:
        content = _bytes(data)
        if content is None:
            return None
        inline, data = True, base64.b64encode(content).decode("ascii")
        body.setdefault("mediaType", _UNKNOWN_MEDIA_TYPE)
    body["url"] = f"data:{body['mediaType']};base64,{data}" if inline else data
    return body


def _bytes(data: Json) -> bytes | None:
    """The bytes of a `Uint8Array` in any form that it takes on its way through JSON."""
    if isinstance(data, bytes | bytearray):
        return bytes(data)
    if is_object(data):
        # `JSON.stringify` writes indexes as keys; Node's buffers write themselves as `{type, data}`.
        data = data["data"] if "data" in data else [data[key] for key in property_order(data)]
    if not is_array(data):
        return None
    try:
        return bytes(data)
    except (TypeError, ValueError):
        return None


def _source(shape: JsonObject) -> JsonObject:
    inner = shape.get("source")
    fields = {**shape, **inner, "type": "source"} if is_object(inner) else shape
    body = {key: value for key, value in fields.items() if key not in {"type", "source", "sourceType", "id"}}
    id, url = fields.get("id"), fields.get("url")
    if isinstance(url, str) and fields.get("sourceType") != "document":
        # An id is optional there and needed here; the address names the page as well.
        return {**body, "type": "source-url", "sourceId": id if isinstance(id, str) else url}
    body.setdefault("mediaType", _UNKNOWN_MEDIA_TYPE)
    body.setdefault("title", "")
    return {**body, "type": "source-document", "sourceId": id if isinstance(id, str) else ""}
