"""Every chunk that a `useChat` client of AI SDK 5, 6 or 7 can be sent, as frozen values.

A chunk that no version here knows is `UnknownChunk`; an application's own `data-NAME` is `DataChunk`. Optional
fields are absent or set, never null: every client refuses null for them. Which client accepts which chunk and
field is said in `rejoinder.wire.dialects`; what may follow what, in `rejoinder.wire.grammar`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from rejoinder.wire.json import Json, JsonObject, read_as

ProviderMetadata: TypeAlias = dict[str, JsonObject]
"""What a vendor says beside the content, by vendor name."""

FinishReason: TypeAlias = Literal[
    "stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other", "unknown"
]


class _Chunk(
    Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type", gc=False
):
    pass


class Start(_Chunk, frozen=True, kw_only=True, tag="start"):
    """The first chunk: which message this is. A continuation names the message that it continues."""

    message_id: str | UnsetType = UNSET
    message_metadata: Json = UNSET


class Finish(_Chunk, frozen=True, kw_only=True, tag="finish"):
    """The last chunk of an answer that came to its end."""

    finish_reason: FinishReason | UnsetType = UNSET
    message_metadata: Json = UNSET


class Abort(_Chunk, frozen=True, kw_only=True, tag="abort"):
    """The last chunk of an answer that was stopped."""

    reason: str | UnsetType = UNSET


class MessageMetadata(_Chunk, frozen=True, kw_only=True, tag="message-metadata"):
    """Metadata to merge into the message's."""

    message_metadata: Json = UNSET


class Error(_Chunk, frozen=True, kw_only=True, tag="error"):
    """What went wrong, in words a user may read."""

    error_text: str


class StartStep(_Chunk, frozen=True, kw_only=True, tag="start-step"):
    """A model call begins."""


class FinishStep(_Chunk, frozen=True, kw_only=True, tag="finish-step"):
    """A model call has ended."""


class ResetStep(_Chunk, frozen=True, kw_only=True, tag="reset-step"):
    """Take back what this step has said."""


class TextStart(_Chunk, frozen=True, kw_only=True, tag="text-start"):
    """A text part opens."""

    id: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class TextDelta(_Chunk, frozen=True, kw_only=True, tag="text-delta"):
    """More of an open text part."""

    id: str
    delta: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class TextEnd(_Chunk, frozen=True, kw_only=True, tag="text-end"):
    """A text part is complete."""

    id: str
    citations: list[JsonObject] | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.citations is not UNSET:
            read_as(self.citations, list[_Citation])


class ReasoningStart(_Chunk, frozen=True, kw_only=True, tag="reasoning-start"):
    """A reasoning part opens."""

    id: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class ReasoningDelta(_Chunk, frozen=True, kw_only=True, tag="reasoning-delta"):
    """More of an open reasoning part."""

    id: str
    delta: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class ReasoningEnd(_Chunk, frozen=True, kw_only=True, tag="reasoning-end"):
    """A reasoning part is complete."""

    id: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class ReasoningFileChunk(_Chunk, frozen=True, kw_only=True, tag="reasoning-file"):
    """A file that belongs to the reasoning."""

    url: str
    media_type: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class CustomChunk(_Chunk, frozen=True, kw_only=True, tag="custom"):
    """A provider's own kind of content."""

    kind: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class FileChunk(_Chunk, frozen=True, kw_only=True, tag="file"):
    """A file."""

    url: str
    media_type: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class SourceUrlChunk(_Chunk, frozen=True, kw_only=True, tag="source-url"):
    """A web page that the answer rests on."""

    source_id: str
    url: str
    title: str | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class SourceDocumentChunk(_Chunk, frozen=True, kw_only=True, tag="source-document"):
    """A document that the answer rests on."""

    source_id: str
    media_type: str
    title: str
    filename: str | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class ToolInputStart(_Chunk, frozen=True, kw_only=True, tag="tool-input-start"):
    """A tool call's input begins to arrive."""

    tool_call_id: str
    tool_name: str
    input_encoding: Literal["json", "text"] | UnsetType = UNSET
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET
    dynamic: bool | UnsetType = UNSET
    title: str | UnsetType = UNSET


class ToolInputDelta(_Chunk, frozen=True, kw_only=True, tag="tool-input-delta"):
    """More of a tool call's input, as text."""

    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(_Chunk, frozen=True, kw_only=True, tag="tool-input-available"):
    """A tool call's input is complete."""

    tool_call_id: str
    tool_name: str
    input: Json = UNSET
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET
    dynamic: bool | UnsetType = UNSET
    title: str | UnsetType = UNSET


