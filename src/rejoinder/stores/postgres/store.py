"""The store itself: what `rejoinder.ports.store` promises, kept by PostgreSQL."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path

from rejoinder.ports.bus import Bus
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.analytics import Counting
from rejoinder.stores.postgres.beginning import Beginnings
from rejoinder.stores.postgres.conversations import Conversations
from rejoinder.stores.postgres.database import CONNECTIONS_MAX, Database
from rejoinder.stores.postgres.embedded import start
from rejoinder.stores.postgres.erasing import Erasing
from rejoinder.stores.postgres.faults import Faults
from rejoinder.stores.postgres.formats import Formats
from rejoinder.stores.postgres.hints import Hints
from rejoinder.stores.postgres.journal import Journal
from rejoinder.stores.postgres.retention import Retention
from rejoinder.stores.postgres.schema import SCHEMA
from rejoinder.stores.postgres.transcripts import Transcripts
from rejoinder.stores.postgres.tree import Messages
from rejoinder.stores.postgres.turns import Turns


def _new_id() -> str:
    return uuid.uuid4().hex


class PostgresConversationStore(
    Conversations,
    Messages,
    Turns,
    Beginnings,
    Journal,
    Retention,
    Erasing,
    Faults,
    Counting,
    Transcripts,
    Formats,
):
    """A store in PostgreSQL: on the server that a URL names, or else on the embedded one.

    `upgrade` says whether `open` brings the tables up to date; if nobody says, it does so on the embedded server, and
    leaves a server of yours to `rejoinder db upgrade`. `listen_url` leads around a pooler, for notifications; a `bus`
    carries them in the place of PostgreSQL. One
    store belongs to one event loop; other processes open their own.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        schema: str = SCHEMA,
        folder: Path | None = None,
        connections_max: int = CONNECTIONS_MAX,
        upgrade: bool | None = None,
        listen_url: str | None = None,
        bus: Bus | None = None,
        make_id: Callable[[], str] = _new_id,
    ) -> None:
        self.schema = schema
        self._url = url
        self._folder = folder
        self._connections_max = connections_max
        self._upgrade = url is None if upgrade is None else upgrade
        self._listen_url = listen_url
        self._bus = bus
        self._make_id = make_id
        self._tallying = asyncio.Lock()

    async def open(self) -> None:
        url = self._url
        if url is None:
            url = (await asyncio.to_thread(start, self._folder)).url
        database = Database(url, schema=self.schema, connections_max=self._connections_max)
        await asyncio.to_thread(self._prepare, database.url)
        self._database = database
        self._hints = Hints(database, schema=self.schema, url=self._listen_url or database.url, bus=self._bus)
        await database.open()

    async def close(self) -> None:
        await self._hints.close()
        await self._database.close()

    @property
    def hears_hints(self) -> bool:
        """Whether notifications of other processes arrive, so that readers need not look ten times a second.

        It is found out when somebody first follows a turn.
        """
        return self._hints.hears

    def _prepare(self, url: str) -> None:
        """See that the tables are those of this release, or make them so."""
        if self._upgrade:
            migrate.upgrade(url, schema=self.schema)
        migrate.check(url, schema=self.schema, thorough=False)
