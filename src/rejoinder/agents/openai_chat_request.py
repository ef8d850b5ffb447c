"""What a Chat Completions server is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from rejoinder.agents.errors import ProviderRejected
from rejoinder.agents.requests import NO_INPUT, chosen_tool, is_strict, last_question
from rejoinder.convert.provider_values import inline_of, is_text, object_text, options_of, output_text
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import ProviderCallParams, ProviderToolDefinition

CANNOT_SHOW: Final = "The model cannot look at this file."

_AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_SAID_AS_TEXT: Final = ("reasoning_content", "reasoning")


def chat_request(params: ProviderCallParams, model: str, provider: str, *, ours: bool) -> JsonObject:
    """The body of a request. `ours` says that it goes to OpenAI itself, where one field has another name."""
    tools = params.tools or ()
    request: JsonObject = {
        "model": model,
        "messages": [*_messages(params.messages, provider)],
        "stream_options": {"include_usage": True},
        ("max_completion_tokens" if ours else "max_tokens"): params.max_tokens,
        "tools": [_tool(tool) for tool in tools] or None,
        "tool_choice": _choice(params.tool_choice, tools) if tools else None,
    }
    if params.output_schema is not None:
        schema = params.output_schema
        form = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
        request["response_format"] = {"type": "json_schema", "json_schema": form}
    return request


def chat_messages(messages: Sequence[ProviderMessage], *, provider: str = "openai") -> list[JsonObject]:
    """A history as the `messages` of Chat Completions: for whoever builds the rest of the request."""
    return [*_messages(messages, provider)]


def _tool(tool: ProviderToolDefinition) -> JsonObject:
    if tool.provider_tool is not None:
        return tool.provider_tool
    function: JsonObject = {"name": tool.name, "parameters": tool.schema or NO_INPUT}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _choice(choice: Json, tools: Sequence[ProviderToolDefinition]) -> Json:
    tool = chosen_tool(choice, tools)
    return choice if tool is None else {"type": "function", "function": {"name": tool.name}}


def _messages(messages: Sequence[ProviderMessage], provider: str) -> Iterator[JsonObject]:
    question = last_question(messages)
    for at, message in enumerate(messages):
        match message.role:
            case "system":
                yield {"role": "system", "content": message.text}
            case "user":
                yield {"role": "user", "content": _user(message, provider)}
            case "assistant":
                said = _assistant(message, provider, answering=at > question)
                if said is not None:
                    yield said
            case "tool":
                yield from _results(message, provider)
            case _:
                assert_never(message.role)


def _user(message: ProviderMessage, provider: str) -> Json:
    if len(message.content) == 1 and isinstance(message.content[0], ProviderTextPart):
        return message.content[0].text
    return [said for part in message.content if (said := _shown(part, provider)) is not None]


def _shown(part: ProviderContentPart, provider: str) -> JsonObject | None:
    match part:
        case ProviderTextPart():
            return {"type": "text", "text": part.text}
        case ProviderFilePart():
            return _file(part, provider)
        case _:
            return None  # A user says and shows; nothing else of theirs is for the model.


def _file(part: ProviderFilePart, provider: str) -> JsonObject:
    id = (part.reference or {}).get(provider)
    inline = inline_of(part.url)
    if id is not None:
        return {"type": "file", "file": {"file_id": id}}
    if part.media_type.startswith("image/"):
        detail = options_of(part, provider).get("imageDetail")
        image = {"url": part.url} if detail is None else {"url": part.url, "detail": detail}
        return {"type": "image_url", "image_url": image}
    if inline is None:
        raise ProviderRejected(
            f"a file of the type {part.media_type} at a URL cannot be shown through Chat Completions:"
            " send its data in a data: URL",
            provider=provider,
            user_text=CANNOT_SHOW,
        )
    if part.media_type in _AUDIO:
        audio = {"data": inline.base64, "format": _AUDIO[part.media_type]}
        return {"type": "input_audio", "input_audio": audio}
    if is_text(part.media_type):
        return {"type": "text", "text": inline.text}
    name = part.filename or f"file.{part.media_type.rpartition('/')[2]}"
    data = f"data:{inline.media_type};base64,{inline.base64}"
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def _assistant(message: ProviderMessage, provider: str, *, answering: bool) -> JsonObject | None:
    """What the model said. What it thought goes back where the server said it, and as its vendors ask for:
    as text within the answer that is being made, and as signed details always.
    """
    said: JsonObject = {"role": "assistant", "content": message.text or None}
    calls: list[JsonObject] = []
    for part in message.content:
        options = options_of(part, provider)
        if isinstance(part, ProviderToolCallPart) and not part.provider_executed:
            calls.append(_call(part, options))
        elif isinstance(part, ProviderReasoningPart):
            field, details = options.get("field"), options.get("details")
            if answering and field in _SAID_AS_TEXT:
                said[field] = said.get(field, "") + part.text
            if details:
                said["reasoning_details"] = [*said.get("reasoning_details", ()), *details]
    if calls:
        said["tool_calls"] = calls
    elif said["content"] is None:
        return None
    return said


def _call(part: ProviderToolCallPart, options: JsonObject) -> JsonObject:
    extra: JsonObject = {"extra_content": options["extraContent"]} if options.get("extraContent") else {}
    if options.get("type") == "custom":
        custom = {"name": part.name, "input": output_text(part.arguments)}
        return {"id": part.call_id, "type": "custom", "custom": custom}
    function = {"name": part.name, "arguments": object_text(part.arguments)}
    return {"id": part.call_id, "type": "function", "function": function, **extra}


def _results(message: ProviderMessage, provider: str) -> Iterator[JsonObject]:
    """The results of tools, texts only: what there is to look at is shown behind them, as if by the user."""
    pictures: list[JsonObject] = []
    for part in message.content:
        if not isinstance(part, ProviderToolResultPart):
            continue
        content: Json = output_text(part.result)
        if part.content:
            content = "\n".join(item.text for item in part.content if isinstance(item, ProviderTextPart))
            files = [item for item in part.content if isinstance(item, ProviderFilePart)]
            if files:
                pictures.append({"type": "text", "text": f"What {part.name} ({part.call_id}) shows:"})
                pictures += [_file(item, provider) for item in files]
        yield {"role": "tool", "tool_call_id": part.call_id, "content": content}
    if pictures:
        yield {"role": "user", "content": pictures}
