"""What a store can forget of turns that are over. Messages, turns and what they cost stay."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol, TypeAlias

Remains: TypeAlias = Literal["whole", "frames"]
"""What there is of a journal: all of it, or its frames as they were sent without the events."""


class OldTurn(NamedTuple):
    """A turn that ended long ago. `place` stands for where it is among them."""

    tenant: str
    turn_id: str
    place: tuple[datetime, int]


class Freed(NamedTuple):
    """How much went, or would go. `bytes` are those of the pages as they lie in their table."""

    turns: int = 0
    pages: int = 0
    bytes: int = 0

    def plus(self, other: Freed) -> Freed:
        """Both together."""
        return Freed(self.turns + other.turns, self.pages + other.pages, self.bytes + other.bytes)


class Retention(Protocol):
    """Forgetting. Several processes may do it at once, and each may stop at any time."""

    async def count_old_turns(self, age: timedelta, *, remains: tuple[Remains, ...]) -> int:
        """How many turns ended so long ago, of whose journals this is left."""
        ...

    async def list_old_turns(
        self, age: timedelta, *, remains: Remains, limit: int, behind: tuple[datetime, int] | None = None
    ) -> list[OldTurn]:
        """Those turns, the ones that ended first before the others."""
        ...

    async def count_old_events(self, age: timedelta) -> Freed:
        """What `forget_events` would free in the end."""
        ...

    async def forget_events(self, age: timedelta, *, limit: int) -> Freed:
        """Forget what agents said in so many of the turns that ended so long ago."""
        ...

    async def join_pages(
        self, turn_id: str, *, pages: int, frames: bytes, count: int, dry_run: bool, tenant: str
    ) -> Freed | None:
        """Put so many frames, in one page and without events, in the place of a journal that has so many `pages`.

        None: it has not, or is in one piece already. The caller has seen that they say the same.
        """
        ...
