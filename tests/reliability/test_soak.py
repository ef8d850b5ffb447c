"""Streams that come and go for a long time, however rudely: the process keeps nothing of those that are over."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from itertools import count
from statistics import linear_regression
from urllib.parse import urlsplit

import httpx

from rejoinder.stores.postgres.database import CONNECTIONS_MAX
from rejoinder.wire import json
from tests.reliability.readers import Reader, impatient_of_nothing
from tests.reliability.soaking import Held, held
from tests.reliability.workers import Worker, Workers
from tests.scale import scale
from tests.stores.databases import Databases

STREAMS = scale(20, 100)
SECONDS = scale(4, 1800)
GROWTH_KIB_MAX = scale(32 * 1024, 4 * 1024)
"""From the first moment of rest to the last. What is compiled and cached on the way is a few seconds' worth."""

SLOPE_KIB_PER_SECOND_MAX = 1024 / 600
"""A MiB in ten minutes. Said of half an hour: within seconds the allocator's steps are all that one sees."""

SESSIONS_MAX = CONNECTIONS_MAX + 2
"""The pool's, and who listens for hints."""

SETTLED_SECONDS_MAX = 60.0
PROMPT = "20 5"


async def reads(http: httpx.AsyncClient, worker: Worker, chat: str) -> None:
    """Somebody who reads to the end."""
    reader = Reader(chat, PROMPT, "question")
    await reader.read(http, lambda: worker.url)
    assert reader.done


async def asked(worker: Worker, chat: str) -> socket.socket:
    """A connection on which a question was asked."""
    address = urlsplit(worker.url)
    part = {"type": "text", "text": PROMPT}
    message = {"id": "question", "role": "user", "parts": [part]}
    body = json.encode({"id": chat, "trigger": "submit-message", "messages": [message]})
    head = f"POST {address.path}/chat HTTP/1.1\r\nhost: {address.netloc}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    line = socket.socket()
    line.setblocking(False)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(line, (address.hostname, address.port))
    await loop.sock_sendall(line, head.encode() + body)
    return line


async def is_reset(worker: Worker, chat: str) -> None:
    """Somebody whose connection breaks in the middle."""
    with await asked(worker, chat) as line:
        await asyncio.get_running_loop().sock_recv(line, 64)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def never_reads(http: httpx.AsyncClient, worker: Worker, chat: str) -> None:
    """Somebody who takes nothing, until another one has read it all."""
    with await asked(worker, chat):
        await reads(http, worker, chat)


async def churn(http: httpx.AsyncClient, worker: Worker, numbers: count[int], *, seconds: float) -> None:
    """So many streams at a time, each after the one before."""
    until = time.monotonic() + seconds

    async def one_after_the_other() -> None:
        while time.monotonic() < until:
            number = next(numbers)
            chat = f"chat-{number}"
            match number % 4:
                case 0:
                    await is_reset(worker, chat)
                case 1:
                    await never_reads(http, worker, chat)
                case _:
                    await reads(http, worker, chat)

    async with asyncio.TaskGroup() as group:
        for _ in range(STREAMS):
            group.create_task(one_after_the_other())


async def at_rest(http: httpx.AsyncClient, worker: Worker, database: str) -> tuple[int, Held]:
    """Tasks and what is held, once no turn runs: the same for two looks."""
    tasks_of = worker.url.removesuffix("/api") + "/tasks"
    until = time.monotonic() + SETTLED_SECONDS_MAX
    before: tuple[int, int, int] | None = None
    while time.monotonic() < until:
        tasks = int((await http.get(tasks_of)).text)
        now = held(worker.pid, database)
        seen = (tasks, now.descriptors, now.sessions)
        if seen == before:
            return tasks, now
        before = seen
        await asyncio.sleep(0.5)
    raise AssertionError(f"it does not come to rest: {before}")


def test_a_process_keeps_nothing_of_streams_that_are_over(postgres: Databases) -> None:
    asyncio.run(soak(postgres.fresh()))


async def soak(database: str) -> None:
    with Workers(database) as workers:
        async with impatient_of_nothing() as http:
            worker = await workers.ready(http)
            numbers = count()
            # Whoever reads an answer that is over starts what listens to the database, once for the process.
            for _ in range(2):
                await reads(http, worker, "twice")
            # Code is loaded, pools are filled, caches reach their size.
            await churn(http, worker, numbers, seconds=max(2, SECONDS / 30))
            tasks, first = await at_rest(http, worker, database)
            moments: list[tuple[float, int]] = []
            began = time.monotonic()
            while (now := time.monotonic() - began) < SECONDS:
                await churn(http, worker, numbers, seconds=max(1, SECONDS / 30))
                moments.append((now, held(worker.pid, database).resident_kib))
            tasks_then, last = await at_rest(http, worker, database)
    assert tasks_then <= tasks
    # A pool may have grown to its bound meanwhile; each of its sessions is a descriptor of the process.
    assert last.descriptors - last.sessions <= first.descriptors - first.sessions
    assert last.sessions <= SESSIONS_MAX
    assert last.threads <= first.threads + 1
    assert last.resident_kib - first.resident_kib <= GROWTH_KIB_MAX
    if scale(0, 1):
        slope, _ = linear_regression(*zip(*moments, strict=True))
        assert slope <= SLOPE_KIB_PER_SECOND_MAX, moments
