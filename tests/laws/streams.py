"""Generators of chunk streams that are legal here and there, for laws about the grammar."""

from __future__ import annotations

from typing import Final, TypeAlias

from hypothesis import strategies as st

from rejoinder.errors import IllegalChunk
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    FinishStep,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResetStep,
    Start,
    StartStep,
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
from rejoinder.wire.grammar import Grammar

Chunks: TypeAlias = st.SearchStrategy[Chunk]

IDS: Final = st.sampled_from(["a", "b", ""])
BOOLEANS: Final = st.booleans()

CONTENT: Final[Chunks] = st.one_of(
    st.builds(TextStart, id=IDS),
    st.builds(TextDelta, id=IDS, delta=st.just("x")),
    st.builds(TextEnd, id=IDS),
    st.builds(ReasoningStart, id=IDS),
    st.builds(ReasoningDelta, id=IDS, delta=st.just("x")),
    st.builds(ReasoningEnd, id=IDS),
    st.builds(ToolInputStart, tool_call_id=IDS, tool_name=st.just("t")),
    st.builds(ToolInputDelta, tool_call_id=IDS, input_text_delta=st.just("1")),
    st.builds(ToolInputAvailable, tool_call_id=IDS, tool_name=st.just("t"), input=st.just(1)),
    st.builds(
        ToolInputError, tool_call_id=IDS, tool_name=st.just("t"), input=st.just(1), error_text=st.just("x")
    ),
    st.builds(ToolOutputAvailable, tool_call_id=IDS, output=st.just(1), preliminary=BOOLEANS),
    st.builds(ToolOutputError, tool_call_id=IDS, error_text=st.just("x")),
    st.builds(ToolOutputDenied, tool_call_id=IDS),
    st.builds(ToolApprovalRequest, approval_id=IDS, tool_call_id=IDS),
    st.builds(ToolApprovalResponse, approval_id=IDS, approved=BOOLEANS),
    st.just(DataChunk(name="x", data=1)),
    st.just(FileChunk(url="u", media_type="m")),
    st.just(StartStep()),
    st.just(FinishStep()),
    st.just(ResetStep()),
)
FRAME: Final[Chunks] = st.sampled_from(
    [Start(), Finish(), Abort(), Error(error_text="x"), UnknownChunk(body={"type": "ping"})]
)
STREAMS: Final[st.SearchStrategy[list[Chunk]]] = st.lists(
    st.one_of(CONTENT, CONTENT, CONTENT, FRAME), max_size=60
).map(lambda said: [Start(), *said])
"""Streams that begin with `start`, and in which many a chunk comes when it may not."""


def legal_only(chunks: list[Chunk]) -> list[Chunk]:
    """The stream without the chunks that the grammar refuses."""
    grammar = Grammar()
    passed: list[Chunk] = []
    for chunk in chunks:
        try:
            grammar.check(chunk)
        except IllegalChunk:
            continue
        passed.append(chunk)
    return passed
