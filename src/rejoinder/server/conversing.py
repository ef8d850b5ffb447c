"""The doors of what is kept: conversations, messages, and the records of turns."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rejoinder.chat.backend import Backend
from rejoinder.chat.wishes import Principal
from rejoinder.convert.ui import to_ui
from rejoinder.errors import InvalidRequest
from rejoinder.messages import Conversation, JsonObject, Turn
from rejoinder.ports.journal import StoredMessage
from rejoinder.server.bodies import ignored_body, number, object_body, path_id, query
from rejoinder.server.problems import Problem, not_found
from rejoinder.wire import json
from rejoinder.wire.requests import checked_id

MESSAGES_PAGE: Final = 50
MESSAGES_PAGE_MAX: Final = 500
"""One page of history. A screen shows ten; an export asks again."""

LIST_PAGE: Final = 50
LIST_PAGE_MAX: Final = 200
"""One page of conversations or of turns."""

FRAMES_PAGE: Final = 1_000
FRAMES_PAGE_MAX: Final = 10_000
"""Frames or events at once: some 100 KiB, at most some MiB."""

PAGES_READ_MAX: Final = 64
"""Pages that one look at the journal brings."""

TITLE_CHARS_MAX: Final = 200
SEARCH_CHARS_MAX: Final = 200
SEQ_MAX: Final = 2**53 - 1
SMALL_BODY_BYTES_MAX: Final = 64 * 1024
"""A title or a choice."""


class Conversing:
    """What the doors do, over a backend."""

    def __init__(self, backend: Backend) -> None:
        self._store = backend.store
        self._backend = backend

    async def list(self, request: Request, principal: Principal) -> Response:
        """`GET /conversations`."""
        given = query(request, "limit", "before", "search")
        limit = number(given.get("limit"), "limit", low=1, high=LIST_PAGE_MAX) or LIST_PAGE
        search = given.get("search") or None
        if search is not None and (len(search) > SEARCH_CHARS_MAX or "\0" in search):
            raise InvalidRequest(f"'search' has more than {SEARCH_CHARS_MAX} characters, or a NUL")
        before = given.get("before")
        found = await self._store.list_conversations(
            limit=limit + 1,
            before=None if before is None else _place(before),
            search=search,
            tenant=principal.tenant,
        )
        page, more = found[:limit], len(found) > limit
        return answer_json(
            {
                "conversations": [_conversation(each) for each in page],
                "before": _cursor(page[-1]) if more else None,
            }
        )

    async def read(self, request: Request, principal: Principal) -> Response:
        """`GET /chat/{id}`: the newest page of messages, and whether a turn is live."""
        id = path_id(request, "id")
        given = query(request, "limit", "before")
        limit = number(given.get("limit"), "limit", low=1, high=MESSAGES_PAGE_MAX) or MESSAGES_PAGE
        before = number(given.get("before"), "before", low=0, high=SEQ_MAX)
        # The live turn is looked for first. A turn that ends in between is named and stored: nothing is missing.
        live = await self._store.live_turn(id, tenant=principal.tenant)
        conversation = await self._found(id, principal)
        found = await self._store.list_messages(id, limit=limit + 1, before=before, tenant=principal.tenant)
        page, more = found[-limit:], len(found) > limit
        forks = await self._store.list_forks(
            id, [stored.message.id for stored in page], tenant=principal.tenant
        )
        body = _conversation(conversation) | {
            "messages": [to_ui(stored.message) for stored in page],
            "places": [_place_of(stored, forks.get(stored.message.id)) for stored in page],
            "before": page[0].seq if more else None,
            "live": None if live is None else {"turnId": live.id, "messageId": live.message_id},
        }
        return answer_json(body)

    async def change(self, request: Request, principal: Principal) -> Response:
        """`PATCH /chat/{id}`: its title, its metadata, or which branch is the active one."""
        id = path_id(request, "id")
        body = await object_body(request, bytes_max=SMALL_BODY_BYTES_MAX)
        unknown = body.keys() - {"title", "metadata", "branch"}
        if unknown or not body:
            raise InvalidRequest("send 'title', 'metadata' or 'branch', and nothing else")
        changes: JsonObject = {name: body[name] for name in ("title", "metadata") if name in body}
        _check_changes(changes)
        await self._found(id, principal)
        if "branch" in body:
            branch = checked_id(body["branch"], "branch")
            await self._store.choose_branch(id, branch, tenant=principal.tenant)
        changed = await self._store.update_conversation(id, **changes, tenant=principal.tenant)
        if changed is None:
            raise not_found()
        return answer_json(_conversation(changed))

    async def delete(self, request: Request, principal: Principal) -> Response:
        """`DELETE /chat/{id}`: stop what runs in it, and let it be gone."""
        await ignored_body(request)
        id = path_id(request, "id")
        live = await self._store.live_turn(id, tenant=principal.tenant)
        if live is not None:
            await self._backend.live.stop(live.id, tenant=principal.tenant)
        if not await self._store.delete_conversation(id, tenant=principal.tenant):
            raise not_found()
        return Response(status_code=204)

    async def delete_message(self, request: Request, principal: Principal) -> Response:
        """`DELETE /chat/{id}/messages/{message}`: the message, and all after it."""
        await ignored_body(request)
        id, message = path_id(request, "id"), path_id(request, "message")
        live = await self._store.live_turn(id, tenant=principal.tenant)
        if live is not None:
            raise Problem(409, "turn-in-progress", "An answer is being made in this conversation.")
        if not await self._store.delete_message(id, message, tenant=principal.tenant):
            raise not_found()
        return Response(status_code=204)

    async def fork(self, request: Request, principal: Principal) -> Response:
        """`POST /chat/{id}/fork`: a copy, up to a message, as a conversation of its own."""
        id = path_id(request, "id")
        body = await object_body(request, bytes_max=SMALL_BODY_BYTES_MAX)
        at, new_id = body.get("at"), body.get("id")
        made = await self._store.fork_conversation(
            id,
            at=None if at is None else checked_id(at, "at"),
            new_id=None if new_id is None else checked_id(new_id, "id"),
            tenant=principal.tenant,
        )
        return answer_json(_conversation(made), status=201)

    async def _found(self, id: str, principal: Principal) -> Conversation:
        found = await self._store.get_conversation(id, tenant=principal.tenant)
        if found is None:
            raise not_found()
        return found


def _place_of(stored: StoredMessage, siblings: tuple[str, ...] | None) -> JsonObject:
    place: JsonObject = {"id": stored.message.id, "seq": stored.seq}
    if stored.message.created_at is not None:
        place["createdAt"] = stored.message.created_at
    if stored.message.status is not None:
        place["status"] = stored.message.status
    if stored.turn_id is not None:
        place["turnId"] = stored.turn_id
    if stored.parent_id is not None:
        place["parentId"] = stored.parent_id
    if siblings is not None:
        place["siblings"] = [*siblings]
    return place


def _check_changes(changes: JsonObject) -> None:
    title, metadata = changes.get("title"), changes.get("metadata")
    if title is not None and not isinstance(title, str):
        raise InvalidRequest("'title' is no string: send one, or null for none")
    if title is not None and (len(title) > TITLE_CHARS_MAX or "\0" in title):
        raise Problem(
            422, "unacceptable-title", f"A title has {TITLE_CHARS_MAX} characters at most, and no NUL."
        )
    if metadata is not None and not isinstance(metadata, dict):
        raise InvalidRequest("'metadata' is no object: send one, or null for none")


def _conversation(conversation: Conversation) -> JsonObject:
    body: JsonObject = msgspec.to_builtins(conversation, builtin_types=(datetime,))
    return {"title": None} | body


def turn_json(turn: Turn) -> JsonObject:
    """A turn as it is told to the inspector."""
    body: JsonObject = msgspec.to_builtins(turn)
    # Who looks at one turn is told its calls; who looks at a list does not want them all.
    body.pop("providerCalls", None)
    return body


def _cursor(conversation: Conversation) -> str:
    text = f"{conversation.updated_at.isoformat()} {conversation.id}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        moment, _, id = text.partition(" ")
        # A time without a zone is none of ours, and takes UTC's, so that it can be compared with those that are.
        at = datetime.fromisoformat(moment)
        return at if at.tzinfo else at.replace(tzinfo=UTC), checked_id(id, "before")
    except (ValueError, binascii.Error, InvalidRequest):
        raise InvalidRequest(
            "'before' is none of ours: send the one that came with the page before"
        ) from None


def answer_json(body: JsonObject, *, status: int = 200) -> Response:
    """A body that no client's parser refuses."""
    return Response(json.encode_harmless(body), status, media_type="application/json")
