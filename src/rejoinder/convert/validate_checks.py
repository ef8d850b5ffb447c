"""What a field of a message may hold: checks, and shapes made of them, as the AI SDK's schemas mean them.

A shape is read in two ways. `Shape.read` says exactly what is wrong, and where, and leaves out what the shape does
not name. `Shape.fits_all` only says whether many values fit as they are, with nothing to leave out: msgspec does
that in C, and most messages are such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from rejoinder.convert.javascript import kind_of
from rejoinder.messages import ABSENT, Json, JsonObject
from rejoinder.wire.json import SAFE_INTEGER_MAX, JsonArray, is_array, is_object

_DOUBLE_MAX: Final = 1.7976931348623157e308
"""Beyond it, JavaScript reads infinity."""

Path: TypeAlias = tuple[str | int, ...]


class Mismatch(Exception):
    """A value does not fit. Caught in this room: callers get `InvalidMessage` or a `Problem`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: Path = ()

    def under(self, key: str | int) -> Mismatch:
        """The same, as the holder of the value sees it."""
        self.path = (key, *self.path)
        return self


class Check:
    """What one value may be."""

    def __init__(self, read: Callable[[Json], Json], native: Any = None, *, forbidden: bool = False) -> None:
        self.read = read
        """Gives the value as the SDK keeps it, or raises `Mismatch`."""
        self.native = _checked_by(self) if native is None else native
        """The type by which msgspec checks the same, if need be by calling `read`."""
        self.forbidden = forbidden


class _Checked:
    """A value that msgspec leaves to a check of ours."""

    check: ClassVar[Check]
    fits: ClassVar[_Checked]


class Shape(Check):
    """An object with named fields. `?` behind a name makes the field optional, `!` forbids it."""

    def __init__(self, names: str, checks: Mapping[str, Check]) -> None:
        self._fields: Final[list[tuple[str, Check, bool]]] = []
        native: list[tuple[str, Any, Any] | tuple[str, Any]] = []
        for word in names.split():
            name = word.rstrip("?!")
            check = NOTHING if word.endswith("!") else checks[name]
            self._fields.append((name, check, word != name))
            if word == name:
                native.append((name, check.native))
            elif not check.forbidden:
                native.append((name, check.native | UnsetType, UNSET))
        # Required fields first: a structure's constructor wants it so, and JSON has no order.
        struct = msgspec.defstruct("Shape", sorted(native, key=len), forbid_unknown_fields=True, gc=False)
        super().__init__(self._read, struct)
        self._natives = list[struct]  # type: ignore[valid-type]  # the structure is made at run time

    def fits_all(self, values: Sequence[Json]) -> bool:
        """Whether all these values fit as they are. False may also mean that only reading them exactly can tell."""
        try:
            msgspec.convert(values, self._natives, dec_hook=_checked)
        except (msgspec.ValidationError, Mismatch, RecursionError, UnicodeEncodeError):
            # The last one: half a character where a fixed word stands, which msgspec compares in UTF-8.
            return False
        return True

    def _read(self, value: Json) -> JsonObject:
        if not is_object(value):
            raise Mismatch(f"expected an object, got {kind_of(value)}")
        kept: JsonObject = {}
        for name, check, optional in self._fields:
            if name in value:
                try:
                    kept[name] = check.read(value[name])
                except Mismatch as mismatch:
                    raise mismatch.under(name) from None
            elif not optional:
                raise Mismatch("is required and missing").under(name)
        return kept


def _checked_by(check: Check) -> type[_Checked]:
    class Checked(_Checked):
        pass

    Checked.check = check
    # msgspec wants an instance back. One serves for all: nobody looks at it.
    Checked.fits = Checked()
    return Checked


def _checked(kind: type[_Checked], value: Json) -> _Checked:
    read = kind.check.read(value)
    if read is not value and read != value:
        raise Mismatch("something of it is left out")
    return kind.fits


def _shown(value: Json) -> str:
    return f"{value!r:.40}" if isinstance(value, str) else kind_of(value)


def _string(value: Json) -> Json:
    if isinstance(value, str):
        return value
    raise Mismatch(f"expected a string, got {kind_of(value)}")


def _boolean(value: Json) -> Json:
    if isinstance(value, bool):
        return value
    raise Mismatch(f"expected a boolean, got {kind_of(value)}")


def _nothing(value: Json) -> Json:
    raise Mismatch(f"must be left out in this state, but is {kind_of(value)}")


