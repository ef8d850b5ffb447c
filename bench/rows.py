"""What every benchmark tells, in one form: `tell(Row(…))` beside what it prints.

`python -m scripts.bench` names a file in REJOINDER_BENCH_ROWS and makes of its lines the tables and plots of
docs/benchmarks.md. Run by itself, a benchmark only prints.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

FILE_VARIABLE: Final = "REJOINDER_BENCH_ROWS"

OURS: Final = "rejoinder"
"""What we are called in a row, where others are compared with us."""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measured number. Rows of one `table` and `line` are compared; with `at`, a table is also a plot."""

    table: str
    line: str
    who: str
    value: float
    unit: str
    more_is_better: bool = False
    at: int | None = None


def tell(*rows: Row) -> None:
    """Hand numbers to whoever started the benchmark, if somebody wants them."""
    if path := os.environ.get(FILE_VARIABLE):
        with Path(path).open("ab") as file:
            file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
