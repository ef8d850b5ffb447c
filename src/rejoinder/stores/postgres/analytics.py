"""Counting in the database, over the views `turn_facts`, `call_facts` and `tool_facts`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from operator import itemgetter

from rejoinder.convert.escapes import load_text
from rejoinder.ports.analytics import (
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
from rejoinder.stores.postgres.database import Database, Row


class Counting:
    """What turns came to."""

    _database: Database

    async def count_turns(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TurnCounts]:
        return [
            TurnCounts(
                key=key,
                turns=turns,
                succeeded=succeeded,
                failed=failed,
                cancelled=cancelled,
                interrupted=interrupted,
                waiting=waiting,
            )
            for key, turns, succeeded, failed, cancelled, interrupted, waiting in await self._count(
                "count_turns", by, span, tenant
            )
        ]

    async def count_tokens(self, by: By, span: Span, *, tenant: str | None) -> Sequence[TokenCounts]:
        return [
            TokenCounts(
                key=key,
                input=given,
                output=output,
                cache_read=cache_read,
                cache_write=cache_write,
                reasoning=reasoning,
                total=total,
            )
            for key, given, output, cache_read, cache_write, reasoning, total in await self._count(
                "count_tokens", by, span, tenant
            )
        ]

    async def add_up_cost(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Spending]:
        rows = await self._count("add_up_cost", by, span, tenant)
        return spending(
            (key, None if currency is None else load_text(currency), amount, calls)
            for key, currency, amount, calls in rows
        )

    async def measure_latency(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Latency]:
        return [
            Latency(
                key=key,
                turns=turns,
                first_token_p50=first[0],
                first_token_p95=first[1],
                duration_p50=duration[0],
                duration_p95=duration[1],
            )
            for key, turns, first, duration in (
                (key, turns, _whole(first), _whole(duration))
                for key, turns, first, duration in await self._count("measure_latency", by, span, tenant)
            )
        ]

    async def count_tools(self, by: By, span: Span, *, tenant: str | None) -> Sequence[ToolCounts]:
        counts = [
            ToolCounts(
                key=key,
                tool=load_text(tool),
                calls=calls,
                succeeded=succeeded,
                failed=failed,
                denied=denied,
            )
            for key, tool, calls, succeeded, failed, denied in await self._count(
                "count_tools", by, span, tenant
            )
        ]
        return sorted(counts, key=lambda count: (count.key, -count.calls, count.tool))

    async def count_endings(self, by: By, span: Span, *, tenant: str | None) -> Sequence[Endings]:
        counts = [
            Endings(key=key, reason=load_text(reason), turns=turns)
            for key, reason, turns in await self._count("count_endings", by, span, tenant)
        ]
        return sorted(counts, key=lambda count: (count.key, -count.turns, count.reason))

    async def _count(self, query: str, by: By, span: Span, tenant: str | None) -> list[Row]:
        """Rows in the order of their keys, which is that of what stands there, not of how it is stored."""
        first, last = (datetime.combine(day, time(), UTC) for day in span)
        rows = await self._database.ask(query, tenant, first, last + timedelta(days=1), by)
        return sorted([(load_text(row[0]), *row[1:]) for row in rows], key=itemgetter(0))


def _whole(percentiles: Iterable[float | None] | None) -> list[int | None]:
    """Of values of which there are none, PostgreSQL gives no percentiles at all."""
    if percentiles is None:
        return [None, None]
    return [None if value is None else round(value) for value in percentiles]
