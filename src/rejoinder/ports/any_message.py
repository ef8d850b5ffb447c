"""Messages of ours and of the conversation-core specification, where either may be given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rejoinder.convert.core_content import ConversationMessage, from_core
from rejoinder.convert.core_plain import to_plain_core
from rejoinder.messages import Conversation, Message
from rejoinder.ports.journal import StoredMessage

AnyMessage: TypeAlias = Message | ConversationMessage | StoredMessage
"""A message of ours, one as the specification has it, or one as a store gives it."""


def ours(messages: Sequence[AnyMessage]) -> tuple[Message, ...]:
    """Messages of the specification as ours; those that are ours already stay as they are."""
    found: list[Message] = []
    waiting: list[ConversationMessage] = []
    for message in messages:
        if isinstance(message, ConversationMessage):
            waiting.append(message)
        else:
            found += from_core(waiting)
            waiting.clear()
            found.append(message.message if isinstance(message, StoredMessage) else message)
    return (*found, *from_core(waiting))


def theirs(messages: Sequence[Message], conversation: Conversation) -> tuple[ConversationMessage, ...]:
    """Messages of ours as the specification has them."""
    return tuple(
        told for message in messages for told in to_plain_core(message, conversation_id=conversation.id)
    )


def addressed(
    conversation_id: str | Sequence[ConversationMessage], messages: Sequence[AnyMessage]
) -> tuple[str, tuple[Message, ...]]:
    """Where messages go, and which: a conversation and messages, or messages that say their conversation themselves.

    Raises `ValueError` for messages of several conversations: one call is one transaction in one of them.
    """
    if isinstance(conversation_id, str):
        return conversation_id, ours(messages)
    named = {message.conversation_id for message in conversation_id}
    if len(named) != 1:
        raise ValueError(f"messages of one conversation are appended at once, not of {len(named)}")
    return named.pop(), ours(conversation_id)
