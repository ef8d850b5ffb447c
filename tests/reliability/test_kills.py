"""`kill -9` of a worker at any moment: what a client has seen is kept, and everybody comes to an end."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx
import psycopg

from tests.reliability.checks import check, check_goes_on
from tests.reliability.readers import Reader, impatient_of_nothing
from tests.reliability.workers import Worker, Workers
from tests.scale import scale
from tests.stores.databases import Databases

ROUNDS = scale(100, 1000)
STREAMS_MAX = 8
KILL_AFTER_SECONDS_MAX = 0.3
"""An answer takes about 0.2 s: some kills come before its first chunk, some after its last."""

TERMINAL_SECONDS_MAX = 15.0
"""After the owner's death. Whoever takes a turn over may be killed as well, and then it begins anew."""
AT_ONCE = 50
"""So many rounds are under way together: a round waits for most of its time until a lease runs out."""

SPEAKING_AT_ONCE = 3
"""So many of them have a worker that lives: with more, two cores would be busy with starting workers."""


@dataclass
class Outcome:
    """What a run came to."""

    killed: int = 0
    statuses: Counter[str] = field(default_factory=Counter[str])
    sealed_seconds: dict[str, float] = field(default_factory=dict[str, float])
    heard_seconds_max: float = 0.0


class Fleet:
    """One worker that stays, and one that is killed again and again."""

    def __init__(self, workers: Workers, seed: int) -> None:
        self.chance = random.Random(seed)
        self.workers = workers
        self.outcome = Outcome()
        self.stays = workers.begin()
        self._speaking = asyncio.Semaphore(SPEAKING_AT_ONCE)

    async def round(self, number: int, http: httpx.AsyncClient) -> None:
        readers = [
            Reader(f"chat-{number}-{stream}", f"{self.chance.randint(5, 40)} 5", f"m-{number}-{stream}")
            for stream in range(self.chance.randint(1, STREAMS_MAX))
        ]
        moment = self.chance.uniform(0, KILL_AFTER_SECONDS_MAX)
        dead: list[float] = []
        async with asyncio.TaskGroup() as tasks, self._speaking:
            victim = await self.workers.ready(http)
            for reader in readers:
                tasks.create_task(self._follow(reader, http, victim, dead))
            await asyncio.sleep(moment)
            victim.kill()
            dead.append(time.time())
            self.outcome.killed += 1

    async def _follow(
        self, reader: Reader, http: httpx.AsyncClient, victim: Worker, dead: list[float]
    ) -> None:
        await reader.read(http, lambda: self.stays.url if dead else victim.url)
        heard = time.time()
        turn = await check(reader, http, self.stays.url)
        self.outcome.statuses[turn["status"]] += 1
        if turn["status"] == "interrupted":
            sealed = datetime.fromisoformat(turn["finishedAt"]).timestamp()
            self.outcome.sealed_seconds[turn["id"]] = sealed - dead[0]
            self.outcome.heard_seconds_max = max(self.outcome.heard_seconds_max, heard - sealed)
        await check_goes_on(reader, http, self.stays.url)


async def a_few_at_once(rounds: list[Coroutine[Any, Any, None]], at_once: int) -> None:
    """Run them all, and let the first failure end them."""
    free = asyncio.Semaphore(at_once)

    async def one(each: Coroutine[Any, Any, None]) -> None:
        async with free:
            await each

    async with asyncio.TaskGroup() as tasks:
        for each in rounds:
            tasks.create_task(one(each))


def test_nothing_that_a_client_saw_is_missing_after_a_worker_was_killed(postgres: Databases) -> None:
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")

    async def walk(fleet: Fleet) -> None:
        async with impatient_of_nothing() as http:
            await a_few_at_once([fleet.round(number, http) for number in range(ROUNDS)], AT_ONCE)

    database = postgres.fresh()
    with Workers(database) as workers:
        fleet = Fleet(workers, seed)
        asyncio.run(walk(fleet))
    outcome, owners = fleet.outcome, owners_of(database)
    slowest = max(outcome.sealed_seconds.values(), default=0.0)
    sys.stdout.write(f"{outcome.statuses}, sealed after {slowest:.1f} s at most, ")
    sys.stdout.write(f"owners of a turn: {max(owners.values())} at most\n")
    assert outcome.killed == ROUNDS
    assert set(outcome.statuses) == {"succeeded", "interrupted"}
    for turn, seconds in outcome.sealed_seconds.items():
        assert seconds <= TERMINAL_SECONDS_MAX * (owners[turn] - 1), (turn, seconds, owners[turn])


def owners_of(database: str) -> dict[str, int]:
    """How many processes each turn has belonged to."""
    with psycopg.connect(database) as connection:
        return dict(connection.execute("SELECT id, epoch FROM rejoinder.turn").fetchall())
