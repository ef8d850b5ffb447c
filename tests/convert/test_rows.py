"""Rows: what stands in which column, what is refused, and what the specified rows of others become."""

from __future__ import annotations

from datetime import UTC, datetime
from types import UnionType
from typing import get_args

import pytest
from msgspec import structs

from rejoinder.convert.escapes import load_json, load_text, store_json, store_text
from rejoinder.convert.rows import (
    FAMILIES,
    PAYLOADS,
    PartRow,
    from_part_row,
    from_part_rows,
    to_part_row,
    to_rows,
)
from rejoinder.convert.spec_rows import from_spec_rows, to_spec_rows
from rejoinder.convert.stored_rows import JSON_COLUMNS, loaded_row, rows_from_json, rows_to_json, stored_row
from rejoinder.errors import InvalidJson, InvalidMessage, UnconvertibleMessage
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
    Reasoning,
    Steering,
    StepStart,
    Text,
    ToolCall,
)

WEATHER = ToolCall(
    name="weather",
    call_id="c",
    state="output-available",
    input={"city": "Ulm"},
    output=None,
    approval=Approval(id="a", approved=True),
)


def filled(row: PartRow) -> JsonObject:
    """The columns that are not NULL."""
    return {name: value for name, value in stored_row(row).items() if value is not None}


def test_every_field_of_every_part_has_a_column() -> None:
    kinds: UnionType = Part
    apart: dict[object, set[str]] = {ToolCall: {"approval"}, Steering: {"parts"}}
    assert {family.make for family in FAMILIES.values()} == {*get_args(kinds)}
    for family in FAMILIES.values():
        fields = {field.name for field in structs.fields(family.make)}
        assert fields == family.columns.keys() | apart.get(family.make, set())
        assert len({*family.columns.values()}) == len(family.columns)
    columns = {column for family in FAMILIES.values() for column in family.columns.values()}
    approval = {f"tool_approval_{field.name}" for field in structs.fields(Approval)}
    assert columns | approval | {"order", "type", "steering_parts"} == {*PartRow.__struct_fields__}


def test_every_column_that_is_not_json_holds_what_sql_knows() -> None:
    for column in structs.fields(PartRow):
        told = str(column.type)
        assert (column.name in JSON_COLUMNS) == ("Any" in told or "dict" in told), column.name
    assert PAYLOADS <= JSON_COLUMNS


def test_a_call_stands_in_the_columns_of_tools() -> None:
    assert filled(to_part_row(WEATHER, 3)) == {
        "order": 3,
        "type": "tool-call",
        "tool_name": "weather",
        "tool_call_id": "c",
        "tool_state": "output-available",
        "tool_dynamic": False,
        "tool_withdrawn": False,
        "tool_input": '{"city":"Ulm"}',
        "tool_output": "null",
        "tool_approval_id": "a",
        "tool_approval_approved": True,
    }


def test_null_and_nothing_are_told_apart() -> None:
    asked = structs.replace(WEATHER, state="input-available", input=None, output=ABSENT)
    columns = stored_row(to_part_row(asked, 0))
    assert (columns["tool_input"], columns["tool_output"]) == ("null", None)
    assert from_part_row(loaded_row(PartRow, columns)) == asked


def test_rows_come_in_any_order() -> None:
    rows = to_rows(Message(id="m", role="user", parts=(Text(text="a"), StepStart(), Text(text="b")))).parts
    assert from_part_rows(reversed(rows)) == (Text(text="a"), StepStart(), Text(text="b"))


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"order": 0, "type": "hologram"}, "'hologram'"),
        ({"order": 0, "type": "text"}, "text_text"),
        (
            {"order": 0, "type": "tool-call", "tool_name": "weather", "tool_state": "input-available"},
            "tool_call_id",
        ),
        ({"order": 0, "type": "tool-call", "tool_state": "pondering"}, "tool_state"),
        ({"order": 0, "type": "text", "text_text": "", "extra": "[1]"}, "extra"),
        ({"order": 0, "type": "data", "data_name": "x", "data_content": 1}, "data_content"),
        ({"type": "text", "text_text": ""}, "order"),
        (
            {
                "order": 0,
                "type": "steering-message",
                "steering_id": "s",
                "steering_parts": '[{"type":"data-x"}]',
            },
            "data-x",
        ),
    ],
)
def test_a_row_that_breaks_the_rules_of_its_type_is_refused_by_column(columns: JsonObject, what: str) -> None:
    with pytest.raises(InvalidMessage, match=what):
        from_part_row(loaded_row(PartRow, columns))


