"""What a recorded run contained, as the tables say it."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from rejoinder.translate import Failed, Finished, Stopped
from tests.translate.contents import contents
from tests.translate.recorded import Told

Part: TypeAlias = Any


class Run(Struct, frozen=True):
    """The parts of a run, the tokens that its model calls took in and gave out, and how it ended.

    `problems` is how many of its events made no sense where they came: version 5 and 6 of the AI SDK say twice that
    an input was wrong.
    """

    vendor: str
    parts: tuple[Part, ...]
    tokens: tuple[tuple[int | None, int | None], ...] = ()
    ending: str = "stop"
    problems: int = 0


def parts_of(came: Told) -> tuple[Part, ...]:
    """The parts of the message. The ids of questions are made anew with each recording."""
    parts: list[Any] = contents(came.message)
    return tuple(part[:4] if part[3:4] == ("asked",) else part for part in parts)


def tokens_of(came: Told) -> tuple[tuple[int | None, int | None], ...]:
    """What the calls took in and gave out."""
    return tuple(
        (None, None) if call.usage is None else (call.usage.input_tokens, call.usage.output_tokens)
        for call in came.calls
    )


def ending_of(came: Told) -> str:
    """How it ended: the reason, or what the user was told of its failure."""
    match came.ending:
        case Finished(reason=reason):
            return reason or "no reason"
        case Failed(error_text=text):
            return f"failed: {text}"
        case Stopped():
            return "stopped"
        case _:
            return "not told"
