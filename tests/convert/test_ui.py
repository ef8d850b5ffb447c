"""UI messages, in and out: nothing is lost, nothing is made up, and what is no message is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.convert.ui import from_ui, part_from_ui, part_to_ui, to_ui
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    ABSENT,
    Approval,
    Data,
    File,
    Json,
    JsonObject,
    Message,
    Opaque,
    Part,
    Steering,
    Text,
    ToolCall,
)
from tests.conformance.histories import history
from tests.laws.messages import exactly, json_values, messages
from tests.scale import scale

many = settings(max_examples=scale(150, 5_000), deadline=None)

TYPES = (
    *("text", "reasoning", "custom", "source-url", "source-document", "file", "reasoning-file", "step-start"),
    *(
        "steering-message",
        "dynamic-tool",
        "tool-weather",
        "tool-",
        "data-chart",
        "data-",
        "tool",
        "data",
        "extra",
    ),
)
KEYS = (
    *(
        "text",
        "state",
        "id",
        "kind",
        "url",
        "title",
        "mediaType",
        "filename",
        "sourceId",
        "toolCallId",
        "toolName",
    ),
    *("input", "rawInput", "output", "errorText", "approval", "dynamic", "parts", "data", "providerMetadata"),
    *(
        "preliminary",
        "providerExecuted",
        "extra",
        "name",
        "callId",
        "call_id",
        "type",
        "withdrawn",
        "tag",
        "citations",
    ),
)


def ui_parts() -> st.SearchStrategy[JsonObject]:
    """Parts with fields of all parts, and values of all types."""
    values = (
        json_values()
        | st.sampled_from(["done", "streaming", "output-available", "input-streaming", False, None])
        | st.dictionaries(st.sampled_from(("id", "approved", "reason", "descriptor", "odd")), json_values())
        | st.lists(st.fixed_dictionaries({"type": st.sampled_from(("text", "file")), "text": json_values()}))
    )
    fields = st.dictionaries(st.sampled_from(KEYS), values, max_size=8)

    def part(kind: str, rest: JsonObject) -> JsonObject:
        return {**rest, "type": kind}

    return st.builds(part, st.sampled_from(TYPES), fields)


@many
@given(messages(json_values(odd_numbers=True)))
def test_a_message_comes_back_from_its_json(message: Message) -> None:
    assert exactly(from_ui(to_ui(message))) == exactly(message)


@many
@given(
    st.fixed_dictionaries(
        {
            "id": st.text(),
            "role": st.sampled_from(["system", "user", "assistant", "tool"]),
            "parts": st.lists(ui_parts() | st.dictionaries(st.sampled_from(KEYS), json_values()), max_size=4),
        },
        optional={
            "metadata": json_values(),
            "createdAt": json_values(),
            "status": json_values(),
            "extra": json_values(),
        },
    )
)
def test_json_comes_back_from_its_message(body: JsonObject) -> None:
    assert exactly(to_ui(from_ui(body))) == exactly(body)


@pytest.mark.parametrize("seed", range(scale(100, 1_000)))
def test_what_clients_send_comes_back(seed: int) -> None:
    for message in history(seed, 7).messages:
        try:
            read = from_ui(message)
        except InvalidMessage:
            continue
        assert exactly(to_ui(read)) == exactly(message)
        assert from_ui(to_ui(read)) == read


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"type": "text", "text": "hi", "state": "done"}, Text(text="hi", state="done")),
        ({"type": "text", "text": "hi", "state": None}, Text(text="hi", extra={"state": None})),
        ({"type": "text", "text": "hi", "state": "new"}, Text(text="hi", extra={"state": "new"})),
        ({"type": "text", "text": "hi", "extra": 1}, Text(text="hi", extra={"extra": 1})),
        ({"type": "text"}, Opaque(body={"type": "text"})),
        ({"type": "text", "text": 5}, Opaque(body={"type": "text", "text": 5})),
        ({"type": "mystery", "x": 1}, Opaque(body={"type": "mystery", "x": 1})),
        ({"type": ["text"]}, Opaque(body={"type": ["text"]})),
        ({}, Opaque(body={})),
        ({"type": "data-chart", "data": None}, Data(name="chart", data=None)),
        ({"type": "data-chart", "id": 3}, Data(name="chart", data=ABSENT, extra={"id": 3})),
        (
            {"type": "tool-a-b", "toolCallId": "c", "state": "input-available", "input": None},
            ToolCall(name="a-b", call_id="c", state="input-available", input=None),
        ),
        (
            {
                "type": "dynamic-tool",
                "toolName": "a",
                "toolCallId": "c",
                "state": "output-error",
                "dynamic": False,
            },
            ToolCall(name="a", call_id="c", state="output-error", dynamic=True, withdrawn=True),
        ),
        (
            {
                "type": "tool-a",
                "toolName": "b",
                "toolCallId": "c",
                "state": "input-streaming",
                "dynamic": True,
            },
            ToolCall(
                name="a", call_id="c", state="input-streaming", extra={"toolName": "b", "dynamic": True}
            ),
        ),
        (
            {
                "type": "tool-a",
                "toolCallId": "c",
                "state": "approval-requested",
                "approval": {"id": "1", "odd": 2},
            },
            ToolCall(
                name="a", call_id="c", state="approval-requested", approval=Approval(id="1", extra={"odd": 2})
            ),
        ),
        (
            {"type": "tool-a", "toolCallId": "c", "state": "output-denied", "approval": {"approved": False}},
            ToolCall(name="a", call_id="c", state="output-denied", extra={"approval": {"approved": False}}),
        ),
        (
            {"type": "tool-a", "toolCallId": "c", "state": "result"},
            Opaque(body={"type": "tool-a", "toolCallId": "c", "state": "result"}),
        ),
        (
            {
                "type": "steering-message",
                "id": "s",
                "parts": [
                    {"type": "text", "text": "no"},
                    {"type": "file", "mediaType": "a/b", "url": "data:,"},
                ],
            },
            Steering(id="s", parts=(Text(text="no"), File(media_type="a/b", url="data:,"))),
        ),
        (
            {"type": "steering-message", "id": "s", "parts": [{"type": "step-start"}]},
            Opaque(body={"type": "steering-message", "id": "s", "parts": [{"type": "step-start"}]}),
        ),
    ],
)
def test_each_field_has_its_place(body: JsonObject, part: Part) -> None:
    assert part_from_ui(body) == part
    assert exactly(part_to_ui(part)) == exactly(body)


def test_missing_metadata_are_not_null() -> None:
    bare: JsonObject = {"id": "1", "role": "user", "parts": []}
    assert from_ui(bare).metadata is ABSENT
    assert from_ui({**bare, "metadata": None}).metadata is None


def test_a_message_without_an_id_takes_the_one_it_is_given() -> None:
    assert from_ui({"role": "user", "parts": []}, missing_id="new").id == "new"
    assert from_ui({"id": "old", "role": "user", "parts": []}, missing_id="new").id == "old"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "A message is a JSON object, this is null"),
        ([], "A message is a JSON object, this is an array"),
        ({"id": "1", "parts": []}, "Unsupported role: undefined"),
        ({"id": "1", "role": None, "parts": []}, "Unsupported role: null"),
        ({"id": "1", "role": "developer", "parts": []}, "Unsupported role: developer"),
        ({"id": "1", "role": ["user"], "parts": []}, "Unsupported role: user"),
        ({"role": "user", "parts": []}, "A message's id is a string, this one's is missing"),
        ({"id": 7, "role": "user", "parts": []}, "A message's id is a string, this one's is a number"),
        ({"id": "1", "role": "user"}, "Message '1': parts is missing"),
        ({"id": "1", "role": "user", "parts": "hi"}, "Message '1': parts is a string"),
        ({"id": "1", "role": "user", "parts": [{"type": "step-start"}, None]}, "parts[1] is null"),
    ],
)
def test_what_is_no_message_is_refused_with_what_and_where(value: Json, text: str) -> None:
    with pytest.raises(InvalidMessage) as refusal:
        from_ui(value)
    assert text in str(refusal.value)


def test_what_an_approval_calls_a_type_is_kept() -> None:
    approval = {"id": "a", "type": "policy", "approved": True}
    call = {
        "type": "tool-x",
        "toolCallId": "c",
        "state": "approval-responded",
        "input": {},
        "approval": approval,
    }
    assert part_to_ui(part_from_ui(call)) == call