def _count(value: Json) -> Json:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and 0 <= value <= SAFE_INTEGER_MAX and float(value).is_integer():
        return value
    raise Mismatch(f"expected a whole number from 0, got {kind_of(value)}")


def one_of(*texts: str) -> Check:
    """One of these texts."""
    words = " or ".join(repr(text) for text in texts)

    def read(value: Json) -> Json:
        if isinstance(value, str) and value in texts:
            return value
        raise Mismatch(f"expected {words}, got {_shown(value)}")

    return Check(read, Literal[texts])


def exactly(wanted: bool) -> Check:  # noqa: FBT001  the value is the name
    """This boolean and no other."""

    def read(value: Json) -> Json:
        if value is wanted:
            return value
        raise Mismatch(f"expected {str(wanted).lower()}, got {kind_of(value)}")

    return Check(read)


def listed(element: Check) -> Check:
    """An array of such elements."""

    def read(value: Json) -> Json:
        if not is_array(value):
            raise Mismatch(f"expected an array, got {kind_of(value)}")
        kept: list[Json] = []
        for index, item in enumerate(value):
            try:
                kept.append(element.read(item))
            except Mismatch as mismatch:
                raise mismatch.under(index) from None
        return kept

    return Check(read)


def by(key: str, shapes: Mapping[str, Shape]) -> Check:
    """An object whose field `key` says which shape it has."""

    def read(value: Json) -> Json:
        return shape_by(key, shapes, value).read(value)

    return Check(read)


def shape_by(key: str, shapes: Mapping[str, Shape], value: Json) -> Shape:
    """The shape that an object's field `key` names."""
    if not is_object(value):
        raise Mismatch(f"expected an object, got {kind_of(value)}")
    name = value.get(key)
    shape = shapes.get(name) if isinstance(name, str) else None
    if shape is None:
        raise Mismatch(f"expected one of {', '.join(shapes)}, got {_shown(value.get(key, ABSENT))}").under(
            key
        )
    return shape


def record(depth: int) -> Check:
    """An object (of objects, if `depth` is 2) of JSON values.

    As the SDK does, it passes over keys `__proto__` and takes no number beyond a double.
    """

    def read(value: Json) -> Json:
        if not is_object(value):
            raise Mismatch(f"expected an object, got {kind_of(value)}")
        if depth > 1:
            for key, item in value.items():
                if not isinstance(item, dict) and key != "__proto__":
                    raise Mismatch(f"expected an object, got {kind_of(item)}").under(key)
        return _without_prototypes(value) if _has_prototype(value) else value

    return Check(read)


def _has_prototype(value: JsonObject) -> bool:
    """Whether a key `__proto__` occurs. Raises `Mismatch` for an infinite number."""
    holders: list[JsonObject | JsonArray] = [value]
    found = False
    for holder in holders:
        items: Iterable[Json] = holder
        if is_object(holder):
            items = holder.values()
            if "__proto__" in holder:
                found = True
                items = [item for key, item in holder.items() if key != "__proto__"]
        for item in items:
            if isinstance(item, str) or item is None:
                continue
            if is_object(item) or is_array(item):
                holders.append(item)
            elif not -_DOUBLE_MAX <= item <= _DOUBLE_MAX:
                raise Mismatch("holds a number beyond what JSON's readers can hold")
    return found


def _without_prototypes(value: Json) -> Json:
    if is_object(value):
        return {key: _without_prototypes(item) for key, item in value.items() if key != "__proto__"}
    if is_array(value):
        return [_without_prototypes(item) for item in value]
    return value


def _strings(value: Json) -> Json:
    if not is_object(value):
        raise Mismatch(f"expected an object, got {kind_of(value)}")
    kept = {key: item for key, item in value.items() if key != "__proto__"}
    for key, item in kept.items():
        if not isinstance(item, str):
            raise Mismatch(f"expected a string, got {kind_of(item)}").under(key)
    return kept


ANYTHING: Final = Check(lambda value: value, Any)
STRING: Final = Check(_string, str)
BOOLEAN: Final = Check(_boolean, bool)
NOTHING: Final = Check(_nothing, forbidden=True)
COUNT: Final = Check(_count)
"""A whole number from 0, as far as JavaScript can count."""
STRINGS: Final = Check(_strings)
"""An object of texts; a key `__proto__` is passed over."""
