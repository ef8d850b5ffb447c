"""The AI SDK's model streams (`TextStreamPart`, what `streamText().fullStream` yields) and what they say in chunks.

One part makes at most one chunk. Parts of versions 6 and 7 are read alike: where they differ, 7 has more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.errors import InvalidChunk
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json
from rejoinder.wire.json import Json, JsonObject, encode, is_object

SILENT: Final = frozenset({"tool-input-end", "raw", "ping"})
"""Parts that a client is told nothing of."""


class StreamPartOptions(Struct, frozen=True, kw_only=True):
    """What of a model stream is told to clients, as `toUIMessageStream` has it."""

    send_reasoning: bool = True
    send_sources: bool = False
    send_start: bool = True
    send_finish: bool = True
    message_id: str | None = None
    mask_error: Callable[[Json], str] | None = None
    """What to say instead of an error. A stream's own error is masked in any case; a tool's only by this."""

    dynamic_tools: frozenset[str] | None = None
    """The names of the dynamic tools, when the tools are known; else each part says what it is."""


_KEEP_ALL: Final = StreamPartOptions()

Fields: TypeAlias = dict[str, str]

_COPIED: Final[dict[str, tuple[str, Fields, Fields]]] = {
    # part: (chunk, required fields: part → chunk, optional fields: part → chunk)
    "text-start": ("text-start", {"id": "id"}, {}),
    "text-delta": ("text-delta", {"id": "id", "text": "delta"}, {}),
    "text-end": ("text-end", {"id": "id"}, {"citations": "citations"}),
    "reasoning-start": ("reasoning-start", {"id": "id"}, {}),
    "reasoning-delta": ("reasoning-delta", {"id": "id", "text": "delta"}, {}),
    "reasoning-end": ("reasoning-end", {"id": "id"}, {}),
    "custom": ("custom", {"kind": "kind"}, {}),
    "tool-input-start": (
        "tool-input-start",
        {"id": "toolCallId", "toolName": "toolName"},
        {
            "inputEncoding": "inputEncoding",
            "providerExecuted": "providerExecuted",
            "toolMetadata": "toolMetadata",
            "title": "title",
        },
    ),
    "tool-input-delta": ("tool-input-delta", {"id": "toolCallId", "delta": "inputTextDelta"}, {}),
    "tool-output-denied": ("tool-output-denied", {"toolCallId": "toolCallId"}, {}),
    "tool-approval-response": (
        "tool-approval-response",
        {"approvalId": "approvalId", "approved": "approved"},
        {"reason": "reason", "providerExecuted": "providerExecuted"},
    ),
    "start-step": ("start-step", {}, {}),
    "finish-step": ("finish-step", {}, {}),
    "reset-step": ("reset-step", {}, {}),
    "abort": ("abort", {}, {"reason": "reason"}),
}

_OPTIONAL_OF_CALLS: Final = ("providerExecuted", "toolMetadata")
_NAMES_A_TOOL: Final = frozenset({"tool-input-start", "tool-call", "tool-result", "tool-error"})
_WITHOUT_METADATA: Final = frozenset(
    {
        "tool-input-delta",
        "tool-output-denied",
        "tool-approval-response",
        "start-step",
        "finish-step",
        "reset-step",
    }
)


def chunk_of(part: Json, options: StreamPartOptions = _KEEP_ALL) -> Chunk | None:
    """What one stream part says to a client; None for what is not told. Raises `InvalidChunk`."""
    if not is_object(part) or not isinstance(part.get("type"), str):
        raise InvalidChunk("a stream part is a JSON object that names its type")
    kind: str = part["type"]
    if _is_withheld(kind, options):
        return None
    try:
        fields = _fields_of(kind, part, options)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidChunk(f"stream part {kind}: lacks or mistypes {error}") from None
    return None if fields is None else chunk_from_json(fields)


def _is_withheld(kind: str, options: StreamPartOptions) -> bool:
    return (
        kind in SILENT
        or (kind.startswith("reasoning-") and not options.send_reasoning)
        or (kind == "source" and not options.send_sources)
        or (kind == "start" and not options.send_start)
        or (kind == "finish" and not options.send_finish)
    )


def _fields_of(kind: str, part: JsonObject, options: StreamPartOptions) -> JsonObject | None:
    if kind in _COPIED:
        chunk_type, required, optional = _COPIED[kind]
        fields: JsonObject = {"type": chunk_type}
        fields.update({target: part[source] for source, target in required.items()})
        fields.update(_given(part, optional))
    elif kind in _BUILT:
        built = _BUILT[kind](part, options)
        if built is None:
            return None
        fields = built
    else:
        # A part of a later version: told as it stands, for whoever knows it.
        return part
    if kind not in _WITHOUT_METADATA and part.get("providerMetadata") is not None:
        fields["providerMetadata"] = part["providerMetadata"]
    if kind in _NAMES_A_TOOL:
        dynamic = _is_dynamic(part, options)
        if dynamic is not None:
            fields["dynamic"] = dynamic
    return fields


def _given(part: JsonObject, optional: Fields) -> JsonObject:
    return {target: part[source] for source, target in optional.items() if part.get(source) is not None}


def _is_dynamic(part: JsonObject, options: StreamPartOptions) -> bool | None:
    if options.dynamic_tools is not None:
        return True if part["toolName"] in options.dynamic_tools else None
    said: bool | None = part.get("dynamic")
    return said


def _call_fields(part: JsonObject) -> JsonObject:
    return _given(part, {name: name for name in _OPTIONAL_OF_CALLS})


def _tool_call(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    fields: JsonObject = {
        "type": "tool-input-available",
        "toolCallId": part["toolCallId"],
        "toolName": part["toolName"],
        "input": part.get("input"),
        **_call_fields(part),
        **_given(part, {"title": "title"}),
    }
    if part.get("invalid"):
        masked = _masked if part.get("providerExecuted") else _tool_error_text
        fields |= {"type": "tool-input-error", "errorText": masked(part.get("error"), options)}
    return fields


def _tool_result(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    return {
        "type": "tool-output-available",
        "toolCallId": part["toolCallId"],
        "output": part.get("output"),
        **_call_fields(part),
        **_given(part, {"preliminary": "preliminary"}),
    }


def _tool_error(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    error = part.get("error")
    if part.get("providerExecuted"):
        # A provider's error code goes back to the provider as it came.
        text = error if isinstance(error, str) else encode(error).decode()
    else:
        text = _tool_error_text(error, options)
    return {
        "type": "tool-output-error",
        "toolCallId": part["toolCallId"],
        "errorText": text,
        **_call_fields(part),
    }


def _approval_request(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    return {
        "type": "tool-approval-request",
        "approvalId": part["approvalId"],
        "toolCallId": part["toolCall"]["toolCallId"],
        **_given(part, {"reason": "reason", "isAutomatic": "isAutomatic", "signature": "signature"}),
    }


def _source(part: JsonObject, options: StreamPartOptions) -> JsonObject | None:
    match part.get("sourceType"):
        case "url":
            return {
                "type": "source-url",
                "sourceId": part["id"],
                "url": part["url"],
                **_given(part, {"title": "title"}),
            }
        case "document":
            return {
                "type": "source-document",
                "sourceId": part["id"],
                "mediaType": part["mediaType"],
                "title": part["title"],
                **_given(part, {"filename": "filename"}),
            }
        case _:
            return None


def _file(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    file = part["file"]
    media_type = file["mediaType"]
    return {
        "type": part["type"],
        "mediaType": media_type,
        "url": f"data:{media_type};base64,{file['base64']}",
    }


def _steering(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    content = part["message"]["content"]
    said = (
        [{"type": "text", "text": content}] if isinstance(content, str) else [_said(item) for item in content]
    )
    return {
        "type": "steering-message",
        "id": part["id"],
        "parts": [item for item in said if item is not None],
    }


def _said(item: JsonObject) -> JsonObject | None:
    metadata = (
        {"providerMetadata": item["providerOptions"]} if item.get("providerOptions") is not None else {}
    )
    match item["type"]:
        case "text":
            return {"type": "text", "text": item["text"], **metadata}
        case "file" | "image":
            return _said_file(item) | metadata
        case _:
            return None


def _said_file(item: JsonObject) -> JsonObject:
    data = item["image"] if item["type"] == "image" else item["data"]
    media_type = item.get("mediaType") or "image/*"
    fields: JsonObject = {"type": "file", "mediaType": media_type, **_given(item, {"filename": "filename"})}
    if is_object(data):
        if data.get("type") == "reference":
            return fields | {"url": "", "providerReference": data["reference"]}
        data = data["url"] if data.get("type") == "url" else data["data"]
    is_url = data.startswith(("data:", "http:", "https:"))
    return fields | {"url": data if is_url else f"data:{media_type};base64,{data}"}


def _error(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    return {"type": "error", "errorText": _masked(part.get("error"), options)}


def _start(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    return (
        {"type": "start"}
        if options.message_id is None
        else {"type": "start", "messageId": options.message_id}
    )


def _finish(part: JsonObject, options: StreamPartOptions) -> JsonObject:
    return {"type": "finish", **_given(part, {"finishReason": "finishReason"})}


_BUILT: Final[dict[str, Callable[[JsonObject, StreamPartOptions], JsonObject | None]]] = {
    "tool-call": _tool_call,
    "tool-result": _tool_result,
    "tool-error": _tool_error,
    "tool-approval-request": _approval_request,
    "source": _source,
    "file": _file,
    "reasoning-file": _file,
    "steering-message": _steering,
    "error": _error,
    "start": _start,
    "finish": _finish,
}


def _masked(error: Json, options: StreamPartOptions) -> str:
    return "An error occurred." if options.mask_error is None else options.mask_error(error)


def _tool_error_text(error: Json, options: StreamPartOptions) -> str:
    """What the model was told of the failure, which is what the client is told too."""
    if options.mask_error is not None:
        return options.mask_error(error)
    if error is None:
        return "unknown error"
    return error if isinstance(error, str) else encode(error).decode()
