"""What the recorded runs contained: ag ui."""

# ruff: noqa: E501  what the vendors said, word for word

# An empty object is one of no type.
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "ag_ui_approval": Run(
        "ag-ui",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "asked"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", '{"city":"Oslo","degrees":3}'),
        ),
        (),
        "tool-calls",
    ),
    "ag_ui_everything": Run(
        "ag-ui",
        (
            ("data-state", {"plan": ["look"], "done": 1}),
            STEP,
            ("thought", "Two cities."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", '{"degrees":18}'),
            ("called", "get_weather", {"city": "Oslo"}, "answered", "3 degrees"),
            ("called", "now", {}, "answered", [{"type": "text", "text": "noon"}]),
            STEP,
            (
                "data-subagent",
                {
                    "subagentRunId": "s1",
                    "name": "writer",
                    "state": "finished",
                    "outcome": {"type": "success"},
                },
            ),
            ("said", "18 in Paris, 3 in Oslo."),
            ("data-activity", {"activityType": "SEARCH", "content": {"found": 2}}),
            ("data-mood", {"sky": "fair"}),
            ("said", "Anything else?"),
        ),
        ((20, 9),),
        "stop",
    ),
    "ag_ui_failed": Run(
        "ag-ui",
        (
            STEP,
            ("said", "It is"),
            (
                "called",
                "get_weather",
                {},
                "failed",
                "The answer was interrupted before this call had a result.",
            ),
        ),
        (),
        "failed: the model is gone",
    ),
    "ag_ui_interrupted": Run(
        "ag-ui",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "asked"),
            ("data-interrupt", {"id": "i2", "reason": "input_required", "message": "Which city?"}),
        ),
        (),
        "tool-calls",
    ),
    "ag_ui_tools": Run(
        "ag-ui",
        (
            STEP,
            ("thought", "Three calls."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", '{"city":"Paris","degrees":18}'),
            ("called", "get_map", {"city": "Oslo"}, "answered", "no map of Oslo"),
            (
                "called",
                "get_weather",
                {"town": "Rome"},
                "answered",
                '[{"type":"missing","loc":["city"],"msg":"Field required","input":{"town":"Rome"}},{"type":"extra_forbidden","loc":["town"],"msg":"Extra inputs are not permitted","input":"Rome"}]',
            ),
            STEP,
            ("thought", "Enough."),
            ("said", "18 degrees in Paris."),
        ),
        (),
        "stop",
    ),
}
