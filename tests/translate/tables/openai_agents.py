"""What the recorded runs contained: openai agents."""

# An empty object is one of no type.
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "openai_agents_approval": Run(
        "openai-agents",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", {"city": "Oslo", "degrees": 18}),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "openai_agents_chat_team": Run(
        "openai-agents",
        (
            STEP,
            ("said", "I look."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            STEP,
            ("called", "transfer_to_writer", {}, "answered", '{"assistant": "Writer"}'),
            STEP,
            ("said", "A draft."),
            ("called", "ask_critic", {"input": "18 degrees"}, "answered", "Too dry."),
            STEP,
            ("said", "Eighteen, and the sky is in a good mood."),
        ),
        ((20, 9), (20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "openai_agents_chat_tools": Run(
        "openai-agents",
        (
            STEP,
            ("thought", "Three calls."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            ("called", "get_weather", {"city": "Oslo"}, "answered", {"city": "Oslo", "degrees": 18}),
            (
                "called",
                "get_map",
                {"city": "Rome"},
                "answered",
                "An error occurred while running the tool. Please try again.",
            ),
            STEP,
            ("thought", "Enough."),
            ("said", "18 degrees in both; no map."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
    "openai_agents_guardrail": Run(
        "openai-agents", (STEP,), ((None, None),), "failed: The answer broke off. Please try again."
    ),
    "openai_agents_hosted": Run(
        "openai-agents",
        (
            STEP,
            (
                "called",
                "web_search",
                {
                    "type": "search",
                    "queries": None,
                    "query": "Paris",
                    "sources": [{"type": "url", "url": "https://example.com/paris"}],
                },
                "answered",
                {
                    "action": {
                        "type": "search",
                        "queries": None,
                        "query": "Paris",
                        "sources": [{"type": "url", "url": "https://example.com/paris"}],
                    },
                    "status": "completed",
                },
            ),
            (
                "called",
                "code_interpreter",
                {"code": "print(1)", "containerId": "box"},
                "answered",
                {"outputs": [{"logs": "1\n", "type": "logs"}], "status": "completed"},
            ),
            (
                "called",
                "image_generation",
                {},
                "answered",
                {
                    "result": "iVBORw0KGgo=",
                    "status": "completed",
                    "action": None,
                    "background": None,
                    "error": None,
                    "output_format": "png",
                    "quality": None,
                    "revised_prompt": None,
                    "size": None,
                    "svg_usage": None,
                },
            ),
            ("file", "image/png", "data:image/png;base64,iVBORw0KGgo="),
            ("called", "mcp.roll", {"sides": 6}, "answered", "4"),
            ("called", "mcp.roll", {}, "failed", "no dice"),
            ("said", "Paris, 18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            (
                "called",
                "get_map",
                {"city": "Paris"},
                "answered",
                "An error occurred while running the tool. Please try again.",
            ),
            STEP,
            ("said", "There it is."),
        ),
        ((30, 12), (20, 9)),
        "stop",
    ),
    "openai_agents_output_type": Run(
        "openai-agents",
        (
            STEP,
            ("said", '{"city":"Paris","degrees":18}'),
        ),
        ((20, 9),),
        "stop",
    ),
    "openai_agents_team": Run(
        "openai-agents",
        (
            STEP,
            ("said", "I look."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            STEP,
            ("called", "transfer_to_writer", {}, "answered", '{"assistant": "Writer"}'),
            STEP,
            ("said", "A draft."),
            ("called", "ask_critic", {"input": "18 degrees"}, "answered", "Too dry."),
            STEP,
            ("said", "Eighteen, and the sky is in a good mood."),
        ),
        ((20, 9), (20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "openai_agents_tools": Run(
        "openai-agents",
        (
            STEP,
            ("thought", "Three calls."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            ("called", "get_weather", {"city": "Oslo"}, "answered", {"city": "Oslo", "degrees": 18}),
            (
                "called",
                "get_map",
                {"city": "Rome"},
                "answered",
                "An error occurred while running the tool. Please try again.",
            ),
            STEP,
            ("thought", "Enough."),
            ("said", "18 degrees in both; "),
            ("said", "no map."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
}
