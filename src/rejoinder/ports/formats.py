"""Stores that keep messages in rows, and can write those of an older format anew."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol


class Place(NamedTuple):
    """A message of a store, by numbers of its own; batches go in their order."""

    conversation: int
    seq: int


START: Final = Place(-1, -1)
"""Before all messages."""


class Batch(NamedTuple):
    """Messages that were looked at: how many, how many are others in the newest format, and are written so now.

    `last` is the place of the last one.
    """

    looked_at: int
    older: int
    written: int
    last: Place


class Formatted(Protocol):
    """A store whose messages have a format (`rejoinder.convert.formats`)."""

    async def count_messages(self) -> int:
        """About how many messages of all tenants there are: for those who wait."""
        ...

    async def upgrade_messages(self, *, after: Place, limit: int, dry_run: bool = False) -> Batch | None:
        """Look at the next messages, and write those that are of an older format in the newest; None at the end.

        Whoever changes one of them meanwhile wins: it is left out. Times, places and turns stay as they are.
        """
        ...
