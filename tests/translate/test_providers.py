"""Recorded streams of OpenAI and Anthropic: nothing twice, nothing missing, the same for every client."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec import Struct

from rejoinder.convert.ui import to_ui
from rejoinder.messages import (
    Custom,
    File,
    JsonObject,
    Message,
    Reasoning,
    SourceDocument,
    SourceUrl,
    StepStart,
    Text,
    ToolCall,
    Usage,
    is_absent,
)
from rejoinder.testing.oracle import Oracle
from rejoinder.translate import Finished
from rejoinder.wire.chunks import FinishReason
from rejoinder.wire.json import as_javascript
from tests.translate.recorded import events_of, golden, read_by, told, written

STEP: Final = "step"
PARIS: Final = {"city": "Paris", "unit": "c"}
WEATHER: Final[tuple[object, ...]] = (
    STEP,
    ("thought", "The user wants the weather; I should call the tool."),
    ("said", "Let me check."),
    ("called", "get_weather", PARIS),
)


class Run(Struct, frozen=True):
    """What a recorded run contained."""

    vendor: str
    parts: tuple[object, ...]
    reasons: tuple[FinishReason, ...]
    usage: tuple[Usage, ...]


RUNS: Final = {
    "openai_responses_toolcall": Run(
        "openai-responses",
        WEATHER,
        ("tool-calls",),
        (Usage(input_tokens=0, output_tokens=0, total_tokens=0),),
    ),
    "openai_chat_toolcall": Run(
        "openai-chat",
        WEATHER,
        ("tool-calls",),
        (Usage(input_tokens=8, output_tokens=13, total_tokens=21),),
    ),
    "anthropic_raw_toolcall": Run(
        "anthropic", WEATHER, ("tool-calls",), (Usage(input_tokens=0, output_tokens=0),)
    ),
    "anthropic_stream_toolcall_helper": Run(
        "anthropic", WEATHER, ("tool-calls",), (Usage(input_tokens=0, output_tokens=0),)
    ),
}


def contained(message: Message) -> tuple[object, ...]:
    """A message as the table says it: what each part holds, without ids and without the vendor's metadata."""
    said: list[object] = []
    for part in message.parts:
        match part:
            case StepStart():
                said.append(STEP)
            case Text():
                said.append(("said", part.text))
            case Reasoning():
                said.append(("thought", part.text))
            case ToolCall():
                outcome = part.error_text if is_absent(part.output) else part.output
                answered = part.state in ("output-available", "output-error")
                said.append(("called", part.name, part.input, *((outcome,) if answered else ())))
            case File():
                said.append(("file", part.media_type, part.url))
            case SourceUrl():
                said.append(("source", part.url, part.title))
            case SourceDocument():
                said.append(("document", part.title))
            case Custom():
                said.append(("custom", part.kind))
            case _:
                said.append(part)
    return tuple(said)


@pytest.mark.parametrize("run", RUNS)
def test_the_message_has_what_the_run_contained(run: str) -> None:
    expected = RUNS[run]
    came = told(expected.vendor, events_of(run))
    assert contained(came.message) == expected.parts
    assert tuple(call.usage for call in came.calls) == expected.usage
    assert all(call.status == "succeeded" for call in came.calls)
    assert [call.id for call in came.began] == [call.id for call in came.calls]
    assert isinstance(came.ending, Finished)
    assert came.ending.reason == expected.reasons[-1]
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
        (part["type"], part.get("text"), part.get("input"), part.get("output"), part.get("url"))
        for part in message["parts"]
        if not part["type"].startswith(("data-", "custom"))
    ]


def test_answers_that_a_server_gives_itself_are_the_outputs_of_their_calls() -> None:
    call = {"type": "function_call", "id": "f", "call_id": "c1", "name": "add", "arguments": '{"a":1}'}
    patch = {"type": "apply_patch_call", "id": "p", "call_id": "c2", "operation": {"type": "delete_file"}}
    items = [
        call,
        {"type": "function_call_output", "id": "o", "call_id": "c1", "output": "2", "status": "completed"},
        patch,
        {"type": "apply_patch_call_output", "id": "q", "call_id": "c2", "status": "failed", "output": "No."},
        {"type": "function_call_output", "id": "r", "call_id": "nobody's", "output": "3"},
    ]
    told_of = told("openai-responses", [{"type": "response.completed", "response": {"output": items}}])
    first, second = (part for part in told_of.message.parts if isinstance(part, ToolCall))
    assert (first.state, first.input, first.output) == ("output-available", {"a": 1}, "2")
    assert (second.state, second.error_text) == ("output-error", "No.")
    assert [part.kind for part in told_of.message.parts if isinstance(part, Custom)] == [
        "openai.function_call_output"
    ]
    assert told_of.ending == Finished(reason="stop")


@pytest.mark.parametrize("vendor", ["openai-responses", "openai-chat"])
def test_a_page_that_is_cited_twice_is_one_source_with_two_citations(vendor: str) -> None:
    page = {"type": "url_citation", "url": "https://example.com/a", "title": "A"}
    cited = [{**page, "start_index": 0, "end_index": 2}, {**page, "start_index": 3, "end_index": 5}]
    text = {"type": "output_text", "text": "So so.", "annotations": cited}
    message = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
    events: list[JsonObject] = [{"type": "response.completed", "response": {"output": [message]}}]
    if vendor == "openai-chat":
        delta = {"content": "So so.", "annotations": cited}
        events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}]
    parts = told(vendor, events).message.parts
    (source,) = (part for part in parts if isinstance(part, SourceUrl))
    (said,) = (part for part in parts if isinstance(part, Text))
    assert said.citations is not None
    assert [(cite["source"]["id"], cite["endIndex"]) for cite in said.citations] == [
        (source.source_id, 2),
        (source.source_id, 5),
    ]
