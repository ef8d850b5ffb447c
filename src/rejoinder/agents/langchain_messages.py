"""A history in LangChain's own messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, assert_never

from rejoinder.agents.files import inline_of
from rejoinder.agents.requests import object_in, output_text
from rejoinder.messages import Json, JsonObject
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

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, ToolCall


def langchain_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = ()
) -> list[BaseMessage]:
    """The messages; `but` are calls whose results are left out, because they are still to come."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    said: list[BaseMessage] = []
    for message in messages:
        match message.role:
            case "system":
                said.append(SystemMessage(message.text))
            case "user":
                said.append(HumanMessage(_content(message.content)))
            case "assistant":
                said.append(AIMessage(_content(message.content), tool_calls=_calls(message.content)))
            case "tool":
                said += _results(message.content, but)
            case _:
                assert_never(message.role)
    return said


def _calls(parts: Sequence[ProviderContentPart]) -> list[ToolCall]:
    return [
        {"type": "tool_call", "id": part.call_id, "name": part.name, "args": object_in(part.arguments)}
        for part in parts
        if isinstance(part, ProviderToolCallPart) and not part.provider_executed
    ]


def _results(parts: Sequence[ProviderContentPart], but: Collection[str]) -> list[BaseMessage]:
    from langchain_core.messages import ToolMessage

    return [
        ToolMessage(
            output_text(part.result),
            tool_call_id=part.call_id,
            name=part.name,
            status="error" if part.is_error else "success",
        )
        for part in parts
        if isinstance(part, ProviderToolResultPart) and part.call_id not in but
    ]


def _content(parts: Sequence[ProviderContentPart]) -> str | list[str | JsonObject]:
    """A text where there is nothing else: every model takes that."""
    blocks: list[str | JsonObject] = [block for part in parts if (block := _block(part)) is not None]
    if all(not isinstance(block, str) and block["type"] == "text" for block in blocks):
        return "".join(block["text"] for block in blocks if not isinstance(block, str))
    return blocks


def _block(part: ProviderContentPart) -> JsonObject | None:
    match part:
        case ProviderTextPart():
            return {"type": "text", "text": part.text}
        case ProviderFilePart():
            return _file(part)
        case ProviderReasoningPart():
            # A thought is only taken back with its vendor's signature.
            signature = (part.provider_options or {}).get("anthropic", {}).get("signature")
            return (
                None
                if signature is None
                else {"type": "thinking", "thinking": part.text, "signature": signature}
            )
        case (
            ProviderReasoningFilePart()
            | ProviderCustomPart()
            | ProviderToolCallPart()
            | ProviderToolResultPart()
            | ProviderApprovalPart()
        ):
            return None
        case _:
            assert_never(part)


def _file(part: ProviderFilePart) -> JsonObject:
    family = part.media_type.partition("/")[0]
    kind = family if family in ("image", "audio", "video") else "file"
    said: dict[str, Json] = {"type": kind, "mime_type": part.media_type}
    inline = inline_of(part.url)
    if inline is None:
        return {**said, "url": part.url}
    return {**said, "base64": inline.base64}
