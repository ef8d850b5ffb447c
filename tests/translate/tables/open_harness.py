"""What the recorded runs contained: open harness."""

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "open_harness_aborted": Run(
        "open-harness",
        (
            ("thought", "Hm"),
            ("said", "It is"),
        ),
        (),
        "failed: enough",
    ),
    "open_harness_agent": Run(
        "open-harness",
        (
            ("said", "I look."),
            ("called", "read", {"path": "a"}, "answered", "a"),
            ("called", "read", {"path": "a"}, "answered", "a again"),
        ),
        ((20, 9),),
        "stop",
    ),
    "open_harness_flow": Run(
        "open-harness",
        (
            STEP,
            ("thought", "Two cities."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"degrees": 18}),
            ("called", "get_weather", {"city": "Oslo"}, "failed", "timed out after 30 s"),
            ("thought", "One will do."),
            ("said", "18 in Paris."),
            STEP,
            ("said", "It is 18 degrees."),
            ("data-structured-output", {"degrees": 18}),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
}
