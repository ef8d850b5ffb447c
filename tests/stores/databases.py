"""Databases for tests: servers that run for the session, and on them as many fresh databases as are asked for.

A database with our tables is a copy of a template, made in some 50 ms. The data lie in memory where the machine
has a folder there, and are not synced: a test that is about durability starts a server of its own.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Final

import psycopg

from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.embedded import start, stop

TEMPLATE: Final = "template_with_tables"
DEBIAN: Final = Path("/usr/lib/postgresql/15/bin")
SERVERS: Final = {"embedded": None, **({"debian-15": DEBIAN} if (DEBIAN / "postgres").exists() else {})}
"""Where the programs of each server are; None is for the ones that Rejoinder finds itself."""

QUICK: Final = ("fsync = off", "full_page_writes = off")


class Databases:
    """One server and the databases on it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._numbers = count()
        migrate.upgrade(self._database(TEMPLATE, "template0"))

    def fresh(self, *, with_tables: bool = True) -> str:
        """The URL of a database that nobody has used, with our tables in the schema `rejoinder` or empty."""
        return self._database(f"test_{next(self._numbers)}", TEMPLATE if with_tables else "template0")

    def _database(self, name: str, template: str) -> str:
        with psycopg.connect(self.url, autocommit=True) as connection:
            # Copying files takes a quarter of the time that copying through the log does.
            statement = f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy'
            connection.execute(statement.encode())
        return self.url.replace("/postgres?", f"/{name}?", 1)


@contextlib.contextmanager
def server(programs: Path | None) -> Generator[Databases]:
    """A server that is started here and is gone afterwards."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="rj-", dir=memory if memory.is_dir() else None)).resolve()
    try:
        folder.chmod(0o755)
        url = start(folder, binaries=programs).url
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in QUICK:
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
        yield Databases(url)
    finally:
        stop(folder)
        shutil.rmtree(folder)
