"""What PostgreSQL's jsonb makes of a JSON text, simulated: the laws about rows go through it.

It refuses NUL and half characters, keeps the last of duplicate keys, orders keys by length and bytes, and remakes
numbers: no sign of a zero, no exponent, the digits after the point as they were written.
"""

from __future__ import annotations

import json
from decimal import Decimal

from rejoinder.messages import Json
from rejoinder.wire.json import has_surrogate, is_array, is_object


def as_jsonb(text: str) -> str:
    """What `SELECT text::jsonb::text` gives."""
    return _written(json.loads(text, parse_int=Decimal, parse_float=Decimal, parse_constant=_refuse))


def as_text(text: str) -> str:
    """What a text column gives back: the same, or an error."""
    if "\x00" in text or has_surrogate(text):
        raise ValueError(f"a text column cannot hold {text!r}")
    return text


def _written(value: Json) -> str:
    if is_object(value):
        keys = sorted(value, key=lambda key: (len(_bytes(key)), _bytes(key)))
        return "{" + ", ".join(f"{_written(key)}: {_written(value[key])}" for key in keys) + "}"
    if is_array(value):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    match value:
        case str():
            return json.dumps(as_text(value), ensure_ascii=False)
        case Decimal():
            return f"{value or abs(value):f}"
        case _:
            return json.dumps(value)


def _bytes(key: str) -> bytes:
    return as_text(key).encode()


def _refuse(name: str) -> None:
    raise ValueError(f"jsonb cannot hold {name}")
