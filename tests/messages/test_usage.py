"""Usage adds up, and what nobody told stays unknown."""

from __future__ import annotations

from decimal import Decimal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.messages import Cost, Usage

tokens = st.none() | st.integers(0, 10**9)
usages = st.builds(
    Usage,
    input_tokens=tokens,
    output_tokens=tokens,
    total_tokens=tokens,
    cache_read_tokens=tokens,
    cache_write_tokens=tokens,
    reasoning_tokens=tokens,
)


@given(usages, usages, usages)
def test_the_order_of_adding_does_not_matter(one: Usage, two: Usage, three: Usage) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)


@given(usages)
def test_a_call_that_tells_nothing_adds_nothing(usage: Usage) -> None:
    assert usage + Usage() == usage


def test_what_no_call_has_told_stays_unknown() -> None:
    added = Usage(input_tokens=1, output_tokens=2) + Usage(input_tokens=10, reasoning_tokens=0)
    assert added == Usage(input_tokens=11, output_tokens=2, reasoning_tokens=0)
    assert added.total == 13
    assert Usage().total is None


def test_a_total_that_one_provider_tells_and_another_does_not_is_whole() -> None:
    added = Usage(input_tokens=1, output_tokens=2) + Usage(input_tokens=3, output_tokens=4, total_tokens=9)
    assert added.total_tokens == 12


def test_a_cost_is_exact_in_json() -> None:
    cost = Cost(amount=Decimal("0.1") + Decimal("0.2"))
    assert msgspec.json.decode(msgspec.json.encode(cost), type=Cost) == Cost(amount=Decimal("0.3"))
