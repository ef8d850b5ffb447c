"""What benchmarks tell becomes a page; every one of them is on the driver's list."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import pytest

from bench.results import Measured, Results, grown, page, slug
from bench.rows import FILE_VARIABLE, Row, tell
from scripts.bench import BENCHES, KEPT, ROOT

PARTS: Final = {"__init__", "answers", "plots", "results", "rows"}
"""Files of bench/ that measure nothing."""


def row(who: str, value: float, *, at: int = 1, more: bool = True) -> Row:
    return Row(
        table="Chunks", line=f"{at} streams", who=who, value=value, unit="x", more_is_better=more, at=at
    )


def test_every_benchmark_is_on_the_list() -> None:
    programs = {path.stem for path in (ROOT / "bench").glob("*.py")}
    assert {bench.name for bench in BENCHES} == programs - PARTS


def test_numbers_are_told_to_whoever_wants_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(row("rejoinder", 1))
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "rows"))
    tell(row("rejoinder", 1), row("other", 2))
    tell(row("other", 3))
    assert len((tmp_path / "rows").read_bytes().splitlines()) == 3


@pytest.mark.parametrize(("more", "ratio"), [(True, "0.50x"), (False, "2.00x")])
def test_a_ratio_says_how_many_times_as_good_we_are(*, more: bool, ratio: str) -> None:
    rows = [row("rejoinder", 10, more=more), row("other", 20, more=more)]
    said = page(Results(benches={"fold": Measured(day="2026-11-20", commands=["x"], load="idle", rows=rows)}))
    assert f"| other | 20.0 x | {ratio} |" in said
    assert "| 1 streams | rejoinder | 10.0 x |  |" in said


def test_what_was_measured_at_three_sizes_is_a_plot() -> None:
    rows = [row("rejoinder", 10, at=at) for at in (1, 10, 100)]
    measured = Measured(day="2026-11-20", commands=["x"], load="idle", rows=rows)
    assert grown(rows[:2], "Chunks") == []
    assert f"(pictures/bench-{slug('Chunks')}.svg)" in page(Results(benches={"fold": measured}))


def test_the_page_is_what_was_kept() -> None:
    results = msgspec.json.decode(KEPT.read_bytes(), type=Results)
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == page(results)
