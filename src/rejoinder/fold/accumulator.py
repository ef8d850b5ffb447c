"""Chunks → message: what a client of AI SDK 5, 6 or 7 holds after each chunk, at constant cost a delta.

The handlers follow the reducers of the published packages, step for step, with what differs between them in
`rules`. Where those search all parts of the message at every chunk, we keep indexes; where they parse a tool's
input again at every delta, we wait until somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from rejoinder.errors import IllegalChunk
from rejoinder.fold.calls import Calls
from rejoinder.fold.merge import merge_metadata
from rejoinder.fold.pieces import Call, Prose, call_in, given
from rejoinder.fold.rules import RULES
from rejoinder.messages import (
    ABSENT,
    Custom,
    Data,
    File,
    JsonObject,
    Message,
    Opaque,
    Part,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
)
from rejoinder.messages import Maybe as MaybeJson
from rejoinder.wire import chunks
from rejoinder.wire.chunks import Chunk

Handler: TypeAlias = Callable[[Any], None]

_STEP_START: Final = StepStart()


class Accumulator:
    """One message that grows by chunks.

    `onto` is continued if an assistant said it, as the clients do. `message_id` names a new message; a `start`
    may rename it. An illegal chunk raises `IllegalChunk`, with the text of the client's own error, and changes
    nothing.
    """

    def __init__(self, *, sdk: int = 7, onto: Message | None = None, message_id: str | None = None) -> None:
        self.rules = RULES[sdk]
        continued = onto if onto is not None and onto.role == "assistant" else None
        self._message = continued or Message(id=message_id or "", role="assistant")
        self._initial_id = message_id if continued is None else continued.id
        self._metadata: MaybeJson = self._message.metadata
        self._parts: list[Part | Prose | Call] = []
        self._texts: dict[str, Prose] = {}
        self._reasonings: dict[str, Prose] = {}
        self._data: dict[tuple[str, str], int] = {}
        self._calls = Calls(self._parts, self.rules)
        self.finish_reason: str | None = None
        self.aborted = False
        self.errors: list[str] = []
        for part in self._message.parts:
            self._add(part)
        self._calls.resume_inputs()
        self._handlers: dict[type, Handler] = {
            kind: handler for kind, handler in self._all_handlers().items() if kind not in self.rules.ignores
        }

    @property
    def id(self) -> str:
        """The message's id as it stands."""
        return self._message.id

    @property
    def message(self) -> Message:
        """The message as it stands: a value, which later chunks do not change."""
        parts = tuple(part.freeze() if isinstance(part, Prose | Call) else part for part in self._parts)
        return msgspec.structs.replace(self._message, parts=parts, metadata=self._metadata)

    def apply(self, chunk: Chunk) -> None:
        """Take one chunk. Chunks that the generation does not know change nothing."""
        handler = self._handlers.get(type(chunk))
        if handler is not None:
            handler(chunk)

    def _all_handlers(self) -> dict[type, Handler]:
        calls = self._calls
        return {
            chunks.TextStart: self._text_start,
            chunks.TextDelta: self._text_delta,
            chunks.TextEnd: self._text_end,
            chunks.ReasoningStart: self._reasoning_start,
            chunks.ReasoningDelta: self._reasoning_delta,
            chunks.ReasoningEnd: self._reasoning_end,
            chunks.ToolInputStart: calls.input_start,
            chunks.ToolInputDelta: calls.input_delta,
            chunks.ToolInputAvailable: calls.input_available,
            chunks.ToolInputError: calls.input_error,
            chunks.ToolOutputAvailable: calls.output_available,
            chunks.ToolOutputError: calls.output_error,
            chunks.ToolOutputDenied: calls.output_denied,
            chunks.ToolApprovalRequest: calls.approval_request,
            chunks.ToolApprovalResponse: calls.approval_response,
            chunks.FileChunk: self._file,
            chunks.ReasoningFileChunk: self._reasoning_file,
            chunks.SourceUrlChunk: self._source_url,
            chunks.SourceDocumentChunk: self._source_document,
            chunks.CustomChunk: self._custom,
            chunks.SteeringMessage: self._steering,
            chunks.DataChunk: self._data_part,
            chunks.StartStep: self._start_step,
            chunks.FinishStep: self._finish_step,
            chunks.ResetStep: self._reset_step,
            chunks.Start: self._start,
            chunks.Finish: self._finish,
            chunks.MessageMetadata: self._message_metadata,
            chunks.Abort: self._abort,
            chunks.Error: self._error,
        }

    # What is around the parts

    def _start(self, chunk: chunks.Start) -> None:
        # A start without an id is given the id that the message had at first: the SDK's server does so.
        message_id = chunk.message_id if chunk.message_id is not UNSET else self._initial_id
        self._merge("start", chunk.message_metadata)
        if message_id is not None:
            self._message = msgspec.structs.replace(self._message, id=message_id)

    def _finish(self, chunk: chunks.Finish) -> None:
        self._merge("finish", chunk.message_metadata)
        if chunk.finish_reason is not UNSET:
            self.finish_reason = chunk.finish_reason

    def _message_metadata(self, chunk: chunks.MessageMetadata) -> None:
        self._merge("message-metadata", chunk.message_metadata)

    def _merge(self, chunk_type: str, metadata: MaybeJson) -> None:
        if metadata is UNSET or metadata is None:
            return
        if self._metadata is ABSENT or self._metadata is None:
            self._metadata = metadata
        else:
            self._metadata = merge_metadata(self._metadata, metadata, chunk_type=chunk_type)

    def _abort(self, chunk: chunks.Abort) -> None:
        self.aborted = True

    def _error(self, chunk: chunks.Error) -> None:
        self.errors.append(chunk.error_text)

    # Steps

    def _start_step(self, chunk: chunks.StartStep) -> None:
        self._add(_STEP_START)

    def _finish_step(self, chunk: chunks.FinishStep) -> None:
        if self.rules.finish_step_closes:
            self._texts.clear()
            self._reasonings.clear()

    def _reset_step(self, chunk: chunks.ResetStep) -> None:
        self._texts.clear()
        self._reasonings.clear()
        kept = self._parts[: self._calls.step_begin]
        self._parts.clear()
        self._data.clear()
        self._calls.forget()
        for part in kept:
            self._add(part)

    # Text and reasoning

    def _text_start(self, chunk: chunks.TextStart) -> None:
        prose = Prose(reasoning=False, id=chunk.id, metadata=chunk.provider_metadata)
        self._texts[chunk.id] = prose
        self._parts.append(prose)

    def _text_delta(self, chunk: chunks.TextDelta) -> None:
        prose = self._texts.get(chunk.id)
        if prose is None:
            raise _missing("text", "text-delta", chunk.id)
        prose.pieces.append(chunk.delta)
        if chunk.provider_metadata is not UNSET:
            prose.metadata = chunk.provider_metadata

    def _text_end(self, chunk: chunks.TextEnd) -> None:
        prose = self._texts.pop(chunk.id, None)
        if prose is None:
            raise _missing("text", "text-end", chunk.id)
        prose.close()
        if chunk.citations is not UNSET and self.rules.sdk >= 7:
            prose.citations = chunk.citations
        if chunk.provider_metadata is not UNSET:
            prose.metadata = chunk.provider_metadata

    def _reasoning_start(self, chunk: chunks.ReasoningStart) -> None:
        prose = Prose(reasoning=True, id=chunk.id, metadata=chunk.provider_metadata)
        self._reasonings[chunk.id] = prose
        self._parts.append(prose)

    def _reasoning_delta(self, chunk: chunks.ReasoningDelta) -> None:
        prose = self._reasonings.get(chunk.id)
        if prose is None:
            raise _missing("reasoning", "reasoning-delta", chunk.id)
        prose.pieces.append(chunk.delta)
        if chunk.provider_metadata is not UNSET:
            prose.metadata = chunk.provider_metadata

    def _reasoning_end(self, chunk: chunks.ReasoningEnd) -> None:
        prose = self._reasonings.pop(chunk.id, None)
        if prose is None:
            raise _missing("reasoning", "reasoning-end", chunk.id)
        prose.close()
        if chunk.provider_metadata is not UNSET:
            prose.metadata = chunk.provider_metadata

    # Parts that come whole

    def _file(self, chunk: chunks.FileChunk) -> None:
        metadata = given(chunk.provider_metadata) if self.rules.keeps_file_metadata else None
        self._add(File(media_type=chunk.media_type, url=chunk.url, provider_metadata=metadata))

    def _reasoning_file(self, chunk: chunks.ReasoningFileChunk) -> None:
        metadata = given(chunk.provider_metadata)
        self._add(ReasoningFile(media_type=chunk.media_type, url=chunk.url, provider_metadata=metadata))

    def _source_url(self, chunk: chunks.SourceUrlChunk) -> None:
        self._add(
            SourceUrl(
                source_id=chunk.source_id,
                url=chunk.url,
                title=given(chunk.title),
                provider_metadata=given(chunk.provider_metadata),
            )
        )

    def _source_document(self, chunk: chunks.SourceDocumentChunk) -> None:
        self._add(
            SourceDocument(
                source_id=chunk.source_id,
                media_type=chunk.media_type,
                title=chunk.title,
                filename=given(chunk.filename),
                provider_metadata=given(chunk.provider_metadata),
            )
        )

    def _custom(self, chunk: chunks.CustomChunk) -> None:
        self._add(Custom(kind=chunk.kind, provider_metadata=given(chunk.provider_metadata)))

    def _steering(self, chunk: chunks.SteeringMessage) -> None:
        self._add(Steering(id=chunk.id, parts=tuple(map(_said, chunk.parts))))

    def _data_part(self, chunk: chunks.DataChunk) -> None:
        if chunk.transient is True:
            return
        at = None if isinstance(chunk.id, UnsetType) else self._data.get((chunk.name, chunk.id))
        known = None if at is None else self._parts[at]
        if at is not None and isinstance(known, Data):
            self._parts[at] = msgspec.structs.replace(known, data=chunk.data)
            return
        extra = dict(chunk.extra or {})
        if chunk.transient is not UNSET:
            extra["transient"] = chunk.transient
        self._add(Data(name=chunk.name, id=given(chunk.id), data=chunk.data, extra=extra or None))

    def _add(self, part: Part | Prose | Call) -> None:
        if isinstance(part, Opaque):
            part = call_in(part, sdk=self.rules.sdk) or part
        if isinstance(part, ToolCall | Call):
            self._calls.add(part)
            return
        if isinstance(part, Data) and part.id is not None:
            self._data.setdefault((part.name, part.id), len(self._parts))
        self._parts.append(part)
        if isinstance(part, StepStart):
            self._calls.begin_step()


