"""What Anthropic Messages is asked: blocks, as it gave them where they came from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rejoinder.agents.errors import ProviderRejected
from rejoinder.agents.requests import NO_INPUT, chosen_tool, closed
from rejoinder.convert.provider_values import (
    hosted_results,
    inline_of,
    is_text,
    object_in,
    options_of,
    output_text,
)
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import ProviderCallParams, ProviderToolDefinition
from rejoinder.translate.fields import objects_of, text_of
from rejoinder.wire.json import is_object

CANNOT_SHOW: Final = "The model cannot look at this file."

_CHOICES: Final[Mapping[str, str]] = {"auto": "auto", "required": "any", "none": "none"}
_NO_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
"""What an id of a call must not contain here; other vendors' ids do."""


def messages_request(params: ProviderCallParams, model: str, provider: str, *, max_tokens: int) -> JsonObject:
    """The body of a request."""
    tools = params.tools or ()
    request: JsonObject = {
        "model": model,
        "max_tokens": params.max_tokens or max_tokens,
        "system": [*_system(params.messages, provider)] or None,
        "messages": _turns(params.messages, provider),
        "tools": [_tool(tool) for tool in tools] or None,
        "tool_choice": _choice(params.tool_choice, tools) if tools else None,
    }
    if params.output_schema is not None:
        form = {"type": "json_schema", "schema": closed(params.output_schema)}
        request["output_config"] = {"format": form}
    return request


def anthropic_history(messages: Sequence[ProviderMessage], *, provider: str = "anthropic") -> JsonObject:
    """A history as the `system` and `messages` of a request: for whoever builds the rest of it."""
    system = [*_system(messages, provider)]
    turns = _turns(messages, provider)
    return {"system": system, "messages": turns} if system else {"messages": turns}


def _tool(tool: ProviderToolDefinition) -> JsonObject:
    if tool.provider_tool is not None:
        return tool.provider_tool
    said: JsonObject = {"name": tool.name, "input_schema": tool.schema or NO_INPUT}
    if tool.description is not None:
        said["description"] = tool.description
    if tool.strict is not None:
        said["strict"] = tool.strict
    return said


def _choice(choice: Json, tools: Sequence[ProviderToolDefinition]) -> Json:
    if isinstance(choice, str):
        return {"type": _CHOICES.get(choice, choice)}
    tool = chosen_tool(choice, tools)
    return choice if tool is None else {"type": "tool", "name": tool.name}


def _system(messages: Sequence[ProviderMessage], provider: str) -> Iterator[JsonObject]:
    """What stands above the conversation: here there is one place for it, before the first message."""
    for message in messages:
        if message.role == "system" and message.text:
            yield {"type": "text", "text": message.text, **_cache(message, provider)}


def _turns(messages: Sequence[ProviderMessage], provider: str) -> list[JsonObject]:
    """User and assistant by turns; results of tools are the user's, and come before what the user says."""
    turns: list[JsonObject] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [*(_said(message, provider) if role == "assistant" else _asked(message, provider))]
        if not blocks:
            continue
        if message.provider_options is not None:
            blocks[-1] |= _cache(message, provider)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    for turn in turns:
        if turn["role"] == "user":
            blocks = objects_of(turn, "content")
            turn["content"] = sorted(blocks, key=_after_results)
    _trim(turns)
    return turns


def _after_results(block: JsonObject) -> bool:
    return text_of(block, "type") != "tool_result"


def _trim(turns: list[JsonObject]) -> None:
    """A last word of the model's must not end with white space: Anthropic refuses it."""
    if turns and turns[-1]["role"] == "assistant":
        last = objects_of(turns[-1], "content")[-1]
        if last["type"] == "text":
            last["text"] = text_of(last, "text").rstrip()


def _cache(part: ProviderContentPart | ProviderMessage, provider: str) -> JsonObject:
    options = options_of(part, provider)
    control = options.get("cacheControl") or options.get("cache_control")
    return {"cache_control": control} if is_object(control) else {}


# What is shown to the model


