"""Fixtures for the tests of the stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.stores.databases import SERVERS, Databases, server


@pytest.fixture(scope="session", params=SERVERS)
def databases(request: pytest.FixtureRequest) -> Iterator[Databases]:
    """A server for the session; whatever uses it is tested on every PostgreSQL of this machine."""
    with server(SERVERS[request.param]) as started:
        yield started


@pytest.fixture
def fresh_database(databases: Databases) -> Callable[[], str]:
    """Makes a database with our tables, and gives its URL, each time it is called."""
    return databases.fresh
