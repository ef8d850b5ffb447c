"""What the recorded runs contained: langgraph."""

# An empty object is one of no type.
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Final

from tests.translate.contents import STEP
from tests.translate.runs import Run

RUNS: Final = {
    "langgraph_anthropic_v2": Run(
        "langgraph",
        (
            STEP,
            ("thought", "Which tool?"),
            ("said", "Let me see."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", "18 degrees in Oslo"),
            ("data-custom", {"progress": "asking Paris"}),
            ("data-custom", {"progress": "asking Oslo"}),
            STEP,
            ("thought", "Good."),
            ("said", "18 degrees in both."),
        ),
        ((0, 9), (0, 9)),
        "stop",
    ),
    "langgraph_fan_out_v2": Run(
        "langgraph",
        (
            STEP,
            ("said", "Fact 0."),
            ("said", "Fact 1."),
            ("said", "Fact 2."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_hosted_anthropic_blocks_v2": Run(
        "langgraph",
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
            ("called", "web_fetch", {"url": "x"}, "failed", "url_not_allowed"),
            ("said", "In Paris: 18 degrees."),
            ("source", "https://example.com/paris", "Paris"),
            ("called", "now", {}, "answered", "noon"),
            STEP,
            ("said", "There it is."),
        ),
        ((0, 20), (0, 9)),
        "stop",
    ),
    "langgraph_hosted_responses_v2": Run(
        "langgraph",
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
            ("called", "get_map", {"city": "Paris"}, "failed", "no map of Paris"),
            STEP,
            ("said", "There it is."),
        ),
        ((30, 12), (20, 9)),
        "stop",
    ),
    "langgraph_human_v2_asks": Run(
        "langgraph",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "asked"),
            ("called", "delete_file", {"path": "b.txt"}, "asked"),
            ("called", "get_weather", {"city": "Oslo"}, "input-available"),
        ),
        ((20, 9),),
        "tool-calls",
    ),
    "langgraph_human_v2_resumes": Run(
        "langgraph",
        (
            STEP,
            ("said", "May I?"),
            ("called", "delete_file", {"path": "a.txt"}, "answered", "deleted a.txt"),
            (
                "called",
                "delete_file",
                {"path": "b.txt"},
                "failed",
                "User rejected the tool call for `delete_file` with reason: keep it",
            ),
            ("called", "get_weather", {"city": "Oslo"}, "answered", "18 degrees in Oslo"),
            ("data-custom", {"progress": "asking Oslo"}),
            STEP,
            ("said", "One is gone, the other is not."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_messages_only": Run(
        "langgraph",
        (
            STEP,
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_map", {"city": "Oslo"}, "failed", "no map of Oslo"),
            (
                "called",
                "get_data",
                {"city": "Rome"},
                "answered",
                [
                    {"type": "text", "text": "data of Rome"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            ),
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            STEP,
            ("said", "18 degrees in Paris. No map."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_question_asks": Run(
        "langgraph", (("data-interrupt", {"question": "Which city?"}),), (), "not told"
    ),
    "langgraph_question_resumes": Run(
        "langgraph",
        (
            STEP,
            ("said", "It is Rome."),
        ),
        ((None, None),),
        "not told",
    ),
    "langgraph_question_v2_asks": Run(
        "langgraph", (("data-interrupt", {"question": "Which city?"}),), (), "not told"
    ),
    "langgraph_question_v2_resumes": Run(
        "langgraph",
        (
            STEP,
            ("said", "It is Rome."),
        ),
        ((None, None),),
        "not told",
    ),
    "langgraph_responses": Run(
        "langgraph",
        (
            STEP,
            ("thought", "Which tool?"),
            ("said", "Let me see."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", "18 degrees in Oslo"),
            ("data-custom", {"progress": "asking Paris"}),
            ("data-custom", {"progress": "asking Oslo"}),
            STEP,
            ("thought", "Good."),
            ("said", "18 degrees in both."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_responses_blocks_v2": Run(
        "langgraph",
        (
            STEP,
            ("thought", "Which tool?"),
            ("said", "Let me see."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_weather", {"city": "Oslo"}, "answered", "18 degrees in Oslo"),
            ("data-custom", {"progress": "asking Paris"}),
            ("data-custom", {"progress": "asking Oslo"}),
            STEP,
            ("thought", "Good."),
            ("said", "18 degrees in both."),
        ),
        ((20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_team": Run(
        "langgraph",
        (
            STEP,
            ("said", "I look it up."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("data-custom", {"progress": "asking Paris"}),
            STEP,
            ("said", "18 degrees in Paris."),
            STEP,
            ("said", "The weather is fine."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_tools": Run(
        "langgraph",
        (
            STEP,
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_map", {"city": "Oslo"}, "failed", "no map of Oslo"),
            (
                "called",
                "get_data",
                {"city": "Rome"},
                "answered",
                [
                    {"type": "text", "text": "data of Rome"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            ),
            ("data-custom", {"progress": "asking Paris"}),
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("data-custom", {"progress": "asking Paris"}),
            STEP,
            ("said", "18 degrees in Paris. No map."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_tools_v2": Run(
        "langgraph",
        (
            STEP,
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_map", {"city": "Oslo"}, "failed", "no map of Oslo"),
            (
                "called",
                "get_data",
                {"city": "Rome"},
                "answered",
                [
                    {"type": "text", "text": "data of Rome"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            ),
            ("data-custom", {"progress": "asking Paris"}),
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("data-custom", {"progress": "asking Paris"}),
            STEP,
            ("said", "18 degrees in Paris. No map."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_updates_only_v2": Run(
        "langgraph",
        (
            STEP,
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_map", {"city": "Oslo"}, "failed", "no map of Oslo"),
            (
                "called",
                "get_data",
                {"city": "Rome"},
                "answered",
                [
                    {"type": "text", "text": "data of Rome"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            ),
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            STEP,
            ("said", "18 degrees in Paris. No map."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
    "langgraph_values_only": Run(
        "langgraph",
        (
            STEP,
            ("said", "One moment."),
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            ("called", "get_map", {"city": "Oslo"}, "failed", "no map of Oslo"),
            (
                "called",
                "get_data",
                {"city": "Rome"},
                "answered",
                [
                    {"type": "text", "text": "data of Rome"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ],
            ),
            STEP,
            ("called", "get_weather", {"city": "Paris"}, "answered", "18 degrees in Paris"),
            STEP,
            ("said", "18 degrees in Paris. No map."),
        ),
        ((20, 9), (20, 9), (20, 9)),
        "stop",
    ),
}
