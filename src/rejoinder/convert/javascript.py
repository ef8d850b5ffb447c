"""What JavaScript does with JSON values, wherever the AI SDK's answers depend on it.

`undefined` is `ABSENT` here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from rejoinder.errors import UnconvertibleMessage
from rejoinder.messages import Json, JsonObject, is_absent
from rejoinder.wire import json
from rejoinder.wire.javascript import numeral, property_order
from rejoinder.wire.json import is_array, is_object

_SHOWN_CHARS_MAX: Final = 100
"""How much of a refused URL an error shows: a `data:` URL may have megabytes."""


def kind_of(value: Json) -> str:
    """What sort of JSON value this is, in words for error messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "missing" if is_absent(value) else "an object"


def spread(value: Json) -> JsonObject:
    """What `{...value}` gives."""
    if is_object(value):
        return value
    if is_array(value) or isinstance(value, str):
        return {str(index): item for index, item in enumerate(value)}
    return {}


def error_text(error: Json) -> str:
    """What the SDK's `getErrorMessage` gives."""
    if error is None or is_absent(error):
        return "unknown error"
    return error if isinstance(error, str) else stringified(error)


def stringified(value: Json) -> str:
    """What `JSON.stringify(value)` gives, to the letter: texts are compared, hashed and shown to models.

    Raises `UnconvertibleMessage` for a value that is nested too deep to be written.
    """
    try:
        return _stringified(value)
    except RecursionError:
        raise UnconvertibleMessage("A value is nested too deep to write as JSON: make it flatter.") from None


def _stringified(value: Json) -> str:
    match value:
        case dict():
            keys = property_order(value) if is_object(value) else []
            return f"{{{','.join([f'{_stringified(key)}:{_stringified(value[key])}' for key in keys])}}}"
        case list():
            items: list[Json] = value if is_array(value) else []
            return f"[{','.join([_stringified(item) for item in items])}]"
        case str():
            return json.encode(value).decode()
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case _:
            shown = numeral(value)
            return "null" if shown.endswith("Infinity") else shown


def href(url: Json) -> str:
    """What `new URL(url).href` gives. Raises `UnconvertibleMessage` where JavaScript throws."""
    if not isinstance(url, str):
        raise UnconvertibleMessage(f"Invalid URL: a URL is a string, this is {kind_of(url)}.")
    try:
        return str(_url_parser()(url if url.isascii() else json.without_halves(url)))
    except ValueError:
        shown = url if len(url) <= _SHOWN_CHARS_MAX else url[:_SHOWN_CHARS_MAX] + "…"
        raise UnconvertibleMessage(
            f"Invalid URL: {shown!r}. A file's URL is absolute (https:, data:, …)."
        ) from None


@cache
def _url_parser() -> Callable[[str], object]:
    # Node's own parser: nothing else agrees with browsers on what a URL is and how it is written.
    import can_ada

    return can_ada.parse


def same_data(one: Json, other: Json) -> bool:
    """What the SDK's `isDeepEqualData` gives for values that were read from JSON."""
    if is_absent(one) or is_absent(other):
        return is_absent(one) and is_absent(other)
    if is_object(one):
        # It compares the values' constructors first, and an own key of that name hides the real one.
        return (
            is_object(other)
            and one.keys() == other.keys()
            and not isinstance(one.get("constructor"), dict | list)
            and all(same_data(item, other[key]) for key, item in one.items())
        )
    if is_array(one):
        return (
            is_array(other)
            and len(one) == len(other)
            and all(same_data(item, mate) for item, mate in zip(one, other, strict=True))
        )
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return not isinstance(other, dict | list) and json.as_javascript(one) == json.as_javascript(other)
