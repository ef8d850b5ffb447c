"""More readers than a server takes by default: they are all served, and so is who comes after them."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server.serving import started

READERS = 1_100
"""granian takes 1,024 connections unless it is told otherwise."""

SECONDS_MAX = 120
"""Whoever is kept out waits for ever."""

OPENING = 50
"""So many connect at a time."""


@pytest.fixture
def files() -> Generator[None]:
    """A process that may open as many files as it likes, and one that it starts that may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def waiting(address: str, number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """An answer that has begun and does not end."""
    at = urlsplit(address)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "wait"}]}
    body = json.dumps({"id": f"chat-{number}", "messages": [message]})
    head = f"POST /api/chat HTTP/1.1\r\nhost: {at.netloc}\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
    await reader.readuntil(b"Waiting")
    return reader, writer


def test_a_thousand_readers_keep_nobody_out(files: None) -> None:
    async def come(address: str) -> None:
        opening = asyncio.Semaphore(OPENING)

        async def one(number: int) -> asyncio.StreamWriter:
            async with opening:
                return (await waiting(address, number))[1]

        lines = await asyncio.gather(*(one(number) for number in range(READERS)))
        async with httpx.AsyncClient(timeout=60) as http:
            assert (await http.get(f"{address}/api/healthz")).status_code == 200
            stopped = await http.post(f"{address}/api/chat/chat-{READERS - 1}/stop")
            assert stopped.json()["stopping"] is True
            for line in lines:
                line.close()
            await asyncio.gather(*(line.wait_closed() for line in lines))
            assert (await http.get(f"{address}/api/healthz")).status_code == 200

    folder = Path(__file__).parents[2]
    with started("serve", "--agent", "tests.server.patient:CHAT", "--port", "0", folder=folder) as address:
        asyncio.run(asyncio.wait_for(come(address.rstrip("/")), SECONDS_MAX))
