"""Model messages of the AI SDK 5, 6 and 7 → messages of ours: what `model` writes, read again.

An answer, its tools' results and what was asked and said about them become one message. What no version has, and what
belongs to nothing (an approval of nobody's question), is kept whole and not said to a model.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from msgspec import structs

from rejoinder.convert.canonical_parts import read_part
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.model_calls import DENIED
from rejoinder.convert.transcript import Transcript
from rejoinder.convert.ui import part_from_ui
from rejoinder.convert.ui_forms import FORMS
from rejoinder.errors import InvalidMessage
from rejoinder.messages import ABSENT, Approval, File, Json, JsonObject, Message, Opaque, Part, ToolCall
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

MODEL_PART: Final = "ai-sdk-model-part"
"""The type of a part that holds a part of a model message which belongs to nothing: an answer to no question, say."""

_OPTIONS: Final = "providerOptions"
_ANSWERS: Final = ("tool-result", "tool-approval-request", "tool-approval-response")
_UNKNOWN_IMAGE: Final = "image/*"


def from_model(items: Sequence[Json]) -> tuple[Message, ...]:
    """Read a history. Messages are called after their places, if they have no ids.

    Raises `InvalidMessage`, naming the place, for what is no such message.
    """
    transcript = Transcript()
    for place, item in enumerate(items):
        path = f"messages[{place}]"
        if not is_object(item):
            raise InvalidMessage(f"{path}: a message is an object, this is {kind_of(item)}.")
        id = item.get("id")
        named = id if isinstance(id, str) else None
        role = item.get("role")
        match role:
            case "system":
                transcript.said("system", _system(item, path), id=named)
            case "user":
                transcript.said("user", map(_part, _content(item, path)), id=named)
            case "assistant":
                content = [*_content(item, path)]
                transcript.step(
                    (_part(part) for part in content if part.get("type") not in _ANSWERS), id=named
                )
                _answer(transcript, content)
            case "tool":
                _answer(transcript, _content(item, path), all_of_them=True)
            case _:
                raise InvalidMessage(f"{path}.role: system, user, assistant or tool, not {role!r}.")
    return transcript.messages()


def _system(item: JsonObject, path: str) -> Iterator[Part]:
    for part in _content(item, path):
        yield _part({**part, _OPTIONS: item[_OPTIONS]} if is_object(item.get(_OPTIONS)) else part)


def _content(item: JsonObject, path: str) -> Sequence[JsonObject]:
    content = item.get("content")
    if isinstance(content, str):
        # Beside its calls a model is often said to have said "".
        return [] if not content and item["role"] == "assistant" else [{"type": "text", "text": content}]
    if not is_array(content):
        raise InvalidMessage(f"{path}.content: a text or an array of parts, this is {kind_of(content)}.")
    for place, part in enumerate(content):
        if not is_object(part):
            raise InvalidMessage(f"{path}.content[{place}]: a part is an object, this is {kind_of(part)}.")
    return content


def _part(part: JsonObject) -> Part:
    read: Part | None = None
    match part.get("type"):
        case "text" | "reasoning" | "custom":
            read = part_from_ui(_renamed(part, "providerMetadata"))
        case "file" | "image":
            read = _file(part)
        case "reasoning-file":
            file = _file(part)
            if isinstance(file, File):
                body = _renamed(
                    {key: value for key, value in part.items() if key != "data"}, "providerMetadata"
                )
                read = part_from_ui({**body, "url": file.url})
        case "tool-call":
            read = _call(part)
        case _:
            pass  # A part that no version has.
    return _kept(part) if read is None or isinstance(read, Opaque) else read


def _kept(part: JsonObject) -> Opaque:
    """A part that we have no word for, as it came; in a wrapping, if a client would take it for another one."""
    kind = part.get("type")
    mistaken = isinstance(kind, str) and (kind in FORMS or kind.startswith(("tool-", "data-")))
    return Opaque(body={"type": MODEL_PART, "part": part} if mistaken else part)


def _renamed(part: JsonObject, options: str) -> JsonObject:
    """The part with the name that options have in a `UIMessage`."""
    return {options if key == _OPTIONS else key: value for key, value in part.items()}


def _call(part: JsonObject) -> Part | None:
    name = part.get("toolName")
    if not isinstance(name, str):
        return None
    body = _renamed(part, "callProviderMetadata")
    del body["toolName"]
    if "input" not in body and "args" in body:
        body["input"] = body.pop("args")  # as version 4 called it
    return part_from_ui({**body, "type": f"tool-{name}", "state": "input-available"})


def _file(part: JsonObject) -> Part | None:
    """A file, its data in any of the ways in which a version says them."""
    known = {"type", "data", "image", "mediaType", "mimeType"}
    body = _renamed({key: value for key, value in part.items() if key not in known}, "providerMetadata")
    media_type = part.get("mediaType", part.get("mimeType"))
    if media_type is None and part["type"] == "image":
        media_type = _UNKNOWN_IMAGE
    data = part.get("image" if part["type"] == "image" else "data")
    match data:
        case {"type": "reference", "reference": reference}:
            body |= {"providerReference": reference, "url": ""}
        case {"type": "url", "url": str(url)}:
            body["url"] = url
        case {"type": "text", "text": str(text)}:
            encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
            media_type = media_type or "text/plain"
            body["url"] = f"data:{media_type};base64,{encoded}"
        case {"type": "data", "data": inner}:
            body["url"] = _url(inner, media_type)
        case _:
            body["url"] = _url(data, media_type)
    if media_type is None:
        media_type = "application/octet-stream"
    return part_from_ui({"type": "file", "mediaType": media_type, **body})


def _url(data: Json, media_type: Json) -> Json:
    """Where the data are: a URL as it is, base64 and bytes as one that holds them."""
    read = read_part({"type": "file", "data": data, "mimeType": media_type}, "") if data is not None else None
    return read.url if isinstance(read, File) else None


def _answer(transcript: Transcript, content: Sequence[JsonObject], *, all_of_them: bool = False) -> None:
    """What was asked and answered about calls. Of a tool's message that is all there is."""
    for part in content:
        match part:
            case {"type": "tool-approval-request", "approvalId": str(), "toolCallId": str()}:
                _request(transcript, part)
            case {"type": "tool-approval-response", "approvalId": str(), "approved": bool()}:
                _response(transcript, part)
            case {"type": "tool-result", "toolCallId": str(id)}:
                name = part.get("toolName")
                transcript.answer(id, name if isinstance(name, str) else "tool", partial(_result, part))
            case _ if all_of_them or part.get("type") in _ANSWERS:
                transcript.add(_kept(part))
            case _:
                pass  # It stands in the step.


