"""Conversations as session messages, for whoever keeps them in the shape of the agent-messages specification.

What is exported here and imported again (`rejoinder.offline.importing`) is the same conversation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Final

from msgspec import UNSET, Raw, structs

from rejoinder.convert.ui import to_ui
from rejoinder.fold import explode
from rejoinder.messages import JsonObject, Message, Text, Turn, is_absent
from rejoinder.ports.journal import Page, StoredMessage
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.translate.fields import text_or_none
from rejoinder.wire import json
from rejoinder.wire.codec import encode_chunk
from rejoinder.wire.session_messages import (
    SessionMessageContent,
    SessionMessageEntity,
    session_message_content,
)

MESSAGE: Final = "message"
UNKNOWN: Final = "unknown"


async def export_session_messages(
    store: ConversationStore, conversation_id: str, *, tenant: str = DEFAULT_TENANT
) -> AsyncGenerator[SessionMessageEntity]:
    """The messages of the active branch, oldest first. Raises `NoSuchConversation`."""
    turns = await store.list_turns(conversation_id, tenant=tenant)
    before: int | None = None
    for stored in await store.list_messages(conversation_id, tenant=tenant):
        wrote = [turn for turn in turns if turn.message_id == stored.message.id]
        yield _row(
            stored,
            conversation_id,
            content=await _content(stored.message, wrote, store=store, tenant=tenant),
            finished=wrote[-1] if wrote else None,
            parent=before,
        )
        before = stored.seq


async def _content(
    message: Message, turns: list[Turn], *, store: ConversationStore, tenant: str
) -> str | SessionMessageContent:
    if not turns:
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if len(texts) == len(message.parts) == 1:
            return texts[0]
        return session_message_content(
            _said(message), (), agent_type=UNKNOWN, result={"message": to_ui(message)}
        )
    pages = [[page async for page in store.follow(turn.id, events=True, tenant=tenant)] for turn in turns]
    events = [event.body for of_turn in pages for page in of_turn for event in page.events]
    # An answer that several turns went on with is said as it was stored: what came between them, the user's answers,
    # is in no journal. So is one whose journal is not kept any more.
    chunks = _chunks(pages[0]) if len(turns) == 1 else []
    last = turns[-1]
    return session_message_content(
        chunks or _said(message), events, agent_type=last.agent or UNKNOWN, result=_result(message, last)
    )


def _row(
    stored: StoredMessage,
    conversation_id: str,
    *,
    content: str | SessionMessageContent,
    finished: Turn | None,
    parent: int | None,
) -> SessionMessageEntity:
    message = stored.message
    created = "" if message.created_at is None else message.created_at.isoformat()
    ended = finished.finished_at if finished is not None else None
    return SessionMessageEntity(
        id=stored.seq,
        session_id=conversation_id,
        parent_id=parent,
        role=message.role,
        type=MESSAGE,
        content=content,
        metadata=UNSET if is_absent(message.metadata) else Raw(json.encode(message.metadata)),
        created_at=created,
        updated_at=created if ended is None else ended.isoformat(),
    )


def _result(message: Message, turn: Turn) -> JsonObject:
    said = {
        "agentType": turn.agent,
        "sessionId": text_or_none(turn.agent_memory, "sessionId"),
        "status": turn.status,
        "message": to_ui(message),
    }
    return {name: value for name, value in said.items() if value is not None}


def _said(message: Message) -> list[bytes]:
    # Chunks are an assistant's, also where they say what somebody else said: the row knows whose message it is.
    return [encode_chunk(chunk) for chunk in explode(structs.replace(message, role="assistant"))]


def _chunks(pages: Iterable[Page]) -> list[bytes]:
    frames = b"".join(page.frames for page in pages).split(b"\n\n")
    return [frame.split(b"data: ", 1)[1] for frame in frames if b"data: " in frame]
