"""Turns of the conversation core, and what its specification leaves open: each of its traps is a promise here."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec import structs

from rejoinder.core import (
    AgentContext,
    BudgetedHistoryBuilder,
    DefaultConversationEngine,
    ForeignMessage,
    HistoryBudget,
    HistoryOverBudget,
    InMemoryConversationStore,
    NoSuchConversation,
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderToolCall,
    ProviderToolDefinition,
    Spent,
    TokenUsage,
    ToolCallContentPart,
    ToolResultContentPart,
    TurnInProgress,
    TurnInput,
)
from rejoinder.messages import Message, Text
from rejoinder.ports.journal import NoSuchMessage
from tests.core.stage import PARAMS, Whole, asking, engine, over, result, said, texts, user
from tests.engine.stage import asynchronous


@asynchronous
async def test_a_turn_is_answered_recorded_and_given_back() -> None:
    on = await engine()
    provider = Whole(said("Hello you"))
    output = await on.run_turn(asking(provider, user("m1", "Hi")))
    assert texts(output.assistant_messages) == ["Hello you"]
    assert [message.role for message in output.assistant_messages] == ["assistant"]
    assert output.tool_messages is None
    turn = output.turn
    assert (turn.status, turn.conversation_id, turn.agent) == ("succeeded", "c", "openai")
    assert texts(turn.user_messages) == ["Hi"]
    assert turn.assistant_messages == output.assistant_messages
    (call,) = turn.provider_calls
    assert (call.id, call.metadata.provider, call.metadata.model) == ("call-1", "openai", "gpt-5-mini")
    assert call.usage == turn.usage == TokenUsage(input_tokens=10, output_tokens=4)
    assert call.created_at == call.started_at
    assert turn.metadata is not None
    assert turn.metadata["usage"] == {"inputTokens": 10, "outputTokens": 4}
    (recorded,) = await on.store.list_turns("c")
    assert recorded.id == turn.id
    assert [stored.message.role for stored in await on.store.list_messages("c")] == ["user", "assistant"]
    (asked,) = provider.asked
    assert [(message.role, message.text) for message in asked.messages] == [("user", "Hi")]


@asynchronous
async def test_what_was_said_before_is_shown_and_what_is_new_only_once() -> None:
    on = await engine()
    provider = Whole(said("one"), said("two"))
    await on.run_turn(asking(provider, user("m1", "first")))
    await on.run_turn(asking(provider, user("m2", "second")))
    assert [message.text for message in provider.asked[1].messages] == ["first", "one", "second"]


@asynchronous
async def test_a_missing_conversation_is_an_error_unless_one_wants_it_created() -> None:
    store = InMemoryConversationStore()
    with pytest.raises(NoSuchConversation, match="create_if_missing"):
        await over(store).run_turn(asking(Whole(said("x")), user("m1", "Hi")))
    assert await store.list_conversations() == []
    output = await over(store, create_if_missing=True).run_turn(asking(Whole(said("x")), user("m1", "Hi")))
    assert output.conversation.id == "c"


@asynchronous
async def test_a_turn_touches_its_conversation_and_rewrites_nothing_of_it() -> None:
    store = InMemoryConversationStore()
    before = await store.create_conversation(id="c", title="Rome", metadata={"n": 1})
    output = await over(store).run_turn(asking(Whole(said("x")), user("m1", "Hi")))
    assert output.conversation.updated_at > before.updated_at
    assert (output.conversation.title, output.conversation.metadata) == ("Rome", {"n": 1})


@asynchronous
async def test_what_a_provider_raises_is_raised_and_its_turn_is_on_record_as_failed() -> None:
    on = await engine()
    with pytest.raises(ConnectionError, match="no route"):
        await on.run_turn(asking(Whole(ConnectionError("no route")), user("m1", "Hi")))
    (turn,) = await on.store.list_turns("c")
    assert turn.status == "failed"
    assert turn.error is not None
    assert "no route" in turn.error.message
    (call,) = turn.provider_calls
    assert (call.status, call.metadata.provider, call.metadata.model) == ("failed", "openai", "gpt-5-mini")
    assert (await on.store.list_provider_calls(turn.id))[0].id == call.id
    output = await on.run_turn(asking(Whole(said("again")), user("m2", "And now?")))
    assert texts(output.assistant_messages) == ["again"]


@asynchronous
async def test_calls_of_tools_stay_with_the_assistant_and_wait_for_whoever_makes_them() -> None:
    on = await engine()
    wanted = ProviderToolCall(id="k", name="look", arguments={"q": 1})
    provider = Whole(said("Let me see.", wanted), said("It rains.", id="call-2"))
    first = await on.run_turn(asking(provider, user("m1", "Weather?")))
    assert first.turn.status == "waiting"
    (message,) = first.assistant_messages
    assert message.role == "assistant"
    assert message.content[-1] == ToolCallContentPart(name="look", arguments={"q": 1}, tool_call_id="k")
    assert first.tool_messages is None
    second = await on.run_turn(asking(provider, result("m2", "look", {"rain": True}, "k")))
    assert second.turn.status == "succeeded"
    assert texts(second.assistant_messages) == ["It rains."]
    assert [message.role for message in provider.asked[1].messages] == ["user", "assistant", "tool"]
    assert len(await on.store.list_messages("c")) == 2


@asynchronous
async def test_a_result_without_an_id_answers_the_open_call_of_its_tool() -> None:
    on = await engine()
    wanted = ProviderToolCall(id="k", name="look", arguments={})
    provider = Whole(said("", wanted), said("Fine.", id="call-2"))
    await on.run_turn(asking(provider, user("m1", "Look")))
    output = await on.run_turn(asking(provider, result("m2", "look", 1, None), user("m3", "and be brief")))
    assert texts(output.assistant_messages) == ["Fine."]
    shown = [message.role for message in provider.asked[1].messages]
    assert shown == ["user", "assistant", "tool", "user"]


@asynchronous
async def test_a_result_for_which_nobody_waits_is_refused_and_nothing_is_written() -> None:
    on = await engine()
    await on.run_turn(asking(Whole(said("Hello")), user("m1", "Hi")))
    with pytest.raises(NoSuchMessage, match="waits for a result"):
        await on.run_turn(asking(Whole(said("x")), result("m2", "look", 1, "unknown")))
    assert len(await on.store.list_turns("c")) == 1


@asynchronous
async def test_tools_that_are_given_to_run_are_run_and_usage_is_summed_over_the_calls() -> None:
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    on = await engine()
    wanted = ProviderToolCall(id="k", name="double", arguments={"n": 21})
    provider = Whole(said("", wanted), said("It is 42.", id="call-2"))
    output = await on.run_turn(
        TurnInput(
            conversation_id="c",
            user_messages=[user("m1", "Double 21")],
            provider=provider,
            provider_params=PARAMS,
            tools=[double],
        )
    )
    assert [call.id for call in output.turn.provider_calls] == ["call-1", "call-2"]
    assert output.turn.usage == TokenUsage(input_tokens=20, output_tokens=8)
    assert output.tool_messages is not None
    (results,) = output.tool_messages
    assert results.role == "tool"
    assert results.content == (ToolResultContentPart(name="double", result=42, tool_call_id="k"),)
    assert [message.role for message in output.assistant_messages] == ["assistant", "assistant"]


@asynchronous
async def test_the_context_and_labels_of_a_turn_reach_the_provider_and_the_record() -> None:
    on = await engine()
    provider = Whole(said("x"))
    params = ProviderCallParams(
        metadata=ProviderCallMetadata(
            provider="openai", model="m", extensions={"ai.tool": "none", "mine": 1}
        ),
        tools=(ProviderToolDefinition(name="look", schema={"type": "object"}),),
        tool_choice="auto",
        max_tokens=99,
    )
    context = AgentContext(agent="scorer", labels={"team": "red"})
    output = await on.run_turn(
        TurnInput(
            conversation_id="c",
            user_messages=[user("m1", "Hi")],
            provider=provider,
            provider_params=params,
            agent_context=context,
        )
    )
    (asked,) = provider.asked
    run_id = f"c:{output.turn.id}"
    assert asked.agent_context is not None
    assert (asked.agent_context.agent, asked.agent_context.run_id) == ("scorer", run_id)
    assert asked.agent_context.labels is not None
    assert asked.agent_context.labels.items() >= {("team", "red"), ("conversationId", "c"), ("model", "m")}
    assert (asked.max_tokens, asked.tool_choice, asked.tools) == (99, "auto", params.tools)
    extensions = asked.metadata.extensions or {}
    expected = {"ai.provider": "openai", "ai.model": "m", "ai.operation": "chat", "ai.tenant": "default"}
    assert extensions.items() >= {**expected, "ai.tool": "none", "mine": 1, "correlation.id": run_id}.items()
    assert output.turn.agent_context is not None
    assert output.turn.agent_context.run_id == run_id
    (call,) = output.turn.provider_calls
    assert (call.extensions or {}).items() >= expected.items()


@asynchronous
async def test_the_budget_of_a_turn_is_kept_and_what_was_dropped_is_on_record() -> None:
    on = await engine()
    provider = Whole(*(said(f"answer {n}", id=f"call-{n}") for n in range(3)))
    for number in range(2):
        await on.run_turn(asking(provider, user(f"m{number}", f"question {number}")))
    output = await on.run_turn(
        TurnInput(
            conversation_id="c",
            user_messages=[user("m9", "last")],
            provider=provider,
            provider_params=PARAMS,
            history_budget=HistoryBudget(max_messages=3),
        )
    )
    assert [message.text for message in provider.asked[2].messages] == ["question 1", "answer 1", "last"]
    assert output.turn.metadata is not None
    shown = output.turn.metadata["history"]
    assert shown["truncated"] is True
    assert [message["id"] for message in shown["sent"]][-1] == "m9"
    (drop,) = shown["dropped"]
    assert (drop["reason"], drop["messages"], drop["turns"]) == ("messages", 2, 1)
    assert "budget of messages" in shown["explanation"]


@asynchronous
async def test_a_message_that_no_budget_has_room_for_is_an_error_and_not_sent() -> None:
    on = await engine(history_builder=BudgetedHistoryBuilder(HistoryBudget(max_tokens=10)))
    provider = Whole(said("x"))
    with pytest.raises(HistoryOverBudget, match="tokens"):
        await on.run_turn(asking(provider, user("m1", "word " * 100)))
    assert provider.asked == []
    assert (await on.store.list_turns("c"))[0].status == "failed"


@asynchronous
async def test_what_belongs_elsewhere_is_refused_before_anything_is_written() -> None:
    on = await engine()
    with pytest.raises(ForeignMessage):
        await on.run_turn(asking(Whole(said("x")), user("m1", "Hi", conversation_id="other")))
    assert await on.store.list_messages("c") == []


@asynchronous
async def test_one_turn_of_a_conversation_runs_at_a_time() -> None:
    on = await engine()

    async def meanwhile() -> None:
        with pytest.raises(TurnInProgress):
            await on.run_turn(asking(Whole(said("x")), user("m2", "Me too")))

    output = await on.run_turn(asking(Whole(meanwhile, said("done")), user("m1", "Hi")))
    assert texts(output.assistant_messages) == ["done"]


@asynchronous
async def test_messages_of_ours_are_taken_as_well() -> None:
    on = await engine()
    message = Message(id="m1", role="user", parts=(Text(text="Hi"),))
    provider = Whole(said("x"))
    await on.run_turn(
        TurnInput(conversation_id="c", user_messages=[message], provider=provider, provider_params=PARAMS)
    )
    assert provider.asked[0].messages[0].text == "Hi"


@asynchronous
async def test_a_call_has_the_price_of_its_model_and_an_unknown_model_has_none() -> None:
    on = await engine()
    known = await on.run_turn(asking(Whole(said("x")), user("m1", "Hi")))
    (call,) = known.turn.provider_calls
    assert call.cost is not None
    assert call.cost.amount == Decimal("0.0000105")
    assert known.turn.cost is not None
    assert known.turn.cost.amount == call.cost.amount
    params = ProviderCallParams(metadata=ProviderCallMetadata(provider="mine", model="gpt-5-mini"))
    unknown = await on.run_turn(
        TurnInput(
            conversation_id="c",
            user_messages=[user("m2", "Hi")],
            provider=Whole(said("x")),
            provider_params=params,
        )
    )
    assert unknown.turn.cost is None
    assert unknown.turn.provider_calls[0].cost is None


@asynchronous
async def test_without_a_builder_everything_that_is_there_is_shown() -> None:
    store = InMemoryConversationStore()
    on = DefaultConversationEngine(store=store, create_if_missing=True)
    provider = Whole(*(said(f"a{n}", id=f"call-{n}") for n in range(30)))
    for number in range(30):
        await on.run_turn(asking(provider, user(f"m{number}", f"q{number}")))
    assert len(provider.asked[29].messages) == 59


@asynchronous
async def test_a_conversation_costs_what_its_turns_do_and_what_is_unknown_is_not_nothing() -> None:
    on = await engine()
    assert await on.spent("c") == Spent(turns=0, usage=TokenUsage())
    for number in range(2):
        await on.run_turn(asking(Whole(said("x")), user(f"m{number}", "Hi")))
    spent = await on.spent("c")
    assert (spent.turns, spent.usage) == (2, TokenUsage(input_tokens=20, output_tokens=8))
    assert spent.cost is not None
    assert spent.cost.amount == Decimal("0.000021")
    mine = ProviderCallParams(metadata=ProviderCallMetadata(provider="mine", model="gpt-5-mini"))
    await on.run_turn(structs.replace(asking(Whole(said("x")), user("m2", "Hi")), provider_params=mine))
    spent = await on.spent("c")
    assert (spent.turns, spent.unpriced_turns, spent.cost) == (3, 1, None)
    assert [cost.amount for cost in spent.costs] == [Decimal("0.000021")]