def accumulate(
    stream: Iterable[Chunk], *, sdk: int = 7, onto: Message | None = None, message_id: str | None = None
) -> Message:
    """The message that these chunks make, on top of `onto` if an assistant said it."""
    accumulator = Accumulator(sdk=sdk, onto=onto, message_id=message_id)
    for chunk in stream:
        accumulator.apply(chunk)
    return accumulator.message


def _said(part: JsonObject) -> Text | File:
    rest = {name: value for name, value in part.items() if name != "type"}
    metadata = rest.pop("providerMetadata", None)
    if part["type"] == "text":
        return Text(text=rest.pop("text"), provider_metadata=metadata, extra=rest or None)
    return File(
        media_type=rest.pop("mediaType"),
        url=rest.pop("url"),
        filename=rest.pop("filename", None),
        provider_reference=rest.pop("providerReference", None),
        provider_metadata=metadata,
        extra=rest or None,
    )


def _missing(family: str, chunk_type: str, chunk_id: str) -> IllegalChunk:
    return IllegalChunk(
        f'Received {chunk_type} for missing {family} part with ID "{chunk_id}". '
        f'Ensure a "{family}-start" chunk is sent before any "{chunk_type}" chunks.',
        chunk_type=chunk_type,
        chunk_id=chunk_id,
    )
