"""Every name of the conversation core can be imported under its own name, and is the class that is used here."""

from __future__ import annotations

import pytest

import rejoinder.core
from rejoinder.core import (
    BudgetedHistoryBuilder,
    ConversationStore,
    DefaultConversationEngine,
    DefaultConversationEngineOptions,
    HistoryBudget,
    InMemoryConversationStore,
    ListConversationsOptions,
    ListMessagesOptions,
    ProviderTextPart,
    RecentNTurnsHistoryBuilder,
    RecentNTurnsHistoryBuilderOptions,
    TextContentPart,
    TokenUsage,
)
from rejoinder.messages import Message, Text, Usage
from tests.engine.stage import asynchronous

NAMES = [
    "ConversationId",
    "TurnId",
    "MessageId",
    "ProviderCallId",
    "MessageRole",
    "TextContentPart",
    "ToolCallContentPart",
    "ToolResultContentPart",
    "MetadataContentPart",
    "MessageContentPart",
    "ConversationMessage",
    "Conversation",
    "TokenUsage",
    "ProviderRole",
    "ProviderTextPart",
    "ProviderContentPart",
    "ProviderMessage",
    "ProviderToolDefinition",
    "ProviderToolCall",
    "ProviderCallMetadata",
    "ProviderCallParams",
    "ProviderCallResult",
    "ProviderStreamEvent",
    "ProviderStream",
    "ProviderAdapter",
    "ProviderCallRecord",
    "ConversationTurn",
    "ListConversationsOptions",
    "ListMessagesOptions",
    "ConversationStore",
    "HistoryBudget",
    "HistoryBuildRequest",
    "HistoryBuildResult",
    "HistoryBuilder",
    "RecentNTurnsHistoryBuilderOptions",
    "RecentNTurnsHistoryBuilder",
    "TurnInput",
    "TurnOutput",
    "StreamingTurnEvent",
    "StreamingTurn",
    "ConversationEngine",
    "DefaultConversationEngineOptions",
    "DefaultConversationEngine",
    "AgentContext",
    "Extensions",
    "InMemoryConversationStore",
    "TurnStatus",
    "BudgetedHistoryBuilder",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_specification_is_there(name: str) -> None:
    assert getattr(rejoinder.core, name) is not None
    assert name in rejoinder.core.__all__


def test_the_names_are_the_classes_themselves() -> None:
    assert TokenUsage is Usage
    assert InMemoryConversationStore.__module__ == "rejoinder.stores.memory.store"
    assert BudgetedHistoryBuilder.__module__ == "rejoinder.engine.histories"


def test_parts_say_their_type() -> None:
    assert TextContentPart(text="x").type == "text"
    assert ProviderTextPart(text="x").type == "text"


@asynchronous
async def test_options_are_what_methods_and_classes_are_called_with() -> None:
    store: ConversationStore = InMemoryConversationStore()
    turns: RecentNTurnsHistoryBuilderOptions = {"max_turns": 2}
    options: DefaultConversationEngineOptions = {
        "store": store,
        "history_builder": RecentNTurnsHistoryBuilder(**turns),
    }
    assert DefaultConversationEngine(**options).store is store
    conversation = await store.create_conversation(title="Rome")
    said = [Message(id=f"m{n}", role="user", parts=(Text(text="x"),)) for n in range(3)]
    await store.append_messages(conversation.id, said)
    newest: ListMessagesOptions = {"limit": 2, "ascending": False}
    assert [m.message.id for m in await store.list_messages(conversation.id, **newest)] == ["m2", "m1"]
    first: ListConversationsOptions = {"limit": 1}
    assert await store.list_conversations(**first) == [await store.get_conversation(conversation.id)]


@pytest.mark.parametrize("name", ["max_messages", "max_turns", "max_chars", "max_tokens", "max_cost_cents"])
def test_a_budget_is_not_less_than_nothing(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        HistoryBudget(**{name: -1})
