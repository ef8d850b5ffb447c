"""The benchmark of streams, with a few of them: everybody answers, and the same."""

from __future__ import annotations

import pytest

from bench.serve import Size, compare, figures, report
from rejoinder.testing.oracle import Oracle

SIZE = Size(streams=3, words=10, pause_ms=1, held=4, late_streams=3)

NAMES = (
    "memory, granian",
    "memory, uvicorn",
    "D2, granian",
    "D2, uvicorn",
    "Node, ai@7, a chat",
    "Node, ai@7, chunks",
    "Pydantic AI, uvicorn",
)


def test_all_contenders_answer_every_stream_and_are_held_against_the_figures(
    oracle: Oracle, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = compare(postgres_url, SIZE, postmaster=None)
    assert {name: (score.failed, score.held) for name, score in scores.items()} == dict.fromkeys(
        NAMES, (0, 4)
    )
    # How much each did a second says nothing here: that it was measured does.
    assert all(score.burst > 0 and score.paced > 0 and score.late_p50 > 0 for score in scores.values())
    report(scores)
    said = capsys.readouterr().out
    assert all(what in said for what, *_ in figures(scores))
