"""Runs of Claude Code that were recorded here (`tests/recordings`): what they contained, and that messages have it."""

from __future__ import annotations

from typing import Final

import pytest

from rejoinder.convert.ui import to_ui
from rejoinder.messages import Json, JsonObject, Reasoning, ToolCall, TurnError
from rejoinder.testing.oracle import Oracle
from rejoinder.translate import Ending, Failed, Finished
from rejoinder.wire.json import as_javascript, is_object
from tests.translate.contents import STEP, contents
from tests.translate.recorded import FOLDER, Told, events_of, golden, read_by, told, written

REFUSED: Final = "API Error: 400 This prompt is refused"

RUNS: Final[dict[str, tuple[object, ...]]] = {
    "claude_permissions": (
        STEP,
        ("thought", "Two files, two calls. "),
        ("said", "Making both. "),
        ("called", "Bash", "touch one.txt && echo made one", "answered", "made one"),
        ("called", "Bash", "touch two.txt && echo made two", "denied", "The user said no"),
        STEP,
        ("said", "One is made, the other is not. "),
    ),
    "claude_nested": (
        STEP,
        ("said", "Asking two. "),
        ("called", "Agent", "count part one", "answered", "Part one has 3 files. "),
        ("called", "Agent", "count part two", "answered", "Part two has 3 files. "),
        ("data-task", "completed", "Part one has 3 files. "),
        ("data-task", "completed", "Part two has 3 files. "),
        STEP,
        ("called", "Bash", "echo one", "answered", "one", ("within", "toolu_agent1")),
        STEP,
        ("called", "Bash", "echo two", "answered", "two", ("within", "toolu_agent2")),
        STEP,
        ("thought", "Both are back. "),
        ("said", "Six files together. "),
    ),
    "claude_background": (
        STEP,
        ("said", "Starting. "),
        ("called", "Agent", "take your time", "answered", "async_launched"),
        ("data-task", "completed", "It is 7. "),
        STEP,
        ("said", "It works on it. "),
        STEP,
        (
            "called",
            "Bash",
            "python3 -c 'import time; time.sleep(1)'; echo slept",
            "answered",
            "slept",
            ("within", "toolu_agent1"),
        ),
        STEP,
        ("said", "It is 7. ", ("within", "toolu_agent1")),
        STEP,
        ("said", "The answer is 7. "),
    ),
    "claude_structured": (
        STEP,
        ("called", "StructuredOutput", {"count": 3}, "answered", "Structured output provided successfully"),
        ("data-structured-output", {"count": 3}),
    ),
    "claude_retry": (
        STEP,
        (
            "called",
            "Bash",
            "echo to stdout; echo to stderr >&2; exit 3",
            "failed",
            "Exit code 3\nto stdout\nto stderr",
        ),
        STEP,
        ("thought", "It failed. "),
        ("said", "The command ended with 3. "),
    ),
    "claude_turns": (STEP, ("called", "Bash", "echo first", "answered", "first")),
    "claude_refused": (STEP, ("said", REFUSED), ("data-claude-error", {"error": "unknown"})),
}

ENDINGS: Final[dict[str, Ending]] = {
    "claude_turns": Finished(reason="length"),
    "claude_structured": Finished(reason="tool-calls"),
    "claude_refused": Failed(
        error=TurnError(message=REFUSED, code="invalid_request_error", provider="anthropic"),
        error_text=REFUSED,
    ),
}

ALL: Final = sorted(path.stem for path in (FOLDER / "events").glob("claude_*.jsonl"))


def run_of(name: str, *, partials: bool = True) -> Told:
    events = events_of(name)
    return told("claude-code", [each for each in events if partials or each["type"] != "stream_event"])


def brief(part: Json) -> object:
    """What a person would say of a part: of inputs and outputs only what was meant."""
    match part:
        case ("called", name, {"command": asked} | {"prompt": asked}, outcome, *rest):
            return ("called", name, asked, outcome, _answer(rest[0]), *rest[1:])
        case ("data-task", {"status": status, "summary": summary}):
            return ("data-task", status, summary)
        case _:
            return part


def _answer(output: Json) -> Json:
    if not is_object(output):
        return output
    if "content" in output:
        return output["content"][-1]["text"]
    return output["stdout"] if "stdout" in output else output["status"]


@pytest.mark.parametrize("name", RUNS)
def test_the_message_has_what_the_run_contained(name: str) -> None:
    came = run_of(name)
    assert tuple(map(brief, contents(came.message))) == RUNS[name]
    assert came.ending == ENDINGS.get(name, Finished(reason="stop"))
    assert came.problems == []
    assert sorted(call.id for call in came.began) == sorted(call.id for call in came.calls)


@pytest.mark.parametrize("name", RUNS)
def test_what_is_said_for_a_run_is_what_was_agreed_upon(name: str) -> None:
    assert written(run_of(name).chunks) == golden(name)


@pytest.mark.parametrize("sdk", ["5", "6", "7"])
@pytest.mark.parametrize("name", RUNS)
def test_every_client_reads_the_run(oracle: Oracle, name: str, sdk: str) -> None:
    came = run_of(name)
    read = read_by(oracle, sdk, came.chunks)
    if sdk == "7":
        assert read == as_javascript(to_ui(came.message))
    assert _words(read) == _words(to_ui(came.message))


def _words(message: JsonObject) -> list[object]:
    """What a person sees of a message, whichever release holds it."""
    return [
        (part["type"], part.get("text"), part.get("input"), part.get("output"))
        for part in message["parts"]
        if not part["type"].startswith(("data-", "step-"))
    ]


@pytest.mark.parametrize("name", ALL)
def test_without_partial_messages_a_run_has_the_same_message(name: str) -> None:
    whole, snapshots = run_of(name), run_of(name, partials=False)
    assert snapshots.problems == []
    assert snapshots.ending == whole.ending
    # Where a subagent speaks while the main thread does, snapshots come when each is complete.
    assert sorted(map(repr, _without_steps(snapshots))) == sorted(map(repr, _without_steps(whole)))


def _without_steps(came: Told) -> list[object]:
    return [part for part in contents(came.message) if part != STEP]


def test_thoughts_keep_their_signatures_with_and_without_partial_messages() -> None:
    for partials in (True, False):
        message = run_of("claude_permissions", partials=partials).message
        (thought,) = [part for part in message.parts if isinstance(part, Reasoning)]
        assert thought.provider_metadata == {"anthropic": {"signature": "c2lnbmF0dXJl"}}


def test_the_questions_of_the_program_are_approvals_and_their_answers_are_told() -> None:
    made, refused = (
        part for part in run_of("claude_permissions").message.parts if isinstance(part, ToolCall)
    )
    assert made.approval is not None
    assert made.approval.approved is True
    assert refused.approval is not None
    assert refused.approval.approved is False


def test_a_run_that_waits_for_the_user_is_no_failure_and_its_answer_goes_on_with_the_message() -> None:
    events = events_of("claude_permissions")
    asked = next(place for place, event in enumerate(events) if event["type"] == "control_request") + 1
    before = told("claude-code", events[:asked])
    assert before.ending == Finished(reason="tool-calls")
    call = next(part for part in before.message.parts if isinstance(part, ToolCall))
    assert call.state == "approval-requested"
    after = told("claude-code", events[asked:], onto=before.message)
    assert after.problems == []
    assert after.ending == Finished(reason="stop")
