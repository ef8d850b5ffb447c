"""Messages of ours, and what a provider is told of them → the message history of Pydantic AI.

Its models take no halves of characters: they are replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, assert_never

from rejoinder.convert.moments import iso_of
from rejoinder.convert.provider_messages import ProviderStep, provider_steps
from rejoinder.convert.provider_values import inline_of, object_in, options_of
from rejoinder.convert.pydantic_ai_content import THEN, VENDOR
from rejoinder.convert.pydantic_ai_history import notes_of
from rejoinder.messages import Json, JsonObject, Message, ToolCall
from rejoinder.messages.provider_message import (
    ProviderApprovalPart,
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderReasoningFilePart,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

_URL_KINDS: Final = {"image": "image-url", "audio": "audio-url", "video": "video-url"}


def to_pydantic_ai(messages: Sequence[Message]) -> list[JsonObject]:
    """Write a history as `ModelMessagesTypeAdapter` reads it: requests and responses by turns."""
    said: list[JsonObject] = []
    hosted: set[str] = set()
    for step in provider_steps(messages):
        for message in _whole(step, hosted):
            if said and message["kind"] == said[-1]["kind"] == "request":
                said[-1] = {**message, **said[-1], "parts": [*said[-1]["parts"], *message["parts"]]}
            else:
                said.append(message)
    return _sound(said)


def pydantic_ai_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = (), whole: bool = False
) -> list[JsonObject]:
    """What a provider is told, in messages of Pydantic AI; `but` are calls whose results are still to come.

    With `whole` all that was said of it, and not only what is sent back.
    """
    said: list[JsonObject] = []
    hosted: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            hosted |= _hosted(message.content)
            spoken = [*_response(message.content, hosted, whole=whole)]
            if spoken:
                said.append({"kind": "response", "parts": spoken})
            continue
        parts = [*_request(message, {*but, *hosted}, whole=whole)]
        if parts:
            said.append({"kind": "request", "parts": parts})
    return _sound(said)


def _sound(said: list[JsonObject]) -> list[JsonObject]:
    sound: list[JsonObject] = json.without_halves(said)
    return sound


def _hosted(parts: Sequence[ProviderContentPart]) -> set[str]:
    """The calls that the vendor made itself."""
    return {
        part.call_id for part in parts if isinstance(part, ProviderToolCallPart) and part.provider_executed
    }


# Requests


def _request(message: ProviderMessage, but: Collection[str], *, whole: bool) -> Iterator[JsonObject]:
    if message.role == "system":
        yield {"part_kind": "system-prompt", "content": message.text}
    elif message.role == "user":
        yield {"part_kind": "user-prompt", "content": _prompt(message.content, whole=whole)}
    for part in message.content:
        if isinstance(part, ProviderToolResultPart) and part.call_id not in but:
            yield _returned("tool-return", part)


def _returned(kind: str, part: ProviderToolResultPart) -> JsonObject:
    return {
        "part_kind": kind,
        "tool_name": part.name,
        "content": part.result,
        "tool_call_id": part.call_id,
        "outcome": "failed" if part.is_error else "success",
    }


def _prompt(parts: Sequence[ProviderContentPart], *, whole: bool) -> str | list[Json]:
    said: list[Json] = []
    for part in parts:
        kept = options_of(part, VENDOR) if whole else {}
        then = kept.get(THEN)
        kept = {key: value for key, value in kept.items() if key != THEN}
        if isinstance(part, ProviderTextPart):
            said.append({**kept, "content": part.text} if kept.get("kind") == "text-content" else part.text)
        elif isinstance(part, ProviderFilePart):
            file = _file(part)
            if file is not None:
                said.append({**file, **kept})
        said += then if is_array(then) else []
    if all(isinstance(item, str) for item in said) and (not whole or len(said) <= 1):
        return "\n".join(said)
    return said


def _file(part: ProviderFilePart) -> JsonObject | None:
    if part.reference:
        provider, id = next(iter(part.reference.items()))
        return {
            "kind": "uploaded-file",
            "file_id": id,
            "provider_name": provider,
            "media_type": part.media_type,
        }
    inline = inline_of(part.url)
    if inline is not None:
        return {"kind": "binary", "data": inline.base64, "media_type": part.media_type or inline.media_type}
    if part.url is None:
        return None
    family, _, kind = part.media_type.partition("/")
    known: JsonObject = {} if kind in ("", "*") else {"media_type": part.media_type}
    return {"kind": _URL_KINDS.get(family, "document-url"), "url": part.url, **known}


# Responses


def _response(
    parts: Sequence[ProviderContentPart], hosted: Collection[str], *, whole: bool
) -> Iterator[JsonObject]:
    for part in parts:
        about = options_of(part, VENDOR)
        match part:
            case ProviderTextPart():
                yield {"part_kind": "text", **(about if whole else {}), "content": part.text}
            case ProviderReasoningPart():
                yield {"part_kind": "thinking", **_signature(part, about, whole=whole), "content": part.text}
            case ProviderToolCallPart():
                kind = "builtin-tool-call" if part.provider_executed else "tool-call"
                names: JsonObject = {} if whole else {"provider_name": about.get("provider_name")}
                is_text = whole and isinstance(part.arguments, str)
                given = part.arguments if is_text else object_in(part.arguments)
                call = {"tool_name": part.name, "args": given, "tool_call_id": part.call_id}
                yield {"part_kind": kind, **names, **call}
            case ProviderToolResultPart():
                if part.call_id in hosted:
                    yield _returned("builtin-tool-return", part)
            case ProviderFilePart():
                # What a model drew is not taken back by most.
                inline = inline_of(part.url)
                if whole and inline is not None:
                    own = about.get("part")
                    data = {"kind": "binary", "data": inline.base64, "media_type": part.media_type}
                    kept = {key: value for key, value in about.items() if key != "part"}
                    yield {
                        "part_kind": "file",
                        **(own if is_object(own) else {}),
                        "content": {**data, **kept},
                    }
            case ProviderCustomPart():
                own = about.get("part")
                if whole and is_object(own):
                    yield own
            case ProviderReasoningFilePart() | ProviderApprovalPart():
                pass  # There is no word for the one, and the other is the user's.
            case _:
                assert_never(part)


def _signature(part: ProviderReasoningPart, about: JsonObject, *, whole: bool) -> JsonObject:
    if not whole:
        return {name: about.get(name) for name in ("id", "signature", "provider_name")}
    if about:
        return about
    signature, openai = options_of(part, "anthropic").get("signature"), options_of(part, "openai")
    if isinstance(signature, str):
        return {"signature": signature, "provider_name": "anthropic"}
    encrypted = openai.get("reasoningEncryptedContent")
    if isinstance(encrypted, str):
        return {"signature": encrypted, "id": openai.get("itemId"), "provider_name": "openai"}
    return {}


# Whole steps, with what was kept of them


def _whole(step: ProviderStep, hosted: set[str]) -> Iterator[JsonObject]:
    kept = step.kept(VENDOR)
    moment = step.message.created_at
    for message in step.told:
        hosted |= _hosted(message.content)
    for said in pydantic_ai_messages(step.told, whole=True):
        if said["kind"] == "response":
            time: JsonObject = {"timestamp": iso_of(moment)} if moment is not None and step.first else {}
            parts = [{**part, **_kept_of_call(part, step)} for part in said["parts"]]
            yield {**said, "parts": parts, **time, **kept}
            kept = {}
            continue
        yield _whole_request(said, step, kept)
        kept = {}
    notes = [*notes_of(step.parts)]
    if notes:
        yield {"kind": "request", "parts": notes}


def _whole_request(said: JsonObject, step: ProviderStep, kept: JsonObject) -> JsonObject:
    parts: list[JsonObject] = []
    envelope = kept.get("request")
    moment = step.message.created_at
    for part in said["parts"]:
        if part["part_kind"] == "tool-return":
            call = step.call(part["tool_call_id"])
            own = _own(None if call is None else call.result_provider_metadata)
            envelope = own.pop("request", None) or envelope
            parts.append(_whole_return(part, own, call))
        else:
            rest = kept.get("part")
            time: JsonObject = {} if moment is None else {"timestamp": iso_of(moment)}
            parts.append({**part, **time, **(rest if is_object(rest) else {})})
    return {**said, "parts": parts, **(envelope if is_object(envelope) else {})}


def _kept_of_call(part: JsonObject, step: ProviderStep) -> JsonObject:
    kind = part["part_kind"]
    call = step.call(part["tool_call_id"]) if "tool_call_id" in part else None
    if call is None or kind not in ("tool-call", "builtin-tool-call", "builtin-tool-return"):
        return {}
    return _own(call.result_provider_metadata if kind.endswith("return") else call.call_provider_metadata)


def _own(metadata: JsonObject | None) -> JsonObject:
    own = (metadata or {}).get(VENDOR)
    return dict(own) if is_object(own) else {}


def _whole_return(part: JsonObject, own: JsonObject, call: ToolCall | None) -> JsonObject:
    if call is not None and call.state == "output-denied":
        part = {**part, "outcome": "denied"}
    if own.get("part_kind") == "retry-prompt":
        part = {key: value for key, value in part.items() if key != "outcome"}
    return {**part, **own}
