"""One message: who said it, and its parts in order."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages.json_values import ABSENT, JsonObject, Maybe
from rejoinder.messages.parts import Part

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

MessageStatus: TypeAlias = Literal["streaming", "complete", "interrupted", "failed", "cancelled"]


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A message as we keep it, apart from any SDK and any database.

    `metadata` is the application's, and may be any JSON; `extra` holds the fields of the message object
    that no field here knows. `created_at` and `status` are the store's: a message that comes from a
    client has neither.
    """

    id: str
    role: Role
    parts: tuple[Part, ...] = ()
    metadata: Maybe = ABSENT
    created_at: datetime | None = None
    status: MessageStatus | None = None
    extra: JsonObject | None = None
