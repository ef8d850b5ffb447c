"""How message metadata is merged: deeply for objects, as every AI SDK client does it, its oddities included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rejoinder.errors import IllegalChunk
from rejoinder.messages import Json, JsonObject
from rejoinder.wire.javascript import property_order, text_of
from rejoinder.wire.json import is_array, is_object

_SKIPPED: Final = frozenset({"__proto__", "constructor", "prototype"})


def merge_metadata(base: Json, overrides: Json, *, chunk_type: str) -> Json:
    """What `overrides` makes of `base` (neither is null).

    Use objects: what becomes of anything else is an accident of JavaScript, which we repeat so that the server
    holds what the client holds. Raises `IllegalChunk` where the client dies.
    """
    merged = dict(_entries(base))
    for key, value in _entries(overrides):
        if key in _SKIPPED:
            continue
        if not isinstance(base, dict | list):
            raise IllegalChunk(
                f"Cannot use 'in' operator to search for '{key}' in {text_of(base)}", chunk_type=chunk_type
            )
        merged[key] = _merge_values(merged.get(key), value)
    return merged


def _merge_values(base: Json, overrides: Json) -> Json:
    if is_object(base) and is_object(overrides):
        return _merge_objects(base, overrides)
    return overrides


def _merge_objects(base: JsonObject, overrides: JsonObject) -> JsonObject:
    merged = dict(base)
    for key, value in overrides.items():
        if key in _SKIPPED:
            continue
        merged[key] = _merge_values(base.get(key), value)
    return merged


def _entries(value: Json) -> Iterator[tuple[str, Json]]:
    """The keys and values that JavaScript sees: a string or an array is an object with numbers for keys."""
    if is_object(value):
        yield from ((key, value[key]) for key in property_order(value))
    elif is_array(value):
        yield from ((str(index), item) for index, item in enumerate(value))
    elif isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        for at in range(0, len(units), 2):
            yield str(at // 2), units[at : at + 2].decode("utf-16-le", "surrogatepass")
