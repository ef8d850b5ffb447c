"""What is forgotten, and when: events first, then frames. Messages, turns and what they cost stay for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from rejoinder.stores.postgres.database import Database

TURNS_AT_ONCE: Final = 200
"""How many turns a transaction strips, so that none is long."""


class Stripped(NamedTuple):
    """How many turns lost what."""

    events: int
    pages: int


class Retention:
    """Forgetting, in the database."""

    _database: Database

    async def retain(
        self, *, events_after: timedelta | None = None, frames_after: timedelta | None = None
    ) -> Stripped:
        """Forget the events of turns that ended so long ago, and their frames; None keeps them for ever.

        A turn without frames cannot be replayed and has no events either, so these go first or at the same time.
        Several processes may do this at once, and each may stop at any time. Raises `ValueError` for events that
        should outlive their frames.
        """
        if events_after is not None and frames_after is not None and events_after > frames_after:
            raise ValueError(f"events_after ({events_after}) is later than frames_after ({frames_after})")
        pages = await self._strip("strip_pages", frames_after)
        return Stripped(events=await self._strip("strip_events", events_after), pages=pages)

    async def _strip(self, query: str, after: timedelta | None) -> int:
        if after is None:
            return 0
        stripped = 0
        while turns := len(await self._database.ask(query, after.total_seconds(), TURNS_AT_ONCE)):
            stripped += turns
        return stripped
