"""A framework in a task of its own: whatever it does, it ends with its turn, and what it held is free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from rejoinder.agents.frameworks import EVENTS_AHEAD_MAX, relayed
from rejoinder.messages import Json
from rejoinder.ports.agents import Stop
from tests.engine.stage import asynchronous


class Framework:
    """Yields numbers, then does what it is told."""

    def __init__(self, *, count: int = 3, ending: str = "end") -> None:
        self.count = count
        self.ending = ending
        self.yielded = 0
        self.closed = asyncio.Event()
        self.hanging = asyncio.Event()

    async def events(self) -> AsyncIterator[Json]:
        """The events."""
        try:
            for number in range(self.count):
                self.yielded += 1
                yield number
            if self.ending == "raise":
                raise RuntimeError("broken")
            if self.ending == "hang":
                self.hanging.set()
                await asyncio.Event().wait()
        finally:
            self.closed.set()


@asynchronous
async def test_what_it_yields_comes_in_order_and_to_an_end() -> None:
    for count in (0, 3, 3 * EVENTS_AHEAD_MAX):
        framework = Framework(count=count)
        assert [event async for event in relayed(framework.events, Stop())] == [*range(count)]
        assert framework.closed.is_set()


@pytest.mark.parametrize("count", [0, 3])
@asynchronous
async def test_what_it_raises_comes_through_after_what_it_yielded(count: int) -> None:
    events = relayed(Framework(count=count, ending="raise").events, Stop())
    assert [await anext(events) for _ in range(count)] == [*range(count)]
    with pytest.raises(RuntimeError, match="broken"):
        await anext(events)


@asynchronous
async def test_a_stop_ends_it_where_it_hangs_and_it_can_clean_up() -> None:
    framework, stop = Framework(ending="hang"), Stop()
    heard: list[Json] = []
    async for event in relayed(framework.events, stop):
        heard.append(event)
        if len(heard) == 3:
            stop.press()
    assert heard == [0, 1, 2]
    assert framework.closed.is_set()


@asynchronous
async def test_a_stop_ends_one_that_never_pauses() -> None:
    framework, stop = Framework(count=10**9), Stop()
    heard: list[Json] = []
    async for event in relayed(framework.events, stop):
        heard.append(event)
        stop.press()
    assert heard == [0]
    assert framework.closed.is_set()


@asynchronous
async def test_who_leaves_ends_it() -> None:
    framework = Framework(count=10**9)
    events = relayed(framework.events, Stop())
    assert await anext(events) == 0
    await events.aclose()
    assert framework.closed.is_set()


@asynchronous
async def test_it_does_not_run_far_ahead_of_what_is_kept_of_it() -> None:
    framework = Framework(count=10**9)
    events = relayed(framework.events, Stop())
    await anext(events)
    for _ in range(10 * EVENTS_AHEAD_MAX):
        await asyncio.sleep(0)
    assert framework.yielded <= EVENTS_AHEAD_MAX + 2
    await events.aclose()


@asynchronous
async def test_who_is_cancelled_ends_it() -> None:
    framework = Framework(ending="hang")

    async def read() -> None:
        async for _ in relayed(framework.events, Stop()):
            pass

    reading = asyncio.create_task(read())
    await framework.hanging.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await framework.closed.wait()
