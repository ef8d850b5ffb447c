"""Items of OpenAI Responses and of sessions of the Agents SDK, which OpenAI's own types judge."""

from __future__ import annotations

from typing import Any

import pytest
from agents.items import TResponseInputItem
from pydantic import TypeAdapter

from rejoinder.cli.forms import WRITERS
from rejoinder.convert.documents import FORMS
from rejoinder.convert.openai_responses import from_openai_responses
from rejoinder.messages import File, Message, Reasoning, SourceUrl, StepStart, Text, ToolCall


def calls_of(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


ITEMS: list[Any] = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is that?"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "high"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Look."}, {"type": "summary_text", "text": "Again."}],
        "encrypted_content": "sealed",
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "look",
        "arguments": '{"at":18446744073709551617}',
    },
    {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "look", "arguments": "{oops"},
    {"type": "function_call_output", "call_id": "c2", "output": "Not JSON."},
    {"type": "function_call_output", "call_id": "c1", "output": "A cat."},
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "cat", "queries": ["cat"]},
    },
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
    {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": "A cat.",
                "annotations": [
                    {
                        "type": "url_citation",
                        "url": "https://example.com/cat",
                        "title": "Cats",
                        "start_index": 0,
                        "end_index": 5,
                    }
                ],
            }
        ],
    },
]


def test_items_of_openai_are_read() -> None:
    system, question, answer = from_openai_responses(ITEMS)
    assert (system.role, question.role) == ("system", "user")
    assert question.parts[1] == File(
        media_type="image/png",
        url="data:image/png;base64,AAAA",
        provider_metadata={"openai": {"imageDetail": "high"}},
    )
    assert [(call.call_id, call.name, call.input, call.output) for call in calls_of(answer)] == [
        ("c1", "look", {"at": 2**64 + 1}, "A cat."),
        ("c2", "look", "{oops", "Not JSON."),
        (
            "ws_1",
            "web_search",
            {"type": "search", "query": "cat", "queries": ["cat"]},
            {"status": "completed", "action": {"type": "search", "query": "cat", "queries": ["cat"]}},
        ),
    ]
    assert [part.text for part in answer.parts if isinstance(part, Reasoning)] == ["Look.", "Again."]
    assert [part.url for part in answer.parts if isinstance(part, SourceUrl)] == ["https://example.com/cat"]


@pytest.mark.parametrize("form", ["openai-responses", "openai-agents"])
def test_items_of_openai_come_back_and_its_types_take_them(form: str) -> None:
    said = WRITERS[form]("chat", from_openai_responses(ITEMS))
    items = said[FORMS[form].keys[0]]
    kinds = [item.get("type", item.get("role")) for item in items]
    assert kinds == [
        "system",
        "user",
        "reasoning",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "web_search_call",
        "compaction",
        "message",
    ]
    assert items[2] == ITEMS[2]
    assert items[7:9] == ITEMS[7:9]
    assert items[9]["content"] == ITEMS[9]["content"]
    TypeAdapter(list[TResponseInputItem]).validate_python(items)


def test_a_question_of_openai_and_its_answer_are_an_approval() -> None:
    asks = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "pay",
        "arguments": '{"euros":7}',
        "server_label": "shop",
    }
    told = {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": False,
        "reason": "No.",
    }
    [asked] = from_openai_responses([asks])
    assert calls_of(asked)[0].state == "approval-requested"
    [answered] = from_openai_responses([asks, told])
    approval = calls_of(answered)[0].approval
    assert approval is not None
    assert (approval.approved, approval.reason) == (False, "No.")


def test_a_transcript_of_openai_has_what_was_asked_and_what_was_answered() -> None:
    body = {
        "instructions": "Be brief.",
        "input": "Hi",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
        ],
    }
    read = FORMS["openai-responses"].read(body)
    assert [message.role for message in read] == ["system", "user", "assistant"]
    assert read[2].parts == (StepStart(), Text(text="Hello"))
