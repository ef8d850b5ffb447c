"""Names of the conversation-core specification for what needs no class here: ids, and options of a store's methods."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias, TypedDict

ConversationId: TypeAlias = str
TurnId: TypeAlias = str
MessageId: TypeAlias = str
ProviderCallId: TypeAlias = str


class ListConversationsOptions(TypedDict, total=False):
    """What `list_conversations` takes: `store.list_conversations(**options)`."""

    limit: int
    before: datetime | tuple[datetime, str] | None


class ListMessagesOptions(TypedDict, total=False):
    """What `list_messages` takes: `store.list_messages(id, **options)`. With a limit, the newest ones."""

    limit: int | None
    ascending: bool
