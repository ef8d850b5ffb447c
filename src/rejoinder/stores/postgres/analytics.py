"""Counting in the database, over the views `turn_days`, `call_days` and `tool_days`.

Days that are over are counted once, by whoever asks for them first. What is written into such a day later makes it
one to count again: a trigger sees to that.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
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
from rejoinder.ports.journal import StoreMisconfigured
from rejoinder.stores.postgres.database import Database, Row


class Counting:
    """What turns came to."""

    _database: Database
    _tallying: asyncio.Lock

    async def tally_days(self, span: Span, *, told: Callable[[int, int], None] | None = None) -> int:
        """Count the days of the span that are over and were not counted yet, each in a transaction of its own.

        `told` hears how many are done, and of how many. Answers how many there were. Counting does this by itself:
        call it to know how far it is, the first time, in a large database.
        """
        async with self._tallying:
            rows = await self._database.ask("days_to_tally", *_moments(span))
            for done, (day,) in enumerate(rows):
                if told is not None:
                    told(done, len(rows))
                await self._database.run(("lock_day", (day,)), ("tally_day", (day,)))
            if told is not None:
                told(len(rows), len(rows))
        return len(rows)

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
        # Whoever may only read counts all of it each time.
        with contextlib.suppress(StoreMisconfigured):
            await self.tally_days(span)
        _, rows = await self._database.run(("have_room_to_sort", ()), (query, (tenant, *_moments(span), by)))
        return sorted([(load_text(row[0]), *row[1:]) for row in rows], key=itemgetter(0))


def _moments(span: Span) -> list[datetime]:
    return [_moment(day) for day in span]


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _whole(percentiles: Iterable[float | None] | None) -> list[int | None]:
    """Of values of which there are none, PostgreSQL gives no percentiles at all."""
    if percentiles is None:
        return [None, None]
    return [None if value is None else round(value) for value in percentiles]
