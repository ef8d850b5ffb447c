"""JSON from strangers: one reading or none.

Two parsers may make different things of one text: of a key that comes twice, of a number too long for them, of a
byte order mark. What they might disagree about is refused here, as is what would keep us busy for long, and the
keys that clients die of (see `rejoinder.wire.json.encode_harmless`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Final, NoReturn

from rejoinder.errors import InvalidJson
from rejoinder.wire.json import Json, JsonObject

DEPTH_MAX: Final = 64
"""Chat clients nest their bodies a dozen deep; whatever goes on for longer is made to break a parser."""

NODES_MAX: Final = 200_000
"""Values in one body. Reading so many takes a tenth of a second, which is as long as anybody may be kept waiting."""

DIGITS_MAX: Final = 40
"""No double has more than 17 digits that mean anything; a database would keep, and repeat, every one of them."""

EXPONENT_MAX: Final = 308
"""The largest power of ten that a double holds."""

_EXPONENT: Final = re.compile(r"[eE]([+-]?\d+)")
_BRACKETS: Final = re.compile(rb"[^\[\]{}]+")
_SHOWN_CHARS_MAX: Final = 40


def decode_strict(body: bytes) -> Json:
    """Read a body. Raises `InvalidJson` that says what is wrong with it."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJson(f"not UTF-8: byte 0x{body[error.start]:02x} at offset {error.start}") from None
    if text.startswith("\ufeff"):
        raise InvalidJson("the body begins with a byte order mark: leave it out")
    _weigh(body)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise InvalidJson(f"nested deeper than {DEPTH_MAX}: send it flatter") from None


def _weigh(body: bytes) -> None:
    """Count values and depth without reading any: what is too heavy costs next to nothing."""
    # Once escaped characters are out, every other stretch between quotes lies outside of all strings.
    bare = b"".join(body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > NODES_MAX:
        raise InvalidJson(f"more than {NODES_MAX} values: send less, the last message only for example")
    depth = 0
    for bracket in _BRACKETS.sub(b"", bare):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEPTH_MAX:
            raise InvalidJson(f"nested deeper than {DEPTH_MAX}: send it flatter")


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InvalidJson(f"the key {twice[:_SHOWN_CHARS_MAX]!r} comes twice in one object: send it once")
    constructor = found.get("constructor")
    if "__proto__" in found or (isinstance(constructor, dict) and "prototype" in constructor):
        raise InvalidJson("a key would reach into a JavaScript prototype: leave it out")
    for key in found:
        if "\0" in key or (not key.isascii() and any("\ud800" <= letter <= "\udfff" for letter in key)):
            raise InvalidJson("a key holds a NUL or half a character: send keys of whole characters")
    return found


def _integer(digits: str) -> int:
    if len(digits) > DIGITS_MAX:
        raise InvalidJson(f"a number has more than {DIGITS_MAX} digits: send it as a string")
    return int(digits)


def _decimal(digits: str) -> float:
    exponent = _EXPONENT.search(digits)
    if len(digits) > 2 * DIGITS_MAX or (exponent is not None and _is_beyond(exponent[1])):
        raise InvalidJson(f"the number {digits[:_SHOWN_CHARS_MAX]} is beyond a double: send it as a string")
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise InvalidJson(f"the number {digits[:_SHOWN_CHARS_MAX]} is beyond a double: send it as a string")
    return number


def _is_beyond(exponent: str) -> bool:
    # Many digits may still be a small number, but nobody writes one like that.
    return len(exponent) > 5 or abs(int(exponent)) > EXPONENT_MAX


def _constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON: send null or a string")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_constant
)
