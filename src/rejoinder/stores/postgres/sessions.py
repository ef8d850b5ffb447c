"""Database sessions for work on the schema: our own, with nothing left in them of how the application set its own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from rejoinder.ports.journal import StoreError
from rejoinder.stores.postgres import failures

LOCK_WAIT_MS_MAX: Final = 2000
"""Whoever waits for a lock on a table holds up all who come after him, so nobody here waits for long."""


@contextmanager
def session(database: str | Engine) -> Generator[Connection]:
    """A session on a database that a URL or an engine names. Raises `StoreUnavailable` or `StoreMisconfigured`."""
    where = failures.place(database) if isinstance(database, str) else database.url.render_as_string()
    own = create_engine(
        "postgresql+psycopg://" if isinstance(database, str) else database.url,
        creator=lambda: _connect(database),
        poolclass=NullPool,
    )
    try:
        with own.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise said(error, where) from error


def said(error: DBAPIError, where: str) -> StoreError:
    """What SQLAlchemy raises, as one of our errors."""
    if not isinstance(error.orig, psycopg.Error):
        return StoreError(f"the database could not do it ({where}): {error.orig}")
    if (
        error.orig.sqlstate is None
        and isinstance(error.orig, psycopg.OperationalError)
        and error.statement is None
    ):
        return failures.not_connected(error.orig, where)
    return failures.failed(error.orig, where)


def _connect(database: str | Engine) -> Any:
    """A new connection of the driver."""
    if isinstance(database, str):
        # Statements are run once here, and a pooler between us and the server would lose what was prepared.
        connection: Any = psycopg.connect(database, prepare_threshold=None)
    else:
        pooled = database.raw_connection()
        # Asked for first: once it is detached, the pool's handle has forgotten it.
        connection = pooled.driver_connection
        pooled.detach()
    with connection.cursor() as cursor:
        # Only PostgreSQL's own names go without a schema: nothing that lies in somebody's path can be meant.
        cursor.execute("SET search_path = pg_catalog")
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(f"SET lock_timeout = {LOCK_WAIT_MS_MAX}")
    connection.commit()
    return connection


def quoted(*names: str) -> str:
    """A name, with its schema if two are given, as SQL writes it."""
    return sql.Identifier(*names).as_string(None)
