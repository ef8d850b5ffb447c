"""Stores to work on when the turns are over, and turns of every kind in them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import httpx
import pytest

from rejoinder import Chat
from rejoinder.ports.store import ConversationStore
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.server.agents import AGENT
from tests.stores.databases import Databases

Walk = Callable[[ConversationStore], Awaitable[None]]

Filled = Callable[[Walk], Coroutine[Any, Any, None]]


TRIES = 1000


class Talk:
    """A client of a chat in this process."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def say(self, conversation: str, text: str, **changes: Any) -> httpx.Response:
        message = {
            "id": f"m-{text.encode().hex()[:100]}",
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        sent = {"id": conversation, "trigger": "submit-message", "messages": [message], **changes}
        answer = await self._http.post("/api/chat", json=sent)
        assert answer.status_code == 200, answer.text
        return answer

    async def answer(self, conversation: str, **changes: Any) -> None:
        """Answer the open call of the newest message."""
        page = (await self._http.get(f"/api/chat/{conversation}")).json()
        message = page["messages"][-1]
        next(part for part in message["parts"] if "toolCallId" in part).update(changes)
        await self.say(conversation, "", messages=[message], messageId=message["id"])

    async def say_anew(self, conversation: str) -> None:
        """Have the newest answer made anew."""
        page = (await self._http.get(f"/api/chat/{conversation}")).json()
        question, answer = page["messages"][-2:]
        await self.say(
            conversation, "", trigger="regenerate-message", messages=[question], messageId=answer["id"]
        )

    async def stop(self, conversation: str) -> None:
        """Stop what is said there, as soon as anything is."""
        for _ in range(TRIES):
            answer = await self._http.post(f"/api/chat/{conversation}/stop")
            if answer.status_code == 200 and answer.json()["stopping"]:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("nothing was live")


async def fill(store: ConversationStore) -> None:
    """Have a turn of every kind."""
    chat = Chat(AGENT, store=store)
    transport = httpx.ASGITransport(chat.app)
    async with chat.lifespan(), httpx.AsyncClient(transport=transport, base_url="http://chat") as http:
        talk = Talk(http)
        await talk.say("words", "hello there")
        await talk.say("words", "and \u0000 once more 😀")
        await talk.say_anew("words")
        await talk.say("tools", "tools please")
        await talk.say("fails", "fail now")
        await talk.say("asks", "approval please")
        await talk.answer("asks", state="approval-responded", approval={"id": "approval-1", "approved": True})
        await talk.say("denies", "approval please")
        await talk.answer(
            "denies", state="approval-responded", approval={"id": "approval-1", "approved": False}
        )
        await talk.say("wants", "client tool")
        await talk.answer("wants", state="output-available", output="Oslo")
        await talk.say("waits", "approval please")
        waiting = asyncio.create_task(talk.say("stopped", "wait here"))
        await talk.stop("stopped")
        await waiting


@pytest.fixture(params=["memory", "postgres"])
def filled(request: pytest.FixtureRequest) -> Filled:
    """Walks through a store that holds such turns."""
    url = request.getfixturevalue("postgres").fresh() if request.param == "postgres" else None

    async def walk_with(walk: Walk) -> None:
        store = InMemoryConversationStore() if url is None else PostgresConversationStore(url)
        await fill(store)
        await store.open()
        try:
            await walk(store)
        finally:
            await store.close()

    return walk_with


@pytest.fixture
def database(postgres: Databases) -> str:
    """The URL of a database that holds such turns."""
    url = postgres.fresh()
    asyncio.run(fill(PostgresConversationStore(url)))
    return url
