"""What was measured, where and when, as docs/benchmarks.json keeps it; and the page that is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from bench.rows import OURS, Row

SIZES_MIN = 3
"""From so many sizes on, a table is a plot."""


WORDS_A_SECOND = 50
"""How fast a quick model speaks."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark: when it ran, how it was called, how busy the machine was, and what it told."""

    day: str
    commands: list[str]
    load: str
    rows: list[Row]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """All benchmarks that have been run, with the machine and the versions of the last run."""

    machine: dict[str, str] = {}
    versions: dict[str, str] = {}
    benches: dict[str, Measured] = {}


def slug(table: str) -> str:
    """A table as part of the name of a file."""
    return re.sub(r"\W+", "-", table.lower()).strip("-")


def grown(rows: Sequence[Row], table: str) -> list[Row]:
    """The rows of a table that stand on an axis, if they are enough for a plot."""
    found = [row for row in rows if row.table == table and row.at is not None]
    return found if len({row.at for row in found}) >= SIZES_MIN else []


def number(value: float) -> str:
    """Three digits say what a benchmark knows."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def times(row: Row, ours: Row | None) -> str:
    """How many times as good we are; nothing for ourselves, or where there is nothing to divide by."""
    if ours is None or row is ours or not row.value or not ours.value:
        return ""
    ratio = ours.value / row.value if row.more_is_better else row.value / ours.value
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def tables(measured: Measured) -> Iterator[str]:
    """The tables of one benchmark, each with its plot."""
    for table in dict.fromkeys(row.table for row in measured.rows):
        rows = [row for row in measured.rows if row.table == table]
        yield f"### {table}\n\n| | | | we are |\n| --- | --- | ---: | ---: |\n" + "".join(_lines(rows))
        if grown(rows, table):
            yield f"![{table}: how it grows](pictures/bench-{slug(table)}.svg)\n"


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for line in dict.fromkeys(row.line for row in rows):
        of_line = [row for row in rows if row.line == line]
        ours = next((row for row in of_line if row.who == OURS), None)
        for place, row in enumerate(of_line):
            yield f"| {'' if place else line} | {row.who} | {number(row.value)} {row.unit} | {times(row, ours)} |\n"


def capacity(results: Results) -> Iterator[str]:
    """What one processor carries, from what was measured of the largest number of streams."""
    rows = results.benches["serve"].rows if "serve" in results.benches else []
    largest = max((row.at or 0 for row in rows), default=0)
    measured = {(row.who, row.table): row.value for row in rows if row.at == largest}
    lines = list[str]()
    for who in dict.fromkeys(row.who for row in rows if row.who.startswith(OURS)):
        paced = next(
            (value for (name, table), value in measured.items() if name == who and "paced" in table), None
        )
        held = next(
            (value for (name, table), value in measured.items() if name == who and "silent" in table), None
        )
        if paced is not None and held is not None:
            streams = int(paced / WORDS_A_SECOND) // 10 * 10
            lines.append(f"| {who} | {number(paced)} | {streams:,} | {number(held * 1000 / 1024)} MiB |\n")
    if lines:
        yield _CAPACITY + "".join(lines)


def page(results: Results) -> str:
    """docs/benchmarks.md."""
    machine = "".join(
        f"| {name} | {value} |\n" for name, value in {**results.machine, **results.versions}.items()
    )
    parts = [_HEAD.format(machine=machine), *capacity(results)]
    for name, measured in results.benches.items():
        commands = "\n".join(measured.commands)
        parts.append(f"## {name}\n\n{_SAYS.get(name, '')}\n\nOn {measured.day}; {measured.load}.\n")
        parts.append(f"```sh\n{commands}\n```\n")
        parts.extend(tables(measured))
    return "\n".join(parts)


_HEAD = """# What it costs

Measured by `make bench`, which runs us and our peers side by side on one machine and writes this page. Ratios carry
over to other machines, the numbers beside them do not. *We are 3x* means three times as good: three times as many, or a
third of the time. Below 1x, the other one is better. A plot has two logarithmic axes. Where the load is said to have
been far above the number of processors, other programs ran beside: measure again on a quiet machine before you rely on
a number.

| | |
| --- | --- |
{machine}"""

_CAPACITY = """## What one processor carries

From the benchmark of streams below, at its largest number of them, and calculated from there: a model that says fifty
chunks a second, one stream each. Plan for half of it. What PostgreSQL takes is not in it. `D2` keeps
everything before it is shown, `memory` keeps nothing.

| | chunks a second, measured | streams of 50 chunks/s | memory of 1,000 silent streams |
| --- | ---: | ---: | ---: |
"""

_SAYS = {
    "fold": "Both read the same bytes of server-sent events, check and fold each chunk, and write events again.",
    "convert": "All read the same JSON, check it, and make messages for a model of it.",
    "serve": "All say the same words to the same clients, which are a process of their own. A rate is chunks by the "
    "seconds of processors that the server took, its time in the kernel included. D2 is the PostgreSQL store, where "
    "no chunk is sent before its commit. Of the others, only the chat in Node keeps what it said, in memory. "
    "Runs of 1,000 streams were begun and broke off, and those of 1 and 10 took too little time to be counted: they "
    "have no rows.",
    "store": "All work on one PostgreSQL that syncs its commits, by turns. *Processors* is their time and the server's "
    "together; the bare drivers are the floor. *One column* keeps each conversation as one JSON value.",
    "importing": "Medians of new processes.",
    "offline": "Turns of every vendor, in a database of their own; each command is a new process.",
    "analytics": "By day, model, agent and tenant, of a month and of the year, of one tenant and of all.",
    "web": "In a real Chromium. Nobody is compared: the page is measured against its bounds.",
}
"""What a reader must know of each, beside what its file says."""
