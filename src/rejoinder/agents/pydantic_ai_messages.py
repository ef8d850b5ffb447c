"""A history in Pydantic AI's own messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rejoinder.convert import pydantic_ai_messages as plain
from rejoinder.messages.provider_message import ProviderMessage
from rejoinder.wire import json

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage


def pydantic_ai_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = ()
) -> list[ModelMessage]:
    """The messages; `but` are calls whose results are left out, because they are still to come."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return ModelMessagesTypeAdapter.validate_json(json.encode(plain.pydantic_ai_messages(messages, but=but)))
