"""Fixtures that more than one folder of tests needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rejoinder.testing.oracle import Oracle, OracleUnavailable
from scripts import debian
from tests.scale import lacking
from tests.stores.databases import Databases, server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that ask for what this machine lacks."""
    lacks = lacking()
    left_out = [item for item in items if lacks.intersection(getattr(item, "fixturenames", ()))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The real npm packages. Without them there is no conformance to speak of: a failure, not a skip."""
    try:
        asked = Oracle()
    except OracleUnavailable as missing:
        pytest.fail(f"{missing}\nInstall them with: npm ci --prefix tests/oracle", pytrace=False)
    with asked:
        yield asked


@pytest.fixture(scope="session")
def nginx() -> str:
    """The path of nginx."""
    try:
        return str(debian.nginx())
    except debian.NotThere as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Databases]:
    """One embedded server for the session, for tests that need a database and do not ask which."""
    with server(None) as started:
        yield started


@pytest.fixture
def postgres_url(postgres: Databases) -> str:
    """A database with our tables, that nobody has used."""
    return postgres.fresh()


@pytest.fixture
def postgres_empty_url(postgres: Databases) -> str:
    """A database with nothing in it."""
    return postgres.fresh(with_tables=False)
