"""What turns came to, in numbers: how many, how long, how much, by day, model, agent or tenant.

A store that can say so is an `Analytics`. Days are those of UTC. A turn belongs to the day on which it was created,
a tool call to that of its message. The model of a turn, and of a tool call in it, is the one of its first call of a
model; tokens and cost are those of each call, or of the turn where no call is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

By: TypeAlias = Literal["day", "model", "agent", "tenant"]

UNKNOWN: Final = "unknown"
"""The key of what nobody told: a turn without an agent, a call without a model."""

USD: Final = "USD"
"""The currency of a cost of nothing."""


class Row(Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of a measure. `key` is a day as 2026-11-19, or the name of a model, an agent or a tenant."""

    key: str


class TurnCounts(Row, frozen=True, kw_only=True):
    """How many turns began, and how they ended. Those that are live are in `turns` only."""

    turns: int
    succeeded: int
    failed: int
    cancelled: int
    interrupted: int
    waiting: int


class TokenCounts(Row, frozen=True, kw_only=True):
    """What was consumed, as far as the providers told. Input contains what came from the cache and went to it."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    total: int


class Spending(Row, frozen=True, kw_only=True):
    """What that cost, a row a currency, and how many calls consumed something whose price nobody knew."""

    amount: Decimal
    currency: str
    unpriced_calls: int


class Latency(Row, frozen=True, kw_only=True):
    """How long the turns took that have ended, in milliseconds since they were started; None where nobody knows."""

    turns: int
    first_token_p50: int | None = None
    first_token_p95: int | None = None
    duration_p50: int | None = None
    duration_p95: int | None = None


class ToolCounts(Row, frozen=True, kw_only=True):
    """How often a tool was called, and what came of it. Calls without an outcome are in `calls` only."""

    tool: str
    calls: int
    succeeded: int
    failed: int
    denied: int


class Endings(Row, frozen=True, kw_only=True):
    """Why turns ended: their status, and for one that failed the code of its error (`failed: provider`)."""

    reason: str
    turns: int


Span: TypeAlias = tuple[date, date]
"""From the first day to the last one, both included."""


@runtime_checkable
class Analytics(Protocol):
    """A store that counts. `tenant` None is all tenants together. Rows come in the order of their keys."""

    async def count_turns(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TurnCounts]:
        """How many turns."""
        ...

    async def count_tokens(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TokenCounts]:
        """How many tokens."""
        ...

    async def add_up_cost(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Spending]:
        """How much money."""
        ...

    async def measure_latency(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Latency]:
        """How long."""
        ...

    async def count_tools(self, by: By, span: Span, *, tenant: str | None) -> Sequence[ToolCounts]:
        """Which tools, those with the most calls first."""
        ...

    async def count_endings(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Endings]:
        """Why they ended, the most frequent reason first."""
        ...


def spending(rows: Iterable[tuple[str, str | None, Decimal, int]]) -> list[Spending]:
    """Spending of sums by key and currency, those of a key together; without a currency: of calls without price."""
    found: list[Spending] = []
    for key, group in groupby(rows, key=lambda row: row[0]):
        sums = list(group)
        unpriced = sum(calls for _, currency, _, calls in sums if currency is None)
        priced = sorted((currency, amount) for _, currency, amount, _ in sums if currency is not None)
        for place, (currency, amount) in enumerate(priced or [(USD, Decimal(0))]):
            found.append(
                Spending(key=key, amount=amount, currency=currency, unpriced_calls=0 if place else unpriced)
            )
    return found


Measure: TypeAlias = Literal["turns", "tokens", "cost", "latency", "tools", "endings"]

MEASURES: Final[tuple[Measure, ...]] = ("turns", "tokens", "cost", "latency", "tools", "endings")


async def measured(
    analytics: Analytics, measure: Measure, by: By, span: Span, *, tenant: str | None
) -> Sequence[Row]:
    """The rows of a measure by its name."""
    count = {
        "turns": analytics.count_turns,
        "tokens": analytics.count_tokens,
        "cost": analytics.add_up_cost,
        "latency": analytics.measure_latency,
        "tools": analytics.count_tools,
        "endings": analytics.count_endings,
    }[measure]
    return await count(by, span, tenant=tenant)
