"""One world for all attacks: whatever they try, it stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.world import World, world
from tests.stores.databases import Databases


@pytest.fixture(scope="session")
def besieged(postgres: Databases) -> Iterator[World]:
    """The server."""
    with world(postgres.fresh()) as made:
        yield made


@pytest.fixture
def untouched(besieged: World) -> Iterator[World]:
    """The same, in which nothing may have changed when the test is over."""
    before = besieged.digest()
    yield besieged
    assert besieged.digest() == before
