"""What is forgotten of journals: events, and where one frame ended and the next began."""

from __future__ import annotations

from datetime import datetime, timedelta

from rejoinder.convert.escapes import load_text
from rejoinder.ports.retention import Freed, OldTurn, Remains
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.values import Texts


class Retention:
    """The methods of `rejoinder.ports.retention.Retention`. Each is one statement."""

    _database: Database

    async def count_old_turns(self, age: timedelta, *, remains: tuple[Remains, ...]) -> int:
        ((count,),) = await self._database.ask("count_old_turns", age.total_seconds(), Texts(remains))
        return int(count)

    async def list_old_turns(
        self, age: timedelta, *, remains: Remains, limit: int, behind: tuple[datetime, int] | None = None
    ) -> list[OldTurn]:
        bound = (None, 0) if behind is None else behind
        rows = await self._database.ask("list_old_turns", age.total_seconds(), remains, *bound, limit)
        return [OldTurn(load_text(tenant), load_text(id), (at, key)) for tenant, id, at, key in rows]

    async def count_old_events(self, age: timedelta) -> Freed:
        (row,) = await self._database.ask("count_old_events", age.total_seconds())
        return Freed(*row)

    async def forget_events(self, age: timedelta, *, limit: int) -> Freed:
        (row,) = await self._database.ask("forget_events", age.total_seconds(), limit)
        return Freed(*row)

    async def join_pages(
        self, turn_id: str, *, pages: int, frames: bytes, count: int, dry_run: bool, tenant: str
    ) -> Freed | None:
        rows = await self._database.ask("join_pages", tenant, turn_id, pages, frames, count, not dry_run)
        return Freed(1, *rows[0]) if rows else None
