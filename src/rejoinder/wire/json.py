"""JSON as the wire needs it: every text that JavaScript can write is read, and what we write no client dies of.

msgspec does the work. Python's own decoder and encoder take over for what UTF-8 cannot hold (half a surrogate
pair, which JSON can say as an escape) and for numbers beyond a double (`1e400`), which JavaScript reads as
infinity.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeAlias, TypeGuard

import msgspec

from rejoinder.errors import InvalidJson

Json: TypeAlias = Any
"""Whatever JSON can say."""

JsonObject: TypeAlias = dict[str, Any]

JsonArray: TypeAlias = list[Any]

DIGITS_MAX: Final = 4_000
"""An integer with more digits is read as a double: Python refuses to read 4,300 and JavaScript keeps 17."""

SAFE_INTEGER_MAX: Final = 2**53 - 1
"""Beyond this, a JavaScript number no longer tells neighbours apart (`Number.MAX_SAFE_INTEGER`)."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


def decode(text: bytes | str) -> Json:
    """Read one JSON text, as JavaScript's `JSON.parse` would (except for depth).

    Raises `InvalidJson` that says where.
    """
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeError):
        return _decode_as_javascript(text)
    except RecursionError:
        raise InvalidJson("JSON nested too deep to read: send it flatter, or as a string") from None


def encode(value: object) -> bytes:
    """Write a value (structs included) as compact JSON in UTF-8; lone surrogates become escapes."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        text = json.dumps(_finite(msgspec.to_builtins(value)), ensure_ascii=False, separators=(",", ":"))
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", rejoin_surrogates(text)).encode()
    except RecursionError:
        raise InvalidJson("a value nested too deep to write as JSON: make it flatter") from None


def encode_harmless(value: object) -> bytes:
    """Write a value so that no client's parser refuses it.

    Clients reject any key `__proto__`, and any `constructor` that holds a `prototype`; one such key in a tool's output
    would end the stream, on every resume. On the wire those keys stand in brackets; what is stored keeps its own.
    """
    try:
        data = _encode(value)
    except (UnicodeEncodeError, RecursionError):
        data = encode(value)
    if b"proto" not in data:
        return data
    return encode(bracketed(msgspec.to_builtins(value), pollutes))


def read_as(value: Json, kind: Any) -> Json:
    """Make a value of this type of a decoded one, passing over names that the type does not have.

    Raises `msgspec.ValidationError`. As `msgspec.convert`, which compares names and fixed words in UTF-8 and fails
    with another error where one holds half a character.
    """
    try:
        return msgspec.convert(value, kind)
    except UnicodeEncodeError:
        if is_object(value):
            value = {name: item for name, item in value.items() if not has_surrogate(name)}
    try:
        return msgspec.convert(value, kind)
    except UnicodeEncodeError:
        # Deeper down: a fixed word that is none now, or a name that nobody has.
        return msgspec.convert(without_halves(value), kind)


def without_halves(value: Json) -> Json:
    """The value with the replacement character for every half of a character, as JavaScript hands texts out."""
    if is_array(value):
        return [without_halves(item) for item in value]
    if is_object(value):
        return {without_halves(key): without_halves(item) for key, item in value.items()}
    if isinstance(value, str) and has_surrogate(value):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def is_object(value: Json) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[JsonArray]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def pollutes(key: str, value: Json) -> bool:
    """Whether clients refuse this key with this value."""
    return key == "__proto__" or (key == "constructor" and isinstance(value, dict) and "prototype" in value)


def bracketed(value: Json, is_refused: Callable[[str, Json], bool]) -> Json:
    """The value with brackets around every key that is refused."""
    if is_array(value):
        return [bracketed(item, is_refused) for item in value]
    if is_object(value):
        return {
            f"[{key}]" if is_refused(key, item) else key: bracketed(item, is_refused)
            for key, item in value.items()
        }
    return value


def has_key(value: Json, is_meant: Callable[[str, Json], bool]) -> bool:
    """Whether the value holds a key, with its value, that is meant."""
    holders: JsonArray = [value]
    for holder in holders:
        items: Iterable[Json] = ()
        if is_object(holder):
            if any(is_meant(key, item) for key, item in holder.items()):
                return True
            items = holder.values()
        elif is_array(holder):
            items = holder
        holders += [item for item in items if isinstance(item, dict | list)]
    return False


def as_javascript(value: Json) -> Json:
    """What JavaScript would hold after reading this value: its numbers are doubles, infinity is written null."""
    if is_array(value):
        return [as_javascript(item) for item in value]
    if is_object(value):
        return {key: as_javascript(item) for key, item in value.items()}
    match value:
        case bool():
            return value
        case int() if abs(value) > SAFE_INTEGER_MAX:
            return as_javascript(_float(value))
        case float() if not math.isfinite(value):
            return None
        case float() if value.is_integer() and abs(value) < 1e21:
            # The shortest digits that name the double, padded with zeros: as JavaScript writes whole numbers.
            return int(Decimal(repr(value)))
        case _:
            return value


def has_surrogate(text: str) -> bool:
    """Whether the text holds half a character, which UTF-8 cannot say."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def rejoin_surrogates(text: str) -> str:
    """Join neighbouring surrogate halves into the character that they are. Lone halves stay."""
    # JavaScript strings are UTF-16: concatenating the halves *is* the character. Python's are code points,
    # so the halves stay two; a round trip through UTF-16 says what JavaScript says.
    if not has_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _decode_as_javascript(text: bytes | str) -> Json:
    try:
        source = text if isinstance(text, str) else text.decode("utf-8")
        return _rejoined(json.loads(source, parse_constant=_refuse_constant, parse_int=_integer))
    except json.JSONDecodeError as error:
        # Some of Python's own messages end in the word that ours goes on with.
        raise InvalidJson(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos}") from None
    except UnicodeDecodeError as error:
        raise InvalidJson(
            f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        ) from None
    except RecursionError:
        raise InvalidJson("JSON nested too deep to read: send it flatter, or as a string") from None


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON: send null or a string")


def _rejoined(value: Json) -> Json:
    """Halves of a character that stand side by side, one as it is and one escaped, are one character too."""
    if is_array(value):
        return [_rejoined(item) for item in value]
    if is_object(value):
        return {rejoin_surrogates(key): _rejoined(item) for key, item in value.items()}
    return rejoin_surrogates(value) if isinstance(value, str) else value


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= DIGITS_MAX else float(digits)


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _finite(value: Json) -> Json:
    if is_array(value):
        return [_finite(item) for item in value]
    if is_object(value):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
