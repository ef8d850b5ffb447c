"""JSON cut into the texts of its pieces, byte for byte.

msgspec does this faster, and refuses text in which half of a surrogate pair is escaped, which is JSON all the same and
stands in what agents say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Final

import msgspec
from msgspec import Raw

from rejoinder.errors import InvalidJson

_DECODER: Final = JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Numbers are only passed over, however many digits they have."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")


def members(text: bytes) -> dict[str, bytes]:
    """The values of an object. Raises `InvalidJson` for what is none; of a name that comes twice, the last one."""
    try:
        return {name: bytes(value) for name, value in msgspec.json.decode(text, type=dict[str, Raw]).items()}
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return dict(_pieces(text, "{", "}"))


def elements(text: bytes) -> list[bytes]:
    """The elements of an array. Raises `InvalidJson` for what is none."""
    try:
        return [bytes(value) for value in msgspec.json.decode(text, type=list[Raw])]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return [value for _, value in _pieces(text, "[", "]")]


def _pieces(body: bytes, begin: str, end: str) -> Iterator[tuple[str, bytes]]:
    try:
        text = body.decode("utf-8", "surrogatepass")
        at = _behind(text, 0, begin)
        while not text.startswith(end, at):
            name = ""
            if begin == "{":
                name, at = _DECODER.raw_decode(text, at)
                at = _behind(text, _space(text, at), ":")
            _, over = _DECODER.raw_decode(text, at)
            yield name, text[at:over].encode("utf-8", "surrogatepass")
            at = _space(text, over)
            if not text.startswith(end, at):
                at = _behind(text, at, ",")
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"this is no JSON, or of another kind: {error}") from error
    if _space(text, at + 1) != len(text):
        raise InvalidJson("something follows behind the end of the JSON")


def _behind(text: str, at: int, sign: str) -> int:
    """The place of what follows a sign."""
    at = _space(text, at)
    if not text.startswith(sign, at):
        raise ValueError(f"{sign!r} is missing at {at}")
    return _space(text, at + 1)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "no space at all is some space"
    return found.end()
