"""The database is killed in the middle of answers and comes back: nobody loses a chunk, and every answer goes on."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.embedded import start, stop
from tests.reliability.checks import check, check_goes_on
from tests.reliability.readers import Reader, impatient_of_nothing
from tests.reliability.workers import Workers
from tests.scale import scale

ROUNDS = scale(8, 100)
STREAMS = 8
DOWN_SECONDS_MAX = 1.0
KILL_AFTER_SECONDS_MAX = 1.0


@pytest.fixture
def folder() -> Iterator[Path]:
    """The data of a server that writes what it says it wrote."""
    folder = Path(tempfile.mkdtemp(prefix="rj-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        stop(folder)
        shutil.rmtree(folder)


def test_answers_outlive_the_database_being_killed_and_started_again(folder: Path) -> None:
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")
    chance = random.Random(seed)
    running = start(folder)
    migrate.upgrade(running.url)
    statuses = Counter[str]()

    async def crash() -> None:
        await asyncio.sleep(chance.uniform(0, KILL_AFTER_SECONDS_MAX))
        os.kill(start(folder).pid, signal.SIGKILL)
        await asyncio.sleep(chance.uniform(0, DOWN_SECONDS_MAX))
        await asyncio.to_thread(start, folder)

    async def walk(workers: Workers) -> None:
        async with impatient_of_nothing() as http:
            worker = await workers.ready(http)
            for number in range(ROUNDS):
                readers = [
                    Reader(f"chat-{number}-{stream}", "60 20", f"m-{number}-{stream}")
                    for stream in range(STREAMS)
                ]
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(crash())
                    for reader in readers:
                        tasks.create_task(reader.read(http, lambda: worker.url))
                for reader in readers:
                    statuses[(await check(reader, http, worker.url))["status"]] += 1
                await check_goes_on(readers[0], http, worker.url)

    with Workers(running.url) as workers:
        asyncio.run(walk(workers))
    sys.stdout.write(f"{statuses}\n")
    assert statuses == {"succeeded": ROUNDS * STREAMS}
