"""Builders over stores: they read the window and not the conversation, and honour summaries, branches and pins."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence

import psycopg
import pytest

from rejoinder.core import (
    BudgetedHistoryBuilder,
    ConversationStore,
    HistoryBudget,
    HistoryBuildRequest,
    HistoryBuildResult,
    InMemoryConversationStore,
    RecentNTurnsHistoryBuilder,
)
from rejoinder.engine.histories import PAGE_MESSAGES, PAGE_MESSAGES_MAX, InvalidBudget
from rejoinder.messages import Conversation, Json, Message, Text, Turn
from rejoinder.ports.journal import Checkpoint
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.core.stage import WHEN, user
from tests.engine.stage import asynchronous
from tests.stores.databases import Databases

MANY = 100_000

NEW = Message(id="new", role="user", parts=(Text(text="And now?"),))


def said(number: int, **more: Json) -> Message:
    return Message(
        id=f"m{number}",
        role="assistant" if number % 2 else "user",
        parts=(Text(text=f"said {number}"),),
        **more,
    )


class Counted:
    """A store that counts what is read of it."""

    def __init__(self, store: ConversationStore) -> None:
        self.calls: list[str] = []
        self.rows = 0
        self._store = store

    def __getattr__(self, name: str) -> Json:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def counted(*given: Json, **named: Json) -> Json:
            answer: Json = await found(*given, **named)
            self.calls.append(name)
            self.rows += len(answer) if name.startswith("list_") else 1
            return answer

        return counted


async def short(*messages: Message) -> tuple[ConversationStore, Conversation]:
    store = InMemoryConversationStore()
    conversation = await store.create_conversation(id="c")
    await store.append_messages("c", messages)
    return store, conversation


async def built(
    builder: BudgetedHistoryBuilder, store: object, conversation: Conversation, **more: Json
) -> HistoryBuildResult:
    given = {"new_user_messages": (NEW,), **more}
    return await builder.build_history(
        HistoryBuildRequest(conversation=conversation, store=store, **given)  # type: ignore[arg-type]  # it counts
    )


def ids(result: HistoryBuildResult) -> list[str]:
    return [message.id for message in result.messages]


@asynchronous
async def test_the_newest_turns_are_shown_and_the_others_are_told() -> None:
    store, conversation = await short(*(said(n) for n in range(10)))
    result = await built(RecentNTurnsHistoryBuilder(max_turns=2), store, conversation)
    assert ids(result) == ["m6", "m7", "m8", "m9", "new"]
    assert result.truncated
    assert (result.dropped.messages, result.dropped.turns) == (6, 3)
    assert result.explain() == "6 messages left out: the budget of turns is used up"


@asynchronous
async def test_with_room_for_all_nothing_is_dropped() -> None:
    store, conversation = await short(*(said(n) for n in range(10)))
    result = await built(RecentNTurnsHistoryBuilder(max_turns=5), store, conversation)
    assert len(result.messages) == 11
    assert not result.truncated
    assert result.explain() == "everything is shown"
    nothing = await built(RecentNTurnsHistoryBuilder(max_turns=0), store, conversation)
    assert ids(nothing) == ["new"]


@asynchronous
async def test_the_budget_of_the_request_and_the_builders_own_hold_both() -> None:
    store, conversation = await short(*(said(n) for n in range(10)))
    result = await built(
        RecentNTurnsHistoryBuilder(max_turns=3), store, conversation, budget=HistoryBudget(max_messages=4)
    )
    assert ids(result) == ["m8", "m9", "new"]
    assert result.explain() == "8 messages left out: the budget of messages is used up"


@asynchronous
async def test_messages_of_the_specification_are_answered_in_kind() -> None:
    store, conversation = await short(said(0), said(1))
    result = await built(
        RecentNTurnsHistoryBuilder(max_turns=3), store, conversation, new_user_messages=(user("new", "Hi"),)
    )
    assert ids(result) == ["m0", "m1", "new"]
    assert [message.content[0].text for message in result.messages] == ["said 0", "said 1", "Hi"]  # type: ignore[union-attr]  # they are texts


@asynchronous
async def test_a_new_message_that_is_stored_already_is_shown_once() -> None:
    store, conversation = await short(said(0), said(1), NEW)
    result = await built(RecentNTurnsHistoryBuilder(max_turns=3), store, conversation)
    assert ids(result) == ["m0", "m1", "new"]


@asynchronous
async def test_without_a_new_message_the_newest_turn_is_the_question() -> None:
    store, conversation = await short(*(said(n) for n in range(5)))
    result = await built(RecentNTurnsHistoryBuilder(max_turns=1), store, conversation, new_user_messages=())
    assert ids(result) == ["m2", "m3", "m4"]


@asynchronous
async def test_only_the_branch_is_shown() -> None:
    store, conversation = await short(*(said(n) for n in range(4)))
    await store.append_messages(
        "c", [Message(id="x2", role="user"), Message(id="x3", role="assistant")], after="m1"
    )
    builder = RecentNTurnsHistoryBuilder(max_turns=9)
    assert ids(await built(builder, store, conversation)) == ["m0", "m1", "x2", "x3", "new"]
    other = await built(builder, store, conversation, branch="m3")
    assert ids(other) == ["m0", "m1", "m2", "m3", "new"]


@asynchronous
async def test_a_summary_stands_for_what_it_replaced_until_it_is_undone() -> None:
    store, conversation = await short(
        Message(id="rule", role="system", parts=(Text(text="Be kind."),)),
        *(said(n) for n in range(6)),
    )
    summary = Message(id="s", role="user", parts=(Text(text="They spoke of Rome."),))
    checkpoint = Checkpoint(
        id="k",
        conversation_id="c",
        through_seq=4,
        summary=summary,
        strategy="summary",
        created_at=WHEN,
        metadata={"through": "m3"},
    )
    await store.add_checkpoint(checkpoint)
    builder = BudgetedHistoryBuilder()
    result = await built(builder, store, conversation)
    assert ids(result) == ["rule", "s", "m4", "m5", "new"]
    assert "a summary stands for them" in result.explain()
    await store.append_messages("c", [Message(id="x", role="user")], after="m1")
    elsewhere = await built(builder, store, conversation)
    assert ids(elsewhere) == ["rule", "m0", "m1", "x", "new"]
    await store.choose_branch("c", "m5")
    await store.undo_checkpoint("c", "k")
    assert len((await built(builder, store, conversation)).messages) == 8


@asynchronous
async def test_an_estimate_learns_from_what_the_conversation_consumed() -> None:
    store, conversation = await short(*(said(n) for n in range(3)))
    await store.append_messages("c", [said(3)], turn_id="t")
    plain = await built(BudgetedHistoryBuilder(), store, conversation)
    assert plain.tokens == plain.estimate
    turn = Turn(
        id="t",
        conversation_id="c",
        status="succeeded",
        created_at=WHEN,
        metadata={"history": {"estimate": 100, "inputTokens": 150}},
    )
    await store.append_turn(turn)
    taught = await built(BudgetedHistoryBuilder(), store, conversation)
    assert taught.estimate == plain.estimate
    assert taught.tokens is not None
    assert plain.tokens is not None
    assert plain.tokens * 1.4 < taught.tokens < plain.tokens * 1.6


@asynchronous
async def test_a_limit_on_cost_is_a_limit_on_tokens_at_a_price() -> None:
    store, conversation = await short(*(said(n) for n in range(20)))
    limit = HistoryBudget(max_cost_cents=0.01)
    result = await built(BudgetedHistoryBuilder(limit, cents_per_million_tokens=200), store, conversation)
    assert result.tokens is not None
    assert result.tokens <= 50
    assert 1 < len(result.messages) < 21
    with pytest.raises(InvalidBudget):
        await built(BudgetedHistoryBuilder(limit), store, conversation)


@asynchronous
async def test_of_a_hundred_thousand_messages_in_memory_only_the_window_is_read() -> None:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    for start in range(0, MANY, 10_000):
        await store.append_messages("c", [_at(n) for n in range(start, start + 10_000)])
    await _reads_only_the_window(store)


def test_of_a_hundred_thousand_messages_in_postgres_only_the_window_is_read(postgres: Databases) -> None:
    url = postgres.fresh()

    async def walk(read: Callable[[ConversationStore], Awaitable[int]]) -> int:
        store = PostgresConversationStore(url)
        await store.open()
        try:
            return await read(store)
        finally:
            await store.close()

    async def begin(store: ConversationStore) -> int:
        await store.create_conversation(id="c")
        return len(await store.append_messages("c", [_at(0)]))

    asyncio.run(walk(begin))
    _fill(url)
    before = _touched(url)
    rows = asyncio.run(walk(_reads_only_the_window))
    # A message is found in an index, fetched with its part, and its parent's id is looked up.
    assert _touched(url) - before < 6 * rows


def _at(number: int) -> Message:
    """Message 10 is pinned, and the first is system's; the others alternate."""
    if number == 0:
        return Message(id="m0", role="system", parts=(Text(text="Be kind."),))
    return said(number, metadata={"pinned": True}) if number == 10 else said(number)


