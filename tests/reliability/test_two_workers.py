"""Two workers over one database: whoever is asked, the answer is the same one, and there is only one."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle
from statistics import median

import httpx
import pytest

from rejoinder.wire import json
from tests.reliability.checks import check, check_goes_on
from tests.reliability.readers import Reader, get, impatient_of_nothing
from tests.reliability.workers import Worker, Workers
from tests.scale import scale
from tests.stores.databases import Databases

Walk = Callable[[httpx.AsyncClient, Worker, Worker], Awaitable[None]]

STOPS = scale(30, 500)
SAME_REQUESTS = scale(30, 1000)
ZOMBIES = scale(4, 40)
LEASE_SECONDS = 10
TAKEN_OVER_SECONDS = 15
LEAVERS = scale(20, 200)


@pytest.fixture(scope="module")
def workers(postgres: Databases) -> Iterator[Workers]:
    """Workers over one database, for all tests of this file."""
    with Workers(postgres.fresh()) as begun:
        yield begun


def with_two(workers: Workers, walk: Walk) -> None:
    async def run() -> None:
        async with impatient_of_nothing() as http:
            await walk(http, await workers.ready(http), await workers.ready(http))

    asyncio.run(run())


def test_a_stop_reaches_the_turn_through_the_other_worker(workers: Workers) -> None:
    taken: list[float] = []

    async def stop(http: httpx.AsyncClient, ours: Worker, other: Worker, number: int) -> None:
        reader = Reader(f"stop-{number}", "2000 10", f"stop-m-{number}")
        reading = asyncio.create_task(reader.read(http, lambda: ours.url))
        await reader.has(5)
        asked = time.monotonic()
        answer = await http.post(f"{other.url}/chat/stop-{number}/stop")
        assert json.decode(answer.content) == {"stopping": True, "turnId": reader.turn}
        await reading
        taken.append(time.monotonic() - asked)
        assert (await check(reader, http, other.url))["status"] == "cancelled"
        await check_goes_on(reader, http, other.url)

    async def walk(http: httpx.AsyncClient, ours: Worker, other: Worker) -> None:
        for number in range(STOPS):
            await stop(http, ours, other, number)

    with_two(workers, walk)
    sys.stdout.write(f"stops: median {median(taken):.3f} s, slowest {max(taken):.3f} s\n")


def test_a_reader_at_the_other_worker_sees_every_frame_once_wherever_he_begins(workers: Workers) -> None:
    async def walk(http: httpx.AsyncClient, ours: Worker, other: Worker) -> None:
        first = Reader("follow", "60 10", "follow-m")
        reading = asyncio.create_task(first.read(http, lambda: ours.url))
        await first.has(1)
        later: list[Reader] = []
        tasks: list[asyncio.Task[None]] = []
        for _ in range(20):
            reader = Reader("follow", "", "", turn=first.turn, events=first.events[: len(later)])
            later.append(reader)
            tasks.append(asyncio.create_task(reader.read(http, lambda: other.url)))
            await asyncio.sleep(0.02)
        await asyncio.gather(reading, *tasks)
        for reader in (first, *later):
            assert reader.events == first.events
            await check(reader, http, other.url)

    with_two(workers, walk)


def test_the_same_request_at_once_and_everywhere_makes_one_turn(workers: Workers) -> None:
    async def walk(http: httpx.AsyncClient, ours: Worker, other: Worker) -> None:
        for number in range(SAME_REQUESTS):
            readers = [Reader(f"same-{number}", "5 1", f"same-m-{number}") for _ in range(2 + number % 7)]
            where = cycle([ours.url, other.url])
            await asyncio.gather(*(reader.read(http, where.__next__) for reader in readers))
            assert all(reader.events == readers[0].events for reader in readers)
            turns = await get(http, f"{ours.url}/chat/same-{number}/turns")
            assert len(turns["turns"]) == 1
            await check(readers[0], http, ours.url)

    with_two(workers, walk)


def test_two_messages_at_once_are_answered_one_after_the_other_or_refused(workers: Workers) -> None:
    async def say(http: httpx.AsyncClient, url: str, number: int, tab: int) -> int:
        message = {"id": f"tab-{tab}", "role": "user", "parts": [{"type": "text", "text": "3 2"}]}
        answer = await http.post(f"{url}/chat", json={"id": f"tabs-{number}", "messages": [message]})
        if answer.status_code == 409:
            assert answer.headers["content-type"] == "application/problem+json"
            assert json.decode(answer.content)["type"].endswith("turn-in-progress")
        return answer.status_code

    async def walk(http: httpx.AsyncClient, ours: Worker, other: Worker) -> None:
        for number in range(SAME_REQUESTS):
            codes = await asyncio.gather(say(http, ours.url, number, 1), say(http, other.url, number, 2))
            assert sorted(codes) in ([200, 200], [200, 409])
            messages = (await get(http, f"{ours.url}/chat/tabs-{number}"))["messages"]
            roles = [message["role"] for message in messages]
            assert roles == ["user", "assistant"] * codes.count(200)

    with_two(workers, walk)


def test_a_worker_that_was_paused_past_its_lease_cannot_write_any_more(workers: Workers) -> None:
    async def zombie(http: httpx.AsyncClient, stays: Worker, number: int) -> None:
        sleeper = await workers.ready(http)
        reader = Reader(f"zombie-{number}", "4000 5", f"zombie-m-{number}")
        paused = asyncio.Event()
        reading = asyncio.create_task(
            reader.read(http, lambda: stays.url if paused.is_set() else sleeper.url)
        )
        await reader.has(10)
        sleeper.kill(signal.SIGSTOP)
        paused.set()
        other = Reader(f"zombie-{number}", "", "", turn=reader.turn)
        async with asyncio.timeout(TAKEN_OVER_SECONDS + 5):
            await other.read(http, lambda: stays.url)
        record = await check(other, http, stays.url)
        assert record["status"] == "interrupted"
        sleeper.kill(signal.SIGCONT)
        # What he still reads there is the same, to its end: it comes from the journal.
        await reading
        assert reader.events == other.events
        assert (await check(reader, http, stays.url)) == record
        await check_goes_on(reader, http, stays.url)
        sleeper.kill()

    async def walk(http: httpx.AsyncClient, stays: Worker, other: Worker) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(ZOMBIES):
                tasks.create_task(zombie(http, stays, number))

    with_two(workers, walk)


def test_a_worker_that_is_told_to_end_cuts_no_answer_short(workers: Workers) -> None:
    statuses = Counter[str]()

    async def walk(http: httpx.AsyncClient, stays: Worker, leaves: Worker) -> None:
        told = False
        readers = [
            Reader(f"leave-{number}", f"{random.randint(5, 80)} 10", f"leave-m-{number}")
            for number in range(LEAVERS)
        ]
        reading = [
            asyncio.create_task(reader.read(http, lambda: stays.url if told else leaves.url))
            for reader in readers
        ]
        await asyncio.sleep(0.2)
        leaves.kill(signal.SIGTERM)
        told = True
        await asyncio.gather(*reading)
        for reader in readers:
            statuses[(await check(reader, http, stays.url))["status"]] += 1
            await check_goes_on(reader, http, stays.url)

    with_two(workers, walk)
    sys.stdout.write(f"{statuses}\n")
    assert set(statuses) <= {"succeeded", "interrupted"}
