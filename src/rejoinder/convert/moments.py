"""Times as other formats write them. One without a zone is UTC, which is what databases mean by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from rejoinder.errors import InvalidMessage
from rejoinder.messages import Json

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def iso_of(moment: datetime) -> str:
    """ISO 8601 in UTC with a Z, as JavaScript writes it; microseconds only where there are some."""
    zoned = _zoned(moment).astimezone(UTC)
    precision = "milliseconds" if zoned.microsecond % 1000 == 0 else "microseconds"
    return zoned.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def moment_of(value: Json, path: str) -> datetime | None:
    """Read a time, or None for null. Raises `InvalidMessage`, naming the path, for anything else."""
    try:
        match value:
            case None:
                return None
            case datetime():
                return _zoned(value)
            case str():
                return _zoned(datetime.fromisoformat(value))
            case int() | float() if not isinstance(value, bool):
                return _EPOCH + timedelta(milliseconds=value)
            case _:
                pass  # no time
    except (ValueError, OverflowError):
        pass  # a number or a text, but no time
    raise InvalidMessage(f"{path}: a time in ISO 8601 or in milliseconds since 1970, not {value!r}.")


def _zoned(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
