"""Messages of the AI SDK 4, in both of its forms."""

from __future__ import annotations

import pytest

from rejoinder.convert.ui_4 import from_ui_4, to_ui_4
from rejoinder.errors import InvalidMessage
from rejoinder.messages import File, JsonObject, Reasoning, Text, ToolCall

CALL: JsonObject = {"state": "result", "step": 0, "toolCallId": "c", "toolName": "w", "args": {}, "result": 1}

WITH_PARTS: JsonObject = {
    "id": "a",
    "role": "assistant",
    "content": "It rains.",
    "createdAt": "2025-03-01T00:00:00.000Z",
    "annotations": [{"model": "x"}],
    "toolInvocations": [CALL],
    "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "reasoning": "Hm.", "details": [{"type": "text", "text": "Hm."}]},
        {"type": "tool-invocation", "toolInvocation": CALL},
        {"type": "text", "text": "It rains."},
        {"type": "source", "source": {"sourceType": "url", "id": "1", "url": "https://example.com"}},
    ],
}


def test_a_message_with_parts_comes_back_as_it_was() -> None:
    assert to_ui_4(from_ui_4(WITH_PARTS)) == WITH_PARTS


def test_a_message_from_before_there_were_parts_is_read_into_parts() -> None:
    message = from_ui_4(
        {
            "id": "a",
            "role": "assistant",
            "content": "It rains.",
            "reasoning": "Hm.",
            "toolInvocations": [{"state": "call", "toolCallId": "c", "toolName": "w", "args": {"x": 1}}],
        }
    )
    assert message.parts == (
        Reasoning(text="Hm."),
        ToolCall(name="w", call_id="c", state="input-available", input={"x": 1}),
        Text(text="It rains."),
    )
    assert message.extra is None


def test_attachments_of_a_user_stay_attachments() -> None:
    said = {
        "id": "u",
        "role": "user",
        "content": "Look:",
        "parts": [{"type": "text", "text": "Look:"}],
        "experimental_attachments": [
            {"name": "a.png", "contentType": "image/png", "url": "data:image/png;base64,aGk="}
        ],
    }
    message = from_ui_4(said)
    assert isinstance(message.parts[1], File)
    assert to_ui_4(message) == said


def test_a_message_of_the_role_data_is_kept_whole_and_shown_to_no_model() -> None:
    said = {"id": "d", "role": "data", "content": "", "data": {"stock": 3}}
    assert from_ui_4(said).role == "assistant"
    assert to_ui_4(from_ui_4(said)) == said


def test_content_that_the_parts_do_not_say_is_kept() -> None:
    said = {"id": "a", "role": "assistant", "content": "other", "parts": [{"type": "text", "text": "this"}]}
    assert to_ui_4(from_ui_4(said)) == said


@pytest.mark.parametrize("said", [None, [], {"role": "user"}, {"id": "m", "role": "robot", "content": ""}])
def test_what_is_no_message_is_refused(said: object) -> None:
    with pytest.raises(InvalidMessage):
        from_ui_4(said)
