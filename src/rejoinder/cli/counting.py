"""`rejoinder stats`: what turns came to, as tables with bars, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, opened, run
from rejoinder.cli.streams import misuse, write_line

if TYPE_CHECKING:
    from rejoinder.ports.analytics import By, Measure, Row, Span

BAR_CELLS: Final = 24
DAYS: Final = 30


def stats(
    measures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MEASURE]...", help="turns, tokens, cost, latency, tools, endings; all of them."
        ),
    ] = None,
    *,
    by: Annotated[
        Literal["day", "model", "agent", "tenant"], typer.Option(help="What the rows are by.")
    ] = "day",
    first: Annotated[
        datetime | None,
        typer.Option(
            "--from", formats=["%Y-%m-%d"], help="The first day, in UTC. 29 days before the last one."
        ),
    ] = None,
    last: Annotated[
        datetime | None,
        typer.Option("--to", formats=["%Y-%m-%d"], help="The last day, in UTC. Today, if not given."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose turns; with --by tenant everybody's.")] = DEFAULT_TENANT,
    as_json: Annotated[
        bool, typer.Option("--json", help="Rows as JSON lines, each with its measure.")
    ] = False,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Count turns, tokens, cost, latency, tools and endings.

    Example: rejoinder stats tokens cost --by model --from 2026-11-01
    """
    from rejoinder.ports.analytics import MEASURES

    chosen: list[Measure] = [measure for measure in MEASURES if measures is None or measure in measures]
    unknown = {*(measures or ())} - {*MEASURES}
    if unknown:
        misuse(f"stats: there is no measure {unknown.pop()!r}; there are {', '.join(MEASURES)}")
    end = (datetime.now(UTC) if last is None else last).date()
    begin = end - timedelta(days=DAYS - 1) if first is None else first.date()
    if begin > end:
        misuse(f"--from {begin} comes after --to {end}")
    for name, rows in run(_measured(chosen, by, (begin, end), tenant, database, schema)):
        if as_json:
            _write(name, rows)
        else:
            _show(name, by, rows)


async def _measured(
    measures: Sequence[Measure], by: By, span: Span, tenant: str, database: str | None, schema: str
) -> list[tuple[Measure, Sequence[Row]]]:
    from rejoinder.ports.analytics import measured

    async with opened(database, schema) as store:
        whose = None if by == "tenant" else tenant
        return [(name, await measured(store, name, by, span, tenant=whose)) for name in measures]


def _write(name: Measure, rows: Sequence[Row]) -> None:
    import msgspec

    for row in rows:
        write_line(msgspec.json.encode({"measure": name, **msgspec.to_builtins(row)}))


def _show(name: Measure, by: By, rows: Sequence[Row]) -> None:
    import msgspec
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not rows:
        console.print(f"[bold]{name}[/]: nothing in these days\n")
        return
    table = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
    known = [msgspec.to_builtins(row, str_keys=True) for row in rows]
    columns = [column for column in known[0] if column != "key"]
    table.add_column(by)
    numbers = [column for column in columns if any(isinstance(row.get(column), int) for row in known)]
    for column in columns:
        table.add_column(_words(column), justify="right" if column in numbers else "left")
    # The first number is what the measure is named after.
    drawn = numbers[0] if numbers else None
    most = max((row.get(drawn) or 0 for row in known), default=0) if drawn else 0
    table.add_column("")
    for row in known:
        value = row.get(drawn) or 0 if drawn else 0
        bar = "█" * round(BAR_CELLS * value / most) if most else ""
        table.add_row(row["key"], *(_cell(row.get(column)) for column in columns), f"[cyan]{bar}[/]")
    console.print(table)
    console.print()


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _words(column: str) -> str:
    return "".join(f" {each.lower()}" if each.isupper() else each for each in column)
