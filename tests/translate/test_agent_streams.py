"""Recorded streams of agents and frameworks: nothing twice, nothing missing, the same for every client."""

from __future__ import annotations

import re
from typing import Final

import pytest
from msgspec import Struct

from rejoinder.convert.ui import to_ui
from rejoinder.messages import JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.translate import Ending, Finished, Stopped
from rejoinder.wire.json import as_javascript
from tests.translate.contents import STEP, contents
from tests.translate.recorded import events_of, golden, read_by, told, written

PARIS: Final = {"city": "Paris", "unit": "c"}
CALL: Final = ("called", "get_weather", PARIS, "answered", "18 degrees c in Paris")
ANSWER: Final = ("said", "It is 18 degrees and sunny in Paris.")
WEATHER: Final[tuple[object, ...]] = (STEP, ("said", "Let me check."), CALL, STEP, ANSWER)
THOUGHT: Final = ("thought", "The user wants the weather; I should call the tool.")
WEATHER_THOUGHT: Final = (STEP, THOUGHT, *WEATHER[1:])

_SUBAGENT_TASK: Final = "a44842d8480afc67b"
_SUBAGENT_FOLDER: Final = "/var/tmp/claude-1000/-home-user-project/074900c0-6dd1-4826-a21b-eae74b6338a2/tasks"
_SUBAGENT_FILE: Final = f"{_SUBAGENT_FOLDER}/{_SUBAGENT_TASK}.output"
_SUBAGENT_CALL: Final = "toolu_000000000000000000000019"
_SUBAGENT_PROMPT: Final = "SUBAGENT-WORK compute the answer"


class Run(Struct, frozen=True):
    """What a recorded run contained: its parts, the tokens that its model calls gave out, and how it ended."""

    vendor: str
    parts: tuple[object, ...]
    output_tokens: tuple[int | None, ...] = ()
    ending: Ending = Finished(reason="stop")


