"""What the accumulator promises beyond agreeing with the real packages (tests/conformance/test_fold.py)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import IllegalChunk, RejoinderError
from rejoinder.fold import Accumulator, accumulate
from rejoinder.messages import Message, Text, ToolCall
from rejoinder.wire.chunks import (
    Chunk,
    Start,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    UnknownChunk,
)
from rejoinder.wire.codec import decode_chunk
from tests.conformance.streams import stream


@given(seed=st.integers(0, 1 << 32), sdk=st.sampled_from([5, 6, 7]))
def test_an_illegal_chunk_raises_and_changes_nothing(seed: int, sdk: int) -> None:
    accumulator = Accumulator(sdk=sdk)
    for value in stream(seed, sdk).chunks:
        chunk = decode_chunk(json.dumps(value))
        before = accumulator.message
        try:
            accumulator.apply(chunk)
        except RejoinderError:
            assert accumulator.message == before


@given(seed=st.integers(0, 1 << 32))
def test_looking_at_the_message_changes_nothing(seed: int) -> None:
    chunks: list[Chunk] = [decode_chunk(json.dumps(value)) for value in stream(seed, 7).chunks]
    watched, left_alone = Accumulator(), Accumulator()
    for chunk in chunks:
        try:
            left_alone.apply(chunk)
        except IllegalChunk:
            break
        watched.apply(chunk)
        assert watched.message.role == "assistant"
    assert watched.message == left_alone.message


@given(text=st.text(st.characters(codec="utf-16", categories=None), max_size=20), cut=st.integers(0, 40))
def test_a_character_cut_in_two_is_one_again(text: str, cut: int) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    at = min(cut * 2, len(units))
    halves = [
        units[:at].decode("utf-16-le", "surrogatepass"),
        units[at:].decode("utf-16-le", "surrogatepass"),
    ]
    accumulator = Accumulator()
    accumulator.apply(TextStart(id="t"))
    for half in halves:
        accumulator.apply(TextDelta(id="t", delta=half))
    accumulator.apply(TextEnd(id="t"))
    assert accumulator.message.parts == (Text(text=text, state="done"),)


def functions_called(act: Callable[[], object]) -> Counter[str]:
    """The Python functions that an act calls, and how often."""
    called: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called[frame.f_code.co_qualname] += 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return called


def test_a_delta_costs_the_same_however_much_has_come_and_parses_nothing() -> None:
    accumulator = Accumulator()
    accumulator.apply(ToolInputStart(tool_call_id="c", tool_name="write"))
    accumulator.apply(ToolInputDelta(tool_call_id="c", input_text_delta='{"lines": ['))

    def thousand_deltas() -> None:
        for number in range(1_000):
            accumulator.apply(ToolInputDelta(tool_call_id="c", input_text_delta=f"{number}, "))

    first, later = functions_called(thousand_deltas), functions_called(thousand_deltas)
    assert first == later
    assert "PartialJson.value" not in first


def test_a_tool_input_is_read_once_when_somebody_looks() -> None:
    accumulator = Accumulator()
    accumulator.apply(ToolInputStart(tool_call_id="c", tool_name="write"))
    for number in range(100):
        accumulator.apply(
            ToolInputDelta(tool_call_id="c", input_text_delta=f"{number}, " if number else "[0, ")
        )
    looked = functions_called(lambda: accumulator.message)
    assert looked["PartialJson.value"] == 1
    assert functions_called(lambda: accumulator.message)["PartialJson.value"] == 0, "nothing has come since"
    (call,) = accumulator.message.parts
    assert isinstance(call, ToolCall)
    assert call.input == list(range(100))


def test_a_message_that_was_taken_does_not_change_with_later_chunks() -> None:
    accumulator = Accumulator()
    accumulator.apply(TextStart(id="t"))
    accumulator.apply(TextDelta(id="t", delta="so far"))
    taken = accumulator.message
    accumulator.apply(TextDelta(id="t", delta=" and further"))
    accumulator.apply(ToolInputAvailable(tool_call_id="c", tool_name="n", input=1))
    assert taken.parts == (Text(text="so far", state="streaming"),)


def test_a_user_message_is_not_continued_but_answered() -> None:
    asked = Message(id="u", role="user", parts=(Text(text="hi"),))
    assert accumulate([Start(message_id="a")], onto=asked) == Message(id="a", role="assistant")


def test_a_start_without_an_id_keeps_the_continued_message_its_own() -> None:
    waiting = Message(
        id="a1", role="assistant", parts=(ToolCall(name="n", call_id="c", state="input-available"),)
    )
    answered = accumulate([Start(), ToolOutputAvailable(tool_call_id="c", output=1)], onto=waiting)
    assert answered.id == "a1"
    assert answered.parts == (ToolCall(name="n", call_id="c", state="output-available", output=1),)


def test_a_chunk_of_a_later_version_changes_nothing() -> None:
    assert accumulate([Start(message_id="a"), UnknownChunk(body={"type": "hologram"})]) == Message(
        id="a", role="assistant"
    )


def test_an_error_names_the_chunk_as_the_package_does() -> None:
    with pytest.raises(IllegalChunk) as caught:
        accumulate([TextDelta(id="nobody", delta="x")])
    assert (caught.value.chunk_type, caught.value.chunk_id) == ("text-delta", "nobody")
