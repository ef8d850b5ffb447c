"""`MessageList`: where a message can be flushed, and what the agent-runtime specification leaves open."""

from __future__ import annotations

import pytest

from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.convert.model import to_model_messages
from rejoinder.errors import IllegalChunk
from rejoinder.fold import MessageList
from rejoinder.messages import JsonObject, Message, Reasoning, SourceUrl, Text, ToolCall

SIGNED: JsonObject = {"anthropic": {"signature": "s1"}}
CALL: JsonObject = {"toolCallId": "c1", "toolName": "weather", "input": {"city": "Oslo"}}
ANSWER: tuple[JsonObject, ...] = (
    {"type": "start"},
    {"type": "start-step", "request": {}, "warnings": []},
    {"type": "reasoning-start", "id": "r"},
    {"type": "reasoning-delta", "id": "r", "text": "Look it up."},
    {"type": "reasoning-end", "id": "r", "providerMetadata": SIGNED},
    {"type": "tool-call", **CALL},
    {"type": "tool-result", **CALL, "output": {"degrees": 21}},
    {"type": "finish-step", "finishReason": "tool-calls", "usage": {}},
    {"type": "start-step", "request": {}, "warnings": []},
    {"type": "source", "sourceType": "url", "id": "s", "url": "https://example.com/"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "text": "It is 21 degrees."},
    {"type": "text-end", "id": "t"},
    {"type": "finish-step", "finishReason": "stop", "usage": {}},
    {"type": "finish", "finishReason": "stop", "totalUsage": {}},
)


def folded(*parts: JsonObject, sdk: int = 7) -> Message:
    answer = MessageList(message_id="m1", sdk=sdk)
    for part in parts:
        answer.update_from_stream_part(part)
    message = answer.flush_to_canonical()
    assert message is not None
    return message


def test_a_boundary_is_a_tools_outcome_or_an_end() -> None:
    answer = MessageList(message_id="m1")
    boundaries = [part["type"] for part in ANSWER if answer.update_from_stream_part(part)]
    assert boundaries == ["tool-result", "finish"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool-error", **CALL, "error": "no such city"},
        {"type": "tool-output-denied", "toolCallId": "c1", "toolName": "weather"},
        {"type": "tool-call", **CALL, "invalid": True, "error": "no such tool"},
        {"type": "abort"},
        {"type": "error", "error": "overloaded"},
    ],
)
def test_every_way_to_end_is_a_boundary(part: JsonObject) -> None:
    answer = MessageList(message_id="m1")
    answer.update_from_stream_part({"type": "tool-call", **CALL})
    assert answer.update_from_stream_part(part)


def test_what_was_flushed_is_not_flushed_again_until_more_has_come() -> None:
    answer = MessageList(message_id="m1")
    assert answer.flush_to_canonical() is None
    answer.update_from_stream_part({"type": "text-start", "id": "t"})
    first = answer.flush_to_canonical()
    assert answer.flush_to_canonical() is None
    answer.update_from_stream_part({"type": "text-delta", "id": "t", "text": "more"})
    second = answer.flush_to_canonical()
    assert first is not None
    assert second is not None
    assert (first.parts, second.parts) == (
        (Text(text="", state="streaming"),),
        (Text(text="more", state="streaming"),),
    )


@pytest.mark.parametrize("sdk", [6, 7])
def test_what_changes_no_message_is_passed_over(sdk: int) -> None:
    answer = MessageList(message_id="m1", sdk=sdk)
    for part in ({"type": "raw", "rawValue": {"a": 1}}, {"type": "tool-input-end", "id": "c1"}):
        assert not answer.update_from_stream_part(part)
    assert answer.flush_to_canonical() is None


def test_a_result_is_merged_into_its_call_in_the_one_message() -> None:
    calls = [part for part in folded(*ANSWER).parts if isinstance(part, ToolCall)]
    assert [(call.state, call.input, call.output) for call in calls] == [
        ("output-available", {"city": "Oslo"}, {"degrees": 21})
    ]


def test_metadata_of_the_provider_stays_with_its_part_and_reasoning_is_kept_with_its_signature() -> None:
    message = folded(*ANSWER)
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    assert [(part.text, part.provider_metadata) for part in thoughts] == [("Look it up.", SIGNED)]
    assert any(isinstance(part, SourceUrl) for part in message.parts), "sources are kept, not only shown"
    stored = from_canonical(to_canonical(message, thread_id="t1"))
    assert stored == message
    said = to_model_messages([stored], sdk=6)
    assert said[0]["content"][0] == {
        "type": "reasoning",
        "text": "Look it up.",
        "providerOptions": SIGNED,
    }


def test_a_message_is_continued() -> None:
    before = Message(
        id="m0", role="assistant", parts=(ToolCall(name="weather", call_id="c1", state="input-available"),)
    )
    answer = MessageList(message_id="m1", onto=before)
    assert answer.update_from_stream_part({"type": "tool-result", **CALL, "output": 1})
    message = answer.flush_to_canonical()
    assert message is not None
    assert message.id == "m0"
    assert [part.output for part in message.parts if isinstance(part, ToolCall)] == [1]


def test_a_part_out_of_place_is_refused_and_changes_nothing() -> None:
    answer = MessageList(message_id="m1")
    answer.update_from_stream_part({"type": "text-start", "id": "t"})
    before = answer.flush_to_canonical()
    with pytest.raises(IllegalChunk):
        answer.update_from_stream_part({"type": "text-delta", "id": "other", "text": "x"})
    answer.update_from_stream_part({"type": "text-delta", "id": "t", "text": ""})
    assert answer.flush_to_canonical() == before
