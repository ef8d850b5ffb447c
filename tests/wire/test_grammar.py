"""What may follow what: each rule by an example, and the way out that its error names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from rejoinder.errors import IllegalChunk
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
    ReasoningStart,
    ResetStep,
    SourceUrlChunk,
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
    type_of,
)
from rejoinder.wire.grammar import Begun, Grammar, ToolPhase

START = Start(message_id="m")
TEXT_START, TEXT_DELTA, TEXT_END = TextStart(id="x"), TextDelta(id="x", delta="a"), TextEnd(id="x")
INPUT_START = ToolInputStart(tool_call_id="c", tool_name="t")
INPUT_DELTA = ToolInputDelta(tool_call_id="c", input_text_delta="{")
INPUT = ToolInputAvailable(tool_call_id="c", tool_name="t", input={})
INPUT_ERROR = ToolInputError(tool_call_id="c", tool_name="t", input={}, error_text="no")
PRELIMINARY = ToolOutputAvailable(tool_call_id="c", output=0, preliminary=True)
OUTPUT = ToolOutputAvailable(tool_call_id="c", output=1)
FAILURE = ToolOutputError(tool_call_id="c", error_text="no")
DENIAL = ToolOutputDenied(tool_call_id="c")
REQUEST = ToolApprovalRequest(approval_id="a", tool_call_id="c")
YES = ToolApprovalResponse(approval_id="a", approved=True)
NO = ToolApprovalResponse(approval_id="a", approved=False)


def after(*chunks: Chunk) -> Grammar:
    grammar = Grammar()
    for chunk in chunks:
        grammar.check(chunk)
    return grammar


LEGAL: tuple[tuple[Chunk, ...], ...] = (
    (START, Finish()),
    (START, Abort(reason="x")),
    (
        START,
        StartStep(),
        TEXT_START,
        TEXT_DELTA,
        TEXT_DELTA,
        TEXT_END,
        FinishStep(),
        Finish(finish_reason="stop"),
    ),
    (
        START,
        TEXT_START,
        ReasoningStart(id="x"),
        ReasoningDelta(id="x", delta=""),
        ReasoningEnd(id="x"),
        TEXT_END,
        Finish(),
    ),
    (START, StartStep(), TEXT_START, ResetStep(), TEXT_START, TEXT_END, FinishStep(), Finish()),
    (START, StartStep(), INPUT, REQUEST, ResetStep(), INPUT, REQUEST, YES, OUTPUT, FinishStep(), Finish()),
    (
        START,
        StartStep(),
        INPUT_START,
        INPUT_DELTA,
        INPUT,
        FinishStep(),
        StartStep(),
        PRELIMINARY,
        PRELIMINARY,
        OUTPUT,
    ),
    (START, INPUT, PRELIMINARY, FAILURE),
    (START, INPUT_START, INPUT_ERROR, Finish()),
    (START, INPUT_START, FAILURE, Finish()),
    (START, INPUT, Finish()),
    (START, INPUT, REQUEST, NO, DENIAL),
    (START, INPUT, REQUEST, Finish()),
    (
        START,
        StartStep(),
        TEXT_START,
        INPUT_START,
        Error(error_text="x"),
        FAILURE,
        TEXT_END,
        FinishStep(),
        Finish(),
    ),
    (
        START,
        DataChunk(name="x", data=1),
        MessageMetadata(message_metadata={}),
        FileChunk(url="u", media_type="m"),
        SourceUrlChunk(source_id="s", url="u"),
        CustomChunk(kind="a.b"),
        Finish(),
    ),
)

ILLEGAL: tuple[tuple[tuple[Chunk, ...], Chunk, str], ...] = (
    ((), TEXT_START, "'text-start' while the stream is not begun: now may come 'start'"),
    ((), DataChunk(name="x", data=1), "'data-x' while the stream is not begun: now may come 'start'"),
    (
        (START,),
        START,
        "'start' while the stream is open: now may come content or closing or 'error' or 'finish'",
    ),
    ((START, Finish()), Finish(), "'finish' while the stream is ended: nothing may come after its end"),
    ((START, Abort()), TEXT_START, "'text-start' while the stream is ended"),
    (
        (START, Error(error_text="x")),
        TEXT_START,
        "while the stream is failed: now may come closing or 'finish' or 'abort'",
    ),
    ((START, Error(error_text="x")), Error(error_text="y"), "'error' while the stream is failed"),
    ((START,), TEXT_DELTA, "'text-delta' while text 'x' is absent: now may come 'text-start'"),
    (
        (START, TEXT_START),
        TEXT_START,
        "'text-start' while text 'x' is open: now may come 'text-delta' or 'text-end'",
    ),
    (
        (START, TEXT_START, TEXT_END),
        TEXT_DELTA,
        "'text-delta' while text 'x' is closed: nothing more may be said of it; something new needs another id",
    ),
    ((START, TEXT_START), ReasoningEnd(id="x"), "'reasoning-end' while reasoning 'x' is absent"),
    ((START,), FinishStep(), "'finish-step' while the stream is outside a step: now may come 'start-step'"),
    ((START,), ResetStep(), "'reset-step' while the stream is outside a step"),
    (
        (START, StartStep()),
        StartStep(),
        "'start-step' while the stream is inside a step: now may come 'reset-step'",
    ),
    (
        (START, StartStep()),
        Finish(),
        "'finish' while the stream is inside a step: now may come 'reset-step' or 'finish-step'",
    ),
    ((START, StartStep()), Abort(), "'abort' while the stream is inside a step"),
    (
        (START, StartStep(), TEXT_START),
        FinishStep(),
        "'finish-step' while text 'x' is open: say 'text-end' first",
    ),
    ((START, TEXT_START), StartStep(), "'start-step' while text 'x' is open: say 'text-end' first"),
    (
        (START, ReasoningStart(id="r")),
        Finish(),
        "'finish' while reasoning 'r' is open: say 'reasoning-end' first",
    ),
    (
        (START, StartStep(), INPUT_START),
        FinishStep(),
        "while tool input 'c' is open: say 'tool-input-available' or 'tool-input-error' first",
    ),
    (
        (START,),
        OUTPUT,
        "'tool-output-available' while tool call 'c' is absent: now may come 'tool-input-start'",
    ),
    ((START,), INPUT_DELTA, "'tool-input-delta' while tool call 'c' is absent"),
    ((START, INPUT_START), OUTPUT, "'tool-output-available' while tool call 'c' is streaming its input"),
    ((START, INPUT), INPUT_DELTA, "'tool-input-delta' while tool call 'c' is called"),
    ((START, INPUT), INPUT, "'tool-input-available' while tool call 'c' is called"),
    ((START, INPUT), DENIAL, "'tool-output-denied' while tool call 'c' is called"),
    ((START, INPUT, REQUEST), OUTPUT, "'tool-output-available' while tool call 'c' is waiting for approval"),
    ((START, INPUT, REQUEST), DENIAL, "'tool-output-denied' while tool call 'c' is waiting for approval"),
    ((START, INPUT, REQUEST), REQUEST, "while approval 'a' was asked: use another approval id"),
    ((START, INPUT), YES, "while approval 'a' is absent: say 'tool-approval-request' first"),
    ((START, INPUT, REQUEST, YES), NO, "'tool-approval-response' while tool call 'c' is approved"),
    (
        (START, INPUT, REQUEST, NO),
        OUTPUT,
        "while tool call 'c' is refused: now may come 'tool-output-denied'",
    ),
    ((START, INPUT, OUTPUT), OUTPUT, "while tool call 'c' is settled: nothing more may be said of it"),
    ((START, INPUT, OUTPUT), PRELIMINARY, "while tool call 'c' is settled"),
    ((START, INPUT_ERROR), INPUT, "while tool call 'c' is settled"),
    (
        (START,),
        UnknownChunk(body={"type": "ping"}),
        "'ping' is a chunk type that no client knows: say it as a 'data-…' chunk",
    ),
)


@pytest.mark.parametrize("chunks", LEGAL)
def test_a_legal_stream_passes(chunks: Sequence[Chunk]) -> None:
    grammar = after(*chunks)
    assert grammar.ended == isinstance(chunks[-1], Finish | Abort)


@pytest.mark.parametrize(("before", "chunk", "message"), ILLEGAL)
def test_an_illegal_chunk_is_refused_with_the_way_out(
    before: Sequence[Chunk], chunk: Chunk, message: str
) -> None:
    grammar = after(*before)
    with pytest.raises(IllegalChunk, match=re.escape(message)) as refusal:
        grammar.check(chunk)
    assert refusal.value.chunk_type == type_of(chunk)
    assert grammar == after(*before)


def test_an_error_carries_the_coordinates_of_the_chunk() -> None:
    with pytest.raises(IllegalChunk) as refusal:
        after(START).check(TEXT_DELTA)
    assert (refusal.value.chunk_type, refusal.value.chunk_id) == ("text-delta", "x")


def test_a_reset_takes_back_what_the_step_began_and_nothing_else() -> None:
    other = ToolInputAvailable(tool_call_id="earlier", tool_name="t", input={})
    grammar = after(START, StartStep(), TEXT_START, TEXT_END, other, FinishStep(), StartStep(), INPUT_START)
    grammar.check(ToolOutputAvailable(tool_call_id="earlier", output=1))
    grammar.check(ResetStep())
    assert grammar.open_parts == ()
    assert dict(grammar.tools) == {"earlier": ToolPhase.SETTLED}
    with pytest.raises(IllegalChunk):
        grammar.check(TEXT_START)


def test_an_approval_of_an_earlier_call_survives_a_reset() -> None:
    grammar = after(START, StartStep(), INPUT, FinishStep(), StartStep(), REQUEST, ResetStep(), YES)
    assert dict(grammar.tools) == {"c": ToolPhase.APPROVED}


def test_a_continuation_knows_the_calls_that_there_are() -> None:
    grammar = Grammar({"c": ToolPhase.ASKED, "s": ToolPhase.STREAMING}, approvals={"a": "c"})
    for chunk in (
        START,
        NO,
        DENIAL,
        ToolInputError(tool_call_id="s", tool_name="t", input={}, error_text="x"),
        StartStep(),
    ):
        grammar.check(chunk)
    assert set(grammar.tools.values()) == {ToolPhase.SETTLED}


def test_what_is_open_is_told_in_the_order_of_its_beginning() -> None:
    grammar = after(START, StartStep(), INPUT_START, TEXT_START, ReasoningStart(id="r"))
    assert grammar.open_parts == (Begun("tool input", "c"), Begun("text", "x"), Begun("reasoning", "r"))
    assert grammar.in_step
    assert not grammar.ended
