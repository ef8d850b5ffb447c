"""Numerals and the order of keys are JavaScript's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from struct import unpack

import pytest

from rejoinder.testing.oracle import Oracle
from rejoinder.wire.javascript import numeral, property_order
from tests.scale import scale

DOUBLES = scale(2_000, 50_000)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1e21, "1e+21"),
        (123456789012345680000, "123456789012345680000"),
        (2**53 + 1, "9007199254740992"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (10**400, "Infinity"),
        (-math.inf, "-Infinity"),
    ],
)
def test_a_numeral_is_what_javascript_writes(number: float, text: str) -> None:
    assert numeral(number) == text


def test_any_double_is_written_as_the_package_writes_it(oracle: Oracle) -> None:
    numbers = list(_doubles())
    (answer,) = oracle.ask_many(
        [
            {
                "do": "convert",
                "sdk": "6",
                "messages": [_saying(numbers)],
                "options": {"convertDataPart": "text"},
            }
        ]
    )
    text = answer["messages"][0]["content"][0]["text"]
    assert text == f"[{','.join(map(numeral, numbers))}]"


def test_indices_come_first_and_in_order() -> None:
    keys = ["b", "10", "2", "01", "-1", "4294967295", "4294967294", "a", "0", "9" * 5000, "\u0662"]
    first = ["0", "2", "10", "4294967294"]
    assert property_order(keys) == [*first, *(key for key in keys if key not in first)]


def _doubles() -> Iterator[float]:
    random = Random("doubles")
    for _ in range(DOUBLES):
        (double,) = unpack("<d", random.randbytes(8))
        if math.isfinite(double):
            yield double


def _saying(numbers: list[float]) -> dict[str, object]:
    return {"id": "m", "role": "user", "parts": [{"type": "data-x", "data": numbers}]}
