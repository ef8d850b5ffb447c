"""A client that loses nothing: it reads an answer over whatever connections it gets, and remembers every event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from rejoinder.wire import json

DONE: Final = "[DONE]"
TERMINAL: Final = ("finish", "abort", "error")

Where = Callable[[], str]
"""Which worker to ask next."""


@dataclass
class Reader:
    """One answer, as it came. `clean` says whether a body ended as if the answer were over."""

    conversation: str
    prompt: str
    message: str
    turn: str | None = None
    events: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    connections: int = 0
    done: bool = False
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def has(self, count: int) -> None:
        """Come back once so many events are here."""
        while len(self.events) < count:
            await self._came.wait()
            self._came.clear()

    async def read(self, http: httpx.AsyncClient, where: Where) -> None:
        """Ask, and read to the end, however often the connection breaks."""
        while not self.done:
            self.connections += 1
            try:
                await (self._ask(http, where()) if self.turn is None else self._resume(http, where()))
            except httpx.TransportError:
                await asyncio.sleep(0.02)
                continue
            assert self.done, (
                f"the body of {self.conversation} ended cleanly before [DONE]: {self.events[-2:]}"
            )

    @property
    def seqs(self) -> list[int]:
        return [seq for seq, _ in self.events]

    async def _ask(self, http: httpx.AsyncClient, url: str) -> None:
        message = {"id": self.message, "role": "user", "parts": [{"type": "text", "text": self.prompt}]}
        body = {"id": self.conversation, "trigger": "submit-message", "messages": [message]}
        async with http.stream("POST", f"{url}/chat", json=body) as answer:
            await self._take(answer)

    async def _resume(self, http: httpx.AsyncClient, url: str) -> None:
        headers = {"last-event-id": f"{self.turn}:{self.seqs[-1]}"} if self.events else {}
        place = f"{url}/chat/{self.conversation}/stream?turn={self.turn}"
        async with http.stream("GET", place, headers=headers) as answer:
            await self._take(answer)

    async def _take(self, answer: httpx.Response) -> None:
        if answer.status_code == 503:
            await asyncio.sleep(0.05)
            raise httpx.ConnectError("the database is away: try again")
        assert answer.status_code == 200, (answer.status_code, await answer.aread())
        self.turn = answer.headers["x-rejoinder-turn"]
        seq = None
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                turn, _, place = line.removeprefix("id: ").rpartition(":")
                assert turn == self.turn
                seq = int(place)
            elif line == f"data: {DONE}":
                self.done = True
            elif line.startswith("data: "):
                assert seq is not None, "an event without a place"
                self.events.append((seq, line.removeprefix("data: ")))
                seq = None
                self._came.set()


def impatient_of_nothing() -> httpx.AsyncClient:
    """Any number of connections, each for one request: one that is kept may be closed just when it is used again."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=60, limits=limits)


async def get(http: httpx.AsyncClient, url: str) -> Any:
    """What stands there. A server whose connections to the database are all busy says when to come back."""
    answer = await http.get(url)
    if answer.status_code == 503:
        await asyncio.sleep(float(answer.headers["retry-after"]))
        return await get(http, url)
    assert answer.status_code == 200, (url, answer.status_code, answer.text)
    return json.decode(answer.content)