def _asked(message: ProviderMessage, provider: str) -> Iterator[JsonObject]:
    for part in message.content:
        match part:
            case ProviderToolResultPart():
                yield {**_result(part, provider), **_cache(part, provider)}
            case ProviderTextPart() | ProviderFilePart():
                shown = _shown(part, provider)
                if shown is not None:
                    yield {**shown, **_cache(part, provider)}
            case _:
                pass  # A user says and shows; nothing else of theirs is for the model.


def _shown(part: ProviderTextPart | ProviderFilePart, provider: str) -> JsonObject | None:
    if isinstance(part, ProviderTextPart):
        return {"type": "text", "text": part.text} if part.text.strip() else None
    id = (part.reference or {}).get(provider)
    inline = inline_of(part.url)
    named: JsonObject = {} if part.filename is None else {"title": part.filename}
    if part.media_type.startswith("image/"):
        return {"type": "image", "source": _source(part, id)}
    if id is not None:
        return {"type": "document", "source": {"type": "file", "file_id": id}, **named}
    if is_text(part.media_type) and inline is not None:
        source = {"type": "text", "media_type": "text/plain", "data": inline.text}
        return {"type": "document", "source": source, **named}
    if part.media_type == "application/pdf":
        return {"type": "document", "source": _source(part, None), **named}
    raise ProviderRejected(
        f"a file of the type {part.media_type} cannot be shown: send an image, a PDF or a text",
        provider=provider,
        user_text=CANNOT_SHOW,
    )


def _source(part: ProviderFilePart, id: str | None) -> JsonObject:
    inline = inline_of(part.url)
    if id is not None:
        return {"type": "file", "file_id": id}
    if inline is None:
        return {"type": "url", "url": part.url}
    media_type = "image/jpeg" if part.media_type == "image/*" else part.media_type
    return {"type": "base64", "media_type": media_type, "data": inline.base64}


def _result(part: ProviderToolResultPart, provider: str) -> JsonObject:
    content: Json = output_text(part.result)
    if part.content:
        content = [shown for item in part.content if (shown := _shown(item, provider)) is not None]
    said: JsonObject = {"type": "tool_result", "tool_use_id": _id(part.call_id), "content": content}
    return {**said, "is_error": True} if part.is_error else said


# What the model said


def _said(message: ProviderMessage, provider: str) -> Iterator[JsonObject]:
    results = hosted_results(message.content)
    for part in message.content:
        options = options_of(part, provider)
        match part:
            case ProviderTextPart() if part.text.strip():
                cited: JsonObject = {"citations": options["citations"]} if options.get("citations") else {}
                yield {"type": "text", "text": part.text, **cited, **_cache(part, provider)}
            case ProviderReasoningPart() if options.get("signature"):
                yield {"type": "thinking", "thinking": part.text, "signature": options["signature"]}
            case ProviderReasoningPart() if options.get("redactedData"):
                yield {"type": "redacted_thinking", "data": options["redactedData"]}
            case ProviderToolCallPart(provider_executed=True):
                yield from _hosted(part, options, results.get(part.call_id), provider)
            case ProviderToolCallPart():
                yield {**_call(part, "tool_use", options), **_cache(part, provider)}
            case ProviderCustomPart() if is_object(options.get("block")):
                yield options["block"]
            case _:
                pass  # Thoughts without a signature, and what only another vendor understands.


def _call(part: ProviderToolCallPart, kind: str, options: JsonObject) -> JsonObject:
    call = {"type": kind, "id": _id(part.call_id), "name": part.name, "input": object_in(part.arguments)}
    if options.get("serverName"):
        call["server_name"] = options["serverName"]
    return call | {name: options[name] for name in ("caller", "toolset_name") if options.get(name)}


def _hosted(
    part: ProviderToolCallPart, options: JsonObject, result: ProviderToolResultPart | None, provider: str
) -> Iterator[JsonObject]:
    """A call that Anthropic ran, and its result: one without the other would be refused."""
    about = {} if result is None else options_of(result, provider)
    if result is None or not options.get("type") or not about.get("type"):
        return
    yield _call(part, options["type"], options)
    answer: JsonObject = {"type": about["type"], "tool_use_id": _id(part.call_id)}
    answer["content"] = about.get("content", result.result)
    if about["type"] == "mcp_tool_result":
        answer["is_error"] = result.is_error
    yield answer


def _id(given: str) -> str:
    return _NO_ID.sub("_", given)
