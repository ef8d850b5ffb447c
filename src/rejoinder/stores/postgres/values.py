"""Values on their way to PostgreSQL and back, in its binary form.

They are sent without their types, which the statements name (`$1::bigint`). The driver's own way, by which NULL has
another type than a text, and a number the smallest that holds it, would prepare a statement once for each mixture.

Text is escaped on its way in (`rejoinder.convert.escapes`), because a NUL or half a character may stand in any id.
Undo it with `load_text` where somebody else's words are read. JSON goes in as `Jsonb` and comes back as text, for
`load_json`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

import psycopg
from psycopg import postgres
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.pq import Format

from rejoinder.convert.escapes import store_json, store_text
from rejoinder.messages import Maybe

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_INT8: Final = struct.Struct("!q")
_FLOAT8: Final = struct.Struct("!d")
_LENGTH: Final = struct.Struct("!i")
_ARRAY_HEAD: Final = struct.Struct("!iIIii")
_NULL: Final = b"\xff\xff\xff\xff"
_JSONB_VERSION: Final = b"\x01"


class Jsonb:
    """A value for `$1::jsonb`. An absent one is NULL, and None is JSON's null."""

    __slots__ = ("text",)

    def __init__(self, value: Maybe) -> None:
        self.text = store_json(value)


class JsonRows:
    """Rows for `json_to_recordset($1::json)`, as bytes that are JSON already."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class Numbers:
    """A bigint[], for `unnest`."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[int | None]) -> None:
        self.values = values


class Texts:
    """A text[], for `unnest`."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[str | None]) -> None:
        self.values = values


class Bodies:
    """A bytea[], for `unnest`."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[bytes | None]) -> None:
        self.values = values


Value: TypeAlias = (
    str | bool | int | float | Decimal | datetime | bytes | Jsonb | JsonRows | Numbers | Texts | Bodies | None
)
"""What a parameter may be. Whole numbers are bigint, and those with a fraction double precision."""


class _BinaryDumper(Dumper):
    format = Format.BINARY
    oid = 0


class _TextDumper(_BinaryDumper):
    def dump(self, obj: str) -> Buffer:
        return store_text(obj).encode()


class _FlagDumper(_BinaryDumper):
    def dump(self, obj: bool) -> Buffer:  # noqa: FBT001  (the driver says how this is called)
        return b"\x01" if obj else b"\x00"


class _NumberDumper(_BinaryDumper):
    def dump(self, obj: int) -> Buffer:
        return _INT8.pack(obj)


class _FractionDumper(_BinaryDumper):
    def dump(self, obj: float) -> Buffer:
        return _FLOAT8.pack(obj)


class _TimeDumper(_BinaryDumper):
    def dump(self, obj: datetime) -> Buffer:
        return _INT8.pack((obj - _EPOCH) // _MICROSECOND)


class _BodyDumper(_BinaryDumper):
    def dump(self, obj: bytes) -> Buffer:
        return obj


class _JsonbDumper(_BinaryDumper):
    def dump(self, obj: Jsonb) -> Buffer | None:
        return None if obj.text is None else _JSONB_VERSION + obj.text.encode()


class _JsonRowsDumper(_BinaryDumper):
    def dump(self, obj: JsonRows) -> Buffer:
        return obj.body


class _NumbersDumper(_BinaryDumper):
    def dump(self, obj: Numbers) -> Buffer:
        return _array("int8", [None if value is None else _INT8.pack(value) for value in obj.values])


class _TextsDumper(_BinaryDumper):
    def dump(self, obj: Texts) -> Buffer:
        return _array("text", [None if value is None else store_text(value).encode() for value in obj.values])


class _BodiesDumper(_BinaryDumper):
    def dump(self, obj: Bodies) -> Buffer:
        return _array("bytea", obj.values)


class _JsonbLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return str(data[1:], "utf-8")


class _TimeLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> datetime:
        return _EPOCH + timedelta(microseconds=_INT8.unpack(data)[0])


def adapters() -> AdaptersMap:
    """How our connections say and read values."""
    ours = AdaptersMap(psycopg.adapters)
    for kind, dumper in (
        (str, _TextDumper),
        (bool, _FlagDumper),
        (int, _NumberDumper),
        (float, _FractionDumper),
        (datetime, _TimeDumper),
        (bytes, _BodyDumper),
        (Jsonb, _JsonbDumper),
        (JsonRows, _JsonRowsDumper),
        (Numbers, _NumbersDumper),
        (Texts, _TextsDumper),
        (Bodies, _BodiesDumper),
    ):
        ours.register_dumper(kind, dumper)
    ours.register_loader("jsonb", _JsonbLoader)
    ours.register_loader("timestamptz", _TimeLoader)
    return ours


def _array(element: str, items: Sequence[bytes | None]) -> bytes:
    oid = postgres.types[element].oid
    if not items:
        return struct.pack("!iII", 0, 0, oid)
    pieces = [_ARRAY_HEAD.pack(1, 1 if None in items else 0, oid, len(items), 1)]
    for item in items:
        if item is None:
            pieces.append(_NULL)
        else:
            pieces += (_LENGTH.pack(len(item)), item)
    return b"".join(pieces)
