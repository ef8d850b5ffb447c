"""The doors of the inspector: turns as they were recorded, frame by frame and event by event."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rejoinder.chat.backend import Backend
from rejoinder.chat.wishes import Principal
from rejoinder.convert.ui import to_ui
from rejoinder.messages import JsonObject, Turn
from rejoinder.offline.retelling import Telling, begun_with, chunks_of, retell
from rejoinder.ports.journal import Page
from rejoinder.server.bodies import number, path_id, query
from rejoinder.server.conversing import (
    FRAMES_PAGE,
    FRAMES_PAGE_MAX,
    LIST_PAGE,
    LIST_PAGE_MAX,
    PAGES_READ_MAX,
    SEQ_MAX,
    answer_json,
    turn_json,
)
from rejoinder.server.problems import Problem, not_found
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json
from rejoinder.wire.requests import checked_id

RETOLD_MAX: Final = 50_000
"""Chunks and events of a turn that is told again while others wait: less than a second of work."""


class Inspecting:
    """What the doors do, over a backend."""

    def __init__(self, backend: Backend) -> None:
        self._store = backend.store
        self._agent = backend.agent

    async def turns(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/turns`."""
        id = path_id(request, "id")
        given = query(request, "limit", "before")
        limit = number(given.get("limit"), "limit", low=1, high=LIST_PAGE_MAX) or LIST_PAGE
        before = given.get("before")
        if await self._store.get_conversation(id, tenant=principal.tenant) is None:
            raise not_found()
        found = await self._store.list_turns(
            id,
            limit=limit + 1,
            before=None if before is None else checked_id(before, "before"),
            tenant=principal.tenant,
        )
        page, more = found[-limit:], len(found) > limit
        return answer_json(
            {"turns": [turn_json(turn) for turn in page], "before": page[0].id if more else None}
        )

    async def turn(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/turns/{turn}`."""
        turn = await self._turn(request, principal)
        calls = await self._store.list_provider_calls(turn.id, tenant=principal.tenant)
        messages = []
        if turn.message_id is not None:
            stored = await self._store.get_message(
                turn.conversation_id, turn.message_id, tenant=principal.tenant
            )
            messages = [] if stored is None else [to_ui(stored.message)]
        return answer_json(
            {
                "turn": turn_json(turn),
                "providerCalls": [msgspec.to_builtins(call) for call in calls],
                "messages": messages,
            }
        )

    async def frames(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/turns/{turn}/frames`."""
        turn = await self._turn(request, principal)
        given = query(request, "limit", "from")
        limit = number(given.get("limit"), "limit", low=1, high=FRAMES_PAGE_MAX) or FRAMES_PAGE
        start = number(given.get("from"), "from", low=0, high=SEQ_MAX) or 0
        frames: list[JsonObject] = []
        async for page, at in self._pages(turn, start, principal, events=False):
            for place, frame in enumerate(page.frames.split(b"\n\n")):
                seq = page.first_seq + place
                if frame and seq >= start:
                    chunk = json.decode(frame.removeprefix(b"data: "))
                    frames.append({"seq": seq, "page": page.number, "at": at, "chunk": chunk})
            if len(frames) > limit:
                break
        more = len(frames) > limit
        return answer_json(
            {
                "frames": frames[:limit],
                "next": frames[limit]["seq"] if more else None,
                "status": turn.status,
            }
        )

    async def events(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/turns/{turn}/events`: `body` is the event's own text, as it came."""
        turn = await self._turn(request, principal)
        given = query(request, "limit", "from")
        limit = number(given.get("limit"), "limit", low=1, high=FRAMES_PAGE_MAX) or FRAMES_PAGE
        start = number(given.get("from"), "from", low=0, high=SEQ_MAX) or 0
        events: list[JsonObject] = []
        index = 0
        more = False
        async for page, at in self._pages(turn, 0, principal, events=True):
            for event in page.events:
                if index >= start and len(events) < limit:
                    events.append(
                        {
                            "index": index,
                            "before": event.before,
                            "page": page.number,
                            "at": at,
                            "body": event.body.decode("utf-8", "replace"),
                        }
                    )
                index += 1
            more = index > start + limit
            if more:
                break
        return answer_json({"events": events, "next": start + limit if more else None, "status": turn.status})

    async def retold(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/turns/{turn}/retold`: its events as they are translated today. Nothing is stored."""
        turn = await self._turn(request, principal)
        if turn.status in ("queued", "running"):
            raise Problem(409, "turn-in-progress", "The turn is not over.")
        if turn.agent != self._agent.name:
            raise Problem(409, "another-agent", "The agent that made this turn is not served here any more.")
        telling = await self._telling(turn, principal)
        stored = None
        if turn.message_id is not None:
            stored = await self._store.get_message(
                turn.conversation_id, turn.message_id, tenant=principal.tenant
            )
        before = await self._store.list_turns(
            turn.conversation_id, limit=LIST_PAGE_MAX, before=turn.id, tenant=principal.tenant
        )
        earlier = [
            await self._telling(each, principal) for each in before if each.message_id == turn.message_id
        ]
        continues = begun_with(earlier, None if stored is None else stored.message)
        retold = retell(telling, self._agent.translate, continues=continues)
        return answer_json(
            {
                "same": [*telling.chunks] == [*retold.chunks],
                "frames": [
                    {"seq": seq, "chunk": chunk_to_json(chunk)} for seq, chunk in enumerate(retold.chunks)
                ],
                "continues": None if continues is None else to_ui(continues),
                "message": to_ui(retold.message),
                "problems": [*retold.problems],
            }
        )

    async def _telling(self, turn: Turn, principal: Principal) -> Telling:
        chunks: list[Chunk] = []
        events: list[tuple[int, bytes]] = []
        async for page, _ in self._pages(turn, 0, principal, events=True):
            chunks += chunks_of(page.frames)
            events += [(event.before, event.body) for event in page.events]
            if len(chunks) + len(events) > RETOLD_MAX:
                raise Problem(409, "turn-too-long", "The turn is too long to be told again here.")
        return Telling(turn=turn, chunks=chunks, events=events)

    async def _turn(self, request: Request, principal: Principal) -> Turn:
        id, turn_id = path_id(request, "id"), path_id(request, "turn")
        turn = await self._store.get_turn(turn_id, tenant=principal.tenant)
        if turn is None or turn.conversation_id != id:
            raise not_found()
        return turn

    async def _pages(
        self, turn: Turn, start: int, principal: Principal, *, events: bool
    ) -> AsyncIterator[tuple[Page, datetime]]:
        from_page = 0
        while True:
            seen = await self._store.read_pages(
                turn.id,
                from_seq=start,
                from_page=from_page,
                limit=PAGES_READ_MAX,
                events=events,
                tenant=principal.tenant,
            )
            for page, at in zip(seen.pages, seen.written, strict=True):
                yield page, at
            if not seen.pages:
                return
            from_page = seen.pages[-1].number + 1
