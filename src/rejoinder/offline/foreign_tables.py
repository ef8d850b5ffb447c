"""One conversation as rows of other specifications' tables, a JSON line each, as `rejoinder import` reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from rejoinder.convert.spec_rows import to_spec_rows
from rejoinder.messages import JsonObject
from rejoinder.offline.session_messages import export_session_messages
from rejoinder.ports.journal import NoSuchConversation
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.wire import json
from rejoinder.wire.session_messages import write_session_message

Tables: TypeAlias = Mapping[str, Sequence[bytes]]
"""Rows by the name of their table."""

KINDS: Final = ("persistence", "session-messages")
"""The tables agents, messages and parts of the persistence specification; those of the agent-messages specification."""


async def rows_of(
    store: ConversationStore, conversation_id: str, kind: str, *, tenant: str = DEFAULT_TENANT
) -> Tables:
    """The active branch of a conversation as rows of one of the `KINDS`. Raises `NoSuchConversation`."""
    conversation = await store.get_conversation(conversation_id, tenant=tenant)
    if conversation is None:
        raise NoSuchConversation(f"there is no conversation {conversation_id!r} of the tenant {tenant!r}")
    if kind == "session-messages":
        session: JsonObject = {"id": conversation.id, "title": conversation.title}
        rows = export_session_messages(store, conversation_id, tenant=tenant)
        return {
            "sessions": [json.encode(session)],
            "session_messages": [write_session_message(row) async for row in rows],
        }
    agent: JsonObject = {"id": conversation.id, "createdAt": conversation.created_at}
    if conversation.title is not None:
        agent["title"] = conversation.title
    stored = await store.list_messages(conversation_id, tenant=tenant)
    written = [to_spec_rows(each.message, agent_id=conversation.id) for each in stored]
    return {
        "agents": [_line(agent)],
        "messages": [_line(rows.message) for rows in written],
        "parts": [_line(part) for rows in written for part in rows.parts],
    }


def _line(row: JsonObject) -> bytes:
    return json.encode(
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
    )
