"""Canonical messages: what each field says, and what of other systems is read."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone

import pytest

from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.convert.results import join_results
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
    Reasoning,
    SourceDocument,
    SourceUrl,
    StepStart,
    Text,
    ToolCall,
)


def written(*parts: Part) -> list[JsonObject]:
    message = Message(id="m", role="assistant", parts=parts)
    listed: list[JsonObject] = to_canonical(message, thread_id="t")["content"]["parts"]
    return listed


def read(*parts: Json, **content: Json) -> tuple[Part, ...]:
    body = {"format": 2, "parts": list(parts), **content}
    return from_canonical({"id": "m", "role": "assistant", "content": body}).parts


def invocation(**fields: Json) -> JsonObject:
    return {"type": "tool-invocation", "toolCallId": "c", "toolName": "weather", **fields}


def test_a_message_stands_in_the_fields_of_the_specification() -> None:
    message = Message(
        id="m",
        role="assistant",
        parts=(
            Text(text="It is ", provider_metadata={"openai": {"itemId": "i"}}),
            Text(text="sunny."),
        ),
        metadata={"model": "x"},
        created_at=datetime(2026, 1, 18, 12, 30, tzinfo=timezone(timedelta(hours=2))),
    )
    assert to_canonical(message, thread_id="t", resource_id="r") == {
        "id": "m",
        "threadId": "t",
        "resourceId": "r",
        "role": "assistant",
        "type": "text",
        "createdAt": "2026-01-18T10:30:00.000Z",
        "content": {
            "format": 2,
            "content": "It is sunny.",
            "metadata": {"model": "x"},
            "parts": [
                {"type": "text", "text": "It is ", "providerMetadata": {"openai": {"itemId": "i"}}},
                {"type": "text", "text": "sunny."},
            ],
        },
    }


def test_each_part_says_in_the_six_shapes_what_these_can_say() -> None:
    assert written(
        Reasoning(text="hm", provider_metadata={"anthropic": {"signature": "s"}}),
        File(media_type="image/png", url="data:image/png;base64,iVBORw0KGgo="),
        File(media_type="image/png", url="https://example.com/a.png", filename="a.png"),
        SourceUrl(source_id="1", url="https://example.com", title="Example"),
        SourceDocument(source_id="2", media_type="application/pdf", title="Paper"),
        Data(name="weather", id="w", data={"sun": True}),
        StepStart(),
    ) == [
        {
            "type": "reasoning",
            "reasoning": "hm",
            "details": [{"type": "text", "text": "hm", "signature": "s"}],
            "providerMetadata": {"anthropic": {"signature": "s"}},
        },
        {"type": "file", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {
            "type": "file",
            "data": "https://example.com/a.png",
            "mimeType": "image/png",
            "rejoinder": {"part": {"filename": "a.png"}},
        },
        {"type": "source", "id": "1", "url": "https://example.com", "title": "Example"},
        {
            "type": "source",
            "id": "2",
            "title": "Paper",
            "rejoinder": {"part": {"mediaType": "application/pdf"}},
        },
        {"type": "data", "data": {"sun": True}, "rejoinder": {"part": {"type": "data-weather", "id": "w"}}},
        {"type": "data", "data": {"type": "step-start"}, "rejoinder": {"whole": True}},
    ]


def test_a_call_is_partial_open_or_answered() -> None:
    def call(state: Json, **fields: Json) -> JsonObject:
        (part,) = written(ToolCall(name="weather", call_id="c", state=state, **fields))
        return {
            key: value
            for key, value in part.items()
            if key not in {"type", "toolCallId", "toolName", "rejoinder"}
        }

    denied = Approval(id="a", approved=False, reason="too dear")
    assert call("input-streaming") == {"state": "partial-call"}
    assert call("input-available", input={"city": "Ulm"}) == {"state": "call", "args": {"city": "Ulm"}}
    assert call("approval-requested", input=None, approval=Approval(id="a")) == {
        "state": "call",
        "args": None,
    }
    assert call("output-available", input=1, output=None) == {"state": "result", "args": 1, "result": None}
    assert call("output-error", input=1, error_text="no net") == {
        "state": "result",
        "args": 1,
        "result": "no net",
    }
    assert call("output-denied", input=1, approval=denied) == {
        "state": "result",
        "args": 1,
        "result": "too dear",
    }


def test_a_message_is_of_the_type_that_its_parts_make_it() -> None:
    def type_of(*parts: Part) -> Json:
        return to_canonical(Message(id="m", role="assistant", parts=parts), thread_id="t")["type"]

    call = ToolCall(name="weather", call_id="c", state="input-available", input={})
    assert type_of() == "text"
    assert type_of(StepStart(), Text(text="hi"), call) == "text"
    assert type_of(StepStart(), Reasoning(text="hm"), call) == "tool"
    assert type_of(Data(name="progress", data=1)) == "event"


def test_a_type_that_somebody_else_chose_stays() -> None:
    body: JsonObject = {
        "id": "m",
        "threadId": "t",
        "role": "user",
        "type": "event",
        "content": {"format": 2, "parts": []},
    }
    assert to_canonical(from_canonical(body), thread_id="t") == body


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"state": "partial-call", "args": {}}, {"state": "input-streaming", "input": {}}),
        ({"state": "call", "args": {}}, {"state": "input-available", "input": {}}),
        (
            {"state": "result", "args": {}, "result": 1},
            {"state": "output-available", "input": {}, "output": 1},
        ),
        ({"state": "result", "result": "no", "isError": True}, {"state": "output-error", "error_text": "no"}),
        ({"state": "output-error", "errorText": "no"}, {"state": "output-error", "error_text": "no"}),
        (
            {"state": "approval-requested", "args": {}, "approval": {"id": "a"}},
            {"state": "approval-requested", "input": {}, "approval": Approval(id="a")},
        ),
        (
            {"state": "output-denied", "args": {}, "approval": {"id": "a", "approved": False}},
            {"state": "output-denied", "input": {}, "approval": Approval(id="a", approved=False)},
        ),
    ],
)
def test_calls_of_mastra_are_read_flat_and_nested(
    fields: JsonObject, expected: JsonObject, *, nested: bool
) -> None:
    body = invocation(**fields)
    if nested:
        del body["type"]
        outer: JsonObject = {"type": "tool-invocation", "toolInvocation": body, "providerMetadata": {"x": {}}}
        body = outer
    (part,) = read(body)
    assert isinstance(part, ToolCall)
    assert (part.name, part.call_id) == ("weather", "c")
    assert part.call_provider_metadata == ({"x": {}} if nested else None)
    assert {name: getattr(part, name) for name in expected} == expected


def test_an_error_that_is_no_text_is_kept_as_text() -> None:
    (part,) = read(invocation(state="result", result={"code": 7}, isError=True))
    assert isinstance(part, ToolCall)
    assert (part.state, part.error_text, part.output) == ("output-error", '{"code":7}', ABSENT)


def test_a_result_that_somebody_added_counts_although_our_own_words_are_older() -> None:
    asked = ToolCall(
        name="weather", call_id="c", state="approval-requested", input={}, approval=Approval(id="a")
    )
    (body,) = written(asked)
    (part,) = read({**body, "state": "result", "result": 21})
    assert part == ToolCall(
        name="weather", call_id="c", state="output-available", input={}, output=21, approval=Approval(id="a")
    )


def test_parts_that_mastra_adds_to_the_format_are_read() -> None:
    document = {"type": "source-document", "sourceId": "1", "mediaType": "text/plain", "title": "T"}
    page = {
        "type": "source",
        "source": {"sourceType": "url", "id": "2", "url": "https://example.com", "title": "E"},
    }
    assert read(
        {"type": "step-start", "model": "openai/gpt-5", "createdAt": 1},
        document,
        page,
        {"type": "data-weather", "data": 1},
        {"type": "data", "data": 2},
        {"type": "text", "text": "hi", "visibility": "llm"},
    ) == (
        StepStart(extra={"model": "openai/gpt-5", "createdAt": 1}),
        SourceDocument(source_id="1", media_type="text/plain", title="T"),
        SourceUrl(source_id="2", url="https://example.com", title="E"),
        Data(name="weather", data=1),
        Data(name="", data=2),
        Text(text="hi", extra={"visibility": "llm"}),
    )


def test_a_thought_and_its_signature_are_found_in_the_details() -> None:
    details = [{"type": "text", "text": "hm", "signature": "s"}]
    assert read({"type": "reasoning", "reasoning": "", "details": details}) == (
        Reasoning(text="hm", provider_metadata={"anthropic": {"signature": "s"}}),
    )
    hidden = [{"type": "redacted", "data": "xyz"}]
    assert read({"type": "reasoning", "reasoning": "", "details": hidden}) == (
        Reasoning(text="", provider_metadata={"anthropic": {"redactedData": "xyz"}}),
    )
    several = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "signature": "s"}]
    assert read({"type": "reasoning", "reasoning": "", "details": several}) == (
        Reasoning(text="ab", provider_metadata={"anthropic": {"signature": "s"}}, extra={"details": several}),
    )


@pytest.mark.parametrize(
    "data",
    [
        base64.b64encode(b"\x89PNG").decode(),
        "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode(),
        {"0": 0x89, "1": 0x50, "2": 0x4E, "3": 0x47},
        {"type": "Buffer", "data": [0x89, 0x50, 0x4E, 0x47]},
        [0x89, 0x50, 0x4E, 0x47],
        b"\x89PNG",
    ],
)
def test_the_bytes_of_a_file_are_read_in_every_form_that_they_take_in_json(data: Json) -> None:
    expected = File(media_type="image/png", url="data:image/png;base64,iVBORw==")
    assert read({"type": "file", "data": data, "mimeType": "image/png"}) == (expected,)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "hologram", "beam": 1},
        {"type": "text"},
        {"type": 5},
        {},
        invocation(state="pondering"),
        {"type": "tool-invocation", "toolCallId": "c", "state": "call"},
        {"type": "file", "data": [300], "mimeType": "x"},
        {"type": "data"},
    ],
)
def test_a_part_that_nobody_knows_is_kept_whole(body: JsonObject) -> None:
    (part,) = read(body)
    assert part == Opaque(body=body)
    assert read(*written(part)) == (part,)


def test_fields_from_before_there_were_parts_are_read_as_parts() -> None:
    call: JsonObject = {"state": "result", "toolCallId": "c", "toolName": "weather", "args": {}, "result": 21}
    assert read(content="It is warm.", reasoning="hm", toolInvocations=[call]) == (
        Reasoning(text="hm"),
        ToolCall(name="weather", call_id="c", state="output-available", input={}, output=21),
        Text(text="It is warm."),
    )
    photo = {"url": "https://example.com/a.png", "contentType": "image/png", "name": "a.png"}
    assert read({"type": "text", "text": "look"}, experimental_attachments=[photo]) == (
        Text(text="look"),
        File(media_type="image/png", url="https://example.com/a.png", filename="a.png"),
    )


@pytest.mark.parametrize(
    "content",
    ["hi", [{"type": "text", "text": "hi"}], '{"format": 2, "parts": [{"type": "text", "text": "hi"}]}'],
)
def test_content_is_read_as_text_as_an_array_and_as_stored_json(content: Json) -> None:
    assert from_canonical({"id": "m", "role": "user", "content": content}).parts == (Text(text="hi"),)


def test_a_tool_message_is_read_and_its_result_finds_its_call() -> None:
    asked = {"id": "1", "role": "assistant", "content": {"parts": [invocation(state="call", args={})]}}
    told = {"id": "2", "role": "tool", "content": {"parts": [invocation(state="result", result=21)]}}
    call, result = from_canonical(asked), from_canonical(told)
    assert result.role == "tool"
    assert join_results([call, result]) == (
        Message(
            id="1",
            role="assistant",
            parts=(ToolCall(name="weather", call_id="c", state="output-available", input={}, output=21),),
        ),
    )
    assert join_results([result, call]) == (result, call)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2026-01-18T10:30:00.123Z", datetime(2026, 1, 18, 10, 30, 0, 123000, UTC)),
        ("2026-01-18 10:30:00+00", datetime(2026, 1, 18, 10, 30, tzinfo=UTC)),
        (1768732200000, datetime(2026, 1, 18, 10, 30, tzinfo=UTC)),
        (None, None),
    ],
)
def test_times_are_read_as_text_and_as_milliseconds(time: Json, expected: datetime | None) -> None:
    body = {"id": "m", "role": "user", "createdAt": time, "content": "hi"}
    assert from_canonical(body).created_at == expected


def test_foreign_fields_and_roles_are_kept() -> None:
    body: JsonObject = {
        "id": "m",
        "threadId": "t",
        "role": "developer",
        "pinned": True,
        "content": {"format": 2, "parts": [], "annotations": [1], "providerMetadata": {"x": {}}},
    }
    message = from_canonical(body)
    assert message.role == "system"
    assert message.extra == {
        "role": "developer",
        "pinned": True,
        "content": {"annotations": [1], "providerMetadata": {"x": {}}},
    }
    assert to_canonical(message, thread_id="t")["content"]["providerMetadata"] == {"x": {}}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "$:"),
        ([], "$:"),
        ({"role": "user", "content": "hi"}, "$.id"),
        ({"id": "m", "role": "owner", "content": "hi"}, "$.role"),
        ({"id": "m", "role": ["user"], "content": "hi"}, "$.role"),
        ({"id": "m", "role": "user"}, "$.content"),
        ({"id": "m", "role": "user", "content": {"format": 3, "parts": []}}, "$.content.format"),
        ({"id": "m", "role": "user", "content": {"format": 2, "parts": {}}}, "$.content.parts"),
        ({"id": "m", "role": "user", "content": {"format": 2, "parts": ["hi"]}}, "$.content.parts[0]"),
        ({"id": "m", "role": "user", "content": "hi", "createdAt": "yesterday"}, "$.createdAt"),
        ({"id": "m", "role": "user", "content": "hi", "createdAt": True}, "$.createdAt"),
        ({"id": "m", "role": "user", "content": "hi", "createdAt": 1e300}, "$.createdAt"),
        ({"id": "m", "role": "user", "content": {"rejoinder": 5}}, "$.content.rejoinder"),
        (
            {"id": "m", "role": "user", "content": {"rejoinder": {"status": "odd"}}},
            "$.content.rejoinder.status",
        ),
        ({"id": "m", "role": "user", "content": {"rejoinder": {"extra": 5}}}, "$.content.rejoinder.extra"),
        (
            {"id": "m", "role": "user", "content": {"parts": [{"type": "text", "text": "", "rejoinder": 5}]}},
            "$.content.parts[0].rejoinder",
        ),
    ],
)
def test_what_is_no_canonical_message_is_refused_with_its_path(value: Json, path: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        from_canonical(value)
    assert str(refused.value).startswith(path)
