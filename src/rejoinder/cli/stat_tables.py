"""The numbers of `rejoinder stats` as a person reads them: tables that fit the terminal, with bars and trends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table

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

BAR_CELLS_MAX: Final = 32
BAR_CELLS_MIN: Final = 6
ROWS_MAX: Final = 20
"""So many tools or endings are shown, those with the most first: a table that scrolls away is not read."""

WHOLE_MAX: Final = 100_000
"""Larger numbers are rounded to three places: `--json` has them exactly."""

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_GOOD, _BAD, _ENDED, _OTHER = "green", "red", "yellow", "bright_black"


class Bar(NamedTuple):
    """A bar of pieces one behind the other, as wide as there is room, in relation to the longest one."""

    pieces: tuple[tuple[float, str], ...]
    most: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As many cells of each piece as are its share."""
        cells = min(options.max_width, BAR_CELLS_MAX)
        drawn, total = 0, 0.0
        for value, color in self.pieces:
            total += value
            end = round(cells * total / self.most) if self.most else 0
            yield Segment("█" * (end - drawn), Style(color=color))
            drawn = end

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """What is left over is enough, if it can be seen."""
        return Measurement(BAR_CELLS_MIN, BAR_CELLS_MAX)


class Column(NamedTuple):
    """A column with its cells, and what stands below it."""

    name: str
    cells: Sequence[RenderableType]
    below: str = ""
    left: bool = False


def show(console: Console, by: By, span: Span, rows: Sequence[Row]) -> None:
    """Print the rows of one measure, of which there is at least one."""
    keys = Column(by, [row.key for row in rows], "all" if len(rows) > 1 else "", left=True)
    match rows[0]:
        case TurnCounts():
            _print(console, "turns", keys, *_turns([row for row in rows if isinstance(row, TurnCounts)]))
        case TokenCounts():
            _print(console, "tokens", keys, *_tokens([row for row in rows if isinstance(row, TokenCounts)]))
        case Spending():
            _print(console, "cost", keys, *_cost([row for row in rows if isinstance(row, Spending)]))
        case Latency():
            # Percentiles of days do not add up to one of all days.
            keys = keys._replace(below="")
            _print(console, "latency", keys, *_latency([row for row in rows if isinstance(row, Latency)]))
        case ToolCounts():
            tools = [row for row in rows if isinstance(row, ToolCounts)]
            _print(console, "tools", *_tools(tools, by, span))
        case Endings():
            endings = [row for row in rows if isinstance(row, Endings)]
            _print(console, "endings", *_endings(endings, by, span))
        case _:
            raise TypeError(f"no table is known for {type(rows[0]).__name__}")


