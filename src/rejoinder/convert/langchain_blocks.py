"""The content of a LangChain message ⇄ parts: a text, or blocks, LangChain's own or a vendor's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from rejoinder.convert.provider_values import inline_of, options_of
from rejoinder.convert.ui import part_from_ui
from rejoinder.messages import Custom, File, Json, JsonObject, Part, Reasoning, Text, ToolCall
from rejoinder.messages.provider_message import (
    ProviderApprovalPart,
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderReasoningFilePart,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.wire.json import is_array, is_object

VENDOR: Final = "langchain"

_FAMILIES: Final = ("image", "audio", "video", "file")
_CALLS: Final = ("tool_use", "tool_call", "function_call", "custom_tool_call")
"""Calls of the graph's tools, as they stand in the content beside the field that has them."""


# Reading


def parts_of(content: Json, calls: Mapping[str, ToolCall]) -> Iterator[Part]:
    """What a content says. `calls` are those that the message has in a field: each comes once, where it stands."""
    left = dict(calls)
    if isinstance(content, str):
        if content:
            yield Text(text=content)
    elif is_array(content):
        for block in content:
            if isinstance(block, str):
                yield Text(text=block)
            elif not is_object(block):
                yield _kept({"type": "value", "value": block})
            elif block.get("type") in _CALLS:
                id = block.get("call_id") or block.get("id")
                call = left.pop(id, None) if isinstance(id, str) else None
                if call is not None:
                    yield call
                elif not isinstance(id, str) or id not in calls:
                    yield _kept(block)
            else:
                yield _part(block)
    elif content is not None:
        yield _kept({"type": "value", "value": content})
    yield from left.values()


def _kept(block: JsonObject) -> Part:
    return Custom(kind=f"{VENDOR}.{block.get('type')}", provider_metadata={VENDOR: {"block": block}})


def _part(block: JsonObject) -> Part:
    match block:
        case {"type": "text" | "output_text", "text": str(text)}:
            return Text(text=text, provider_metadata=_about(block, {"text"}, usual={"type": "text"}))
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            about = _about(block, {"type", "thinking", "signature"}) or {}
            return Reasoning(text=text, provider_metadata={"anthropic": {"signature": signature}, **about})
        case {"type": "redacted_thinking", "data": str(data)}:
            return Reasoning(text="", provider_metadata={"anthropic": {"redactedData": data}})
        case {"type": "thinking" | "reasoning"}:
            return _thought(block)
        case {"type": "server_tool_call", "id": str(id), "name": str(name)}:
            return ToolCall(
                name=name,
                call_id=id,
                state="input-available",
                input=block.get("args"),
                provider_executed=True,
                call_provider_metadata=_about(block, {"type", "id", "name", "args"}),
            )
        case _:
            return _file(block) or _kept(block)


def _about(block: JsonObject, known: set[str], *, usual: JsonObject | None = None) -> JsonObject | None:
    """The fields of a block that the part does not say, under our name for LangChain."""
    rest = {
        key: value
        for key, value in block.items()
        if key not in known and (usual is None or key not in usual or usual[key] != value)
    }
    return {VENDOR: rest} if rest else None


def _thought(block: JsonObject) -> Part:
    text = next((said for key in ("reasoning", "thinking", "text") if (said := block.get(key))), None)
    summary = block.get("summary")
    if text is None and is_array(summary):
        texts = [item.get("text") if is_object(item) else None for item in summary]
        text = "\n\n".join(said for said in texts if isinstance(said, str))
    if not isinstance(text, str | None):
        return _kept(block)
    metadata: JsonObject = {}
    plain = {"type": "reasoning", "reasoning": text or ""}
    if block != plain:
        metadata[VENDOR] = {"block": block}
    extras = block.get("extras")
    told = {**extras, **block} if is_object(extras) else block
    encrypted, signature = told.get("encrypted_content"), told.get("signature")
    if isinstance(encrypted, str):
        metadata["openai"] = {"itemId": told.get("id"), "reasoningEncryptedContent": encrypted}
    if isinstance(signature, str):
        metadata["anthropic"] = {"signature": signature}
    return Reasoning(text=text or "", provider_metadata=metadata or None)


