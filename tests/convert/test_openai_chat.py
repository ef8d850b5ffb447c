"""Requests to Chat Completions as messages of ours."""

from __future__ import annotations

import pytest

from rejoinder.convert.openai_chat import from_openai_chat
from rejoinder.errors import InvalidMessage
from rejoinder.messages import File, Json, StepStart, Text, ToolCall


def test_an_answer_with_calls_and_results_is_one_message() -> None:
    function = {"name": "weather", "arguments": '{"city":"Ulm"}'}
    read = from_openai_chat(
        [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Rain?"},
                    {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "wet"},
            {"role": "assistant", "content": "Yes."},
        ]
    )
    assert [(message.id, message.role) for message in read] == [
        ("message-1", "system"),
        ("message-2", "user"),
        ("message-3", "assistant"),
    ]
    image = File(
        media_type="image/*",
        url="https://example.com/a.png",
        provider_metadata={"openai": {"imageDetail": "low"}},
    )
    assert read[1].parts == (Text(text="Rain?"), image)
    assert read[2].parts == (
        StepStart(),
        ToolCall(name="weather", call_id="c", state="output-available", input={"city": "Ulm"}, output="wet"),
        StepStart(),
        Text(text="Yes."),
    )


NONE_SUCH: list[Json] = [
    7,
    {"role": "robot", "content": ""},
    {"role": "user", "content": 7},
    {"role": "user", "content": [7]},
    {"role": "assistant", "tool_calls": [{}]},
]


@pytest.mark.parametrize("item", NONE_SUCH)
def test_what_is_no_such_message_is_refused_with_its_place(item: Json) -> None:
    with pytest.raises(InvalidMessage, match=r"messages\[0\]"):
        from_openai_chat([item])
