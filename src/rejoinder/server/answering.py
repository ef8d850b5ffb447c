"""The doors of a turn: ask for an answer, read it again from any place, stop it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from rejoinder.chat.backend import Backend
from rejoinder.chat.wishes import Principal, Wish
from rejoinder.convert.acceptance import turn_id
from rejoinder.errors import InvalidRequest
from rejoinder.messages import JsonObject, Turn
from rejoinder.ports.journal import Durability, IdempotencyConflict
from rejoinder.server.bodies import (
    BODY_BYTES_MAX,
    idempotency_key,
    ignored_body,
    json_body,
    number,
    path_id,
    query,
)
from rejoinder.server.limits import Counting
from rejoinder.server.problems import Problem, not_found
from rejoinder.server.streams import HEARTBEAT_SECONDS, STALLED_SECONDS_MAX, TurnStream
from rejoinder.wire import json
from rejoinder.wire.dialects import Dialect, dialect
from rejoinder.wire.requests import ChatRequest, chat_request, checked_id

DIALECT_HEADER: Final = "x-rejoinder-dialect"
"""How a client says its version, which it does not say by itself."""

PLACE_MAX: Final = 2**53 - 1
"""The highest number that every client can count to."""

_EVENT_ID: Final = re.compile(r"([A-Za-z0-9._:~-]{1,128}):(0|[1-9][0-9]{0,15})")
_DURABILITIES: Final[Mapping[Durability, str]] = {"full": "D2", "fast": "D2-fast"}
_RANGE: Final = re.compile(r"\s*(\*/\*|text/\*|text/event-stream)\s*(;.*)?", re.IGNORECASE)


class Answering:
    """What the doors do, over a backend."""

    def __init__(
        self,
        backend: Backend,
        *,
        dialect: Dialect,
        counting: Counting,
        body_bytes_max: int = BODY_BYTES_MAX,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        stalled_seconds_max: float = STALLED_SECONDS_MAX,
    ) -> None:
        self.backend = backend
        self.dialect = dialect
        self.counting = counting
        self.body_bytes_max = body_bytes_max
        self.heartbeat_seconds = heartbeat_seconds
        self.stalled_seconds_max = stalled_seconds_max

    async def answer(self, request: Request, principal: Principal) -> Response:
        """`POST /chat`: begin a turn, or find the one that the same request began, and stream it."""
        check_accept(request)
        self.counting.request(principal)
        key = idempotency_key(request)
        asked = chat_request(await json_body(request, bytes_max=self.body_bytes_max))
        spoken = self.dialect_of(request, asked)
        wish = Wish(principal=principal, conversation_id=conversation_of(asked), request=asked, key=key)
        # Whatever can be refused is refused before anything is written.
        with self._counted(principal) as counted:
            turn = await self.turn_for(wish)
            return self._stream(turn, principal, spoken, start=0, counted=counted.pop_all())

    async def turn_for(self, wish: Wish) -> Turn:
        """The turn that answers a wish."""
        try:
            return await self.backend.answer(wish)
        except IdempotencyConflict:
            if wish.key is None:
                raise
            raise Problem(
                422, "idempotency-key-reused", "The Idempotency-Key came with other content before."
            ) from None

    async def resume(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}/stream`: the live turn, or the one that is named, from its start or from a place on."""
        check_accept(request)
        id = path_id(request, "id")
        given = query(request, "turn", "startIndex")
        start = number(given.get("startIndex"), "startIndex", low=-PLACE_MAX, high=PLACE_MAX)
        seen = event_id(request.headers.get("last-event-id"))
        if seen is not None:
            if given.get("turn", seen[0]) != seen[0] or (start is not None and start != seen[1] + 1):
                raise InvalidRequest("'Last-Event-ID' and the query disagree: send one of them")
            start = seen[1] + 1
        wanted = given.get("turn") if seen is None else seen[0]
        turn = await self.named_or_live(id, None if wanted is None else checked_id(wanted, "turn"), principal)
        if turn is None:
            return Response(status_code=204)
        spoken = self.dialect_of(request, None)
        with self._counted(principal) as counted:
            place, headers = await self._place(turn, principal, spoken, start)
            return self._stream(
                turn, principal, spoken, start=place, headers=headers, counted=counted.pop_all()
            )

    async def stop(self, request: Request, principal: Principal) -> Response:
        """`POST /chat/{id}/stop`: stop the live turn, or the one that is named, wherever it runs."""
        await ignored_body(request, bytes_max=self.body_bytes_max)
        id = path_id(request, "id")
        wanted = query(request, "turn").get("turn")
        turn = await self.named_or_live(id, None if wanted is None else checked_id(wanted, "turn"), principal)
        stopping = turn is not None and await self.backend.live.stop(turn.id, tenant=principal.tenant)
        body: JsonObject = {"stopping": stopping, "turnId": None if turn is None else turn.id}
        return Response(json.encode(body), media_type="application/json")

    @contextmanager
    def _counted(self, principal: Principal) -> Generator[ExitStack]:
        """One more open stream; whoever takes it over (`pop_all`) gives it back."""
        with ExitStack() as counted:
            counted.enter_context(self.counting.stream(principal))
            yield counted

    def _stream(
        self,
        turn: Turn,
        principal: Principal,
        dialect: Dialect,
        *,
        start: int,
        counted: AbstractContextManager[object],
        headers: Mapping[str, str] | None = None,
    ) -> TurnStream:
        """The turn for one reader."""
        return TurnStream(
            self.backend.reading(turn, tenant=principal.tenant),
            dialect,
            start=start,
            headers={
                "x-rejoinder-turn": turn.id,
                "x-workflow-run-id": turn.id,
                "x-durability": self._durability,
                **(headers or {}),
            },
            heartbeat_seconds=self.heartbeat_seconds,
            stalled_seconds_max=self.stalled_seconds_max,
            counted=counted,
        )

    @property
    def _durability(self) -> str:
        """The level that holds here, by its name in the documentation."""
        volatile: bool = getattr(self.backend.store, "volatile", False)
        return "D0" if volatile else _DURABILITIES[self.backend.settings.durability]

    def dialect_of(self, request: HTTPConnection, asked: ChatRequest | None) -> Dialect:
        """What the client understands: as the header says, else the body, else the server's setting."""
        named = request.headers.get(DIALECT_HEADER)
        if named is not None:
            return dialect(named)
        return self.dialect if asked is None or asked.dialect is None else asked.dialect

    async def _place(
        self, turn: Turn, principal: Principal, dialect: Dialect, start: int | None
    ) -> tuple[int, dict[str, str]]:
        """Where to begin, and what is to be said about it."""
        if not start:
            return 0, {}
        length = await self._length(turn, principal, dialect)
        if start > length:
            raise Problem(
                409, "cursor-ahead", "The place lies behind what has been said.", extra={"frontier": length}
            )
        if start > 0:
            return start, {}
        # Negative numbers count from the end, and whoever sends one wants to know where that is.
        return max(0, start + length), {"x-workflow-stream-tail-index": str(length - 1)}

    async def _length(self, turn: Turn, principal: Principal, dialect: Dialect) -> int:
        """How many events a client of this dialect can have been told by now."""
        seen = await self.backend.store.read_pages(turn.id, limit=1, tenant=principal.tenant)
        changed = asyncio.Event()
        async with self.backend.reading(turn, tenant=principal.tenant) as tail:
            with tail.watching(changed.set):
                while tail.next_seq < seen.next_seq and tail.failure is None:
                    await changed.wait()
                    changed.clear()
            telling = tail.told_in(dialect)
            telling.catch_up()
            return len(telling.events)

    async def named_or_live(self, id: str, wanted: str | None, principal: Principal) -> Turn | None:
        """The turn that is meant, if one is live. Raises what says that it is not there."""
        store, tenant = self.backend.store, principal.tenant
        if wanted is not None:
            turn = await store.get_turn(wanted, tenant=tenant)
            if turn is None or id not in (turn.conversation_id, turn.id):
                raise not_found()
            return turn
        if await store.get_conversation(id, tenant=tenant) is not None:
            return await store.live_turn(id, tenant=tenant)
        # A WorkflowChatTransport knows the turn only, and asks for it in the conversation's place.
        turn = await store.get_turn(id, tenant=tenant)
        if turn is None:
            raise not_found()
        return turn


def conversation_of(asked: ChatRequest) -> str:
    """The conversation's id. One that is not named is known by its first message, which every request repeats."""
    if asked.conversation_id is not None:
        return asked.conversation_id
    first = asked.messages[0].get("id") if asked.whole_history else None
    if first is None:
        raise InvalidRequest("the body has no 'id': send the conversation's")
    return turn_id("conversation", checked_id(first, "id of the first message"))


def event_id(value: str | None) -> tuple[str, int] | None:
    """The turn and the place that a `Last-Event-ID` names."""
    if not value:
        return None
    found = _EVENT_ID.fullmatch(value)
    if found is None:
        raise InvalidRequest("'Last-Event-ID' is none of ours: send the last one that came, as it came")
    return found[1], int(found[2])


def check_accept(request: Request) -> None:
    """See that the client takes an event stream. Raises `Problem` 406."""
    accepted = ",".join(request.headers.getlist("accept"))
    if accepted and not any(_RANGE.fullmatch(each) for each in accepted.split(",")):
        raise Problem(406, "not-acceptable", "This is an event stream: accept text/event-stream.")