class ToolInputError(_Chunk, frozen=True, kw_only=True, tag="tool-input-error"):
    """The model called a tool with an input that the tool cannot take."""

    tool_call_id: str
    tool_name: str
    input: Json = UNSET
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET
    dynamic: bool | UnsetType = UNSET
    error_text: str
    title: str | UnsetType = UNSET


class ToolOutputAvailable(_Chunk, frozen=True, kw_only=True, tag="tool-output-available"):
    """What a tool answered. A preliminary output is followed by another."""

    tool_call_id: str
    output: Json = UNSET
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET
    dynamic: bool | UnsetType = UNSET
    preliminary: bool | UnsetType = UNSET


class ToolOutputError(_Chunk, frozen=True, kw_only=True, tag="tool-output-error"):
    """How a tool failed."""

    tool_call_id: str
    error_text: str
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET
    dynamic: bool | UnsetType = UNSET


class ToolOutputDenied(_Chunk, frozen=True, kw_only=True, tag="tool-output-denied"):
    """The user did not let the tool run."""

    tool_call_id: str


class ToolApprovalRequest(_Chunk, frozen=True, kw_only=True, tag="tool-approval-request"):
    """The question whether a tool may run."""

    approval_id: str
    tool_call_id: str
    approval_descriptor: Json = UNSET
    input_schema_input: Json = UNSET
    reason: str | UnsetType = UNSET
    is_automatic: bool | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class ToolApprovalResponse(_Chunk, frozen=True, kw_only=True, tag="tool-approval-response"):
    """The answer to `ToolApprovalRequest`."""

    approval_id: str
    approved: bool
    reason: str | UnsetType = UNSET
    provider_executed: bool | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class SteeringMessage(_Chunk, frozen=True, kw_only=True, tag="steering-message"):
    """What the user said while the answer was being made."""

    id: str
    parts: list[JsonObject]

    def __post_init__(self) -> None:
        read_as(self.parts, list[_SteeringText | _SteeringFile])


class DataChunk(Struct, frozen=True, kw_only=True, gc=False):
    """The application's own chunk, `data-NAME`. `extra` holds the fields that the protocol does not name."""

    name: str
    id: str | UnsetType = UNSET
    data: Json = UNSET
    transient: bool | UnsetType = UNSET
    extra: JsonObject | None = None

    @property
    def type(self) -> str:
        """The chunk's type on the wire."""
        return f"data-{self.name}"


class UnknownChunk(Struct, frozen=True, kw_only=True, gc=False):
    """A chunk of a type that no version here has: kept whole, spoken to nobody."""

    body: JsonObject

    @property
    def type(self) -> str:
        """The chunk's type on the wire."""
        return str(self.body["type"])


KnownChunk: TypeAlias = (
    Start
    | Finish
    | Abort
    | MessageMetadata
    | Error
    | StartStep
    | FinishStep
    | ResetStep
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ReasoningFileChunk
    | CustomChunk
    | FileChunk
    | SourceUrlChunk
    | SourceDocumentChunk
    | ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolInputError
    | ToolOutputAvailable
    | ToolOutputError
    | ToolOutputDenied
    | ToolApprovalRequest
    | ToolApprovalResponse
    | SteeringMessage
)

Chunk: TypeAlias = KnownChunk | DataChunk | UnknownChunk


class _SourceBase(Struct, tag_field="sourceType", kw_only=True):
    type: Literal["source"]
    id: str
    provider_metadata: ProviderMetadata | UnsetType = msgspec.field(default=UNSET, name="providerMetadata")


class _UrlSource(_SourceBase, tag="url"):
    url: str
    title: str | UnsetType = UNSET


class _DocumentSource(_SourceBase, tag="document"):
    media_type: str = msgspec.field(name="mediaType")
    title: str
    filename: str | UnsetType = UNSET


class _Citation(Struct, kw_only=True, rename="camel"):
    source: _UrlSource | _DocumentSource
    start_index: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    end_index: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    cited_text: str | UnsetType = UNSET


class _SteeringText(Struct, kw_only=True, rename="camel", tag_field="type", tag="text"):
    text: str
    provider_metadata: ProviderMetadata | UnsetType = UNSET


class _SteeringFile(Struct, kw_only=True, rename="camel", tag_field="type", tag="file"):
    media_type: str
    url: str
    filename: str | UnsetType = UNSET
    provider_reference: dict[str, str] | UnsetType = UNSET
    provider_metadata: ProviderMetadata | UnsetType = UNSET


CHUNK_TYPES: Final[dict[str, type[Any]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(KnownChunk)
}
"""The name on the wire of every chunk type that we know, `data-*` aside."""


def type_of(chunk: Chunk) -> str:
    """The chunk's type on the wire, such as `text-delta` or `data-weather`."""
    if isinstance(chunk, DataChunk | UnknownChunk):
        return chunk.type
    return str(chunk.__struct_config__.tag)
