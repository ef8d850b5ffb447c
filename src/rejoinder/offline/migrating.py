"""Messages of an older format written in the newest, in batches: what is done is done, whenever it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rejoinder.ports.formats import START, Formatted

BATCH_MESSAGES: Final = 1000
"""So many messages are looked at with one query: some 10 ms."""

Told: TypeAlias = Callable[[int, int], None]
"""Hears how many messages were looked at, and of about how many."""


def nobody(done: int, total: int) -> None:
    """Nobody hears."""


@dataclass(kw_only=True)
class Migrated:
    """How far it got: messages that were looked at, that are of an older format, and that are of the newest now."""

    looked_at: int = 0
    older: int = 0
    written: int = 0


async def migrate(
    store: Formatted,
    *,
    so_far: Migrated,
    batch: int = BATCH_MESSAGES,
    dry_run: bool = False,
    told: Told = nobody,
) -> Migrated:
    """Upgrade all messages of a store, counting in `so_far`, which whoever is interrupted still has."""
    total = await store.count_messages()
    told(0, total)
    place = START
    while (done := await store.upgrade_messages(after=place, limit=batch, dry_run=dry_run)) is not None:
        place = done.last
        so_far.looked_at += done.looked_at
        so_far.older += done.older
        so_far.written += done.written
        told(so_far.looked_at, max(total, so_far.looked_at))
    return so_far
