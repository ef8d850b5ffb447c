"""Session messages, as the agent-messages specification stores them: chunks and raw messages of a turn, side by side.

`aiSDKChunks` and `rawAgentMessages` are texts of JSON, kept as they came.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from rejoinder.errors import InvalidJson
from rejoinder.wire import json
from rejoinder.wire.json import Json, JsonObject


class SessionMessageContent(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One turn."""

    ai_sdk_chunks: tuple[Raw, ...] = field(name="aiSDKChunks")
    raw_agent_messages: tuple[Raw, ...]
    agent_type: str
    agent_result: Raw | UnsetType = UNSET


class SessionMessageEntity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row. `content` is a text, or a turn."""

    id: int
    session_id: str
    role: str
    type: str
    content: str | SessionMessageContent
    created_at: str
    updated_at: str
    parent_id: int | None = None
    metadata: Raw | UnsetType = UNSET


def session_message_content(
    chunks: Iterable[bytes], messages: Iterable[bytes], *, agent_type: str, result: Json = None
) -> SessionMessageContent:
    """A turn from the texts of its chunks and of the agent's own messages. One that is no JSON is kept as a string."""
    return SessionMessageContent(
        ai_sdk_chunks=tuple(map(Raw, chunks)),
        raw_agent_messages=tuple(Raw(_as_json(message)) for message in messages),
        agent_result=UNSET if result is None else Raw(json.encode(result)),
        agent_type=agent_type,
    )


def write_session_message(message: SessionMessageContent | SessionMessageEntity) -> bytes:
    """The JSON of it, on one line."""
    return msgspec.json.encode(message)


def session_message_to_json(message: SessionMessageContent | SessionMessageEntity) -> JsonObject:
    """The same as a value."""
    value: JsonObject = json.decode(write_session_message(message))
    return value


def _as_json(message: bytes) -> bytes:
    try:
        json.decode(message)
    except InvalidJson:
        return json.encode(message.decode("utf-8", "surrogateescape"))
    return message
