"""What the recorded runs contained: providers."""

# An empty object is one of no type.
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "anthropic_fails": Run(
        "anthropic",
        (
            STEP,
            ("said", "It is"),
        ),
        ((9, 1),),
        "failed: The answer broke off. Please try again.",
    ),
    "anthropic_helper_hosted": Run(
        "anthropic",
        (
            STEP,
            ("thought", ""),
            (
                "called",
                "web_search",
                {"query": "Paris"},
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
            ("source", "https://example.com/paris", "Paris"),
            ("called", "web_fetch", {"url": "x"}, "failed", "url_not_allowed"),
            ("said", "In Paris: "),
            ("said", "18 degrees."),
            ("called", "now", {}, "input-available"),
        ),
        ((9, 20),),
        "tool-calls",
    ),
    "anthropic_hosted": Run(
        "anthropic",
        (
            STEP,
            ("thought", ""),
            (
                "called",
                "web_search",
                {"query": "Paris"},
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
            ("source", "https://example.com/paris", "Paris"),
            ("called", "web_fetch", {"url": "x"}, "failed", "url_not_allowed"),
            ("said", "In Paris: "),
            ("said", "18 degrees."),
            ("called", "now", {}, "input-available"),
        ),
        ((9, 20),),
        "tool-calls",
    ),
    "anthropic_parallel": Run(
        "anthropic",
        (
            STEP,
            ("thought", "Two calls, at once."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo", "unit": "c"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "openai_chat_cut_off": Run(
        "openai-chat",
        (
            STEP,
            ("thought", "Two calls, at once."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo", "unit": "c"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "openai_chat_helper": Run(
        "openai-chat",
        (
            STEP,
            ("thought", "Two calls, at once."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo", "unit": "c"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "openai_chat_parallel": Run(
        "openai-chat",
        (
            STEP,
            ("thought", "Two calls, at once."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo", "unit": "c"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "openai_chat_refuses": Run(
        "openai-chat",
        (
            STEP,
            ("said", "I cannot help with that."),
        ),
        ((20, 9),),
        "content-filter",
    ),
    "openai_responses_fails": Run(
        "openai-responses",
        (
            STEP,
            ("said", "It is"),
        ),
        ((None, None),),
        "failed: The model is busy right now. Please try again in a moment.",
    ),
    "openai_responses_helper": Run(
        "openai-responses",
        (
            STEP,
            (
                "called",
                "web_search",
                {
                    "type": "search",
                    "query": "Paris",
                    "sources": [{"type": "url", "url": "https://example.com/paris"}],
                },
                "answered",
                {
                    "action": {
                        "type": "search",
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
                {"result": "iVBORw0KGgo=", "status": "completed", "output_format": "png"},
            ),
            ("file", "image/png", "data:image/png;base64,iVBORw0KGgo="),
            ("called", "mcp.roll", {"sides": 6}, "answered", "4"),
            ("called", "mcp.roll", {}, "failed", "no dice"),
            ("said", "Paris, 18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            ("called", "get_map", {"city": "Paris"}, "input-available"),
        ),
        ((30, 12),),
        "tool-calls",
    ),
    "openai_responses_hosted": Run(
        "openai-responses",
        (
            STEP,
            (
                "called",
                "web_search",
                {
                    "type": "search",
                    "query": "Paris",
                    "sources": [{"type": "url", "url": "https://example.com/paris"}],
                },
                "answered",
                {
                    "action": {
                        "type": "search",
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
                {"result": "iVBORw0KGgo=", "status": "completed", "output_format": "png"},
            ),
            ("file", "image/png", "data:image/png;base64,iVBORw0KGgo="),
            ("called", "mcp.roll", {"sides": 6}, "answered", "4"),
            ("called", "mcp.roll", {}, "failed", "no dice"),
            ("said", "Paris, 18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            ("called", "get_map", {"city": "Paris"}, "input-available"),
        ),
        ((30, 12),),
        "tool-calls",
    ),
    "openai_responses_parallel": Run(
        "openai-responses",
        (
            STEP,
            ("thought", "Two calls, at once."),
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "input-available"),
            ("called", "get_weather", {"city": "Oslo", "unit": "c"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
}
