"""The forms in which `rejoinder export` says one conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from rejoinder.agents.anthropic_request import anthropic_history
from rejoinder.agents.openai_chat_request import chat_messages
from rejoinder.convert.canonical import to_canonical
from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.convert.ui import to_ui
from rejoinder.convert.ui_4 import to_ui_4
from rejoinder.messages import Json, Message

Writer: TypeAlias = Callable[[str, Sequence[Message]], Json]
"""What a program that knows the form reads, of the id of a conversation and its messages."""


def _all_of(write: Callable[[Message, str], Json]) -> Writer:
    return lambda thread, messages: {
        "id": thread,
        "messages": [write(message, thread) for message in messages],
    }


WRITERS: Final[Mapping[str, Writer]] = {
    "ui": _all_of(lambda message, _: to_ui(message)),
    "ui-4": _all_of(lambda message, _: to_ui_4(message)),
    "canonical": _all_of(lambda message, thread: to_canonical(message, thread_id=thread)),
    "anthropic": lambda _, messages: anthropic_history(to_provider_messages(messages)),
    "openai-chat": lambda _, messages: {"messages": chat_messages(to_provider_messages(messages))},
}
"""Every such form, by its name."""
