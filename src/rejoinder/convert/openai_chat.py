"""The `messages` of a request to Chat Completions → messages of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.transcript import Transcript
from rejoinder.errors import InvalidJson, InvalidMessage
from rejoinder.messages import File, Json, JsonObject, Message, Opaque, Part, Reasoning, Text, ToolCall
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_THOUGHTS: Final = ("reasoning_content", "reasoning")


def from_openai_chat(items: Sequence[Json]) -> tuple[Message, ...]:
    """Read a history. An answer and its tools' results become one message, and messages are called after places.

    Raises `InvalidMessage`, naming the place, for what is no such message.
    """
    transcript = Transcript()
    for place, item in enumerate(items):
        path = f"messages[{place}]"
        if not is_object(item):
            raise InvalidMessage(f"{path}: a message is an object, this is {kind_of(item)}.")
        match item.get("role"):
            case "system" | "developer":
                transcript.said("system", _content(item, path))
            case "user":
                transcript.said("user", _content(item, path))
            case "assistant":
                transcript.step([*_thoughts(item), *_content(item, path), *_calls(item, path)])
            case "tool" | "function":
                id, name = item.get("tool_call_id"), item.get("name")
                called = name if isinstance(name, str) else "tool"
                output = item.get("content")
                transcript.result(id if isinstance(id, str) else called, called, _output(output))
            case role:
                raise InvalidMessage(
                    f"{path}.role: system, developer, user, assistant, tool or function, not {role!r}."
                )
    return transcript.messages()


def _content(item: JsonObject, path: str) -> Iterator[Part]:
    content = item.get("content")
    if isinstance(content, str):
        # Beside its calls a model is often said to have said "".
        if content or item["role"] != "assistant":
            yield Text(text=content)
    elif is_array(content):
        for place, block in enumerate(content):
            if not is_object(block):
                raise InvalidMessage(f"{path}.content[{place}]: an object, this is {kind_of(block)}.")
            yield _block(block)
    elif content is not None:
        raise InvalidMessage(f"{path}.content: a text or an array, this is {kind_of(content)}.")
    if isinstance(item.get("refusal"), str):
        yield Text(text=item["refusal"])


def _block(block: JsonObject) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=text)
        case {"type": "refusal", "refusal": str(text)}:
            return Text(text=text)
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            about = {"openai": {"imageDetail": rest["detail"]}} if "detail" in rest else None
            return File(media_type=_media_type(url, "image/*"), url=url, provider_metadata=about)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            media_type = _AUDIO.get(form, f"audio/{form}")
            return File(media_type=media_type, url=f"data:{media_type};base64,{data}")
        case {"type": "file", "file": {"file_data": str(url), **rest}}:
            name = rest.get("filename")
            return File(
                media_type=_media_type(url, "application/octet-stream"),
                url=url,
                filename=name if isinstance(name, str) else None,
            )
        case _:
            return Opaque(body=block)


def _media_type(url: str, otherwise: str) -> str:
    head = url[5:].partition(",")[0].partition(";")[0] if url.startswith("data:") else ""
    return head or otherwise


def _thoughts(item: JsonObject) -> Iterator[Part]:
    for field in _THOUGHTS:
        if isinstance(item.get(field), str) and item[field]:
            yield Reasoning(text=item[field], provider_metadata={"openai": {"field": field}})


def _calls(item: JsonObject, path: str) -> Iterator[Part]:
    calls: Json = item.get("tool_calls") or []
    if not is_array(calls):
        raise InvalidMessage(f"{path}.tool_calls: an array, this is {kind_of(calls)}.")
    for place, call in enumerate(calls):
        match call:
            case {"id": str(id), "function": {"name": str(name), "arguments": str(text)}}:
                yield _call(id, name, text)
            case {"id": str(id), "custom": {"name": str(name), "input": str(text)}}:
                about = {"openai": {"type": "custom"}}
                yield ToolCall(
                    name=name, call_id=id, state="input-available", input=text, call_provider_metadata=about
                )
            case _:
                raise InvalidMessage(
                    f"{path}.tool_calls[{place}]: an id and a function with name and arguments are needed."
                )
    match item.get("function_call"):
        case {"name": str(name), "arguments": str(text)}:
            # Before calls had ids there was one at a time, and its result named the function.
            yield _call(name, name, text)
        case _:
            pass  # none


def _call(id: str, name: str, text: str) -> ToolCall:
    try:
        arguments: Json = json.decode(text) if text.strip() else {}
    except InvalidJson:
        # The model did not write JSON: what it wrote is kept.
        arguments = text
    return ToolCall(name=name, call_id=id, state="input-available", input=arguments)


def _output(content: Json) -> Json:
    """Texts as one text; what else a result may be as it is."""
    if is_array(content) and all(
        is_object(block) and isinstance(block.get("text"), str) for block in content
    ):
        return "\n".join(block["text"] for block in content)
    return "" if content is None else content
