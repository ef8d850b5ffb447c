"""Draw how cost grows: a plot for each table whose rows say where on the axis they stand.

    build/bench-venv/bin/python bench/plots.py RESULTS.json FOLDER

It runs in the environment of the peers, which has matplotlib. The same results give the same bytes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import matplotlib as mpl
import msgspec
from matplotlib.figure import Figure

from bench.results import Results, grown, slug
from bench.rows import OURS, Row

INCHES: Final = (8, 4.5)


def draw(rows: Sequence[Row], path: Path) -> None:
    """One plot: both axes are logarithmic, so a straight line that rises one by one is a cost in proportion."""
    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.subplots()
    for who in sorted({row.who for row in rows}, key=lambda name: (not name.startswith(OURS), name)):
        points = sorted((row.at, row.value) for row in rows if row.who == who and row.at is not None)
        ours = who.startswith(OURS)
        xs, ys = zip(*points, strict=True)
        axes.plot(
            xs, ys, marker="o", label=who, linewidth=2.5 if ours else 1.2, linestyle="-" if ours else "--"
        )
    axes.set(xscale="log", yscale="log", title=rows[0].table, ylabel=rows[0].unit)
    axes.set_xlabel(re.sub(r"^[\d,]+ (\w+).*", r"\1", rows[0].line))
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def plotted(results: Results) -> Iterator[tuple[str, list[Row]]]:
    """Each table that grows, and its rows."""
    for measured in results.benches.values():
        for table in dict.fromkeys(row.table for row in measured.rows):
            rows = grown(measured.rows, table)
            if rows:
                yield table, rows


def main() -> None:
    """Draw all."""
    mpl.rcParams.update({"svg.hashsalt": "rejoinder", "svg.fonttype": "none"})
    results = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Results)
    for table, rows in plotted(results):
        draw(rows, Path(sys.argv[2]) / f"bench-{slug(table)}.svg")


if __name__ == "__main__":
    main()
