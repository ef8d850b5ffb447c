"""JSON Patch (RFC 6902), as agents send it to say how their state has changed."""

from __future__ import annotations

from collections.abc import Iterable

from rejoinder.errors import RejoinderError
from rejoinder.messages import ABSENT, Json, JsonObject, Maybe, is_absent
from rejoinder.wire.json import is_array, is_object


class InvalidPatch(RejoinderError):
    """The patch does not fit the value."""

    code = "invalid-patch"


def patched(value: Json, operations: Iterable[Json]) -> Json:
    """The value after these operations; the one given stays as it is. Raises `InvalidPatch`."""
    for operation in operations:
        if not is_object(operation) or not isinstance(operation.get("path"), str):
            raise InvalidPatch("an operation of a JSON patch is an object with 'op' and 'path'")
        value = _applied(value, operation)
    return value


def _applied(value: Json, operation: JsonObject) -> Json:
    path = _steps(operation["path"])
    match operation.get("op"):
        case "add":
            return _put(value, path, operation.get("value"), insert=True)
        case "replace":
            _get(value, path)
            return _put(value, path, operation.get("value"), insert=False)
        case "remove":
            return _put(value, path, ABSENT, insert=False)
        case "move":
            source = _steps(operation.get("from"))
            moved = _get(value, source)
            return _put(_put(value, source, ABSENT, insert=False), path, moved, insert=True)
        case "copy":
            return _put(value, path, _get(value, _steps(operation.get("from"))), insert=True)
        case "test":
            if _get(value, path) != operation.get("value"):
                raise InvalidPatch(f"the value at {operation['path']!r} is not what the patch expects")
            return value
        case other:
            raise InvalidPatch(f"{other!r} is no operation of a JSON patch")


def _steps(pointer: Json) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise InvalidPatch(f"{pointer!r} is no JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _get(value: Json, path: list[str]) -> Json:
    for step in path:
        if is_object(value) and step in value:
            value = value[step]
        elif is_array(value):
            value = value[_index(value, step, len(value) - 1)]
        else:
            raise InvalidPatch(f"there is nothing at '/{'/'.join(path)}'")
    return value


def _put(value: Json, path: list[str], new: Maybe, *, insert: bool) -> Json:
    if not path:
        return None if is_absent(new) else new
    step, rest = path[0], path[1:]
    if is_object(value):
        return _put_in_object(value, step, rest, new, insert=insert)
    if not is_array(value):
        raise InvalidPatch(f"there is nothing to hold {step!r}")
    copy = [*value]
    if rest:
        index = _index(value, step, len(value) - 1)
        copy[index] = _put(value[index], rest, new, insert=insert)
    elif is_absent(new):
        del copy[_index(value, step, len(value) - 1)]
    elif insert:
        copy.insert(_index(value, step, len(value)), new)
    else:
        copy[_index(value, step, len(value) - 1)] = new
    return copy


def _put_in_object(value: JsonObject, step: str, rest: list[str], new: Maybe, *, insert: bool) -> JsonObject:
    if step not in value and (rest or is_absent(new)):
        raise InvalidPatch(f"there is no {step!r}")
    following = _put(value[step], rest, new, insert=insert) if rest else new
    kept = {name: item for name, item in value.items() if name != step or not is_absent(following)}
    return kept if is_absent(following) else {**kept, step: following}


def _index(value: list[Json], step: str, last: int) -> int:
    index = len(value) if step == "-" else int(step) if step.isascii() and step.isdigit() else -1
    if not 0 <= index <= last:
        raise InvalidPatch(f"there is no place {step!r} in an array of {len(value)}")
    return index
