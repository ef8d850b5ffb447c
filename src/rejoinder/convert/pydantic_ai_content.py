"""The parts of Pydantic AI's messages → parts of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rejoinder.errors import InvalidJson, InvalidMessage
from rejoinder.messages import ABSENT, Custom, File, Json, JsonObject, Part, Reasoning, Text, ToolCall
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

VENDOR: Final = "pydantic_ai"
"""The name under which its own adapter for the AI SDK keeps what a provider wants to be told again."""

PARTS: Final = "parts"
"""The key of parts that are kept whole."""

THEN: Final = "then"
"""The key of what stands behind a piece of a prompt and is none: a point up to which a prompt is to be cached."""

_URLS: Final = {
    "image-url": "image/*",
    "audio-url": "audio/*",
    "video-url": "video/*",
    "document-url": "application/octet-stream",
}


def about(rest: JsonObject) -> JsonObject | None:
    """What is kept of a part, as metadata of the provider."""
    return {VENDOR: rest} if rest else None


def _rest(part: JsonObject, *said: str) -> JsonObject:
    return {
        key: value
        for key, value in part.items()
        if key not in said and value is not None and value is not False and value not in ({}, [])
    }


def parts_of_prompt(content: Json) -> Iterator[Part]:
    """What a user said and showed."""
    items: Sequence[Json] = content if is_array(content) else [content]
    waiting: Part | None = None
    for item in items:
        part = _shown(item)
        if part is not None:
            if waiting is not None:
                yield waiting
            waiting = part
        elif waiting is not None:
            waiting = _followed(waiting, item)
        else:
            yield Custom(kind=f"{VENDOR}.content", provider_metadata={VENDOR: {THEN: [item]}})
    if waiting is not None:
        yield waiting


def _followed(part: Part, item: Json) -> Part:
    body = _metadata(part)
    kept = body.get(VENDOR)
    kept = kept if is_object(kept) else {}
    then = kept.get(THEN)
    return _with_metadata(part, {**body, VENDOR: {**kept, THEN: [*(then if is_array(then) else []), item]}})


def _metadata(part: Part) -> JsonObject:
    return (part.provider_metadata or {}) if isinstance(part, Text | File) else {}


def _with_metadata(part: Part, metadata: JsonObject) -> Part:
    if isinstance(part, Text):
        return Text(text=part.text, provider_metadata=metadata)
    if isinstance(part, File):
        return File(
            media_type=part.media_type,
            url=part.url,
            provider_metadata=metadata,
            provider_reference=part.provider_reference,
        )
    return part


def _shown(item: Json) -> Part | None:
    match item:
        case str():
            return Text(text=item)
        case {"kind": "text-content", "content": str(text)}:
            return Text(text=text, provider_metadata=about(_rest(item, "content")))
        case {"kind": "binary"}:
            return file_of(item)
        case {"kind": "uploaded-file", "file_id": str(id), "provider_name": str(provider)}:
            return File(
                media_type=_text(item, "media_type") or "application/octet-stream",
                url="",
                provider_reference={provider: id},
                provider_metadata=about(_rest(item, "kind", "file_id", "provider_name", "media_type")),
            )
        case {"kind": str(kind), "url": str(url)} if kind in _URLS:
            return File(
                media_type=_text(item, "media_type") or _URLS[kind],
                url=url,
                provider_metadata=about(_rest(item, "url", "media_type")),
            )
        case _:
            return None


def _text(item: JsonObject, key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def file_of(item: JsonObject) -> File:
    """A file that is held inline, in base64 of either alphabet."""
    media_type = _text(item, "media_type") or "application/octet-stream"
    data = _text(item, "data").replace("-", "+").replace("_", "/")
    return File(
        media_type=media_type,
        url=f"data:{media_type};base64,{data}",
        provider_metadata=about(_rest(item, "data", "media_type", "kind")),
    )


def parts_of_answer(parts: Sequence[JsonObject], path: str) -> tuple[list[Part], list[JsonObject]]:
    """What a response says, and what its provider's own tools returned."""
    said: list[Part] = []
    results: list[JsonObject] = []
    for place, part in enumerate(parts):
        match part:
            case {"part_kind": "text", "content": str(text)}:
                said.append(Text(text=text, provider_metadata=about(_rest(part, "part_kind", "content"))))
            case {"part_kind": "thinking", "content": str(text)}:
                said.append(
                    Reasoning(text=text, provider_metadata=_signed(_rest(part, "part_kind", "content")))
                )
            case {"part_kind": "tool-call" | "builtin-tool-call", "tool_name": str(name)}:
                said.append(_call(part, name, f"{path}-{place}"))
            case {"part_kind": "builtin-tool-return" | "tool-return"}:
                results.append(part)
            case {"part_kind": "file", "content": {"kind": "binary"} as content}:
                file = file_of(content)
                own = _rest(part, "part_kind", "content")
                kept = {**_metadata(file).get(VENDOR, {}), **({"part": own} if own else {})}
                said.append(_with_metadata(file, {VENDOR: kept}) if kept else file)
            case {"part_kind": str(kind)}:
                said.append(Custom(kind=f"{VENDOR}.{kind}", provider_metadata={VENDOR: {"part": part}}))
            case _:
                raise InvalidMessage(f"{path}.parts[{place}]: a part of Pydantic AI names its part_kind.")
    return said, results


def _signed(rest: JsonObject) -> JsonObject | None:
    """The signature under the name of its vendor as well: providers of ours look for it there."""
    signature = rest.get("signature")
    if isinstance(signature, str) and rest.get("provider_name") == "anthropic":
        return {VENDOR: rest, "anthropic": {"signature": signature}}
    if (
        isinstance(signature, str)
        and rest.get("provider_name") == "openai"
        and isinstance(rest.get("id"), str)
    ):
        return {VENDOR: rest, "openai": {"itemId": rest["id"], "reasoningEncryptedContent": signature}}
    return about(rest)


def _call(part: JsonObject, name: str, otherwise: str) -> Part:
    hosted = part["part_kind"] == "builtin-tool-call"
    given = part.get("args")
    kept = _rest(part, "part_kind", "tool_name", "args", "tool_call_id")
    if isinstance(given, str):
        given = _arguments(given)
    return ToolCall(
        name=name,
        call_id=_text(part, "tool_call_id") or otherwise,
        state="input-available",
        input=ABSENT if given is None else given,
        provider_executed=True if hosted else None,
        call_provider_metadata=about(kept),
    )


def _arguments(text: str) -> Json:
    try:
        return json.decode(text) if text.strip() else {}
    except InvalidJson:
        # The model did not write JSON: what it wrote is kept.
        return text
