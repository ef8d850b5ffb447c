"""Copies that share nothing changeable with their originals, so that no caller can reach into the store.

Structs are frozen, but the JSON payloads in them are dicts and lists. What cannot change is shared, not copied: a
20 MB text costs nothing, and most parts are given back as they are.
"""

from __future__ import annotations

from typing import TypeGuard, TypeVar

from msgspec import Struct, structs

from rejoinder.messages import Json
from rejoinder.wire.json import is_array, is_object

Value = TypeVar("Value")


def detached(value: Value) -> Value:
    """The same value, sharing nothing that can be changed."""
    copy: Value = _copy(value)
    return copy


def _copy(value: Json) -> Json:
    if is_object(value):
        return {key: _copy(item) for key, item in value.items()}
    if is_array(value):
        return [_copy(item) for item in value]
    if isinstance(value, Struct):
        return _copy_struct(value)
    if _is_tuple(value):
        copies = tuple(_copy(item) for item in value)
        return copies if any(copy is not item for copy, item in zip(copies, value, strict=True)) else value
    return value


def _copy_struct(value: Struct) -> Struct:
    changes = {
        name: copy
        for name in value.__struct_fields__
        if (copy := _copy(old := getattr(value, name))) is not old
    }
    return structs.replace(value, **changes) if changes else value


def _is_tuple(value: Json) -> TypeGuard[tuple[Json, ...]]:
    return isinstance(value, tuple)
