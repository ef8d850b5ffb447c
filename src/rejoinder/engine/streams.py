"""Several streams heard at the same time: whichever has something is heard next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class Streams(Generic[Item]):
    """Streams that are heard until each has come to its end. Each waits until its last item was taken."""

    def __init__(self) -> None:
        self._next: dict[asyncio.Task[Item | None], AsyncGenerator[Item, None]] = {}

    def __len__(self) -> int:
        return len(self._next)

    def add(self, stream: AsyncGenerator[Item, None]) -> None:
        """Hear this one, too."""
        self._next[asyncio.create_task(_next(stream))] = stream

    async def heard(self, until: asyncio.Task[None]) -> list[Item]:
        """What there is, once there is something; nothing, if `until` comes first or a stream has only ended."""
        heard: set[asyncio.Future[Any]] = {*self._next, until}
        await asyncio.wait(heard, return_when=asyncio.FIRST_COMPLETED)
        items: list[Item] = []
        for task in [task for task in self._next if task.done()]:
            stream = self._next.pop(task)
            item = task.result()
            if item is not None:
                items.append(item)
                self.add(stream)
        return items

    async def aclose(self) -> None:
        """End the streams that have not ended."""
        for task in self._next:
            task.cancel()
        if self._next:
            await asyncio.wait(self._next)
        for task, stream in self._next.items():
            if not task.cancelled():
                task.exception()  # so that nobody complains that it was not looked at
            await stream.aclose()
        self._next.clear()


async def _next(stream: AsyncGenerator[Item, None]) -> Item | None:
    return await anext(stream, None)
