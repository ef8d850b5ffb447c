"""JSON payloads as types, and the one thing JSON in Python lacks: "there was no such key"."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

Json: TypeAlias = Any
"""A payload that we carry and do not look into: whatever JSON can say."""

JsonObject: TypeAlias = dict[str, Any]
"""A payload that is an object."""

Maybe: TypeAlias = Any
"""A payload that may be missing altogether, which is not the same as null: `ABSENT` or `Json`."""

ABSENT: Final = UNSET
"""No such key. `output: null` is a tool that answered null; no `output` is a tool that has not answered."""


def is_absent(value: object) -> bool:
    """Whether a payload is missing (and not merely null)."""
    return isinstance(value, UnsetType)
