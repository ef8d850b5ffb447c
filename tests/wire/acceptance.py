"""Which client release accepted which chunk when it was asked: the measure of the dialects' table.

A row is a chunk; a mark for every release in `RELEASES`, `+` for accepted. Only chunks that our structs can hold
are here: a null for an optional field, a number for an id or an unheard-of reason ends at the codec.
"""

from __future__ import annotations

from typing import Final

from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    CustomChunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    FinishReason,
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

RELEASES: Final = (
    *("5.0.0", "5.0.92", "5.0.216", "5.0.277"),
    *("6.0.0", "6.0.50", "6.0.120", "6.0.200", "6.0.230", "6.0.326"),
    *("7.0.0", "7.0.31", "7.0.77", "7.0.173"),
)

INSTALLED: Final = {
    "5.0.0": "5.0.0",
    "5.0.277": "5",
    "6.0.0": "6.0.0",
    "6.0.326": "6",
    "7.0.0": "7.0.0",
    "7.0.173": "7",
}
"""The releases that the oracle has, and what it calls them."""

SAID: Final = {"vendor": {"key": "value", "nothing": None}}
URL: Final = "https://example.com/a"
SOURCE: Final = {"type": "source", "sourceType": "url", "id": "s", "url": URL}

EVERY: Final = "++++ ++++++ ++++"
NONE: Final = "---- ------ ----"
LOOSE: Final = "---+ -----+ --++"
SINCE_APPROVALS: Final = "---- ++++++ ++++"
ONLY_7: Final = "---- ------ ++++"
TITLES: Final = "---+ ++++++ ++++"
EARLY_5_LACKS: Final = "-+++ ++++++ ++++"

