"""What JavaScript does with a value that Python does otherwise, where it can be seen: the order of keys, texts.

`undefined` is `UNSET` here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from msgspec import UnsetType

from rejoinder.wire.json import SAFE_INTEGER_MAX, Json, is_array, rejoin_surrogates

_INDEX_MAX: Final = 2**32 - 2
"""The last key that is an array's index."""

_INDEX_DIGITS_MAX: Final = 10
"""How many digits that one has. Python refuses to read numbers of thousands."""


def property_order(keys: Iterable[str]) -> list[str]:
    """The keys of an object as JavaScript goes through them: indices of arrays first and counted, then the others."""
    return sorted(keys, key=_place_of)


def _place_of(key: str) -> int:
    if len(key) <= _INDEX_DIGITS_MAX and key.isascii() and key.isdecimal():
        number = int(key)
        if number <= _INDEX_MAX and str(number) == key:
            return number
    return _INDEX_MAX + 1


def numeral(number: float) -> str:
    """What `String(number)` gives."""
    if isinstance(number, int) and abs(number) <= SAFE_INTEGER_MAX:
        return str(number)
    try:
        double = float(number)
    except OverflowError:
        double = math.inf if number > 0 else -math.inf
    if math.isinf(double):
        return "Infinity" if double > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(double)).normalize().as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits))
    # Where the point stands, counted from the first digit: the specification's n.
    point = len(shown) + exponent
    if shown == "0":
        return "0"
    if 0 < point <= 21:
        whole_digits = shown[:point].ljust(point, "0")
        shown = f"{whole_digits}.{shown[point:]}" if shown[point:] else whole_digits
    elif -6 < point <= 0:
        shown = f"0.{'0' * -point}{shown}"
    else:
        fraction = f".{shown[1:]}" if shown[1:] else ""
        shown = f"{shown[0]}{fraction}e{point - 1:+d}"
    return f"-{shown}" if sign else shown


def text_of(value: Json) -> str:
    """What `String(value)` gives."""
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return numeral(value)
        case list():
            return joined(value, ",") if is_array(value) else ""
        case _:
            return "undefined" if isinstance(value, UnsetType) else "[object Object]"


def joined(values: list[Json], separator: str) -> str:
    """What `values.join(separator)` gives: null and undefined say nothing, halves of a character come together."""
    return rejoin_surrogates(
        separator.join(
            "" if value is None or isinstance(value, UnsetType) else text_of(value) for value in values
        )
    )