def test_a_dump_has_a_message_and_its_parts_and_leaves_empty_columns_out() -> None:
    message = Message(
        id="m",
        role="assistant",
        parts=(Text(text="a\x00b", state="done"), Data(name="x", data=None)),
        created_at=datetime(2026, 1, 18, tzinfo=UTC),
        status="complete",
        metadata={"half": "\ud83d"},
    )
    assert rows_to_json(to_rows(message)) == {
        "message": {
            "id": "m",
            "role": "assistant",
            "status": "complete",
            "created_at": "2026-01-18T00:00:00+00:00",
            "metadata": {"half": "␛d83d"},
        },
        "parts": [
            {"order": 0, "type": "text", "text_text": "a␛0b", "text_state": "done"},
            {"order": 1, "type": "data", "data_name": "x", "data_content": None},
        ],
    }


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], "$:"),
        ({"message": {"id": "m", "role": "user"}}, "$.parts:"),
        ({"message": None, "parts": []}, "$.message:"),
        ({"message": {"id": "m"}, "parts": []}, "$.message:"),
        ({"message": {"id": "m", "role": "user"}, "parts": ["hi"]}, r"$.parts[0]:"),
        ({"message": {"id": "m", "role": "user"}, "parts": [{"odd": 1}]}, r"$.parts[0]:"),
        ({"message": {"id": "m", "role": "user", "created_at": "now"}, "parts": []}, "$.message:"),
    ],
)
def test_a_dump_of_something_else_is_refused_with_its_path(value: Json, path: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        rows_from_json(value)
    assert str(refused.value).startswith(path)


@pytest.mark.parametrize("text", ["", "plain", "naïve 👩‍👩‍👧 \u2028", "a\\u0000b", '{"a": 1e2}', "␀"])
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert store_text(text) == text
    assert load_json(store_json([text])) == [text]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"a": [1, 2.5, "e5", None, True, 1e-7]}, '{"a":[1,2.5,"e5",null,true,1e-7]}'),
        ("1e22 -0.0 Infinity", '"1e22 -0.0 Infinity"'),
        ("\\u0000 \\\\", r'"\\u0000 \\\\"'),
        ("a\x00b", '"a␛0b"'),
        ("␛0", '"␛␛0"'),
        ("\ud83d", '"␛d83d"'),
        ({"\x00": -0.0}, '{"␛0":"␛#-0.0"}'),
        ([1e22, -0.05], '["␛#1e22",-0.05]'),
        ([float("inf"), -float("inf"), 1], '["␛#Infinity","␛#-Infinity",1]'),
        ("␛#1e22", '"␛␛#1e22"'),
        (None, "null"),
        (ABSENT, None),
    ],
)
def test_json_is_stored_so_that_jsonb_changes_nothing_of_it(value: Json, stored: str | None) -> None:
    text = store_json(value)
    assert text == stored
    assert load_json(text) == value


def test_escapes_that_were_never_ours_stay_what_they_are() -> None:
    assert load_text("␛x ␛") == "␛x ␛"
    with pytest.raises(InvalidJson):
        load_json('["␛#one"]')


def test_a_value_nested_too_deep_is_refused_and_not_a_crash() -> None:
    value: Json = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidJson, match="deep"):
        store_json(value)


SPEC_ROW: JsonObject = {
    "id": "p",
    "messageId": "m",
    "createdAt": datetime(2026, 1, 18, tzinfo=UTC),
    "text_text": None,
    "reasoning_text": None,
    "tool_toolCallId": None,
    "tool_state": None,
    "tool_errorText": None,
    "tool_confirmAction_input": None,
    "tool_confirmAction_output": None,
    "data_proposal_id": "made by a column default",
    "data_proposal_status": None,
    "data_proposal_content": None,
    "providerMetadata": None,
}


