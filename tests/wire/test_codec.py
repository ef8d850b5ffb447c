"""Chunks in and out: strict at the door, harmless on the wire, exact to the byte."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import InvalidChunk, InvalidJson
from rejoinder.messages import Json
from rejoinder.wire.chunks import (
    Chunk,
    DataChunk,
    Finish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputAvailable,
    UnknownChunk,
    type_of,
)
from rejoinder.wire.codec import DONE, chunk_to_json, decode_chunk, encode_chunk, encode_event, encode_stream
from tests.conformance.streams import stream

REFUSED: Final = [
    (r'{"type":"finish","finishReason":"\ud83d"}', "finishReason"),
    (
        r'{"type":"tool-input-start","toolCallId":"c","toolName":"n","inputEncoding":"\ud83d"}',
        "inputEncoding",
    ),
    (r'{"type":"data-x","data":1,"transient":"\ud83d"}', "transient"),
    (r'{"type":"steering-message","id":"s","parts":[{"type":"\ud83d"}]}', r"steering-message: .*type"),
    ('{"type":"text-delta","id":"t"}', "missing required field `delta`"),
    ('{"type":"text-start","id":"t","providerMetadata":null}', "providerMetadata"),
    ('{"type":"text-start","id":"t","providerMetadata":{"openai":1}}', "providerMetadata"),
    ('{"type":"text-start","id":7}', r"\$\.id"),
    ('{"type":"start","messageId":null}', "messageId"),
    ('{"type":"finish","finishReason":"because"}', "finishReason"),
    ('{"type":"tool-input-start","toolCallId":"c","toolName":"n","title":null}', "title"),
    ('{"type":"tool-input-start","toolCallId":"c","toolName":"n","inputEncoding":"xml"}', "inputEncoding"),
    ('{"type":"tool-approval-response","approvalId":"a","approved":"yes"}', "approved"),
    ('{"type":"text-end","id":"t","citations":[{"source":{}}]}', "source"),
    ('{"type":"steering-message","id":"s","parts":[{"type":"video"}]}', "video"),
    ('{"type":"data-x","id":7,"data":1}', "id"),
    ('{"type":"data-x","transient":"yes","data":1}', "transient"),
    ('{"type":7}', "type"),
    ("{}", "type"),
    ("[]", "array"),
    ("null", "null"),
    ('"text"', "string"),
    ("7", "number"),
    ("true", "boolean"),
]

NO_JSON: Final = [
    "",
    " ",
    "{",
    '{"type":',
    "NaN",
    '{"a":NaN}',
    "Infinity",
    "{'a':1}",
    '{"a":01}',
    '"\x01"',
    "\ufeff{}",
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_is_no_chunk_is_refused_with_the_place(text: str, says: str) -> None:
    with pytest.raises(InvalidChunk, match=says):
        decode_chunk(text)


@pytest.mark.parametrize("text", NO_JSON)
def test_what_is_no_json_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidJson, match="JSON"):
        decode_chunk(text)


def test_names_with_half_a_character_are_passed_over_like_other_unknown_names() -> None:
    assert decode_chunk(r'{"type":"text-delta","id":"\ud83d","delta":"x","\ud83d":1}') == TextDelta(
        id="\ud83d", delta="x"
    )
    citation = {"source": {"type": "source", "sourceType": "url", "id": "s", "url": "u"}, "\ud83d": "\ude00"}
    chunk = decode_chunk(json.dumps({"type": "text-end", "id": "t", "citations": [citation]}))
    assert chunk == TextEnd(id="t", citations=[citation])


def test_bytes_that_are_no_utf8_are_refused_with_the_offset() -> None:
    with pytest.raises(InvalidJson, match="byte 0xff at offset 27"):
        decode_chunk(b'{"type":"text-start","id":"\xff"}')


def test_nesting_ends_in_words_and_not_in_a_crash() -> None:
    deep = '{"type":"data-x","data":' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(InvalidJson, match="nested too deep"):
        decode_chunk(deep)


@pytest.mark.parametrize("sdk", [5, 6, 7])
@given(seed=st.integers(0, 1 << 32))
def test_what_is_read_is_written_and_read_again_as_the_same(sdk: int, seed: int) -> None:
    for value in stream(seed, sdk).chunks:
        chunk = decode_chunk(json.dumps(value))
        written = encode_chunk(chunk)
        if b'"[constructor]":' not in written:  # see the tests on harm below
            assert decode_chunk(written) == chunk


SPOKEN: Final[list[tuple[Chunk, bytes]]] = [
    (
        TextDelta(id="t", delta='a "b"\n\u2028é\x00'),
        b'{"type":"text-delta","id":"t","delta":"a \\"b\\"\\n\xe2\x80\xa8\xc3\xa9\\u0000"}',
    ),
    (TextDelta(id="t", delta="\ud83d"), b'{"type":"text-delta","id":"t","delta":"\\ud83d"}'),
    (TextStart(id="t"), b'{"type":"text-start","id":"t"}'),
    (Finish(), b'{"type":"finish"}'),
    (
        ToolInputAvailable(tool_call_id="c", tool_name="n"),
        b'{"type":"tool-input-available","toolCallId":"c","toolName":"n","input":null}',
    ),
    (
        ToolOutputAvailable(tool_call_id="c", output={"inf": float("inf"), "nan": float("nan")}),
        b'{"type":"tool-output-available","toolCallId":"c","output":{"inf":null,"nan":null}}',
    ),
    (DataChunk(name="x", data=1), b'{"type":"data-x","data":1}'),
    (DataChunk(name="x"), b'{"type":"data-x","data":null}'),
    (UnknownChunk(body={"type": "hologram", "z": 1}), b'{"type":"hologram","z":1}'),
]


@pytest.mark.parametrize(("chunk", "text"), SPOKEN)
def test_chunks_are_written_as_javascript_writes_them(chunk: Chunk, text: bytes) -> None:
    assert encode_chunk(chunk) == text
    assert encode_event(chunk) == b"data: " + text + b"\n\n"
    assert encode_event(chunk, event_id="turn:7") == b"id: turn:7\ndata: " + text + b"\n\n"


def test_a_stream_ends_as_the_package_ends_it() -> None:
    assert b"".join(encode_stream([Finish()])) == b'data: {"type":"finish"}\n\n' + DONE


@pytest.mark.parametrize(
    "harm",
    [
        {"__proto__": {"polluted": True}},
        {"a": [{"constructor": {"prototype": {"polluted": True}}}]},
        {"constructor": "Ltd.", "prototype": 1, "x": {"__proto__": None}},
    ],
)
def test_no_key_that_clients_die_of_is_written_and_none_is_lost(harm: Json) -> None:
    chunk = ToolOutputAvailable(tool_call_id="c", output=harm)
    written = encode_chunk(chunk)
    assert b'"__proto__":' not in written
    assert json.loads(written)["output"].keys() != set()
    assert chunk.output == harm
    assert b"polluted" in written or b"Ltd." in written


def test_words_that_only_look_like_harm_stay() -> None:
    said = {"constructor": "Ltd.", "prototype": 1, "text": "__proto__"}
    written = encode_chunk(ToolOutputAvailable(tool_call_id="c", output=said))
    assert json.loads(written)["output"] == said


def test_every_chunk_knows_its_name() -> None:
    assert type_of(TextDelta(id="t", delta="")) == "text-delta"
    assert type_of(DataChunk(name="weather")) == "data-weather"
    assert chunk_to_json(DataChunk(name="", id="1", data=[], extra={"z": 1})) == {
        "type": "data-",
        "id": "1",
        "data": [],
        "z": 1,
    }
