"""Counting what lies on the shelves, with the results that the database has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, NamedTuple, TypeVar

from rejoinder.messages import Cost, ToolCall, Usage
from rejoinder.ports.analytics import (
    UNKNOWN,
    By,
    Endings,
    Latency,
    Span,
    Spending,
    TokenCounts,
    ToolCounts,
    TurnCounts,
    spending,
)
from rejoinder.stores.memory.shelf import Shelves
from rejoinder.stores.memory.turn_log import TurnLog

Fact = TypeVar("Fact")

_LIVE: Final = frozenset({"queued", "running"})


class _Where(NamedTuple):
    """What rows can be by."""

    tenant: str
    created_at: datetime
    agent: str | None
    model: str | None

    def key(self, by: By) -> str:
        match by:
            case "day":
                return self.created_at.astimezone(UTC).date().isoformat()
            case "model":
                return UNKNOWN if self.model is None else self.model
            case "agent":
                return UNKNOWN if self.agent is None else self.agent
            case "tenant":
                return self.tenant


class Counting:
    """What turns came to."""

    _shelves: Shelves

    async def count_turns(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TurnCounts]:
        counts: list[TurnCounts] = []
        for key, logs in _grouped(self._turns(span, tenant), by):
            statuses = Counter(log.turn.status for log in logs)
            counts.append(
                TurnCounts(
                    key=key,
                    turns=len(logs),
                    succeeded=statuses["succeeded"],
                    failed=statuses["failed"],
                    cancelled=statuses["cancelled"],
                    interrupted=statuses["interrupted"],
                    waiting=statuses["waiting"],
                )
            )
        return counts

    async def count_tokens(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TokenCounts]:
        counts: list[TokenCounts] = []
        for key, calls in _grouped(self._calls(span, tenant), by):
            usages = [usage or Usage() for usage, _ in calls]
            counts.append(
                TokenCounts(
                    key=key,
                    input=sum(usage.input_tokens or 0 for usage in usages),
                    output=sum(usage.output_tokens or 0 for usage in usages),
                    cache_read=sum(usage.cache_read_tokens or 0 for usage in usages),
                    cache_write=sum(usage.cache_write_tokens or 0 for usage in usages),
                    reasoning=sum(usage.reasoning_tokens or 0 for usage in usages),
                    total=sum(usage.total or 0 for usage in usages),
                )
            )
        return counts

    async def add_up_cost(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Spending]:
        sums: list[tuple[str, str | None, Decimal, int]] = []
        for key, calls in _grouped(self._calls(span, tenant), by):
            amounts: dict[str | None, list[Decimal]] = {}
            for usage, cost in calls:
                if cost is not None:
                    amounts.setdefault(cost.currency, []).append(cost.amount)
                elif usage not in (None, Usage()):
                    amounts.setdefault(None, []).append(Decimal(0))
            for currency, each in amounts.items():
                sums.append((key, currency, sum(each, Decimal(0)), len(each)))
        return spending(sums)

    async def measure_latency(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Latency]:
        rows: list[Latency] = []
        for key, logs in _grouped(self._turns(span, tenant), by):
            durations = [_ms(log, log.turn.finished_at) for log in logs if log.turn.finished_at is not None]
            firsts = [_ms(log, _first_token_at(log)) for log in logs if log.turn.finished_at is not None]
            if durations:
                rows.append(
                    Latency(
                        key=key,
                        turns=len(durations),
                        first_token_p50=_percentile(firsts, 0.5),
                        first_token_p95=_percentile(firsts, 0.95),
                        duration_p50=_percentile(durations, 0.5),
                        duration_p95=_percentile(durations, 0.95),
                    )
                )
        return rows

    async def count_tools(self, by: By, span: Span, *, tenant: str | None) -> Sequence[ToolCounts]:
        rows: list[ToolCounts] = []
        for key, calls in _grouped(self._tools(span, tenant), by):
            names = Counter(call.name for call in calls)
            states = Counter((call.name, call.state) for call in calls)
            for name, count in sorted(names.items(), key=lambda item: (-item[1], item[0])):
                rows.append(
                    ToolCounts(
                        key=key,
                        tool=name,
                        calls=count,
                        succeeded=states[name, "output-available"],
                        failed=states[name, "output-error"],
                        denied=states[name, "output-denied"],
                    )
                )
        return rows

    async def count_endings(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Endings]:
        rows: list[Endings] = []
        for key, logs in _grouped(self._turns(span, tenant), by):
            reasons = Counter(_reason(log) for log in logs if log.turn.status not in _LIVE)
            for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
                rows.append(Endings(key=key, reason=reason, turns=count))
        return rows

    def _turns(self, span: Span, tenant: str | None) -> Iterator[tuple[_Where, TurnLog]]:
        for (owner, _), log in self._shelves.logs.items():
            where = _where(owner, log)
            if tenant in (None, owner) and _is_within(where, span):
                yield where, log

    def _calls(
        self, span: Span, tenant: str | None
    ) -> Iterator[tuple[_Where, tuple[Usage | None, Cost | None]]]:
        for where, log in self._turns(span, tenant):
            for call in log.provider_calls:
                yield where._replace(model=call.model), (call.usage, call.cost)
            if not log.provider_calls and (log.turn.usage not in (None, Usage()) or log.turn.cost):
                yield where, (log.turn.usage, log.turn.cost)

    def _tools(self, span: Span, tenant: str | None) -> Iterator[tuple[_Where, ToolCall]]:
        for owner, shelf in self._shelves.all():
            for stored in shelf.tree if tenant in (None, owner) else ():
                at = stored.message.created_at
                assert at is not None, "what is stored has a time"
                log = self._shelves.logs.get((owner, stored.turn_id or ""))
                where = _Where(owner, at, None, None)
                if log is not None:
                    where = _where(owner, log)._replace(created_at=at)
                for part in stored.message.parts if _is_within(where, span) else ():
                    if isinstance(part, ToolCall):
                        yield where, part


def _where(tenant: str, log: TurnLog) -> _Where:
    model = log.provider_calls[0].model if log.provider_calls else None
    return _Where(tenant, log.turn.created_at, log.turn.agent, model)


def _is_within(where: _Where, span: Span) -> bool:
    return span[0] <= where.created_at.astimezone(UTC).date() <= span[1]


def _grouped(facts: Iterator[tuple[_Where, Fact]], by: By) -> list[tuple[str, list[Fact]]]:
    groups: dict[str, list[Fact]] = {}
    for where, fact in facts:
        groups.setdefault(where.key(by), []).append(fact)
    return sorted(groups.items(), key=_key_of)


def _key_of(item: tuple[str, object]) -> str:
    return item[0]


def _first_token_at(log: TurnLog) -> datetime | None:
    times = (call.first_token_at for call in log.provider_calls)
    return min((time for time in times if time is not None), default=None)


def _ms(log: TurnLog, moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return (moment - (log.turn.started_at or log.turn.created_at)).total_seconds() * 1000


def _reason(log: TurnLog) -> str:
    error = log.turn.error
    if log.turn.status == "failed" and error is not None and error.code is not None:
        return f"failed: {error.code}"
    return log.turn.status


def _percentile(values: Sequence[float | None], share: float) -> int | None:
    """The value that so many lie below, between two of them if need be."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    place = share * (len(known) - 1)
    low = int(place)
    high = min(low + 1, len(known) - 1)
    return round(known[low] + (known[high] - known[low]) * (place - low))
