"""What the recorded runs contained: pydantic ai."""

# ruff: noqa: E501  what the vendors said, word for word

# An empty object is one of no type.
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "pydantic_ai_anthropic_invalid_arguments": Run(
        "pydantic-ai",
        (
            STEP,
            ("thought", "Which city?"),
            (
                "called",
                "get_weather",
                {"town": "Paris"},
                "failed",
                '[{"type":"missing","loc":["city"],"msg":"Field required","input":{"town":"Paris"}},{"type":"extra_forbidden","loc":["town"],"msg":"Extra inputs are not permitted","input":"Paris"}]',
            ),
            STEP,
            ("said", "Once more."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            STEP,
            ("thought", "There it is."),
            ("said", "18 degrees in Paris."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "pydantic_ai_approval": Run(
        "pydantic-ai",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "asked"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", {"city": "Oslo", "degrees": 3}),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "pydantic_ai_cut_off": Run(
        "pydantic-ai",
        (
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            STEP,
            ("said", "It is going to be"),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
    "pydantic_ai_hosted_anthropic": Run(
        "pydantic-ai",
        (
            STEP,
            ("thought", ""),
            (
                "called",
                "web_search",
                {},
                "answered",
                [
                    {
                        "encrypted_content": "x",
                        "page_age": None,
                        "title": "Paris",
                        "type": "web_search_result",
                        "url": "https://example.com/paris",
                    }
                ],
            ),
            (
                "called",
                "web_fetch",
                {},
                "answered",
                {"error_code": "url_not_allowed", "type": "web_fetch_tool_error"},
            ),
            ("said", "In Paris: "),
            ("said", "18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            ("called", "now", {}, "answered", "noon"),
            STEP,
            ("said", "There it is."),
        ),
        ((9, 20), (20, 9)),
        "stop",
    ),
    "pydantic_ai_hosted_openai_responses": Run(
        "pydantic-ai",
        (
            STEP,
            (
                "called",
                "web_search",
                {"type": "search", "query": "Paris"},
                "answered",
                {"status": "completed", "sources": [{"type": "url", "url": "https://example.com/paris"}]},
            ),
            (
                "called",
                "code_execution",
                {"container_id": "box", "code": "print(1)"},
                "answered",
                {"status": "completed", "logs": ["1\n"]},
            ),
            ("called", "image_generation", {}, "answered", {"status": "completed"}),
            ("file", "image/png", "data:image/png;base64,iVBORw0KGgo="),
            (
                "called",
                "mcp_server:dice",
                {"action": "call_tool", "tool_name": "roll", "tool_args": {"sides": 6}},
                "answered",
                {"error": None, "output": "4"},
            ),
            (
                "called",
                "mcp_server:dice",
                '{"action":"call_tool","tool_name":"roll","tool_args":',
                "answered",
                {"error": "no dice", "output": None},
            ),
            ("said", "Paris, 18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            ("called", "get_map", {"city": "Paris"}, "failed", "no map of Paris"),
            STEP,
            ("said", "There it is."),
        ),
        ((30, 12), (20, 9)),
        "stop",
    ),
    "pydantic_ai_output_type": Run(
        "pydantic-ai",
        (
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            STEP,
            (
                "called",
                "final_result",
                {"city": "Paris", "degrees": "warm"},
                "failed",
                '[{"type":"int_parsing","loc":["degrees"],"msg":"Input should be a valid integer, unable to parse string as an integer","input":"warm"}]',
            ),
            STEP,
            (
                "called",
                "final_result",
                {"city": "Paris", "degrees": 18},
                "answered",
                "Final result processed.",
            ),
            STEP,
        ),
        ((20, 9), (20, 9), (20, 9)),
        "tool-calls",
    ),
    "pydantic_ai_tools": Run(
        "pydantic-ai",
        (
            STEP,
            ("thought", "Four calls."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", {"city": "Paris", "degrees": 18}),
            ("called", "get_weather", {"city": "Oslo"}, "answered", {"city": "Oslo", "degrees": 3}),
            ("called", "get_time", {"city": "Rome"}, "failed", "Rome has two times: say which"),
            ("called", "get_map", {"city": "Bonn"}, "failed", "no map of Bonn"),
            ("called", "get_photo", {"city": "Bonn"}, "answered", {"photo_of": "Bonn"}),
            (
                "called",
                "no_such_tool",
                {},
                "failed",
                "Unknown tool name: 'no_such_tool'. Available tools: 'get_map', 'get_photo', 'get_time', 'get_weather', 'now'",
            ),
            STEP,
            ("thought", "Enough."),
            ("said", "18 in Paris, 3 in Oslo; "),
            ("said", "the time in Rome is unclear."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
}
