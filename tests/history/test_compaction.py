"""A summary stands for what it replaced, over and over, and can be undone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rejoinder.core import (
    BudgetedHistoryBuilder,
    ConversationStore,
    HistoryBuildRequest,
    InMemoryConversationStore,
    NoSuchConversation,
)
from rejoinder.engine.compaction import INTRODUCTION, STRETCH_MESSAGES, SummarisingCompactor, summariser
from rejoinder.messages import Message, Text
from tests.core.stage import PARAMS, Whole, said
from tests.engine.stage import asynchronous


async def talked(turns: int) -> InMemoryConversationStore:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    await go_on(store, 0, turns)
    return store


async def go_on(store: ConversationStore, first: int, last: int) -> None:
    for number in range(first, last):
        await store.append_messages(
            "c",
            [
                Message(id=f"q{number}", role="user", parts=(Text(text=f"question {number}"),)),
                Message(id=f"a{number}", role="assistant", parts=(Text(text=f"answer {number}"),)),
            ],
        )


async def shown(store: ConversationStore) -> list[str]:
    conversation = await store.get_conversation("c")
    assert conversation is not None
    new = Message(id="new", role="user", parts=(Text(text="And?"),))
    result = await BudgetedHistoryBuilder().build_history(
        HistoryBuildRequest(conversation=conversation, store=store, new_user_messages=(new,))
    )
    return [message.id for message in result.messages]


async def counting(messages: Sequence[Message], before: str | None) -> str:
    return f"{before or 'nothing'}, then {messages[0].id} to {messages[-1].id}"


@asynchronous
async def test_what_is_older_than_the_newest_turns_is_summarised_and_can_be_undone() -> None:
    store = await talked(6)
    compactor = SummarisingCompactor(store, counting, kept_turns=2)
    checkpoint = await compactor.compact("c")
    assert checkpoint is not None
    assert checkpoint.summary.parts == (Text(text=f"{INTRODUCTION}nothing, then q0 to a3"),)
    assert checkpoint.metadata == {"through": "a3", "messages": 8}
    assert await shown(store) == [checkpoint.summary.id, "q4", "a4", "q5", "a5", "new"]
    assert len(await store.list_messages("c")) == 12
    assert await compactor.compact("c") is None
    await go_on(store, 6, 8)
    second = await compactor.compact("c")
    assert second is not None
    assert second.summary.parts == (Text(text=f"{INTRODUCTION}nothing, then q0 to a3, then q4 to a5"),)
    assert await shown(store) == [second.summary.id, "q6", "a6", "q7", "a7", "new"]
    await store.undo_checkpoint("c", second.id)
    assert (await shown(store))[0] == checkpoint.summary.id
    await store.undo_checkpoint("c", checkpoint.id)
    assert len(await shown(store)) == 17


@asynchronous
async def test_what_is_pinned_is_not_summarised() -> None:
    store = await talked(1)
    pinned = Message(id="p", role="user", parts=(Text(text="I am Ada"),), metadata={"pinned": True})
    await store.append_messages("c", [pinned, Message(id="pa", role="assistant")])
    await go_on(store, 2, 5)
    checkpoint = await SummarisingCompactor(store, counting, kept_turns=1).compact("c")
    assert checkpoint is not None
    assert await shown(store) == ["p", checkpoint.summary.id, "q4", "a4", "new"]


@asynchronous
async def test_a_long_conversation_is_summarised_stretch_by_stretch() -> None:
    store = await talked(STRETCH_MESSAGES + 10)
    sizes: list[int] = []

    async def measuring(messages: Sequence[Message], before: str | None) -> str:
        sizes.append(len(messages))
        return "s"

    await SummarisingCompactor(store, measuring, kept_turns=4).compact("c")
    assert max(sizes) <= STRETCH_MESSAGES
    assert sum(sizes) == 2 * (STRETCH_MESSAGES + 10) - 8


@asynchronous
async def test_a_short_conversation_is_left_as_it_is() -> None:
    store = await talked(3)
    assert await SummarisingCompactor(store, counting, kept_turns=3).compact("c") is None
    with pytest.raises(NoSuchConversation):
        await SummarisingCompactor(store, counting).compact("nobody")


@asynchronous
async def test_a_provider_summarises() -> None:
    store = await talked(3)
    provider = Whole(said("They talked."))
    checkpoint = await SummarisingCompactor(store, summariser(provider, PARAMS), kept_turns=1).compact("c")
    assert checkpoint is not None
    assert checkpoint.summary.parts == (Text(text=f"{INTRODUCTION}They talked."),)
    system, transcript = provider.asked[0].messages
    assert (system.role, transcript.role) == ("system", "user")
    assert "user: question 0\n\nassistant: answer 0" in transcript.text


@asynchronous
async def test_a_summary_that_fails_leaves_the_conversation_as_it_was() -> None:
    store = await talked(3)
    provider = Whole(ConnectionError("no route"))
    with pytest.raises(ConnectionError):
        await SummarisingCompactor(store, summariser(provider, PARAMS), kept_turns=1).compact("c")
    assert await store.list_checkpoints("c") == []
