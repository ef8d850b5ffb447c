"""Telling chunks to a release, and the calls that tests tell of."""

from __future__ import annotations

from msgspec import UNSET

from rejoinder.wire.chunks import (
    Chunk,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
)
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import Downlevel, downlevel
from rejoinder.wire.json import JsonObject


def told(release: str, *chunks: Chunk, message: JsonObject | None = None) -> list[Chunk]:
    return list(downlevel(chunks, dialect(release), message=message))


def told_live(release: str, *chunks: Chunk) -> list[Chunk]:
    speaker = Downlevel(dialect(release))
    said = [said for chunk in chunks for said in speaker.feed(chunk)]
    return [*said, *speaker.close()]


def started(call: str = "c", *, dynamic: bool = False) -> ToolInputStart:
    return ToolInputStart(tool_call_id=call, tool_name="t", dynamic=dynamic or UNSET)


def available(call: str = "c", *, dynamic: bool = False) -> ToolInputAvailable:
    return ToolInputAvailable(tool_call_id=call, tool_name="t", input=1, dynamic=dynamic or UNSET)


def output(call: str = "c", value: int = 1) -> ToolOutputAvailable:
    return ToolOutputAvailable(tool_call_id=call, output=value)
