"""What is taken back, told to clients that know no taking back."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.wire.chunks import (
    Chunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    MessageMetadata,
    ResetStep,
    Start,
    StartStep,
    TextDelta,
    TextEnd,
    TextStart,
    ToolOutputError,
)
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import Downlevel
from rejoinder.wire.downlevel_resets import MARK, TAKEN_BACK
from tests.wire.telling import available, output, told, told_live


def test_a_patient_speaker_leaves_out_what_was_taken_back() -> None:
    kept: Sequence[Chunk] = (
        MessageMetadata(message_metadata={"a": 1}),
        DataChunk(name="x", id="earlier", data=2),
        DataChunk(name="x", data=3, transient=True),
        output("earlier"),
        TextDelta(id="earlier", delta="y"),
        Error(error_text="x"),
    )
    said = told(
        "6",
        Start(),
        StartStep(),
        DataChunk(name="x", id="earlier", data=1),
        available("earlier"),
        TextStart(id="earlier"),
        StartStep(),
        TextStart(id="t"),
        TextDelta(id="t", delta="gone"),
        available(),
        output(),
        DataChunk(name="x", id="new", data=1),
        FileChunk(url="u", media_type="m"),
        *kept,
        ResetStep(),
        TextStart(id="t"),
        TextEnd(id="t"),
        Finish(),
    )
    assert said[6:] == [*kept, TextEnd(id="earlier"), TextStart(id="t"), TextEnd(id="t"), Finish()]


def test_a_patient_speaker_tells_a_step_when_the_next_begins() -> None:
    speaker = Downlevel(dialect("5"), patient=True)
    assert list(speaker.feed(Start())) == [Start()]
    assert list(speaker.feed(StartStep())) == [StartStep()]
    assert list(speaker.feed(TextStart(id="t"))) == []
    assert list(speaker.feed(TextEnd(id="t"))) == []
    assert list(speaker.feed(StartStep())) == [TextStart(id="t"), TextEnd(id="t"), StartStep()]
    assert list(speaker.close()) == []


def test_a_live_speaker_closes_and_marks_what_was_taken_back() -> None:
    data = DataChunk(name="x", id="d", data=1)
    said = told_live(
        "6",
        StartStep(),
        TextStart(id="t"),
        available(),
        data,
        ResetStep(),
        TextStart(id="t"),
        available(),
        output(),
        data,
    )
    assert said[4:] == [
        TextEnd(id="t"),
        ToolOutputError(tool_call_id="c", error_text=TAKEN_BACK),
        MARK,
        TextStart(id="t"),
        available("c#2"),
        output("c#2"),
        DataChunk(name="x", id="d#2", data=1),
    ]


def test_of_a_continued_message_nothing_is_taken_back_but_all_is_marked() -> None:
    message = {
        "id": "m",
        "role": "assistant",
        "parts": [{"type": "step-start"}, {"type": "text", "text": "x"}],
    }
    assert told("6", TextStart(id="t"), ResetStep(), Finish(), message=message) == [MARK, Finish()]
    assert told("6", StartStep(), TextStart(id="t"), ResetStep(), message=message) == [StartStep()]


def test_a_client_that_knows_resets_is_told_of_them_at_once() -> None:
    chunks: list[Chunk] = [StartStep(), TextStart(id="t"), ResetStep(), TextStart(id="t")]
    assert told("7.0.70", *chunks) == told_live("7.0.70", *chunks) == chunks
