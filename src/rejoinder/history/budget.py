"""How much a model may be shown."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from rejoinder.errors import RejoinderError

_Number = TypeVar("_Number", int, float)


class HistoryOverBudget(RejoinderError):
    """What a model must be shown in any case is more than the budget allows: nothing is sent. Raise the budget, unpin
    messages, or say less.
    """

    code = "history-over-budget"


class HistoryBudget(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Limits, all of which hold; None is no limit. Messages, characters and tokens count the new messages too.

    `max_turns` is how many turns are shown before the new messages. `reserve_output_tokens` are kept free out of
    `max_tokens` for the answer. `max_cost_cents` is what the history may cost to send, for builders that know a price.
    Raises `ValueError` for less than nothing.
    """

    max_messages: int | None = None
    max_turns: int | None = None
    max_chars: int | None = None
    max_tokens: int | None = None
    reserve_output_tokens: int = 0
    max_cost_cents: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name}={value}: a budget is not less than nothing")


def tighter(one: HistoryBudget | None, other: HistoryBudget | None) -> HistoryBudget:
    """The budget that keeps both."""
    one, other = one or HistoryBudget(), other or HistoryBudget()
    return HistoryBudget(
        max_messages=_least(one.max_messages, other.max_messages),
        max_turns=_least(one.max_turns, other.max_turns),
        max_chars=_least(one.max_chars, other.max_chars),
        max_tokens=_least(one.max_tokens, other.max_tokens),
        reserve_output_tokens=max(one.reserve_output_tokens, other.reserve_output_tokens),
        max_cost_cents=_least(one.max_cost_cents, other.max_cost_cents),
    )


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
