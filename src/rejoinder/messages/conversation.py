"""The conversation, apart from what was said in it."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from rejoinder.messages.json_values import JsonObject


class Conversation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An ordered tree of messages that belongs to a tenant; the store knows which.

    `parent_id` is the conversation that this one was forked from.
    """

    id: str
    created_at: datetime
    updated_at: datetime
    title: str | None = None
    metadata: JsonObject | None = None
    parent_id: str | None = None
