"""Talking to a chat the way that clients do, in this process: a request, its stream, and what is stored of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import httpx
from msgspec import Struct

from rejoinder import Chat
from rejoinder.fold import accumulate
from rejoinder.messages import JsonObject, Message, Turn
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import decode_chunk
from rejoinder.wire.sse import EventReader

PAGES_MAX = 1_000


class Answered(Struct):
    """What came of a request: the chunks that were sent, the message that they make, and the turn as it is stored."""

    chunks: list[Chunk]
    stored: Message
    turn: Turn

    @property
    def message(self) -> Message:
        """The message that a client has."""
        return accumulate(self.chunks)


class Client:
    """Asks, and looks at what is stored."""

    def __init__(self, chat: Chat, http: httpx.AsyncClient) -> None:
        self._chat = chat
        self._http = http
        self._asked = 0

    async def ask(self, chat_id: str, text: str, *, stop_at: str | None = None) -> Answered:
        """Send a message and wait for the answer; press stop once it has said this much."""
        self._asked += 1
        message = {"id": f"u{self._asked}", "role": "user", "parts": [{"type": "text", "text": text}]}
        return await self._send(chat_id, [message], stop_at=stop_at)

    async def answer(self, chat_id: str, message: JsonObject) -> Answered:
        """Send the assistant's message back, with the client's answers in it."""
        return await self._send(chat_id, [message])

    async def events(self, turn: Turn) -> list[bytes]:
        """What the agent said in the turn, as it is kept."""
        read = await self._chat.backend.store.read_pages(turn.id, limit=PAGES_MAX, events=True)
        return [event.body for page in read.pages for event in page.events]

    async def _send(
        self, chat_id: str, messages: Sequence[JsonObject], *, stop_at: str | None = None
    ) -> Answered:
        body: JsonObject = {"id": chat_id, "trigger": "submit-message", "messages": [*messages]}
        asking = asyncio.create_task(self._http.post("/api/chat", json=body))
        if stop_at is not None:
            await self._has_said(chat_id, stop_at)
            (await self._http.post(f"/api/chat/{chat_id}/stop")).raise_for_status()
        response = (await asking).raise_for_status()
        events = EventReader().feed(response.content)
        chunks = [decode_chunk(event) for event in events if event != b"[DONE]"]
        store = self._chat.backend.store
        turn = (await store.list_turns(chat_id, limit=1))[0]
        assert turn.message_id is not None
        stored = await store.get_message(chat_id, turn.message_id)
        assert stored is not None
        return Answered(chunks, stored.message, turn)

    async def _has_said(self, chat_id: str, text: str) -> None:
        store = self._chat.backend.store
        while True:
            turn = await store.live_turn(chat_id)
            pages = () if turn is None else (await store.read_pages(turn.id)).pages
            if any(text.encode() in page.frames for page in pages):
                return
            await asyncio.sleep(0)


@asynccontextmanager
async def talk(chat: Chat) -> AsyncGenerator[Client, None]:
    """A client of this chat, which runs for as long."""
    transport = httpx.ASGITransport(chat.app)
    async with chat.lifespan(), httpx.AsyncClient(transport=transport, base_url="http://chat") as http:
        yield Client(chat, http)