def _request(transcript: Transcript, part: JsonObject) -> None:
    known: JsonObject = {
        "type": "tool-x",
        "toolCallId": "",
        "state": "approval-requested",
        "approval": {
            "id": part["approvalId"],
            **{key: part[key] for key in ("isAutomatic", "inputSchemaInput", "signature") if key in part},
            **({"requestReason": part["reason"]} if "reason" in part else {}),
        },
    }
    asked = part_from_ui(known)
    approval = asked.approval if isinstance(asked, ToolCall) else None
    found = transcript.change(
        lambda call: call.call_id == part["toolCallId"] and call.state == "input-available",
        lambda call: structs.replace(call, state="approval-requested", approval=approval),
    )
    if not found:
        transcript.add(_kept(part))


def _response(transcript: Transcript, part: JsonObject) -> None:
    reason = part.get("reason")

    def responded(call: ToolCall) -> ToolCall:
        asked = call.approval or Approval(id=part["approvalId"])
        approval = structs.replace(
            asked, approved=part["approved"], reason=reason if isinstance(reason, str) else None
        )
        state = "approval-responded" if call.state == "approval-requested" else call.state
        return structs.replace(call, state=state, approval=approval)

    found = transcript.change(
        lambda call: (
            call.approval is not None
            and call.approval.id == part["approvalId"]
            and call.approval.approved is None
        ),
        responded,
    )
    if not found:
        transcript.add(_kept(part))


def _result(part: JsonObject, call: ToolCall) -> ToolCall:
    """The call with its outcome, and with what the vendor says of that."""
    output = part.get("output")
    kind = output.get("type") if is_object(output) else None
    value = output.get("value") if is_object(output) else None
    told = part.get(_OPTIONS) if is_object(part.get(_OPTIONS)) else None
    if told is not None and told != call.call_provider_metadata:
        call = structs.replace(call, result_provider_metadata=told)
    match kind:
        case "text" | "json" | "content":
            return structs.replace(call, state="output-available", output=value)
        case "execution-denied":
            return _denied(call, output.get("reason") if is_object(output) else None)
        case "error-text" if _is_denial(call, value):
            return structs.replace(call, state="output-denied")
        case "error-text" | "error-json":
            return _failed(call, value, told)
        case _ if part.get("isError") is True:
            return _failed(call, part.get("result"), told)
        case _:
            # Version 4 said the result as it was, and what somebody made up is kept as that.
            return structs.replace(call, state="output-available", output=part.get("result", output))


def _is_denial(call: ToolCall, value: Json) -> bool:
    approval = call.approval
    if approval is None or approval.approved is not False or call.provider_executed:
        return False
    return bool(value == (DENIED if approval.reason is None else approval.reason))


def _denied(call: ToolCall, reason: Json) -> ToolCall:
    said = reason if isinstance(reason, str) else None
    approval = call.approval
    if approval is not None and approval.approved is False:
        # A denial that a model was told and the client was not yet: version 7 says it so, and only this.
        return structs.replace(
            call,
            state="approval-responded",
            approval=structs.replace(approval, reason=approval.reason if said is None else said),
        )
    if approval is not None or said is not None:
        asked = approval or Approval(id=call.call_id)
        approval = structs.replace(asked, approved=False, reason=said)
    return structs.replace(call, state="output-denied", approval=approval)


def _failed(call: ToolCall, value: Json, told: JsonObject | None) -> ToolCall:
    text = value if isinstance(value, str) else json.encode(value).decode()
    failed = structs.replace(call, state="output-error", error_text=text)
    if call.input is None:
        # Of a failure, only a raw input is told as null.
        failed = structs.replace(failed, input=ABSENT, raw_input=None)
    if told is None and call.call_provider_metadata is not None and not call.provider_executed:
        # What a vendor says of a failure alone, versions 6 and 7 say of the call, and not of the result.
        return structs.replace(
            failed, call_provider_metadata=None, result_provider_metadata=call.call_provider_metadata
        )
    return failed
