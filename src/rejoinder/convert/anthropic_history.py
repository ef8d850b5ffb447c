"""The `system` and `messages` of a request to Anthropic Messages → messages of ours."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.transcript import Transcript
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Custom, File, Json, JsonObject, Message, Part, Reasoning, Text, ToolCall
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

VENDOR: Final = "anthropic"


def from_anthropic(body: JsonObject) -> tuple[Message, ...]:
    """Read a history. An answer and its tools' results become one message, and messages are called after places.

    Raises `InvalidMessage`, naming the place, for what is no such history.
    """
    transcript = Transcript()
    for block in _blocks(body.get("system") or [], "system"):
        transcript.said("system", [_part(block)])
    items = body.get("messages")
    if not is_array(items):
        raise InvalidMessage(f"messages: an array, this is {kind_of(items)}.")
    for place, item in enumerate(items):
        path = f"messages[{place}]"
        role = item.get("role") if is_object(item) else None
        if not is_object(item) or role not in ("user", "assistant"):
            raise InvalidMessage(f"{path}: an object of the role user or assistant is needed.")
        blocks = _blocks(item.get("content"), f"{path}.content")
        if role == "assistant":
            transcript.step([_part(block) for block in blocks])
        else:
            _asked(transcript, blocks)
    return transcript.messages()


def _asked(transcript: Transcript, blocks: Sequence[JsonObject]) -> None:
    """Results of tools stand in the user's messages; they belong to the answer before."""
    said: list[Part] = []
    for block in blocks:
        match block:
            case {"type": "tool_result", "tool_use_id": str(id)}:
                failed = block.get("is_error") is True
                output = _output(block.get("content"))
                transcript.result(id, "tool", _as_text(output) if failed else output, failed=failed)
            case _:
                said.append(_part(block))
    if said or not blocks:
        transcript.said("user", said)


def _blocks(content: Json, path: str) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not is_array(content):
        raise InvalidMessage(f"{path}: a text or an array of blocks, this is {kind_of(content)}.")
    for place, block in enumerate(content):
        if not is_object(block):
            raise InvalidMessage(f"{path}[{place}]: a block is an object, this is {kind_of(block)}.")
    return content


def _part(block: JsonObject) -> Part:
    kept: JsonObject = {}
    if is_object(block.get("cache_control")):
        kept["cacheControl"] = block["cache_control"]
    match block:
        case {"type": "text", "text": str(text)}:
            if block.get("citations"):
                kept["citations"] = block["citations"]
            return Text(text=text, provider_metadata=_about(kept))
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            return Reasoning(text=text, provider_metadata=_about({"signature": signature}))
        case {"type": "redacted_thinking", "data": str(data)}:
            return Reasoning(text="", provider_metadata=_about({"redactedData": data}))
        case {"type": "tool_use", "id": str(id), "name": str(name)}:
            about = _about(kept | {key: block[key] for key in ("caller", "toolset_name") if block.get(key)})
            return ToolCall(
                name=name,
                call_id=id,
                state="input-available",
                input=block.get("input"),
                call_provider_metadata=about,
            )
        case {"type": "image" | "document", "source": source} if is_object(source):
            file = _file(block, source, kept)
            return file if file is not None else _whole(block)
        case _:
            return _whole(block)


def _whole(block: JsonObject) -> Part:
    """A block of a kind that only Anthropic understands: a call it ran itself, say. It goes back as it came."""
    return Custom(kind=f"{VENDOR}.{block.get('type')}", provider_metadata=_about({"block": block}))


def _file(block: JsonObject, source: JsonObject, kept: JsonObject) -> Part | None:
    title = block.get("title")
    name = title if isinstance(title, str) else None
    about = _about(kept)
    otherwise = "image/*" if block["type"] == "image" else "application/pdf"
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            url = f"data:{media_type};base64,{data}"
        case {"type": "url", "url": str(url)}:
            media_type = otherwise
        case {"type": "text", "data": str(data)}:
            media_type = "text/plain"
            url = f"data:text/plain;base64,{base64.b64encode(data.encode('utf-8', 'replace')).decode()}"
        case _:
            return None
    return File(media_type=media_type, url=url, filename=name, provider_metadata=about)


def _about(kept: JsonObject) -> JsonObject | None:
    return {VENDOR: kept} if kept else None


def _output(content: Json) -> Json:
    """Texts as one text; what else a result may be as it is."""
    if is_array(content) and all(
        is_object(block) and isinstance(block.get("text"), str) for block in content
    ):
        return "\n".join(block["text"] for block in content)
    return "" if content is None else content


def _as_text(output: Json) -> str:
    """What a failed call says, as text."""
    return output if isinstance(output, str) else json.encode(output).decode()
