"""Streams of the AI SDK itself: another server's chunks, and the parts of `streamText().fullStream`.

What is legal passes as it came, ids included; what is not is repaired by the emitter or left out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar, assert_never

from msgspec import UnsetType

from rejoinder.errors import InvalidChunk
from rejoinder.messages import ABSENT, Json, JsonObject, TurnError, Usage
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, said_of, text_of
from rejoinder.translate.notes import (
    SAFE_ERROR_TEXT,
    CallEnded,
    CallStarted,
    Failed,
    Finished,
    Problem,
    Stopped,
)
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    CustomChunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    FinishStep,
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    ResetStep,
    SourceDocumentChunk,
    SourceUrlChunk,
    Start,
    StartStep,
    SteeringMessage,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
)
from rejoinder.wire.codec import chunk_from_json
from rejoinder.wire.json import is_array, is_object
from rejoinder.wire.stream_parts import StreamPartOptions, chunk_of

Value = TypeVar("Value")


class ChunkStream:
    """`UIMessageChunk`s of another server. Which message this is, is ours to say: its `start` gives the metadata."""

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One chunk."""
        if is_object(event) and event.get("type") == "[DONE]":
            return ()
        try:
            chunk = chunk_from_json(event)
        except InvalidChunk as error:
            say.note(Problem(text=str(error)))
            return ()
        return said_again(say, chunk)


