"""`Message` → what a provider is told, by the rules of `model` (version 7, with every call answered)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from rejoinder.convert.model import to_model_messages
from rejoinder.convert.model_parts import DataConverter, ModelTool
from rejoinder.convert.model_repair import repaired
from rejoinder.messages import Json, JsonObject, Message, Part, StepStart, ToolCall
from rejoinder.messages.provider_message import (
    ProviderApprovalPart,
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderOptions,
    ProviderReasoningFilePart,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.wire.json import is_array, is_object

DENIED: Final = "The user did not allow this call."


def to_provider_messages(
    messages: Sequence[Message],
    *,
    tools: Mapping[str, ModelTool] | None = None,
    convert_data_part: DataConverter | None = None,
) -> tuple[ProviderMessage, ...]:
    """Say a history to a provider. No call stays without a result, and no message without content.

    Raises `UnconvertibleMessage` for what no provider can be told: a file whose URL is none.
    """
    said = to_model_messages(messages, sdk=7, tools=tools, convert_data_part=convert_data_part, repair=True)
    told = (_message(message) for message in said)
    return tuple(message for message in told if message.content)


class ProviderStep(NamedTuple):
    """One call of the model with its results, or a message that is one, and what of it a provider is told.

    `start` is what the step began with, if that is there, `first` whether the message begins with it, and `parts` are
    those of the step.
    """

    message: Message
    start: StepStart | None
    first: bool
    parts: tuple[Part, ...]
    told: tuple[ProviderMessage, ...]

    def call(self, id: str) -> ToolCall | None:
        """The call of that id."""
        calls = [part for part in self.parts if isinstance(part, ToolCall) and part.call_id == id]
        return calls[-1] if calls else None

    def kept(self, vendor: str) -> JsonObject:
        """What this vendor's own messages said of the step beyond what a provider is told."""
        extra = self.message.extra if self.message.role in ("user", "system") else None
        if self.start is not None:
            extra = self.start.extra
        kept = (extra or {}).get(vendor)
        return kept if is_object(kept) else {}


def provider_steps(messages: Sequence[Message]) -> Iterator[ProviderStep]:
    """`to_provider_messages` step by step, for forms that say more of a step than a provider is told.

    A message of the role `tool`, whose results have no calls, is told as an answer.
    """
    for message in repaired(messages, approvals=True):
        if message.role in ("user", "system"):
            yield ProviderStep(message, None, first=True, parts=message.parts, told=_told(message))
            continue
        first = True
        for start, parts in _steps(message.parts):
            told = _told(structs.replace(message, role="assistant", parts=tuple(parts)))
            yield ProviderStep(message, start, first, tuple(parts), told)
            first = first and not told


def _steps(parts: Sequence[Part]) -> Iterator[tuple[StepStart | None, list[Part]]]:
    start: StepStart | None = None
    step: list[Part] = []
    for part in parts:
        if isinstance(part, StepStart):
            yield start, step
            start, step = part, []
        else:
            step.append(part)
    yield start, step


def _told(message: Message) -> tuple[ProviderMessage, ...]:
    said = to_model_messages([message], sdk=7)
    return tuple(told for each in said if each["content"] and (told := _message(each)).content)


def _message(said: JsonObject) -> ProviderMessage:
    content = said["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return ProviderMessage(
        role=said["role"],
        content=tuple(part for item in parts if is_object(item) and (part := _part(item)) is not None),
        provider_options=_options(said),
    )


def _part(said: JsonObject) -> ProviderContentPart | None:
    options = _options(said)
    match said["type"]:
        case "text":
            return ProviderTextPart(text=_text(said.get("text")), provider_options=options)
        case "reasoning":
            return ProviderReasoningPart(text=_text(said.get("text")), provider_options=options)
        case "file":
            return _file(said, options)
        case "reasoning-file":
            return ProviderReasoningFilePart(
                media_type=_text(said.get("mediaType")), url=said["data"]["url"], provider_options=options
            )
        case "custom":
            return ProviderCustomPart(kind=_text(said.get("kind")), provider_options=options)
        case "tool-call":
            return ProviderToolCallPart(
                call_id=said["toolCallId"],
                name=said["toolName"],
                arguments=said.get("input"),
                provider_executed=said.get("providerExecuted") is True,
                provider_options=options,
            )
        case "tool-result":
            return _result(said, options)
        case "tool-approval-response" if said.get("providerExecuted") is True:
            return ProviderApprovalPart(
                approval_id=_text(said.get("approvalId")), approved=said["approved"] is True
            )
        case _:
            # Requests for approval and their answers: a model is told what came of them, not that one asked.
            return None


def _file(said: JsonObject, options: ProviderOptions | None) -> ProviderFilePart:
    data = said["data"]
    filename = said.get("filename")
    return ProviderFilePart(
        media_type=_text(said.get("mediaType")),
        url=data.get("url"),
        reference=data.get("reference"),
        filename=filename if isinstance(filename, str) else None,
        provider_options=options,
    )


def _result(said: JsonObject, options: ProviderOptions | None) -> ProviderToolResultPart:
    output = said["output"]
    kind = output["type"]
    value = output.get("value")
    denied = kind == "execution-denied"
    return ProviderToolResultPart(
        call_id=said["toolCallId"],
        name=said["toolName"],
        result=(output.get("reason") or DENIED) if denied else value,
        is_error=denied or kind in ("error-text", "error-json"),
        content=_shown(value) if kind == "content" and is_array(value) else (),
        provider_options=options,
    )


def _shown(items: Sequence[Json]) -> tuple[ProviderTextPart | ProviderFilePart, ...]:
    """What a tool's own `to_model_output` shows: texts, and files by their data or their URL."""
    shown: list[ProviderTextPart | ProviderFilePart] = []
    for item in items:
        if not is_object(item):
            continue
        if item.get("type") == "text":
            shown.append(ProviderTextPart(text=_text(item.get("text"))))
        elif isinstance(item.get("mediaType"), str):
            media_type: str = item["mediaType"]
            data = item.get("data")
            url = item.get("url")
            inline = f"data:{media_type};base64,{data}" if isinstance(data, str) else None
            shown.append(ProviderFilePart(media_type=media_type, url=url if isinstance(url, str) else inline))
    return tuple(shown)


def _options(said: JsonObject) -> ProviderOptions | None:
    options = said.get("providerOptions")
    return options if is_object(options) and options else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
