"""Numbers as a person reads them: they fit the terminal, and the bars are those of what the table is about."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from rich.console import Console

from rejoinder.cli.stat_tables import show
from rejoinder.ports.analytics import (
    By,
    Endings,
    Latency,
    Row,
    Span,
    Spending,
    TokenCounts,
    ToolCounts,
    TurnCounts,
)

SPAN: Span = (date(2025, 11, 18), date(2025, 11, 20))

TURNS = TurnCounts(
    key="2025-11-18", turns=1643, succeeded=1480, failed=110, cancelled=50, interrupted=3, waiting=0
)
TOKENS = TokenCounts(
    key="2025-11-18",
    input=8_292_806,
    output=791_786,
    cache_read=4_680_000,
    cache_write=468_000,
    reasoning=99_999,
    total=9_084_592,
)
LATENCY = Latency(key="2025-11-18", turns=7, first_token_p50=367, duration_p50=7414, duration_p95=126_063)


def shown(rows: list[Row], *, by: By = "day", width: int = 80) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as captured:
        show(console, by, SPAN, rows)
    return captured.get()


@pytest.mark.parametrize("width", [80, 120, 300])
@pytest.mark.parametrize("row", [TURNS, TOKENS, LATENCY])
def test_a_table_fits_and_has_a_bar(row: Row, width: int) -> None:
    text = shown([row, row], width=width)
    assert "…" not in text
    assert "██████" in text
    assert max(map(len, text.splitlines())) <= width


def test_large_numbers_are_short_and_small_ones_exact() -> None:
    text = shown([TOKENS])
    assert "8.29 M" in text
    assert "792 k" in text
    assert "99,999" in text
    assert "56 %" in text  # of the input came from the cache
    (total,) = [line for line in shown([TURNS, TURNS]).splitlines() if line.startswith("all")]
    assert total.split() == ["all", "3,286", "2,960", "220", "100", "6", "0"]


def test_times_have_units_and_what_nobody_knows_is_no_number() -> None:
    assert shown([LATENCY]).splitlines()[-2].split("█")[0].split() == [
        *("2025-11-18", "7", "367", "ms", "–", "7.4", "s", "2.1", "min")
    ]


def test_the_bars_of_cost_are_those_of_the_amount() -> None:
    rows: list[Row] = [
        Spending(key="dear", amount=Decimal("60.5317"), currency="USD", unpriced_calls=0),
        Spending(key="cheap", amount=Decimal("0.0021"), currency="USD", unpriced_calls=9000),
    ]
    dear, cheap, total = shown(rows, by="agent").splitlines()[2:5]
    assert dear.count("█") == 32
    assert cheap.count("█") == 0
    assert "0.0021 USD" in cheap
    assert "60.53 USD" in total


def test_tools_of_days_are_one_row_each_with_a_trend_and_the_rate_of_success() -> None:
    rows: list[Row] = [
        ToolCounts(key=f"2025-11-{day}", tool=tool, calls=calls, succeeded=calls - 1, failed=1, denied=0)
        for day, tool, calls in (("18", "look", 4), ("20", "look", 8), ("20", "write", 2))
    ]
    look, write = shown(rows).splitlines()[2:4]
    assert look.split("█")[0].split()[:7] == ["look", "12", "83", "%", "2", "0", "▄"]
    assert write.split()[:4] == ["write", "2", "50", "%"]


def test_endings_of_agents_are_shares_of_their_turns() -> None:
    rows: list[Row] = [
        Endings(key="one", reason="succeeded", turns=999),
        Endings(key="one", reason="failed: provider", turns=1),
        Endings(key="two", reason="failed: provider", turns=5),
    ]
    text = shown(rows, by="agent")
    assert "0.1 %" in text
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["one", "failed:", "two"]