class ModelStream:
    """`TextStreamPart`s of version 6 or 7, one JSON object each."""

    def __init__(self) -> None:
        self._invalid: set[str] = set()
        self._calls = 0

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One part."""
        try:
            chunk = chunk_of(_with_file(event), _ALL)
        except InvalidChunk as error:
            say.note(Problem(text=str(error)))
            return ()
        if is_object(event):
            self._account(say, event)
            if self._repeats_an_invalid_call(event):
                return ()
        return () if chunk is None else said_again(say, chunk)

    def _account(self, say: Emitter, part: JsonObject) -> None:
        match part.get("type"):
            case "start-step":
                self._calls += 1
            case "finish-step":
                call_id = text_of(part, "response", "id") or f"step-{self._calls}"
                model = text_of(part, "response", "modelId") or "unknown"
                say.note(CallStarted(id=call_id, provider="ai-sdk", model=model))
                say.note(CallEnded(id=call_id, provider="ai-sdk", usage=usage_of(object_of(part, "usage"))))
            case _:
                pass  # nothing else counts tokens: the total of `finish` is the sum of its steps

    def _repeats_an_invalid_call(self, part: JsonObject) -> bool:
        call_id = text_of(part, "toolCallId")
        if part.get("type") == "tool-call" and part.get("invalid"):
            self._invalid.add(call_id)
        return part.get("type") == "tool-error" and call_id in self._invalid


def _with_file(part: Json) -> Json:
    """The part with its file as the SDK means it: written as JSON, its objects show where they keep the data."""
    file = object_of(part, "file")
    if not file or "base64" in file:
        return part
    data = file.get("base64Data") or ""
    octets = file.get("uint8ArrayData", file.get("uint8Array"))
    if not data and is_object(octets):
        octets = [octets[place] for place in sorted(octets, key=lambda place: (len(place), place))]
    if not data and is_array(octets):
        with suppress(TypeError, ValueError):
            data = b64encode(bytes(octets)).decode()
    return {**part, "file": {**file, "base64": data}}


def said_again(say: Emitter, chunk: Chunk) -> Iterator[Chunk]:
    """Say what this chunk of somebody else says."""
    say.own_steps = True
    match chunk:
        case Start():
            yield from say.metadata(chunk.message_metadata) if chunk.message_metadata is not ABSENT else ()
        case Finish():
            say.note(Finished(reason=_known(chunk.finish_reason), metadata=chunk.message_metadata))
        case Abort():
            say.note(Stopped(reason=_known(chunk.reason)))
        case Error():
            error = TurnError(message=chunk.error_text, provider="ai-sdk")
            say.note(Failed(error=error, error_text=chunk.error_text))
        case StartStep():
            yield from say.step()
        case FinishStep():
            yield from say.step_end()
        case ResetStep():
            yield from say.reset_step()
        case TextStart() | TextDelta() | TextEnd() | ReasoningStart() | ReasoningDelta() | ReasoningEnd():
            yield from _part(say, chunk)
        case ToolInputStart() | ToolInputDelta() | ToolInputAvailable() | ToolInputError():
            yield from _input(say, chunk)
        case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied():
            yield from _output(say, chunk)
        case ToolApprovalRequest():
            yield from say.tool_input_end(chunk.tool_call_id)
            yield from say.approval_request(
                chunk.approval_id,
                chunk.tool_call_id,
                reason=_known(chunk.reason),
                is_automatic=_known(chunk.is_automatic),
                signature=_known(chunk.signature),
                descriptor=chunk.approval_descriptor,
                input_schema_input=chunk.input_schema_input,
            )
        case UnknownChunk():
            say.note(Problem(text=f"a chunk {chunk.type!r} is not known: it is kept as it came"))
        case (
            DataChunk()
            | MessageMetadata()
            | FileChunk()
            | ReasoningFileChunk()
            | SourceUrlChunk()
            | SourceDocumentChunk()
            | CustomChunk()
            | SteeringMessage()
            | ToolApprovalResponse()
        ):
            yield from say.chunk(chunk)
        case _:
            assert_never(chunk)


def usage_of(usage: JsonObject) -> Usage:
    """Usage as versions 5 to 7 tell it: plain numbers, and since 6 with details beside them."""
    read = integer_of(usage, "inputTokenDetails", "cacheReadTokens")
    reasoning = integer_of(usage, "outputTokenDetails", "reasoningTokens")
    return Usage(
        input_tokens=integer_of(usage, "inputTokens"),
        output_tokens=integer_of(usage, "outputTokens"),
        total_tokens=integer_of(usage, "totalTokens"),
        cache_read_tokens=integer_of(usage, "cachedInputTokens") if read is None else read,
        cache_write_tokens=integer_of(usage, "inputTokenDetails", "cacheWriteTokens"),
        reasoning_tokens=integer_of(usage, "reasoningTokens") if reasoning is None else reasoning,
    )


def _part(
    say: Emitter, chunk: TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd
) -> list[Chunk]:
    metadata = _known(chunk.provider_metadata)
    match chunk:
        case TextStart():
            return say.text_start(chunk.id, id=chunk.id, provider_metadata=metadata)
        case TextDelta():
            return say.text(chunk.delta, chunk.id, provider_metadata=metadata)
        case TextEnd():
            return say.text_end(chunk.id, provider_metadata=metadata, citations=_known(chunk.citations))
        case ReasoningStart():
            return say.reasoning_start(chunk.id, id=chunk.id, provider_metadata=metadata)
        case ReasoningDelta():
            return say.reasoning(chunk.delta, chunk.id, provider_metadata=metadata)
        case ReasoningEnd():
            return say.reasoning_end(chunk.id, provider_metadata=metadata)
        case _:
            assert_never(chunk)


def _input(
    say: Emitter, chunk: ToolInputStart | ToolInputDelta | ToolInputAvailable | ToolInputError
) -> list[Chunk]:
    match chunk:
        case ToolInputStart():
            return say.tool_input_start(
                chunk.tool_call_id,
                chunk.tool_name,
                dynamic=chunk.dynamic is True,
                provider_executed=chunk.provider_executed is True,
                title=_known(chunk.title),
                text=chunk.input_encoding == "text",
                provider_metadata=_known(chunk.provider_metadata),
                tool_metadata=_known(chunk.tool_metadata),
            )
        case ToolInputDelta():
            return say.tool_input_delta(chunk.tool_call_id, chunk.input_text_delta)
        case ToolInputAvailable():
            return say.tool_input(
                chunk.tool_call_id,
                chunk.tool_name,
                chunk.input,
                dynamic=_known(chunk.dynamic),
                provider_executed=_known(chunk.provider_executed),
                title=_known(chunk.title),
                provider_metadata=_known(chunk.provider_metadata),
                tool_metadata=_known(chunk.tool_metadata),
            )
        case ToolInputError():
            return say.tool_input_error(
                chunk.tool_call_id,
                chunk.tool_name,
                chunk.input,
                chunk.error_text,
                dynamic=_known(chunk.dynamic),
                provider_executed=_known(chunk.provider_executed),
                provider_metadata=_known(chunk.provider_metadata),
            )
        case _:
            assert_never(chunk)


def _output(say: Emitter, chunk: ToolOutputAvailable | ToolOutputError | ToolOutputDenied) -> list[Chunk]:
    match chunk:
        case ToolOutputAvailable():
            return say.tool_output(
                chunk.tool_call_id,
                chunk.output,
                preliminary=chunk.preliminary is True,
                provider_metadata=_known(chunk.provider_metadata),
            )
        case ToolOutputError():
            return say.tool_error(
                chunk.tool_call_id, chunk.error_text, provider_metadata=_known(chunk.provider_metadata)
            )
        case ToolOutputDenied():
            return say.tool_denied(chunk.tool_call_id)
        case _:
            assert_never(chunk)


def _known(value: Value | UnsetType) -> Value | None:
    return None if isinstance(value, UnsetType) else value


def _error_text(error: Json) -> str:
    """What failed, as far as the stream says it: errors of JavaScript often arrive as empty objects."""
    text = error if isinstance(error, str) else text_of(error, "message")
    return text or (said_of(error) if error else SAFE_ERROR_TEXT)


_ALL = StreamPartOptions(send_sources=True, mask_error=_error_text)