def from_table(*rows: JsonObject) -> tuple[Part, ...]:
    table = [{**SPEC_ROW, "order": order, **row} for order, row in enumerate(rows)]
    return from_spec_rows({"id": "m", "agentId": "a", "role": "assistant"}, reversed(table)).parts


def test_rows_of_the_persistence_specification_are_read() -> None:
    called = {"type": "tool-confirmAction", "tool_toolCallId": "c"}
    assert from_table(
        {"type": "step-start"},
        {"type": "reasoning", "reasoning_text": "hm", "providerMetadata": {"x": {}}},
        {"type": "text", "text_text": "hi"},
        {**called, "tool_state": "input-streaming"},
        {**called, "tool_state": "input-available"},
        {**called, "tool_state": "output-available", "tool_confirmAction_input": 1},
        {**called, "tool_state": "output-error", "tool_confirmAction_input": 1, "tool_errorText": "no"},
        {
            "type": "data-proposal",
            "data_proposal_id": "d",
            "data_proposal_status": "loading",
            "data_proposal_content": {"a": None},
        },
    ) == (
        StepStart(),
        Reasoning(text="hm", provider_metadata={"x": {}}),
        Text(text="hi"),
        ToolCall(name="confirmAction", call_id="c", state="input-streaming"),
        ToolCall(name="confirmAction", call_id="c", state="input-available", input=None),
        ToolCall(name="confirmAction", call_id="c", state="output-available", input=1, output=None),
        ToolCall(name="confirmAction", call_id="c", state="output-error", input=1, error_text="no"),
        Data(name="proposal", id="d", data={"status": "loading", "content": {"a": None}}),
    )


def test_bare_rows_that_an_older_writer_left_do_not_keep_the_conversation_from_loading() -> None:
    parts = from_table(
        {"type": "file"},
        {"type": "dynamic-tool", "tool_state": "call"},
        {"type": "text"},
        {"type": "hologram"},
    )
    assert [part.kind if isinstance(part, Opaque) else None for part in parts] == [
        "file",
        "dynamic-tool",
        "text",
        "hologram",
    ]


def test_messages_are_written_in_the_columns_of_the_persistence_specification() -> None:
    failed = ToolCall(name="confirmAction", call_id="c", state="output-error", input=1, error_text="no")
    message = Message(
        id="m", role="assistant", parts=(failed, Data(name="proposal", id="d", data={"status": "ok"}))
    )
    assert to_spec_rows(message, agent_id="a") == (
        {"id": "m", "agentId": "a", "role": "assistant"},
        (
            {
                "id": "m:0",
                "messageId": "m",
                "order": 0,
                "type": "tool-confirmAction",
                "tool_toolCallId": "c",
                "tool_state": "output-error",
                "tool_errorText": "no",
                "tool_confirmAction_input": 1,
                "tool_confirmAction_output": None,
                "providerMetadata": None,
            },
            {
                "id": "m:1",
                "messageId": "m",
                "order": 1,
                "type": "data-proposal",
                "data_proposal_id": "d",
                "data_proposal_status": "ok",
            },
        ),
    )


def test_what_a_table_has_no_column_for_goes_into_extra_or_is_refused() -> None:
    message = Message(
        id="m", role="user", parts=(File(media_type="text/plain", url="https://example.com/a"),)
    )
    (row,) = to_spec_rows(message, agent_id="a", columns={"text_text", "extra"}).parts
    assert row["extra"] == {"part": {"mediaType": "text/plain", "url": "https://example.com/a"}}
    with pytest.raises(UnconvertibleMessage, match="extra"):
        to_spec_rows(message, agent_id="a", columns={"text_text"})
    plain = Message(id="m", role="user", parts=(Text(text="hi"),))
    assert to_spec_rows(plain, agent_id="a", columns={"text_text"}).parts[0]["text_text"] == "hi"


@pytest.mark.parametrize(
    "row", [{}, {"id": "m"}, {"id": "m", "role": "owner"}, {"id": "m", "role": "user", "extra": 5}]
)
def test_a_message_row_without_an_id_or_role_is_refused(row: JsonObject) -> None:
    with pytest.raises(InvalidMessage):
        from_spec_rows(row, [])