RUNS: Final = {
    "claude_sdk_text": Run(
        "claude-code",
        (
            STEP,
            ("thought", "A short greeting. "),
            ("said", "Hello from the fake Anthropic API. " + "streamed " * 12 + " "),
        ),
        (22,),
    ),
    "claude_sdk_bash": Run(
        "claude-code",
        (
            STEP,
            ("thought", "I should run a command. "),
            ("said", "Running a command. "),
            (
                "called",
                "Bash",
                {"command": "echo hello-from-bash && ls -1 | head -3", "description": "Say hello"},
                "answered",
                {
                    "stdout": "hello-from-bash",
                    "stderr": "",
                    "interrupted": False,
                    "isImage": False,
                    "noOutputExpected": False,
                },
            ),
            STEP,
            ("said", 'Done. The tool said: "hello-from-bash" '),
        ),
        (15, 5),
    ),
    "claude_sdk_mcp": Run(
        "claude-code",
        (
            STEP,
            ("thought", "Two cities, two calls. "),
            ("said", "Checking both. "),
            ("called", "mcp__demo__get_weather", {"city": "Paris"}, "answered", "18C and sunny in Paris"),
            ("called", "mcp__demo__get_weather", {"city": "Oslo"}, "answered", "18C and sunny in Oslo"),
            STEP,
            ("said", 'Done. The tool said: [{"type": "text", "text": "18C and sunny in Oslo"}] '),
        ),
        (10, 12),
    ),
    "claude_sdk_subagent": Run(
        "claude-code",
        (
            STEP,
            ("said", "Delegating. "),
            (
                "called",
                "Agent",
                {"description": "Compute", "prompt": _SUBAGENT_PROMPT, "subagent_type": "general-purpose"},
                "answered",
                {
                    "isAsync": True,
                    "status": "async_launched",
                    "agentId": _SUBAGENT_TASK,
                    "description": "Compute",
                    "resolvedModel": "claude-sonnet-5",
                    "prompt": _SUBAGENT_PROMPT,
                    "outputFile": _SUBAGENT_FILE,
                    "canReadOutputFile": True,
                    "canContinueAgent": True,
                },
            ),
            (
                "data-task",
                {
                    "task_id": _SUBAGENT_TASK,
                    "run_id": "0mwmjoyvy-44a4e6e2",
                    "tool_use_id": _SUBAGENT_CALL,
                    "description": "Compute",
                    "subagent_type": "general-purpose",
                    "is_backgrounded": True,
                    "spawn_depth": 1,
                    "task_type": "local_agent",
                    "prompt": _SUBAGENT_PROMPT,
                    "status": "completed",
                    "end_time": 1795031978489,
                    "output_file": _SUBAGENT_FILE,
                    "summary": "Subagent result: 42. ",
                    "summary_is_report": True,
                    "usage": {"total_tokens": 126, "tool_uses": 0, "duration_ms": 99},
                },
            ),
            STEP,
            (
                "said",
                (
                    'Done. The tool said: [{"type": "text", "text": "Async agent launched successfully. '
                    "(This tool result is internal metadata \\u2014 never quote  "
                ),
            ),
            ("said", "Subagent result: 42. ", ("within", _SUBAGENT_CALL)),
        ),
        (10, 21, 3),
    ),
    "claude_sdk_write_denied": Run(
        "claude-code",
        (
            STEP,
            ("said", "Writing a file. "),
            (
                "called",
                "Write",
                {"file_path": "/srv/user/project/note.txt", "content": "hello\n"},
                "denied",
                "user said no",
            ),
            STEP,
            ("said", 'Done. The tool said: "user said no" '),
        ),
        (10, 7),
    ),
    "claude_sdk_interrupt": Run(
        "claude-code", (STEP, ("said", "word " * 26)), (43,), Stopped(reason="aborted_streaming")
    ),
    "langgraph_astream": Run("langgraph", WEATHER, (None, None)),
    "langgraph_astream_v2": Run("langgraph", WEATHER, (None, None)),
    "openai_agents_responses": Run("openai-agents", WEATHER_THOUGHT, (0, 0)),
    "pydantic_ai_openai": Run("pydantic-ai", WEATHER_THOUGHT, (13, 9)),
    "pydantic_ai_agui": Run("ag-ui", WEATHER_THOUGHT),
    "pydantic_ai_vercel": Run("ai-sdk-ui", WEATHER_THOUGHT),
}


@pytest.mark.parametrize("run", RUNS)
def test_the_message_has_what_the_run_contained(run: str) -> None:
    expected = RUNS[run]
    came = told(expected.vendor, events_of(run))
    assert tuple(contents(came.message)) == expected.parts
    tokens = tuple(call.usage.output_tokens if call.usage is not None else None for call in came.calls)
    assert tokens == expected.output_tokens
    assert [call.id for call in came.began] == [call.id for call in came.calls]
    assert came.ending == expected.ending
    assert came.problems == []


@pytest.mark.parametrize("run", RUNS)
def test_what_is_said_for_a_run_is_what_was_agreed_upon(run: str) -> None:
    assert written(told(RUNS[run].vendor, events_of(run)).chunks) == golden(run)


@pytest.mark.parametrize("sdk", ["5", "6", "7"])
@pytest.mark.parametrize("run", RUNS)
def test_every_client_reads_the_run(oracle: Oracle, run: str, sdk: str) -> None:
    came = told(RUNS[run].vendor, events_of(run))
    read = read_by(oracle, sdk, came.chunks)
    if sdk == "7":
        assert read == as_javascript(to_ui(came.message))
    assert _words(read) == _words(to_ui(came.message))


def _words(message: JsonObject) -> list[object]:
    """What a person sees of a message, whichever release holds it."""
    return [
        (part["type"], part.get("text"), part.get("input"), part.get("output"))
        for part in message["parts"]
        if not part["type"].startswith(("data-", "custom"))
    ]


def test_events_of_ag_ui_are_understood_with_underscores_as_well() -> None:
    events = events_of("pydantic_ai_agui")
    snakes = [
        {re.sub("([A-Z])", r"_\1", name).lower(): value for name, value in event.items()} for event in events
    ]
    assert written(told("ag-ui", snakes).chunks) == written(told("ag-ui", events).chunks)
