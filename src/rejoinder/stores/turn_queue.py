"""A queue of turns in PostgreSQL, kept by procrastinate (the extra `worker`) in a schema of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg import sql

from rejoinder.ports.queue import Order, QueueUnavailable
from rejoinder.wire import json

if TYPE_CHECKING:
    from procrastinate import App

SCHEMA: Final = "rejoinder_queue"

NAME: Final = "turns"
"""Of the queue, and of what is put in."""

POLL_SECONDS: Final = 1.0
"""After which a worker looks, notification or not."""

STALLED_SECONDS: Final = 60
"""An order whose worker has not been heard of for so long is dropped; its turn was sealed long before."""

LEAVE_SECONDS: Final = 0.1
"""Turns come to their end, or are sealed, by themselves: a worker that leaves need not wait for them here."""

_log: Final = logging.getLogger(__name__)


class PostgresTurnQueue:
    """A queue in the database that a URL names, or else on the embedded server."""

    def __init__(self, url: str | None = None, *, schema: str = SCHEMA) -> None:
        self._url = url
        self._schema = schema
        self._app: App | None = None
        self._carry: Callable[[Order], Awaitable[None]] | None = None

    async def open(self) -> None:
        """Connect, and make the tables if there are none."""
        try:
            url = await asyncio.to_thread(self._prepare)
            self._app = self._make(url)
            await self._app.open_async()
        except psycopg.Error as error:
            raise QueueUnavailable(f"the queue of turns cannot be opened: {error}") from error

    async def close(self) -> None:
        """Close all connections."""
        if self._app is not None:
            await self._app.close_async()
            self._app = None

    async def put(self, order: Order) -> None:
        """Put an order in."""
        from procrastinate.exceptions import ProcrastinateException

        # As one text, in which all that jsonb does not take (NUL, half a surrogate pair) is escaped already.
        text = json.encode(order).decode()
        try:
            await self._opened.configure_task(NAME, queue=NAME).defer_async(order=text)
        except (ProcrastinateException, psycopg.Error) as error:
            raise QueueUnavailable(f"a turn cannot be put into the queue: {error}") from error

    async def work(self, carry: Callable[[Order], Awaitable[None]], *, concurrency: int) -> None:
        """Take orders out, so many at once, until this is cancelled."""
        self._carry = carry
        await self._opened.run_worker_async(
            queues=[NAME],
            concurrency=concurrency,
            fetch_job_polling_interval=POLL_SECONDS,
            shutdown_graceful_timeout=LEAVE_SECONDS,
            delete_jobs="always",
            install_signal_handlers=False,
        )

    @property
    def _opened(self) -> App:
        if self._app is None:
            raise QueueUnavailable("the queue is closed: open it before you use it")
        return self._app

    def _make(self, url: str) -> App:
        from procrastinate import App, PsycopgConnector
        from procrastinate.jobs import Status

        # Its functions name their tables without a schema.
        app = App(
            connector=PsycopgConnector(
                conninfo=url, kwargs={"options": f"-c search_path={self._schema}"}, min_size=1, max_size=4
            )
        )

        @app.task(name=NAME, queue=NAME)
        async def carry_out(order: str) -> None:
            assert self._carry is not None, "orders are taken out by `work`"
            await self._carry(json.read_as(json.decode(order.encode()), Order))

        @app.periodic(cron="* * * * *")
        @app.task(name="sweep", queue=NAME)
        async def sweep(timestamp: int) -> None:
            """Drop the orders of workers that died."""
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
                _log.warning("an order is dropped whose worker died: %s", job.id)
                await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)

        return app

    def _prepare(self) -> str:
        """See that there are tables. Several may try at once."""
        from procrastinate.schema import SchemaManager

        from rejoinder.stores.postgres.embedded import start

        url = start().url if self._url is None else self._url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (self._schema,))
            with contextlib.closing(connection):
                name = sql.Identifier(self._schema)
                found = connection.execute(
                    "SELECT to_regclass(%s)", (f'"{self._schema}".procrastinate_jobs',)
                )
                row = found.fetchone()
                if row is None or row[0] is None:
                    with connection.transaction():
                        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
                        connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(name))
                        connection.execute(SchemaManager.get_schema().encode())
        return url
