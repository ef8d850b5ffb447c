"""What holds of every history: order, the new message, the budget, whole calls, and more for a larger budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rejoinder.history.budget import HistoryBudget, HistoryOverBudget
from rejoinder.history.choice import Choice, Known, choose, lasts
from rejoinder.history.tokens import CalibratedCounter, TextTokenCounter, TokenCounter, characters_of
from rejoinder.messages import Message, Text
from tests.history.conversations import conversations, dangling, placed
from tests.scale import scale

NEW = Message(id="new", role="user", parts=(Text(text="And now?"),))
COUNTERS: list[TokenCounter] = [CalibratedCounter(), CalibratedCounter(1.7), TextTokenCounter(len)]

limits = st.none() | st.integers(0, 40)
budgets = st.builds(
    HistoryBudget,
    max_messages=limits,
    max_turns=limits,
    max_chars=st.none() | st.integers(0, 6_000),
    max_tokens=st.none() | st.integers(0, 3_000),
    reserve_output_tokens=st.integers(0, 50),
)
examples = settings(max_examples=scale(150, 3_000), deadline=None)


def chosen(said: Sequence[Message], budget: HistoryBudget, counter: TokenCounter) -> Choice | None:
    """What is shown of it; nothing where the budget has no room for what must be shown."""
    try:
        return choose(Known(read=placed(said), new=(NEW,)), budget=budget, counter=counter)
    except HistoryOverBudget:
        return None


def ids(choice: Choice) -> list[str]:
    return [message.id for message in choice.messages]


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_a_history_is_in_order_and_ends_with_what_is_new(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen(said, budget, counter)
    if choice is not None:
        order = [message.id for message in (*said, NEW)]
        assert ids(choice) == sorted(ids(choice), key=order.index)
        assert len(set(ids(choice))) == len(ids(choice))
        assert choice.messages[-1] == NEW
        assert not choice.needs_more


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_a_history_keeps_its_budget_by_the_counter_that_was_given(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen(said, budget, counter)
    if choice is not None:
        tokens = sum(map(counter.count, choice.messages))
        assert choice.tokens == tokens
        assert budget.max_messages is None or len(choice.messages) <= budget.max_messages
        assert budget.max_chars is None or sum(map(characters_of, choice.messages)) <= budget.max_chars
        assert budget.max_tokens is None or tokens <= budget.max_tokens - budget.reserve_output_tokens
        assert budget.max_turns is None or choice.turns <= budget.max_turns


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_what_must_be_shown_is_shown_or_nothing_is(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen(said, budget, counter)
    must = [message for message in said if lasts(message)]
    if choice is not None:
        assert all(message in choice.messages for message in must)
    else:
        alone = Known(read=placed(must), new=(NEW,))
        with pytest.raises(HistoryOverBudget):
            choose(alone, budget=budget, counter=counter)


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_no_call_is_shown_without_its_result_nor_a_result_without_its_call(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen(said, budget, counter)
    if choice is not None:
        assert dangling(choice.messages) == []


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_a_history_begins_with_what_the_user_said(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen([message for message in said if not lasts(message)], budget, counter)
    assert choice is None or choice.messages[0].role == "user"


@examples
@given(conversations(), budgets, budgets, st.sampled_from(COUNTERS))
def test_a_larger_budget_shows_all_that_a_smaller_one_does(
    said: list[Message], one: HistoryBudget, other: HistoryBudget, counter: TokenCounter
) -> None:
    small = chosen(said, one, counter)
    fields = ("max_messages", "max_turns", "max_chars", "max_tokens")
    bounds = {name: (getattr(one, name), getattr(other, name)) for name in fields}
    larger = HistoryBudget(
        **{name: None if None in pair else max(pair) for name, pair in bounds.items()},
        reserve_output_tokens=min(one.reserve_output_tokens, other.reserve_output_tokens),
    )
    large = chosen(said, larger, counter)
    if small is not None:
        assert large is not None
        assert set(ids(small)) <= set(ids(large))
        for message in small.messages:
            shown = next(each for each in large.messages if each.id == message.id)
            assert characters_of(shown) >= characters_of(message)


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_the_same_conversation_gives_the_same_history(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    copy = [structs.replace(message, parts=tuple(message.parts)) for message in said]
    assert chosen(said, budget, counter) == chosen(copy, budget, counter)


@examples
@given(conversations(), budgets, st.sampled_from(COUNTERS))
def test_every_message_is_shown_or_said_to_be_dropped(
    said: list[Message], budget: HistoryBudget, counter: TokenCounter
) -> None:
    choice = chosen(said, budget, counter)
    if choice is not None:
        assert len(choice.messages) - 1 + sum(drop.messages for drop in choice.drops) == len(said)


@examples
@given(conversations(), budgets, st.integers(0, 30))
def test_what_is_chosen_of_the_newest_messages_is_chosen_of_all_or_more_is_asked_for(
    said: list[Message], budget: HistoryBudget, unread: int
) -> None:
    counter = CalibratedCounter()
    everything = chosen(said, budget, counter)
    lasting = tuple(each for each in placed(said) if lasts(each.message))
    known = Known(
        read=placed(said)[unread:], new=(NEW,), lasting=lasting, more=unread > 0 and unread < len(said)
    )
    if everything is not None and unread < len(said):
        part = choose(known, budget=budget, counter=counter)
        assert part.needs_more or part.messages == everything.messages
