"""`explode` is the inverse of `accumulate`."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import IllegalChunk, InvalidMessage
from rejoinder.fold import Accumulator, accumulate, explode
from rejoinder.messages import Data, File, Message, Opaque, Text, ToolCall
from rejoinder.wire.codec import decode_chunk, encode_chunk
from rejoinder.wire.dialects import dialect, problems
from rejoinder.wire.grammar import Grammar
from tests.conformance.streams import legal_stream


def message_of(seed: int) -> Message:
    """What comes of as much of a generated stream as our own grammar lets through, chunk by chunk."""
    grammar, accumulator = Grammar(), Accumulator()
    for value in ({"type": "start", "messageId": "m"}, *legal_stream(seed).chunks):
        chunk = decode_chunk(json.dumps(value))
        with contextlib.suppress(IllegalChunk):
            grammar.check(chunk)
            accumulator.apply(chunk)
    return accumulator.message


@given(seed=st.integers(0, 1 << 32))
def test_what_was_accumulated_explodes_and_accumulates_to_itself(seed: int) -> None:
    message = message_of(seed)
    assert accumulate(explode(message)) == message


@given(seed=st.integers(0, 1 << 32))
def test_an_exploded_message_can_be_said_to_every_newest_client(seed: int) -> None:
    for chunk in explode(message_of(seed)):
        assert problems(dialect("7"), chunk) == ()
        assert decode_chunk(encode_chunk(chunk)) is not None


def test_nobody_streams_what_a_user_said() -> None:
    with pytest.raises(InvalidMessage, match="assistant"):
        list(explode(Message(id="u", role="user", parts=(Text(text="hi"),))))


def test_what_no_chunk_can_say_is_left_out_and_nothing_else() -> None:
    message = Message(
        id="a",
        role="assistant",
        parts=(
            Opaque(body={"type": "hologram"}),
            File(media_type="a/b", url="data:,x", filename="x.txt"),
            Data(name="d", id="1", data=None),
        ),
    )
    assert accumulate(explode(message)).parts == (
        File(media_type="a/b", url="data:,x"),
        Data(name="d", id="1", data=None),
    )


@pytest.mark.parametrize("state", ["input-streaming", "input-available", "output-available", "output-error"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_call_in_every_state_survives(state: str, *, dynamic: bool) -> None:
    fields = {
        "input-streaming": {"raw_input": '{"a": [1', "input": {"a": [1]}},
        "input-available": {"input": None},
        "output-available": {"input": 1, "output": None, "preliminary": True},
        "output-error": {"input": 1, "error_text": "no"},
    }[state]
    call = ToolCall(name="n", call_id="c", dynamic=dynamic, state=state, title="T", **fields)  # type: ignore[arg-type]  # by table
    message = Message(id="a", role="assistant", parts=(call,))
    assert accumulate(explode(message)) == message
