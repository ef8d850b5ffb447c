"""Reading what a vendor sent, whatever it sent: a field that is missing or of another type is an empty one."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

from rejoinder.messages import Json, JsonObject
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

Value = TypeVar("Value")


def given(value: Value | None) -> Value | UnsetType:
    """The value as a field of a chunk, which is left out where there is none."""
    return UNSET if value is None else value


def object_of(value: Json, *path: str) -> JsonObject:
    """The object at the end of this path of names; an empty one if there is none."""
    found = _at(value, path)
    return found if is_object(found) else {}


def objects_of(value: Json, *path: str) -> list[JsonObject]:
    """The objects in the array at the end of this path."""
    return [item for item in array_of(value, *path) if is_object(item)]


def array_of(value: Json, *path: str) -> list[Json]:
    """The array at the end of this path; an empty one if there is none."""
    found = _at(value, path)
    return found if is_array(found) else []


def text_of(value: Json, *path: str) -> str:
    """The text at the end of this path; an empty one if there is none."""
    found = _at(value, path)
    return found if isinstance(found, str) else ""


def text_or_none(value: Json, *path: str) -> str | None:
    """The text at the end of this path, unless it is missing or empty."""
    return text_of(value, *path) or None


def integer_of(value: Json, *path: str) -> int | None:
    """The whole number at the end of this path, if there is one."""
    found = _at(value, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def said_of(value: Json) -> str:
    """What a value says to a person: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.encode(value).decode()


def without(value: JsonObject, *names: str) -> JsonObject:
    """The object but for these fields."""
    return {name: item for name, item in value.items() if name not in names}


def kind_of(value: Json, *path: str) -> str:
    """How a sentence about an event that nobody understands names it."""
    found = _at(value, path)
    return repr(found) if isinstance(found, str) and found else "without a kind"


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not is_object(value):
            return None
        value = value.get(name)
    return value
