"""A history in Pydantic AI's own messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, assert_never

from rejoinder.agents.files import inline_of
from rejoinder.agents.requests import object_in
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
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, UserContent


def pydantic_ai_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = ()
) -> list[ModelMessage]:
    """The messages; `but` are calls whose results are left out, because they are still to come."""
    from pydantic_ai.messages import ModelRequest, ModelResponse

    said: list[ModelMessage] = []
    hosted: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            hosted |= _hosted(message.content)
            said.append(ModelResponse(parts=[*_response(message.content, hosted)]))
            continue
        parts = [*_request(message, {*but, *hosted})]
        if parts:
            said.append(ModelRequest(parts=parts))
    return said


def _request(message: ProviderMessage, but: Collection[str]) -> Iterator[ModelRequestPart]:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    if message.role == "system":
        yield SystemPromptPart(message.text)
    elif message.role == "user":
        yield UserPromptPart(_user(message.content))
    for part in message.content:
        if isinstance(part, ProviderToolResultPart) and part.call_id not in but:
            outcome: Literal["failed", "success"] = "failed" if part.is_error else "success"
            yield ToolReturnPart(part.name, part.result, part.call_id, outcome=outcome)


def _user(parts: Sequence[ProviderContentPart]) -> str | list[UserContent]:
    from pydantic_ai.messages import AudioUrl, BinaryContent, DocumentUrl, ImageUrl, VideoUrl

    urls = {"image": ImageUrl, "audio": AudioUrl, "video": VideoUrl}
    said: list[UserContent] = []
    for part in parts:
        if isinstance(part, ProviderTextPart):
            said.append(part.text)
        elif isinstance(part, ProviderFilePart) and part.url is not None:
            if inline_of(part.url) is not None:
                said.append(BinaryContent.from_data_uri(part.url))
            else:
                family = part.media_type.partition("/")[0]
                said.append(urls.get(family, DocumentUrl)(part.url, media_type=part.media_type))
    texts = [item for item in said if isinstance(item, str)]
    return "\n".join(texts) if len(texts) == len(said) else said


def _response(parts: Sequence[ProviderContentPart], hosted: Collection[str]) -> Iterator[ModelResponsePart]:
    from pydantic_ai.messages import (
        NativeToolCallPart,
        NativeToolReturnPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
    )

    for part in parts:
        about = (part.provider_options or {}).get("pydantic_ai", {})
        match part:
            case ProviderTextPart():
                yield TextPart(part.text)
            case ProviderReasoningPart():
                yield ThinkingPart(
                    part.text,
                    id=about.get("id"),
                    signature=about.get("signature"),
                    provider_name=about.get("provider_name"),
                )
            case ProviderToolCallPart():
                kind = NativeToolCallPart if part.provider_executed else ToolCallPart
                yield kind(
                    part.name,
                    object_in(part.arguments),
                    part.call_id,
                    provider_name=about.get("provider_name"),
                )
            case ProviderToolResultPart():
                if part.call_id in hosted:
                    yield NativeToolReturnPart(part.name, part.result, part.call_id)
            case ProviderFilePart() | ProviderReasoningFilePart() | ProviderCustomPart():
                pass  # what a model drew is not taken back by most
            case ProviderApprovalPart():
                pass  # it is the user's
            case _:
                assert_never(part)


def _hosted(parts: Sequence[ProviderContentPart]) -> set[str]:
    """The calls that the vendor made itself."""
    return {
        part.call_id for part in parts if isinstance(part, ProviderToolCallPart) and part.provider_executed
    }
