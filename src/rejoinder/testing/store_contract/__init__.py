"""The contract of a store: a suite of tests that every store must pass, for anybody's store.

    from contextlib import asynccontextmanager
    from rejoinder.testing.store_contract import StoreContract, Subject

    class TestMyStore(StoreContract):
        @asynccontextmanager
        async def subject(self):
            store = MyStore(...)          # empty
            await store.open()
            yield Subject(store=store, peer=store, advance=...)
            await store.close()

It runs under plain pytest. Each test gets a subject of its own and runs in an event loop of its own.
"""

import pkgutil

import pytest

# Before they are imported: only then do failing assertions show the values that they compared.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))

from rejoinder.testing.store_contract.beginnings import Beginnings, Refusals  # noqa: E402
from rejoinder.testing.store_contract.branches import Branches, Forks  # noqa: E402
from rejoinder.testing.store_contract.conversations import Conversations  # noqa: E402
from rejoinder.testing.store_contract.endings import Claims, Endings  # noqa: E402
from rejoinder.testing.store_contract.journals import Journals, Readers  # noqa: E402
from rejoinder.testing.store_contract.keeping import Blobs, Checkpoints  # noqa: E402
from rejoinder.testing.store_contract.messages import Messages  # noqa: E402
from rejoinder.testing.store_contract.pages_of_messages import PagesOfMessages  # noqa: E402
from rejoinder.testing.store_contract.records import Records  # noqa: E402
from rejoinder.testing.store_contract.searching import Searching  # noqa: E402
from rejoinder.testing.store_contract.sharing import Races, Tenants  # noqa: E402
from rejoinder.testing.store_contract.suite import Advance, Subject  # noqa: E402

__all__ = ["Advance", "StoreContract", "Subject"]


class StoreContract(
    Conversations,
    Searching,
    Messages,
    PagesOfMessages,
    Branches,
    Forks,
    Beginnings,
    Refusals,
    Endings,
    Claims,
    Journals,
    Readers,
    Records,
    Blobs,
    Checkpoints,
    Tenants,
    Races,
):
    """Derive your test class from this one and say in `subject` where an empty store comes from."""
