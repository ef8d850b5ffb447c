"""The connections to the database, and how a statement or a transaction is run on one of them.

A transaction is sent whole, its statements one behind the other without waiting for answers (the pipeline of the
protocol), so it costs one round trip. Nothing is set on a session that could outlive the transaction: a pooler may
give the session to somebody else then.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from rejoinder.ports.journal import StoreUnavailable
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.statements import statements
from rejoinder.stores.postgres.values import Value, adapters

CONNECTIONS_MAX: Final = 10
"""How many connections a store holds if nobody says: a transaction holds one for about a millisecond."""

URGENT: Final = frozenset({"append_pages", "renew"})
"""What keeps live turns alive. One connection is kept for it, so that no crowd of readers costs a turn its lease."""

CONNECTION_SECONDS_MAX: Final = 2.0
"""Who waits longer for a connection is told so while a person still waits for the answer."""

ANSWER_SECONDS_MAX: Final = 30.0
"""A server that has not answered by then has hung, or is out of reach without having said so. Measured here and not
by the server's statement_timeout, which is of no use when the server does not run or the network swallows."""

ATTEMPTS_MAX: Final = 4
"""How often a transaction is tried that lost against another: each time, one of them wins."""

Row: TypeAlias = tuple[Any, ...]
Step: TypeAlias = tuple[str, tuple[Value, ...]]
"""The name of a query and its parameters."""

Connection: TypeAlias = AsyncConnection[Row]
Answer = TypeVar("Answer")

_DEFAULTS: Final[dict[str, str | int]] = {
    "connect_timeout": 5,
    "application_name": "rejoinder",
    "client_encoding": "utf8",
}

_UNPREPARED: Final = {"26000", "42P05"}
"""A statement that was prepared is not there, or is there already: a pooler has given us another's session."""

_LOST_A_RACE: Final = frozenset({*failures.AGAIN, "23503"})
"""A foreign key finds that what a statement had seen was deleted meanwhile: the next attempt sees it, too."""


class Database:
    """A pool of connections to the database that a URL names."""

    def __init__(self, url: str, *, schema: str, connections_max: int = CONNECTIONS_MAX) -> None:
        self.where = failures.place(url)
        said = conninfo_to_dict(url)
        self.url = make_conninfo(
            url, **{name: value for name, value in _DEFAULTS.items() if name not in said}
        )
        self._queries = statements(schema)
        self._prepare = True
        self._shared_max = max(1, connections_max - 1)
        self._shared = asyncio.Semaphore(self._shared_max)
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            self.url,
            kwargs={"autocommit": True, "cursor_factory": AsyncRawCursor, "context": adapters()},
            min_size=min(2, connections_max),
            max_size=connections_max,
            timeout=CONNECTION_SECONDS_MAX,
            reconnect_timeout=CONNECTION_SECONDS_MAX,
            open=False,
            name="rejoinder",
            configure=self._meet,
        )

    async def open(self) -> None:
        """Begin to connect."""
        await self._pool.open()

    async def _meet(self, connection: Connection) -> None:
        """Find out whether a new connection leads to the server itself.

        A pooler tells its clients another process than the one that serves them at the moment. The sessions that it
        lends belong to everybody in turn, and statements that two of us have prepared there may bear one name: the
        wrong one would run. So nothing is prepared any more.
        """
        cursor = await connection.execute(b"SELECT pg_backend_pid()", prepare=False)
        row = await cursor.fetchone()
        if row is None or row[0] != connection.info.backend_pid:
            self._prepare = False

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def ask(self, query: str, *values: Value) -> list[Row]:
        """Run one statement, which is a transaction of its own."""

        async def work(connection: Connection) -> list[Row]:
            cursor = await connection.execute(
                self._queries[query], values, prepare=self._prepare, binary=True
            )
            return await cursor.fetchall() if cursor.description else []

        return await self._attempt(work, urgent=query in URGENT)

    async def run(self, *steps: Step) -> list[list[Row]]:
        """Run statements in one transaction and one round trip; answers the rows of each. All happen, or none.

        A violated constraint is raised as the driver's IntegrityError, for the caller knows what it means.
        """

        async def work(connection: Connection) -> list[list[Row]]:
            prepare = self._prepare
            async with connection.pipeline():
                await connection.execute(b"BEGIN", prepare=prepare)
                cursors = [
                    await connection.execute(self._queries[query], values, prepare=prepare, binary=True)
                    for query, values in steps
                ]
                await connection.execute(b"COMMIT", prepare=prepare)
            return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]

        return await self._attempt(work)

    async def _attempt(
        self, work: Callable[[Connection], Awaitable[Answer]], *, urgent: bool = False
    ) -> Answer:
        attempt = 1
        while True:
            prepared = self._prepare
            try:
                async with asyncio.timeout(ANSWER_SECONDS_MAX), self._connection(urgent=urgent) as connection:
                    return await work(connection)
            except TimeoutError:
                raise StoreUnavailable(
                    f"the database has not answered for {ANSWER_SECONDS_MAX:.0f} s ({self.where}): see whether it "
                    "runs and can be reached, then try again"
                ) from None
            except psycopg.Error as error:
                if error.sqlstate in _UNPREPARED and prepared:
                    # Others may have found it out while we were at it: what counts is how this attempt was made.
                    self._prepare = False
                elif error.sqlstate in _LOST_A_RACE and attempt < ATTEMPTS_MAX:
                    attempt += 1
                elif isinstance(error, psycopg.IntegrityError):
                    raise
                else:
                    raise failures.failed(error, self.where) from error

    @asynccontextmanager
    async def _connection(self, *, urgent: bool) -> AsyncGenerator[Connection]:
        end = time.monotonic() + CONNECTION_SECONDS_MAX
        async with AsyncExitStack() as held:
            try:
                if not urgent:
                    await held.enter_async_context(self._place())
                connection = await self._living_connection(end)
            except PoolTimeout as error:
                raise await self._why_none() from error
            except PoolClosed as error:
                raise StoreUnavailable("the store is closed: open it before you use it") from error
            try:
                async with connection:
                    yield connection
            finally:
                await self._pool.putconn(connection)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        """One of the connections that all may use."""
        try:
            async with asyncio.timeout(CONNECTION_SECONDS_MAX):
                await self._shared.acquire()
        except TimeoutError as error:
            raise PoolTimeout("the connections that are shared are busy") from error
        try:
            yield
        finally:
            self._shared.release()

    async def _living_connection(self, end: float) -> Connection:
        """A connection on which the server still answers.

        The pool's own check would wait a second after each dead connection that it finds, and after a restart of
        the server all of them are dead.
        """
        while True:
            connection = await self._pool.getconn(timeout=end - time.monotonic())
            try:
                await _check(connection)
            except psycopg.Error:
                await self._pool.putconn(connection)
            except BaseException:
                await self._pool.putconn(connection)
                raise
            else:
                return connection

    async def _why_none(self) -> Exception:
        """Why no connection came in time: no server lets us in, or all connections are busy."""
        try:
            await (await psycopg.AsyncConnection.connect(self.url)).close()
        except psycopg.Error as error:
            return failures.not_connected(error, self.where)
        return StoreUnavailable(
            f"all {self._shared_max} connections of this store that are shared were busy for "
            f"{CONNECTION_SECONDS_MAX:.0f} s ({self.where}): try again, or give the store more connections"
        )


async def _check(connection: Connection) -> None:
    """Raise if the server has hung up: then there is something to read on a connection that waits for nothing."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)
