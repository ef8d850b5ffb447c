"""`rejoinder stats`: what turns came to, as tables with bars, or as JSON."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, opened, progress, run
from rejoinder.cli.streams import misuse, write_line

if TYPE_CHECKING:
    from rejoinder.ports.analytics import By, Measure, Row, Span

DAYS: Final = 30

PIPED_CELLS: Final = 120
"""What is not shown on a terminal has this width."""


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
    span, whose = (begin, end), None if by == "tenant" else tenant
    found = run(_measured(chosen, by, span, whose, database, schema))
    if as_json:
        for name, rows in found:
            _write(name, rows)
    else:
        _show(by, span, whose, found)


async def _measured(
    measures: Sequence[Measure], by: By, span: Span, whose: str | None, database: str | None, schema: str
) -> list[tuple[Measure, Sequence[Row]]]:
    from rejoinder.ports.analytics import measured
    from rejoinder.ports.journal import StoreMisconfigured

    async with opened(database, schema) as store:
        # Once, and for days that have been written into: in a large database, a year takes a minute.
        with progress("Counting", "days", passing=True) as told, contextlib.suppress(StoreMisconfigured):
            await store.tally_days(span, told=told)
        found = await asyncio.gather(*(measured(store, name, by, span, tenant=whose) for name in measures))
        return list(zip(measures, found, strict=True))


def _write(name: Measure, rows: Sequence[Row]) -> None:
    import msgspec

    for row in rows:
        write_line(msgspec.json.encode({"measure": name, **msgspec.to_builtins(row)}))


def _show(by: By, span: Span, whose: str | None, found: Sequence[tuple[Measure, Sequence[Row]]]) -> None:
    from rich.console import Console

    from rejoinder.cli.stat_tables import show

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_CELLS
    with console.capture() as captured:
        console.print(f"{whose or 'all tenants'}, {span[0]} to {span[1]} (UTC)\n", style="bright_black")
        if not any(rows for _, rows in found):
            console.print("nothing in these days")
            found = ()
        for name, rows in found:
            if rows:
                show(console, by, span, rows)
            else:
                console.print(f"[bold underline]{name}[/]: nothing in these days\n")
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
