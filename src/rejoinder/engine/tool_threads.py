"""Threads for tools that are not `async`: one for each call, so that what a function keeps to its thread stays there.

They are daemons: a function that never returns keeps neither the others waiting nor the process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeAlias

THREADS_MAX: Final = 128
"""So many tools may be in threads at once, those that hang included."""

_Job: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class TooManyThreads(Exception):
    """So many tools run, or hang, that no more are begun."""


class ToolThread:
    """Calls functions one after the other, off the loop. Made on the loop; `end` lets the thread go."""

    _free = threading.BoundedSemaphore(THREADS_MAX)

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._context = contextvars.copy_context()
        if not self._free.acquire(blocking=False):
            raise TooManyThreads
        try:
            threading.Thread(target=self._work, name=f"tool {name}", daemon=True).start()
        except BaseException:
            self._free.release()
            raise

    async def call(self, function: Callable[..., Any], *given: Any) -> Any:
        """What the function returns. Who is cancelled meanwhile leaves it to itself."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.put((partial(function, *given), answer))
        return await answer

    def end(self) -> None:
        """Nothing more is to be called."""
        self._jobs.put(None)

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                self._do(*job)
        finally:
            self._free.release()

    def _do(self, function: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = self._context.run(function)
        except StopIteration as stop:
            # A future cannot carry it.
            error = RuntimeError(f"the tool raised StopIteration({stop.value!r})")
        except BaseException as raised:  # noqa: BLE001  # it belongs to whoever waits
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(_settle, answer, result, error)


def _settle(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
