"""JSON as JavaScript reads and writes it."""

from __future__ import annotations

import json as python_json
import math

import pytest
from hypothesis import given

from rejoinder.errors import InvalidJson
from rejoinder.messages import Json
from rejoinder.wire import json
from tests.laws.messages import json_values


@given(json_values())
def test_what_is_written_is_read_again(value: Json) -> None:
    assert json.decode(json.encode(value)) == value
    assert json.decode(json.encode(value).decode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud83d"', "\ud83d"),
        ('["\\ude00\\ud83d"]', ["\ude00\ud83d"]),
        ('{"a":1,"a":2}', {"a": 2}),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("12345678901234567890", 12345678901234567890),
        ("9" * 5_000, math.inf),
        ('"\\u0000"', "\x00"),
        (" [1 , 2]\n", [1, 2]),
    ],
)
def test_whatever_javascript_can_write_is_read(text: str, value: Json) -> None:
    assert json.decode(text) == value
    assert json.decode(text.encode()) == value


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (12345678901234567890, 12345678901234567000),
        (9007199254740993, 9007199254740992),
        (10**400, None),
        (math.inf, None),
        (math.nan, None),
        (1.0, 1),
        (-0.0, 0),
        (1e21, 1e21),
        (0.1, 0.1),
        (True, True),
        ({"a": [2**69]}, {"a": [590295810358705700000]}),
    ],
)
def test_numbers_become_what_javascript_holds(value: Json, held: Json) -> None:
    found = json.as_javascript(value)
    assert python_json.dumps(found) == python_json.dumps(held)


def test_lone_halves_are_escaped_and_pairs_joined() -> None:
    assert json.encode(["\ud83d", "\ude00", "\ud83d\ude00"]) == '["\\ud83d","\\ude00","😀"]'.encode()


def test_depth_ends_in_words_both_ways() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidJson, match="deep"):
        json.encode(deep)
    with pytest.raises(InvalidJson, match="deep"):
        json.decode("[" * 100_000)


def test_a_long_line_is_no_matter() -> None:
    text = python_json.dumps({"a": "x" * 50_000_000})
    assert len(json.decode(text)["a"]) == 50_000_000
