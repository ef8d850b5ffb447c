"""The table of ratios on the front page, from what the benchmarks told last."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from bench.results import Results, times
from bench.rows import OURS, Row
from scripts.docs_source import ROOT


def cost_rows() -> Iterator[tuple[str, str, str]]:
    """For each table of the benchmarks with peers in it: its largest case, and how we stand beside each of them."""
    kept = (ROOT / "docs" / "benchmarks.json").read_bytes()
    for measured in msgspec.json.decode(kept, type=Results).benches.values():
        for table in dict.fromkeys(row.table for row in measured.rows):
            rows = [row for row in measured.rows if row.table == table]
            largest = max(rows, key=lambda row: row.at or 0)
            of_line = [row for row in rows if row.line == largest.line]
            ours = next((row for row in of_line if row.who == OURS), None)
            peers = [row for row in of_line if not row.who.startswith(OURS)]
            if ours is not None and peers:
                yield table, largest.line, ", ".join(_beside(row, ours) for row in peers)


def _beside(peer: Row, ours: Row) -> str:
    return f"{times(peer, ours)} {peer.who}"