ROWS: Final[tuple[tuple[Chunk, str], ...]] = (
    (TextStart(id="t"), EVERY),
    (TextStart(id="t", provider_metadata=SAID), EVERY),
    (TextDelta(id="t", delta="x"), EVERY),
    (TextEnd(id="t"), EVERY),
    (TextEnd(id="t", citations=[{"source": SOURCE}]), LOOSE),
    (ReasoningStart(id="r"), EVERY),
    (ReasoningDelta(id="r", delta="x"), EVERY),
    (ReasoningEnd(id="r"), EVERY),
    (Error(error_text="x"), EVERY),
    (ToolInputStart(tool_call_id="c", tool_name="t"), EVERY),
    (ToolInputStart(tool_call_id="c", tool_name="t", dynamic=True, provider_executed=True), EVERY),
    (ToolInputStart(tool_call_id="c", tool_name="t", title="x"), TITLES),
    (ToolInputStart(tool_call_id="c", tool_name="t", provider_metadata=SAID), "---+ -+++++ ++++"),
    (ToolInputStart(tool_call_id="c", tool_name="t", tool_metadata={"a": 1}), "---+ ---+++ ++++"),
    (ToolInputStart(tool_call_id="c", tool_name="t", input_encoding="text"), LOOSE),
    (ToolInputDelta(tool_call_id="c", input_text_delta="{"), EVERY),
    (ToolInputAvailable(tool_call_id="c", tool_name="t", input={}), EVERY),
    (
        ToolInputAvailable(tool_call_id="c", tool_name="t", input=None, provider_metadata=SAID, dynamic=True),
        EVERY,
    ),
    (ToolInputAvailable(tool_call_id="c", tool_name="t", input={}, title="x"), TITLES),
    (ToolInputAvailable(tool_call_id="c", tool_name="t", input={}, tool_metadata={}), "---+ ---+++ ++++"),
    (ToolInputAvailable(tool_call_id="c", tool_name="t"), NONE),
    (ToolInputError(tool_call_id="c", tool_name="t", input={}, error_text="x"), EARLY_5_LACKS),
    (ToolInputError(tool_call_id="c", tool_name="t", input={}, error_text="x", title="x"), TITLES),
    (
        ToolInputError(tool_call_id="c", tool_name="t", input={}, error_text="x", tool_metadata={}),
        "---+ ---+++ ++++",
    ),
    (ToolOutputAvailable(tool_call_id="c", output={}), EVERY),
    (ToolOutputAvailable(tool_call_id="c", output={}, preliminary=True), EARLY_5_LACKS),
    (ToolOutputAvailable(tool_call_id="c", output={}, provider_metadata=SAID), "---+ --++++ ++++"),
    (ToolOutputAvailable(tool_call_id="c", output={}, tool_metadata={}), "---+ ---+++ ++++"),
    (ToolOutputAvailable(tool_call_id="c"), NONE),
    (ToolOutputError(tool_call_id="c", error_text="x"), EVERY),
    (ToolOutputError(tool_call_id="c", error_text="x", provider_metadata=SAID), "---+ --++++ ++++"),
    (ToolOutputError(tool_call_id="c", error_text="x", tool_metadata={}), "---+ ---+++ ++++"),
    (ToolOutputDenied(tool_call_id="c"), SINCE_APPROVALS),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c"), SINCE_APPROVALS),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c", signature="s"), "---- ----++ ++++"),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c", is_automatic=True), "---- -----+ ++++"),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c", reason="x"), "---- -----+ --++"),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c", approval_descriptor=1), "---- -----+ --++"),
    (ToolApprovalRequest(approval_id="a", tool_call_id="c", input_schema_input=None), "---- -----+ --++"),
    (ToolApprovalResponse(approval_id="a", approved=True), ONLY_7),
    (SourceUrlChunk(source_id="s", url=URL, title="x"), EVERY),
    (SourceDocumentChunk(source_id="s", media_type="a/b", title="x", filename="f"), EVERY),
    (FileChunk(url=URL, media_type="a/b"), EVERY),
    (FileChunk(url=URL, media_type="a/b", provider_metadata=SAID), EVERY),
    (ReasoningFileChunk(url=URL, media_type="a/b"), ONLY_7),
    (CustomChunk(kind="a.b"), ONLY_7),
    (CustomChunk(kind="no dot"), ONLY_7),
    (SteeringMessage(id="s", parts=[{"type": "text", "text": "x"}]), "---- ------ ---+"),
    (DataChunk(name="x", data=1), EVERY),
    (DataChunk(name="x", id="d", data=None, transient=True), EVERY),
    (DataChunk(name="", data={}), EVERY),
    (DataChunk(name="x", data=1, extra={"more": 1}), LOOSE),
    (DataChunk(name="x"), NONE),
    (StartStep(), EVERY),
    (FinishStep(), EVERY),
    (ResetStep(), "---- ------ --++"),
    (Start(message_id="m", message_metadata={}), EVERY),
    (Start(), EVERY),
    (Finish(), EVERY),
    (Finish(message_metadata={"a": 1}), EVERY),
    (Abort(), EVERY),
    (Abort(reason="x"), "---+ -+++++ ++++"),
    (MessageMetadata(message_metadata={}), EVERY),
    (MessageMetadata(), NONE),
    (UnknownChunk(body={"type": "ping"}), NONE),
    (UnknownChunk(body={"type": "tool-foo", "toolCallId": "c"}), NONE),
)

_OLD_REASONS: Final[tuple[FinishReason, ...]] = (
    *("stop", "length", "content-filter"),
    *("tool-calls", "error", "other"),
)

ACCEPTED: Final[tuple[tuple[Chunk, str], ...]] = (
    *ROWS,
    *((Finish(finish_reason=reason), EARLY_5_LACKS) for reason in _OLD_REASONS),
    (Finish(finish_reason="unknown"), "-+++ ------ ----"),
    (Finish(finish_reason="interrupted"), "---- ------ ---+"),
)


def accepted_by(marks: str) -> dict[str, bool]:
    """The marks of a row by release."""
    return dict(zip(RELEASES, (mark == "+" for mark in marks.replace(" ", "")), strict=True))