def _print(console: Console, title: str, *columns: Column) -> None:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold underline",
        header_style="bright_black",
        footer_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1),
        show_footer=any(column.below for column in columns),
    )
    for column in columns:
        table.add_column(
            column.name, column.below, justify="left" if column.left else "right", no_wrap=not column.left
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    console.print(table)
    console.print()


def _turns(rows: Sequence[TurnCounts]) -> list[Column]:
    def column(name: str, values: Sequence[int]) -> Column:
        return Column(name, [_number(value) for value in values], _below(values))

    most = max(row.turns for row in rows)
    bars = [
        Bar(
            (
                (row.succeeded, _GOOD),
                (row.failed, _BAD),
                (row.cancelled + row.interrupted, _ENDED),
                (row.turns - row.succeeded - row.failed - row.cancelled - row.interrupted, _OTHER),
            ),
            most,
        )
        for row in rows
    ]
    return [
        column("turns", [row.turns for row in rows]),
        column("succeeded", [row.succeeded for row in rows]),
        column("failed", [row.failed for row in rows]),
        column("cancelled", [row.cancelled for row in rows]),
        column("interrupted", [row.interrupted for row in rows]),
        column("waiting", [row.waiting for row in rows]),
        Column("", bars, left=True),
    ]


def _tokens(rows: Sequence[TokenCounts]) -> list[Column]:
    def column(name: str, values: Sequence[int]) -> Column:
        return Column(name, [_number(value) for value in values], _below(values))

    given, cached = [row.input for row in rows], [row.cache_read for row in rows]
    most = max(row.total for row in rows)
    return [
        column("total", [row.total for row in rows]),
        column("input", given),
        Column(
            "from cache",
            [_share(part, whole) for part, whole in zip(cached, given, strict=True)],
            _share(sum(cached), sum(given)) if len(rows) > 1 else "",
        ),
        column("to cache", [row.cache_write for row in rows]),
        column("output", [row.output for row in rows]),
        column("reasoning", [row.reasoning for row in rows]),
        Column(
            "",
            [Bar(((row.total - row.output, "cyan"), (row.output, "blue")), most) for row in rows],
            left=True,
        ),
    ]


def _cost(rows: Sequence[Spending]) -> list[Column]:
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    most: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        sums[row.currency] += row.amount
        most[row.currency] = max(most[row.currency], float(row.amount))
    columns = [
        Column(
            "cost",
            [f"{_money(row.amount)} {row.currency}" for row in rows],
            "\n".join(f"{_money(amount)} {currency}" for currency, amount in sorted(sums.items()))
            if len(rows) > 1
            else "",
        ),
        Column("", [Bar(((float(row.amount), "cyan"),), most[row.currency]) for row in rows], left=True),
    ]
    unpriced = [row.unpriced_calls for row in rows]
    if any(unpriced):
        told = Column("calls without a price", [_number(count) for count in unpriced], _below(unpriced))
        columns.insert(1, told)
    return columns


def _latency(rows: Sequence[Latency]) -> list[Column]:
    most = max(row.duration_p95 or 0 for row in rows)
    bars = [
        Bar(
            (
                (row.first_token_p50 or 0, "blue"),
                ((row.duration_p50 or 0) - (row.first_token_p50 or 0), "cyan"),
                ((row.duration_p95 or 0) - (row.duration_p50 or 0), _OTHER),
            ),
            most,
        )
        for row in rows
    ]
    return [
        Column("turns", [_number(row.turns) for row in rows]),
        Column("first token p50", [_time(row.first_token_p50) for row in rows]),
        Column("p95", [_time(row.first_token_p95) for row in rows]),
        Column("whole turn p50", [_time(row.duration_p50) for row in rows]),
        Column("p95", [_time(row.duration_p95) for row in rows]),
        Column("", bars, left=True),
    ]


def _tools(rows: Sequence[ToolCounts], by: By, span: Span) -> list[Column]:
    """A row for each tool; by day with a trend, for a row each day for each tool would be read by nobody."""
    groups = _grouped(rows, by, [row.tool for row in rows])
    sums = [
        tuple(
            sum(counts)
            for counts in zip(*((r.calls, r.succeeded, r.failed, r.denied) for r in group), strict=True)
        )
        for _, group in groups
    ]
    most = max(calls for calls, *_ in sums)
    bars = [
        Bar(((good, _GOOD), (bad, _BAD), (denied, _ENDED), (calls - good - bad - denied, _OTHER)), most)
        for calls, good, bad, denied in sums
    ]
    return [
        *_keys([names for names, _ in groups], by, "tool"),
        Column("calls", [_number(calls) for calls, *_ in sums]),
        # Of those with an outcome: a call that waits has not failed.
        Column("succeeded", [_share(good, good + bad + denied) for _, good, bad, denied in sums]),
        Column("failed", [_number(bad) for _, _, bad, _ in sums]),
        Column("denied", [_number(denied) for *_, denied in sums]),
        *_trends([[(row.key, row.calls) for row in group] for _, group in groups], by, span),
        Column("", bars, left=True),
    ]


def _endings(rows: Sequence[Endings], by: By, span: Span) -> list[Column]:
    groups = _grouped(rows, by, [row.reason for row in rows])
    sums = [sum(row.turns for row in group) for _, group in groups]
    all_of: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        all_of["" if by == "day" else row.key] += row.turns
    return [
        *_keys([names for names, _ in groups], by, "ending"),
        Column("turns", [_number(count) for count in sums]),
        Column(
            "share",
            [
                _share(count, all_of["" if by == "day" else key])
                for count, ((key, _), _) in zip(sums, groups, strict=True)
            ],
        ),
        *_trends([[(row.key, row.turns) for row in group] for _, group in groups], by, span),
        Column("", [Bar(((count, "cyan"),), max(sums)) for count in sums], left=True),
    ]


def _grouped(rows: Sequence[Any], by: By, names: Iterable[str]) -> list[tuple[tuple[str, str], list[Any]]]:
    """Rows of one name together: of all days, or of one key. Those with the most come first."""
    groups: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for row, name in zip(rows, names, strict=True):
        groups["" if by == "day" else row.key, name].append(row)
    if by != "day":
        return list(groups.items())
    ordered = sorted(groups.items(), key=lambda group: -sum(_size(row) for row in group[1]))
    return ordered[:ROWS_MAX]


def _size(row: ToolCounts | Endings) -> int:
    return row.calls if isinstance(row, ToolCounts) else row.turns


def _keys(names: Sequence[tuple[str, str]], by: By, what: str) -> list[Column]:
    found = [Column(what, [name for _, name in names], left=True)]
    if by == "day":
        return found
    before = ["", *(key for key, _ in names)]
    keys = ["" if key == last else key for (key, _), last in zip(names, before, strict=False)]
    return [Column(by, keys, left=True), *found]


def _trends(groups: Sequence[Sequence[tuple[str, int]]], by: By, span: Span) -> list[Column]:
    """How it went from the first day to the last, in as many signs as fit."""
    if by != "day":
        return []
    days = [span[0] + timedelta(days=n) for n in range((span[1] - span[0]).days + 1)]
    return [Column("by day", [_trend(dict(group), days) for group in groups], left=True)]


def _trend(counts: dict[str, int], days: Sequence[date]) -> str:
    together = -(-len(days) // BAR_CELLS_MAX)
    values = [
        sum(counts.get(day.isoformat(), 0) for day in days[first : first + together])
        for first in range(0, len(days), together)
    ]
    most = max(values)
    return "".join(" " if not value else _LEVELS[value * (len(_LEVELS) - 1) // most] for value in values)


def _below(values: Sequence[int]) -> str:
    return _number(sum(values)) if len(values) > 1 else ""


def _number(value: int) -> str:
    """As it is, or with three places: `9.08 M`."""
    if value < WHOLE_MAX:
        return f"{value:,}"
    power = (len(f"{float(f'{value:.2e}'):.0f}") - 1) // 3
    scaled = value / 1000**power
    return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f} {' kMGTPE'[power]}"


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole if whole else 0
    return f"{percent:.{0 if percent >= 9.95 or not part else 1}f} %" if whole else "–"


def _money(amount: Decimal) -> str:
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.4f}"


def _time(ms: int | None) -> str:
    if ms is None:
        return "–"
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.1f} min"
