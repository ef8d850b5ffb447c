"""The forms in which `rejoinder export` says one conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from rejoinder.agents.anthropic_request import anthropic_history
from rejoinder.agents.openai_chat_request import chat_messages
from rejoinder.agents.openai_responses_request import response_items
from rejoinder.convert.canonical import to_canonical
from rejoinder.convert.langchain_history import to_langchain, to_langchain_dicts
from rejoinder.convert.model import to_model_messages
from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.convert.pydantic_ai_messages import to_pydantic_ai
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


def _items(messages: Sequence[Message]) -> Json:
    return response_items(to_provider_messages(messages), whole=True)


WRITERS: Final[Mapping[str, Writer]] = {
    "ui": _all_of(lambda message, _: to_ui(message)),
    "ui-4": _all_of(lambda message, _: to_ui_4(message)),
    "canonical": _all_of(lambda message, thread: to_canonical(message, thread_id=thread)),
    "anthropic": lambda _, messages: anthropic_history(to_provider_messages(messages)),
    "openai-chat": lambda _, messages: {"messages": chat_messages(to_provider_messages(messages))},
    "openai-responses": lambda _, messages: {"input": _items(messages)},
    "openai-agents": lambda thread, messages: {"session_id": thread, "items": _items(messages)},
    "pydantic-ai": lambda thread, messages: {"id": thread, "messages": to_pydantic_ai(messages)},
    "langchain": lambda thread, messages: {"id": thread, "messages": to_langchain_dicts(messages)},
    "langgraph": lambda thread, messages: {"id": thread, "messages": to_langchain(messages)},
    "model": lambda thread, messages: {"id": thread, "messages": to_model_messages(messages)},
}
"""Every such form, by its name."""
