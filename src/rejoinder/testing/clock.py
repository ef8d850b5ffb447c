"""A clock that moves when it is told to: minutes pass in a test that takes none."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(2026, 5, 4, 12, tzinfo=UTC)

TURNS_OF_THE_LOOP: Final = 20
"""So often everybody who could go on is let go on, before and after each moment that somebody waits for."""


class VirtualClock:
    """A `Clock`. Whoever sleeps is woken in the order of time, by `advance`."""

    def __init__(self, now: datetime = BEGINNING) -> None:
        self._now = now
        self._sleeping: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        """What time it is."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Come back when the clock has been advanced so far."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleeping, (self._now + timedelta(seconds=seconds), self._count, future))
        await future

    async def advance(self, seconds: float = 0) -> None:
        """Let so much time pass, and everybody do what they do meanwhile."""
        end = self._now + timedelta(seconds=seconds)
        await self._settle()
        while self._sleeping and self._sleeping[0][0] <= end:
            moment, _, future = heapq.heappop(self._sleeping)
            self._now = max(self._now, moment)
            if not future.done():
                future.set_result(None)
                await self._settle()
        self._now = end

    async def _settle(self) -> None:
        for _ in range(TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)
