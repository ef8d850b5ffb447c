"""Names for conversations: the first words that were said, until somebody who has read them knows a better one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from rejoinder.chat.wishes import title_of
from rejoinder.messages import Message, Text
from rejoinder.messages.provider_message import ProviderMessage, ProviderTextPart
from rejoinder.ports.journal import StoreError, TurnBegun
from rejoinder.ports.providers import Provider, ProviderCallMetadata, ProviderCallParams
from rejoinder.ports.store import ConversationStore

Titler: TypeAlias = Callable[[Message], Awaitable[str | None]]
"""Names a conversation by its first message. None: its first words will do."""

TITLE_CHARS_MAX: Final = 80
TITLE_TOKENS_MAX: Final = 200
"""A title has five; a model that thinks first takes some more."""

SAID_CHARS_MAX: Final = 4_000
"""So much of a first message tells what it is about."""

ASKED: Final = (
    "Write a title of two to six words for a conversation that begins with the message below, in its language. "
    "Answer with the title only, without quotes and without a full stop."
)

_log: Final = logging.getLogger(__name__)


def titled_by(provider: Provider) -> Titler:
    """A model names conversations."""

    async def title(message: Message) -> str | None:
        said = "\n".join(part.text for part in message.parts if isinstance(part, Text))
        if not said.strip():
            return None
        text = f"{ASKED}\n\n{said[:SAID_CHARS_MAX]}"
        params = ProviderCallParams(
            metadata=ProviderCallMetadata(provider=provider.name, model=provider.model),
            messages=(ProviderMessage(role="user", content=(ProviderTextPart(text=text),)),),
            max_tokens=TITLE_TOKENS_MAX,
        )
        result = await provider.complete(params)
        parts = result.message.content
        told = "".join(part.text for part in parts if isinstance(part, ProviderTextPart))
        return " ".join(told.split()).strip("\"'“”„«».")[:TITLE_CHARS_MAX] or None

    return title


async def name_conversation(begun: TurnBegun, titler: Titler, store: ConversationStore) -> None:
    """Give a conversation that has just begun its name, unless somebody was quicker. It may fail: it has one."""
    first, tenant = begun.past[0].message, begun.claim.tenant
    try:
        title = await titler(first)
        if title is None:
            return
        found = await store.get_conversation(begun.conversation.id, tenant=tenant)
        if found is not None and found.title == title_of(first):
            await store.update_conversation(found.id, title=title, tenant=tenant)
    except StoreError as error:
        _log.warning("conversation %s keeps its first words as its title: %s", begun.conversation.id, error)
    except Exception as error:  # noqa: BLE001  # a title is worth no answer
        _log.warning("no title for conversation %s: %s", begun.conversation.id, error)
