"""How a promise of the contract becomes a test that plain pytest can run."""

from __future__ import annotations

import asyncio
import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, TypeAlias

from rejoinder.messages import Json
from rejoinder.ports.store import ConversationStore

Advance: TypeAlias = Callable[[float], Awaitable[None]]
"""Let seconds pass, as far as leases are concerned: they end so much sooner."""

PROMISE_SECONDS_MAX: Final = 120
"""A promise that is not kept must fail, and not hang: nothing here takes more than a second or two."""

Test: TypeAlias = Callable[..., Coroutine[Json, Json, None]]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An empty store to be tested.

    `peer` sees the same data as another worker would (its own pool, its own caches); a store that lives in one
    process is its own peer. `advance` may move an injected clock, or move the leases in the database.
    """

    store: ConversationStore
    peer: ConversationStore
    advance: Advance


class Suite(ABC):
    """A part of the contract."""

    @abstractmethod
    def subject(self) -> AbstractAsyncContextManager[Subject]:
        """Open an empty store, and close it behind the test."""


def promise(test: Test) -> Callable[..., None]:
    """Run a coroutine as a test, with what it asks for by name: `store`, `peer`, `advance`."""
    signature = inspect.signature(test)
    ours = [name for name in ("store", "peer", "advance") if name in signature.parameters]

    @functools.wraps(test)
    def run(self: Suite, **parameters: Json) -> None:
        async def walk() -> None:
            async with asyncio.timeout(PROMISE_SECONDS_MAX), self.subject() as subject:
                given = {name: getattr(subject, name) for name in ours}
                await test(self, **given, **parameters)

        asyncio.run(walk())

    # What is left is for pytest to fill: the parameters of `parametrize`, and fixtures.
    left = [parameter for name, parameter in signature.parameters.items() if name not in ours]
    vars(run)["__signature__"] = signature.replace(parameters=left)
    return run
