"""A history in LangChain's own messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rejoinder.convert import langchain_history
from rejoinder.messages.provider_message import ProviderMessage

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def langchain_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = ()
) -> list[BaseMessage]:
    """The messages; `but` are calls whose results are left out, because they are still to come."""
    from langchain_core.messages import messages_from_dict

    said = langchain_history.langchain_messages(messages, but=but)
    return messages_from_dict([{"type": each["type"], "data": each} for each in said])
