"""A stored answer made once more from the frames that clients were sent. Pure: whoever calls has read the journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rejoinder.errors import IllegalChunk
from rejoinder.fold import Accumulator
from rejoinder.messages import Message
from rejoinder.wire.chunks import Chunk


class Rebuilt(NamedTuple):
    """The message that was made, and what could not be made of it."""

    message: Message
    problems: tuple[str, ...] = ()


def refold(chunks: Iterable[Chunk], *, onto: Message | None, message_id: str) -> Rebuilt:
    """The message that these chunks make. An illegal one is a problem, and left out."""
    accumulator = Accumulator(onto=onto, message_id=message_id)
    problems: list[str] = []
    for chunk in chunks:
        try:
            accumulator.apply(chunk)
        except IllegalChunk as error:
            problems.append(str(error))
    return Rebuilt(accumulator.message, tuple(problems))