def _file(block: JsonObject) -> Part | None:
    """A picture, or any other file, in LangChain's words, in its older ones, in OpenAI's or in Anthropic's."""
    kind = block.get("type")
    media_type, name = block.get("mime_type"), None
    metadata: JsonObject = {}
    match block:
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            kind = "image"
            if "detail" in rest:
                metadata["openai"] = {"imageDetail": rest["detail"]}
        case {"type": "image_url", "image_url": str(url)}:
            kind = "image"
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            kind, media_type = "audio", "audio/mpeg" if form == "mp3" else f"audio/{form}"
            url = f"data:{media_type};base64,{data}"
        case {"type": "file", "file": {"file_data": str(url), **rest}}:
            name = rest.get("filename")
        case {"type": "image" | "document", "source": {"type": "base64", "data": str(data), **rest}}:
            media_type = rest.get("media_type")
            url = f"data:{media_type};base64,{data}"
        case {"type": "image" | "document", "source": {"type": "url", "url": str(url)}}:
            kind = "image" if kind == "image" else "file"
            media_type = media_type or (None if kind == "image" else "application/pdf")
        case {"base64": str(data)} | {"source_type": "base64", "data": str(data)} if kind in _FAMILIES:
            url = f"data:{media_type or _otherwise(str(kind))};base64,{data}"
        case {"url": str(url)} if kind in _FAMILIES:
            pass  # The URL is the file.
        case _:
            return None
    inline = inline_of(url)
    if not isinstance(media_type, str):
        media_type = _otherwise(str(kind)) if inline is None else inline.media_type
    extras = block.get("extras")
    named = extras.get("filename") if is_object(extras) else block.get("filename")
    body: JsonObject = {"type": "file", "mediaType": media_type, "url": url}
    if isinstance(name or named, str):
        body["filename"] = name or named
    if metadata:
        body["providerMetadata"] = metadata
    read = part_from_ui(body)
    return read if isinstance(read, File) else None


def _otherwise(kind: str) -> str:
    return "application/octet-stream" if kind == "file" else f"{kind}/*"


# Writing


def content_of(parts: Sequence[ProviderContentPart], *, whole: bool) -> str | list[JsonObject]:
    """A text where there is nothing else, which every model takes; else blocks.

    With `whole` all that was said, thought and run by vendors; without it what a model takes back.
    """
    blocks = [block for part in parts if (block := _block(part, whole=whole)) is not None]
    plain = all(block.keys() == {"type", "text"} and block["type"] == "text" for block in blocks)
    if plain and (not whole or len(blocks) <= 1):
        return "".join(block["text"] for block in blocks)
    return blocks


def _block(part: ProviderContentPart, *, whole: bool) -> JsonObject | None:
    about = options_of(part, VENDOR)
    match part:
        case ProviderTextPart():
            return (
                {"type": "text", **about, "text": part.text} if whole else {"type": "text", "text": part.text}
            )
        case ProviderFilePart():
            return _file_block(part, whole=whole)
        case ProviderReasoningPart():
            return _thought_block(part, about, whole=whole)
        case ProviderCustomPart():
            block = about.get("block")
            return block if whole and is_object(block) else None
        case ProviderToolCallPart(provider_executed=True):
            call = {"type": "server_tool_call", "id": part.call_id, "name": part.name, "args": part.arguments}
            return {**call, **about} if whole else None
        case ProviderToolResultPart():
            status = "error" if part.is_error else "success"
            said = {"type": "server_tool_result", "tool_call_id": part.call_id, "status": status}
            output = "" if part.is_error and part.result is None else part.result
            return {**said, "output": output} if whole else None
        case ProviderToolCallPart() | ProviderReasoningFilePart() | ProviderApprovalPart():
            return None
        case _:
            assert_never(part)


def _thought_block(part: ProviderReasoningPart, about: JsonObject, *, whole: bool) -> JsonObject | None:
    vendor = options_of(part, "anthropic")
    signature, redacted = vendor.get("signature"), vendor.get("redactedData")
    block = about.get("block")
    if whole and is_object(block):
        return block
    if whole and "field" in about:
        return None  # It stands in a field of the message.
    if signature is not None:
        return {"type": "thinking", "thinking": part.text, "signature": signature, **(about if whole else {})}
    # A thought is only taken back with its vendor's signature.
    if not whole:
        return None
    if redacted is not None:
        return {"type": "redacted_thinking", "data": redacted}
    return {"type": "reasoning", "reasoning": part.text}


def _file_block(part: ProviderFilePart, *, whole: bool) -> JsonObject:
    family = part.media_type.partition("/")[0]
    said: JsonObject = {"type": family if family in _FAMILIES[:3] else "file", "mime_type": part.media_type}
    if whole and part.filename is not None:
        said["extras"] = {"filename": part.filename}
    detail = options_of(part, "openai").get("imageDetail")
    if whole and detail is not None and said["type"] == "image":
        return {"type": "image_url", "image_url": {"url": part.url, "detail": detail}}
    inline = inline_of(part.url)
    return {**said, "url": part.url} if inline is None else {**said, "base64": inline.base64}
