"""Requests to Anthropic Messages as messages of ours."""

from __future__ import annotations

import pytest

from rejoinder.agents.anthropic_request import anthropic_history
from rejoinder.convert.anthropic_history import from_anthropic
from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.errors import InvalidMessage
from rejoinder.messages import JsonObject, StepStart, Text, ToolCall

REQUEST: JsonObject = {
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Rain?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "tool_use", "id": "c", "name": "weather", "input": {"city": "Ulm"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "away", "is_error": True}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "No idea."}]},
    ],
}


def test_an_answer_with_calls_and_results_is_one_message() -> None:
    read = from_anthropic(REQUEST)
    assert [message.role for message in read] == ["system", "user", "assistant"]
    assert read[2].parts[2:] == (
        ToolCall(name="weather", call_id="c", state="output-error", input={"city": "Ulm"}, error_text="away"),
        StepStart(),
        Text(text="No idea."),
    )


def test_what_was_asked_is_asked_the_same_again() -> None:
    assert anthropic_history(to_provider_messages(from_anthropic(REQUEST))) == REQUEST


@pytest.mark.parametrize("content", [None, 7, [7]])
def test_what_is_no_such_message_is_refused_with_its_place(content: object) -> None:
    with pytest.raises(InvalidMessage, match=r"messages\[0\]"):
        from_anthropic({"messages": [{"role": "user", "content": content}]})
