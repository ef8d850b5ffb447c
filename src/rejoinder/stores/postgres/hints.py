"""Who waits for news of a turn, and who is told that there are some.

The log is the truth and a hint is only a hint: whoever gets one looks, and whoever gets none looks anyway, after a
while. Within a process a hint is a function call. To other processes it is a NOTIFY, in a transaction of its own and
for all turns that changed within a few milliseconds, because a NOTIFY takes a lock that all others wait for. Its
content is numbers that say nothing to anybody.

A pooler between us and the server may swallow notifications. We find out by sending one to ourselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Iterable
from typing import Final

import psycopg
from psycopg import sql

from rejoinder.ports.bus import Bus, BusUnavailable
from rejoinder.ports.journal import StoreError
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.values import Texts

LOOK_SECONDS: Final = 1.0
"""After which a waiting reader looks, hint or no hint: a notification that was lost costs no more than this."""

LOOK_SECONDS_UNTOLD: Final = 0.1
"""The same where no hints come: a text that grows ten times a second still looks like a text that is being typed."""

TOGETHER_SECONDS: Final = 0.02
"""Hints of this long are one notification."""

PROBE_SECONDS_MAX: Final = 5.0
"""A notification takes a millisecond; one that takes this long was swallowed."""

RECONNECT_SECONDS: Final = 1.0

TURNS_IN_A_HINT_MAX: Final = 300
"""A notification holds 7,999 bytes, and a turn's number with its comma at most 20."""


class Watch:
    """What one reader waits on."""

    def __init__(self, hints: Hints) -> None:
        self._hints = hints
        self._told = asyncio.Event()

    def tell(self) -> None:
        """Let the reader look."""
        self._told.set()

    def clear(self) -> None:
        """Forget what was told so far."""
        self._told.clear()

    async def wait(self) -> None:
        """Return when there may be news."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS if self._hints.hears else LOOK_SECONDS_UNTOLD):
                await self._told.wait()


class Hints:
    """Hints to and from all processes that use this schema. `url` leads to the server itself, around any pooler.

    A `bus` carries them in the place of notifications, where there is one.
    """

    def __init__(self, database: Database, *, schema: str, url: str, bus: Bus | None = None) -> None:
        self.hears = False
        """Whether notifications arrive."""
        self._database = database
        self._channel = f"rejoinder {schema}"
        self._url = url
        self._bus = bus
        self._watches: dict[int, set[Watch]] = {}
        self._untold: set[int] = set()
        self._teller: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Tell what is left to tell, and stop listening."""
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
            self._listener = None
        if self._teller is not None:
            await self._teller
        if self._bus is not None:
            await self._bus.close()
        self.hears = False

    def announce(self, turns: Iterable[int]) -> None:
        """Something happened to these turns: wake who waits here now, and who waits elsewhere soon."""
        changed = set(turns)
        self._wake(changed)
        self._untold |= changed
        if self._untold and (self._teller is None or self._teller.done()):
            self._teller = asyncio.create_task(self._tell())

    @contextlib.asynccontextmanager
    async def watch(self, turn: int) -> AsyncGenerator[Watch]:
        """Be told of one turn."""
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        watch = Watch(self)
        watches = self._watches.setdefault(turn, set())
        watches.add(watch)
        try:
            yield watch
        finally:
            watches.discard(watch)
            if not watches:
                self._watches.pop(turn, None)

    def _wake(self, turns: Iterable[int]) -> None:
        for turn in turns:
            for watch in self._watches.get(turn, ()):
                watch.tell()

    async def _tell(self) -> None:
        while self._untold:
            turns = [str(turn) for turn in sorted(self._untold)]
            self._untold.clear()
            messages = [
                ",".join(turns[begin : begin + TURNS_IN_A_HINT_MAX])
                for begin in range(0, len(turns), TURNS_IN_A_HINT_MAX)
            ]
            # Readers elsewhere look anyway, after a while.
            with contextlib.suppress(StoreError, BusUnavailable):
                if self._bus is None:
                    await self._database.ask("hint", self._channel, Texts(messages))
                else:
                    await self._bus.publish(self._channel, messages)
            await asyncio.sleep(TOGETHER_SECONDS)

    async def _listen(self) -> None:
        """Listen until notifications turn out not to arrive; a lost connection is made anew."""
        while self._bus is not None:
            with contextlib.suppress(BusUnavailable):
                await self._bus.listen(self._channel, heard=self._heard, ready=self._ready)
            self.hears = False
            await asyncio.sleep(RECONNECT_SECONDS)
        swallowed = False
        while not swallowed:
            try:
                swallowed = not await self._hear()
            except (psycopg.Error, StoreError):
                await asyncio.sleep(RECONNECT_SECONDS)
            finally:
                self.hears = False

    def _ready(self) -> None:
        self.hears = True
        # What came before we heard anything is looked for now.
        self._wake(list(self._watches))

    def _heard(self, said: str) -> None:
        # Anybody may have written into a Redis; what is no hint is none.
        self._wake(int(turn) for turn in said.split(",") if turn.isdecimal())

    async def _hear(self) -> bool:
        """Pass on what is heard, until the connection is lost; answers False if nothing can be heard."""
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
            probe = f"probe {secrets.token_hex(8)}"
            await self._database.ask("hint", self._channel, Texts([probe]))
            async for said in connection.notifies(timeout=PROBE_SECONDS_MAX):
                if said.payload == probe:
                    self.hears = True
                    break
            if not self.hears:
                return False
            # What came before we heard anything is looked for now.
            self._wake(list(self._watches))
            async for said in connection.notifies():
                if not said.payload.startswith("probe"):
                    self._wake(int(turn) for turn in said.payload.split(","))
        return True
