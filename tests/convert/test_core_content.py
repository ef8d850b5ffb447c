"""Conversation-core messages: how one message of ours is several of theirs, and how theirs are read."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from rejoinder.convert.core_content import (
    ConversationMessage,
    MessageContentPart,
    MetadataContentPart,
    TextContentPart,
    ToolCallContentPart,
    ToolResultContentPart,
    from_core,
    to_core,
)
from rejoinder.convert.results import join_results
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    Approval,
    Data,
    Json,
    Message,
    Part,
    Reasoning,
    Role,
    StepStart,
    Text,
    ToolCall,
)

NOON = datetime(2026, 1, 18, 12, tzinfo=UTC)


def said(message: Message) -> list[tuple[str, Role, tuple[MessageContentPart, ...]]]:
    """What their messages say, without our own marks."""
    return [
        (
            core.id,
            core.role,
            tuple(part for part in core.content if not isinstance(part, MetadataContentPart)),
        )
        for core in to_core(message, conversation_id="c")
    ]


def their(*content: MessageContentPart, id: str = "m", role: Role = "assistant") -> ConversationMessage:
    return ConversationMessage(id=id, conversation_id="c", role=role, content=content, created_at=NOON)


def called(id: str | None, name: str = "weather") -> ToolCallContentPart:
    return ToolCallContentPart(name=name, arguments={}, tool_call_id=id)


def told(id: str | None, result: Json, name: str = "weather") -> ToolResultContentPart:
    return ToolResultContentPart(name=name, result=result, tool_call_id=id)


def test_their_parts_are_json_as_the_specification_writes_it() -> None:
    message = Message(
        id="m",
        role="assistant",
        parts=(
            Text(text="hi"),
            ToolCall(name="weather", call_id="1", state="input-available", input={"a": 1}),
        ),
        metadata={"model": "x"},
        created_at=NOON,
    )
    (core,) = to_core(message, conversation_id="c")
    assert msgspec.json.decode(msgspec.json.encode(core)) == {
        "id": "m",
        "conversationId": "c",
        "role": "assistant",
        "createdAt": "2026-01-18T12:00:00Z",
        "metadata": {"model": "x"},
        "content": [
            {"type": "text", "text": "hi"},
            {"type": "tool-call", "name": "weather", "toolCallId": "1", "arguments": {"a": 1}},
        ],
    }


def test_results_are_messages_of_their_own_between_the_steps() -> None:
    def call(id: str) -> ToolCall:
        return ToolCall(name="weather", call_id=id, state="output-available", input={}, output=int(id))

    parts = (
        StepStart(),
        Text(text="a"),
        call("1"),
        call("2"),
        StepStart(),
        call("3"),
        StepStart(),
        Text(text="b"),
    )
    assert said(Message(id="m", role="assistant", parts=parts)) == [
        ("m", "assistant", (TextContentPart(text="a"), called("1"), called("2"))),
        ("m:1", "tool", (told("1", 1), told("2", 2))),
        ("m:2", "assistant", (called("3"),)),
        ("m:3", "tool", (told("3", 3),)),
        ("m:4", "assistant", (TextContentPart(text="b"),)),
    ]


def test_a_step_without_results_begins_no_message() -> None:
    parts = (StepStart(), Text(text="a"), StepStart(), Text(text="b"))
    assert said(Message(id="m", role="assistant", parts=parts)) == [
        ("m", "assistant", (TextContentPart(text="a"), TextContentPart(text="b"))),
    ]


def test_a_failed_and_a_refused_call_have_a_result_that_a_model_understands() -> None:
    parts: tuple[Part, ...] = (
        ToolCall(name="weather", call_id="1", state="output-error", input={}, error_text="no net"),
        ToolCall(
            name="weather",
            call_id="2",
            state="output-denied",
            input={},
            approval=Approval(id="a", approved=False),
        ),
        ToolCall(
            name="weather", call_id="3", state="approval-requested", input={}, approval=Approval(id="b")
        ),
    )
    assert said(Message(id="m", role="assistant", parts=parts)) == [
        ("m", "assistant", (called("1"), called("2"), called("3"))),
        ("m:1", "tool", (told("1", "no net"), told("2", "Tool call execution denied."))),
    ]


def test_what_they_have_no_part_for_stands_in_metadata() -> None:
    message = Message(id="m", role="assistant", parts=(Reasoning(text="hm"), Text(text="hi", state="done")))
    (core,) = to_core(message, conversation_id="c")
    assert core.content == (
        MetadataContentPart(data={"rejoinder": {"whole": {"type": "reasoning", "text": "hm"}}}),
        TextContentPart(text="hi"),
        MetadataContentPart(data={"rejoinder": {"part": {"state": "done"}}}),
    )


def test_messages_of_theirs_stay_what_they_were() -> None:
    core = (
        their(TextContentPart(text="hi"), MetadataContentPart(data={"tag": 1}), id="1", role="user"),
        their(called("x"), id="2"),
        their(told("x", {"sun": True}), id="3", role="tool"),
        their(TextContentPart(text="sunny"), id="4"),
    )
    messages = from_core(core)
    assert [message.id for message in messages] == ["1", "2", "3", "4"]
    assert messages[0].parts == (Text(text="hi"), Data(name="metadata", data={"tag": 1}))
    assert tuple(again for message in messages for again in to_core(message, conversation_id="c")) == core


def test_results_of_theirs_can_be_joined_to_their_calls() -> None:
    call, result = from_core([their(called("x"), id="1"), their(told("x", None), id="2", role="tool")])
    (joined,) = join_results([call, result])
    assert joined.parts == (
        ToolCall(name="weather", call_id="x", state="output-available", input={}, output=None),
    )
    assert result.parts == (ToolCall(name="weather", call_id="x", state="output-available", output=None),)


def test_results_without_ids_go_to_the_calls_of_their_tool_in_order() -> None:
    messages = from_core(
        [
            their(called(None), called(None, "news"), called(None), id="1"),
            their(told(None, "b", "news"), told(None, "a"), id="2", role="tool"),
            their(told(None, "c"), told(None, "stray"), id="3", role="tool"),
        ]
    )
    (first, stray) = join_results(messages)
    outputs = [(part.call_id, part.output) for part in first.parts if isinstance(part, ToolCall)]
    assert outputs == [("1:0", "a"), ("1:1", "b"), ("1:2", "c")]
    assert [part.call_id for part in stray.parts if isinstance(part, ToolCall)] == ["3:1"]


def test_a_call_and_its_result_in_one_message_are_one_part() -> None:
    (message,) = from_core([their(called("x"), told("x", 21))])
    assert message.parts == (
        ToolCall(name="weather", call_id="x", state="output-available", input={}, output=21),
    )


def test_what_continues_a_message_that_was_cut_off_stands_for_itself() -> None:
    call = ToolCall(name="weather", call_id="1", state="output-available", input={}, output=21)
    message = Message(id="m", role="assistant", parts=(call, StepStart(), Text(text="warm")))
    _first, result, last = to_core(message, conversation_id="c")
    left = from_core([result, last])
    assert [(one.id, one.role) for one in left] == [("m:1", "tool"), ("m:2", "assistant")]
    assert left[1].parts == (StepStart(), Text(text="warm"))


def test_a_mark_of_ours_that_was_damaged_is_refused() -> None:
    def marked(rest: Json) -> MetadataContentPart:
        return MetadataContentPart(data={"rejoinder": rest})

    for content in (
        (marked({"part": {}}),),
        (TextContentPart(text=""), marked({"part": 5})),
        (TextContentPart(text=""), marked({"without": {}})),
        (marked({"message": {"status": "odd"}}),),
        (marked({"message": 5}),),
    ):
        with pytest.raises(InvalidMessage):
            from_core([their(*content)])