async def _reads_only_the_window(store: ConversationStore) -> int:
    """Answers how many rows were read."""
    conversation = await store.get_conversation("c")
    assert conversation is not None
    rows = 0
    for turns, pages in ((8, 1), (40, 2), (1_000, 6)):
        counted = Counted(store)
        result = await built(RecentNTurnsHistoryBuilder(max_turns=turns), counted, conversation)
        assert ids(result)[:2] == ["m0", "m10"]
        assert len(result.messages) == 2 + 2 * turns + 1
        assert counted.calls.count("list_messages") <= pages
        others = [name for name in counted.calls if name != "list_messages"]
        assert sorted(others) == ["list_checkpoints", "list_lasting_messages"]
        assert counted.rows <= 2 * turns + PAGE_MESSAGES + min(4 * turns, PAGE_MESSAGES_MAX) + 8
        assert result.dropped.messages >= MANY - len(result.messages) - 2
        rows += counted.rows
    return rows


def _fill(url: str) -> None:
    """The rest of the conversation, and its texts, as the store would have put them there."""
    with psycopg.connect(url) as connection:
        connection.execute(
            """
            INSERT INTO rejoinder.message (conversation, seq, branch, parent, id, role, metadata)
            SELECT c.key, n, 0, n - 1, 'm' || n, CASE WHEN n % 2 = 0 THEN 'user' ELSE 'assistant' END,
                CASE WHEN n = 10 THEN '{"pinned": true}'::jsonb END
            FROM rejoinder.conversation AS c, generate_series(1, 99999) AS n
            """
        )
        connection.execute(
            """
            INSERT INTO rejoinder.part (conversation, message, "order", type, text_text)
            SELECT conversation, seq, 0, 'text', 'said ' || seq FROM rejoinder.message WHERE seq > 0
            """
        )
        connection.execute("UPDATE rejoinder.conversation SET next_seq = 100000, active_leaf = 99999")
        connection.commit()
        connection.execute("ANALYZE rejoinder.message")
        connection.execute("ANALYZE rejoinder.part")


def _touched(url: str) -> int:
    """How many rows of messages and parts were looked at in this database so far."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        (rows,) = connection.execute(
            "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname IN ('message', 'part')"
        ).fetchone() or (0,)
        return int(rows or 0)


def test_nothing_is_read_twice(postgres: Databases) -> None:
    """The messages that a turn began with are not read again."""

    async def walk() -> Sequence[str]:
        store, conversation = await short(*(said(n) for n in range(60)))
        past = await store.list_messages("c", limit=50)
        counted = Counted(store)
        await built(RecentNTurnsHistoryBuilder(max_turns=20), counted, conversation, past=tuple(past))
        return counted.calls

    assert sorted(asyncio.run(walk())) == ["list_checkpoints", "list_lasting_messages"]
