"""Message → chunks: the stream that makes this message, and the inverse of `accumulate`.

What no chunk can say does not survive: the name of an uploaded file, parts that we do not know, and fields that
the protocol does not have (`extra`). Messages that were accumulated have none of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import UNSET, ValidationError

from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    Custom,
    Data,
    File,
    JsonObject,
    Maybe,
    Message,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    is_absent,
)
from rejoinder.wire import chunks
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.json import encode


def explode(message: Message) -> Iterator[Chunk]:
    """The chunks that make this message, from `start` to `finish`.

    Raises `InvalidMessage` if it is nobody's answer, or holds what no chunk may hold.
    """
    if message.role != "assistant":
        raise InvalidMessage(
            f"only an assistant's message is streamed, message {message.id!r} is {message.role}'s"
        )
    yield chunks.Start(
        message_id=message.id or UNSET,
        message_metadata=UNSET if message.metadata is None else message.metadata,
    )
    in_step = False
    for number, part in enumerate(message.parts):
        if isinstance(part, StepStart):
            if in_step:
                yield chunks.FinishStep()
            in_step = True
        try:
            yield from _chunks_of(part, number)
        except ValidationError as error:
            raise InvalidMessage(f"parts[{number}]: no chunk says this: {error}") from None
    if in_step:
        yield chunks.FinishStep()
    yield chunks.Finish()


def _chunks_of(part: Part, number: int) -> Iterator[Chunk]:
    match part:
        case Text():
            yield from _text(part, f"t{number}")
        case Reasoning():
            yield from _reasoning(part, f"r{number}" if part.id is None else part.id)
        case ToolCall():
            yield from _tool_call(part)
        case File():
            yield chunks.FileChunk(
                url=part.url, media_type=part.media_type, provider_metadata=_set(part.provider_metadata)
            )
        case ReasoningFile():
            yield chunks.ReasoningFileChunk(
                url=part.url, media_type=part.media_type, provider_metadata=_set(part.provider_metadata)
            )
        case SourceUrl():
            yield chunks.SourceUrlChunk(
                source_id=part.source_id,
                url=part.url,
                title=_set(part.title),
                provider_metadata=_set(part.provider_metadata),
            )
        case SourceDocument():
            yield chunks.SourceDocumentChunk(
                source_id=part.source_id,
                media_type=part.media_type,
                title=part.title,
                filename=_set(part.filename),
                provider_metadata=_set(part.provider_metadata),
            )
        case StepStart():
            yield chunks.StartStep()
        case Data():
            yield _data(part)
        case Custom():
            yield chunks.CustomChunk(kind=part.kind, provider_metadata=_set(part.provider_metadata))
        case Steering():
            yield chunks.SteeringMessage(id=part.id, parts=[_said(item) for item in part.parts])
        case Opaque():
            pass  # there is no chunk that says it
        case _:
            assert_never(part)


def _text(part: Text, id: str) -> Iterator[Chunk]:
    yield chunks.TextStart(id=id, provider_metadata=_set(part.provider_metadata))
    if part.text:
        yield chunks.TextDelta(id=id, delta=part.text)
    if part.state != "streaming":
        yield chunks.TextEnd(id=id, citations=UNSET if part.citations is None else part.citations)


def _reasoning(part: Reasoning, id: str) -> Iterator[Chunk]:
    yield chunks.ReasoningStart(id=id, provider_metadata=_set(part.provider_metadata))
    if part.text:
        yield chunks.ReasoningDelta(id=id, delta=part.text)
    if part.state != "streaming":
        yield chunks.ReasoningEnd(id=id)


def _tool_call(call: ToolCall) -> Iterator[Chunk]:
    outcome = _outcome(call)
    if outcome is None and call.result_provider_metadata is not None:
        # An outcome that was taken back; what the provider said of it has stayed.
        yield _input_available(call, None)
        yield chunks.ToolOutputAvailable(
            tool_call_id=call.call_id,
            output=None,
            dynamic=_dynamic(call),
            provider_metadata=call.result_provider_metadata,
        )
    match call.state:
        case "input-streaming" | "input-available":
            if call.approval is not None:
                # A question from before the input began to arrive anew.
                yield _input_available(call, None)
                yield from _approval(call)
            yield (
                _input_available(call, call.input) if call.state == "input-available" else _input_start(call)
            )
            yield from _input_deltas(call)
        case "output-available" | "output-error":
            yield from _tool_input(call)
            yield from _approval(call)
            if outcome is not None:
                yield outcome
        case "approval-requested" | "approval-responded" | "output-denied":
            yield from _tool_input(call)
            if outcome is not None:
                yield outcome
            yield from _approval(call)
            if call.state == "output-denied":
                yield chunks.ToolOutputDenied(tool_call_id=call.call_id)
        case _:
            assert_never(call.state)


def _tool_input(call: ToolCall) -> Iterator[Chunk]:
    if isinstance(call.raw_input, str) and call.state != "output-available":
        yield _input_start(call)
        yield from _input_deltas(call)
    elif call.error_text is not None and not is_absent(call.raw_input):
        yield chunks.ToolInputError(
            tool_call_id=call.call_id,
            tool_name=call.name,
            input=call.raw_input,
            error_text=call.error_text,
            dynamic=_dynamic(call),
        )
    elif is_absent(call.input):
        yield _input_start(call)
    else:
        yield _input_available(call, call.input)


def _input_start(call: ToolCall) -> Chunk:
    # An outcome takes the encoding away; an input that is its own raw text can only have come as text.
    came_as_text = isinstance(call.raw_input, str) and call.input == call.raw_input
    return chunks.ToolInputStart(
        tool_call_id=call.call_id,
        tool_name=call.name,
        input_encoding="text" if came_as_text else _set(call.input_encoding),
        provider_executed=_set(call.provider_executed),
        provider_metadata=_set(call.call_provider_metadata),
        tool_metadata=_set(call.metadata),
        dynamic=_dynamic(call),
        title=_set(call.title),
    )


def _input_deltas(call: ToolCall) -> Iterator[Chunk]:
    if isinstance(call.raw_input, str):
        yield chunks.ToolInputDelta(tool_call_id=call.call_id, input_text_delta=call.raw_input)
    elif call.state == "input-streaming" and not is_absent(call.input):
        yield chunks.ToolInputDelta(tool_call_id=call.call_id, input_text_delta=encode(call.input).decode())


def _input_available(call: ToolCall, value: Maybe) -> Chunk:
    return chunks.ToolInputAvailable(
        tool_call_id=call.call_id,
        tool_name=call.name,
        input=value,
        provider_executed=_set(call.provider_executed),
        provider_metadata=_set(call.call_provider_metadata),
        tool_metadata=_set(call.metadata),
        dynamic=_dynamic(call),
        title=_set(call.title),
    )


def _approval(call: ToolCall) -> Iterator[Chunk]:
    approval = call.approval
    if approval is None:
        return
    yield chunks.ToolApprovalRequest(
        approval_id=approval.id,
        tool_call_id=call.call_id,
        approval_descriptor=approval.descriptor,
        input_schema_input=approval.input_schema_input,
        reason=_set(approval.request_reason),
        is_automatic=_set(approval.is_automatic),
        signature=_set(approval.signature),
    )
    if approval.approved is not None:
        yield chunks.ToolApprovalResponse(
            approval_id=approval.id, approved=approval.approved, reason=_set(approval.reason)
        )


def _outcome(call: ToolCall) -> Chunk | None:
    metadata = _set(call.result_provider_metadata)
    if call.error_text is not None or call.state == "output-error":
        return chunks.ToolOutputError(
            tool_call_id=call.call_id,
            error_text=call.error_text or "",
            dynamic=_dynamic(call),
            provider_metadata=metadata,
        )
    if call.state == "output-available" or not is_absent(call.output):
        return chunks.ToolOutputAvailable(
            tool_call_id=call.call_id,
            output=call.output,
            preliminary=_set(call.preliminary),
            dynamic=_dynamic(call),
            provider_metadata=metadata,
        )
    return None


def _dynamic(call: ToolCall) -> Maybe:
    return True if call.dynamic else UNSET


def _data(part: Data) -> Chunk:
    extra = dict(part.extra or {})
    transient = extra.pop("transient", UNSET)
    return chunks.DataChunk(
        name=part.name, id=_set(part.id), data=part.data, transient=transient, extra=extra or None
    )


def _said(part: Text | File) -> JsonObject:
    fields: JsonObject
    if isinstance(part, Text):
        fields = {"type": "text", "text": part.text}
    else:
        fields = {"type": "file", "mediaType": part.media_type, "url": part.url}
        if part.filename is not None:
            fields["filename"] = part.filename
        if part.provider_reference is not None:
            fields["providerReference"] = part.provider_reference
    if part.provider_metadata is not None:
        fields["providerMetadata"] = part.provider_metadata
    return fields | (part.extra or {})


def _set(value: Maybe) -> Maybe:
    """An optional field of a part as an optional field of a chunk."""
    return UNSET if value is None else value
