"""What clients send, in all its forms, and what we say to what they should not."""

from __future__ import annotations

import pytest

from rejoinder.errors import InvalidJson, InvalidRequest
from rejoinder.wire.chunks import Error, TextDelta
from rejoinder.wire.dialects import dialect
from rejoinder.wire.json import Json, JsonObject
from rejoinder.wire.requests import (
    HEADERS_MAX,
    ID_CHARS_MAX,
    MESSAGES_MAX,
    AbortFrame,
    ChatRequest,
    ChunkFrame,
    ClientFrame,
    EndFrame,
    ErrorFrame,
    NoActiveFrame,
    ResumeFrame,
    SendFrame,
    ServerFrame,
    StartFrame,
    chat_request,
    checked_id,
    decode_client_frame,
    decode_server_frame,
    encode_client_frame,
    encode_server_frame,
)

USER: JsonObject = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}
ASSISTANT: JsonObject = {"id": "a1", "role": "assistant", "parts": []}


def test_the_body_of_the_default_transport() -> None:
    body = {
        "id": "c1",
        "messages": [USER, ASSISTANT],
        "trigger": "submit-message",
        "messageId": "a1",
        "tone": "dry",
    }
    request = chat_request(body)
    assert request == ChatRequest(
        conversation_id="c1",
        messages=(USER, ASSISTANT),
        whole_history=True,
        trigger="submit-message",
        message_id="a1",
        extra={"tone": "dry"},
    )
    assert request.newest is ASSISTANT
    assert "tone" in body


def test_the_last_message_only() -> None:
    assert chat_request({"id": "c1", "message": USER}) == ChatRequest(conversation_id="c1", messages=(USER,))


@pytest.mark.parametrize("name", ["agentId", "chatId", "conversationId"])
def test_applications_have_their_own_name_for_the_conversation(name: str) -> None:
    assert chat_request({"message": USER, name: "c1"}).conversation_id == "c1"


def test_the_first_name_counts_and_the_others_are_the_applications() -> None:
    request = chat_request({"agentId": "support", "chatId": "c1", "message": USER})
    assert (request.conversation_id, request.extra) == ("c1", {"agentId": "support"})


def test_a_workflow_names_no_conversation() -> None:
    assert chat_request({"messages": [USER]}) == ChatRequest(messages=(USER,), whole_history=True)


def test_a_regeneration_needs_no_message() -> None:
    request = chat_request({"id": "c1", "trigger": "regenerate-message", "messageId": "a1"})
    assert request.newest is None
    assert request.message_id == "a1"


def test_a_history_outranks_a_field_called_message() -> None:
    request = chat_request({"messages": [USER], "message": "psst"})
    assert (request.messages, request.extra) == ((USER,), {"message": "psst"})


def test_null_is_as_good_as_nothing() -> None:
    body = {
        "id": "c1",
        "message": USER,
        "messages": None,
        "trigger": None,
        "messageId": None,
        "dialect": None,
    }
    assert chat_request(body) == ChatRequest(conversation_id="c1", messages=(USER,))


def test_a_body_may_say_its_dialect() -> None:
    assert chat_request({"message": USER, "dialect": "ai-sdk/5"}).dialect == dialect("5")
    assert chat_request({"message": USER, "dialect": "5.0.0"}).dialect == dialect("5.0.0")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "the body is null: send an object"),
        ([USER], "the body is an array: send an object"),
        ("x", "the body is a string"),
        ({}, "neither 'messages' nor 'message'"),
        ({"id": "c1"}, "neither 'messages' nor 'message'"),
        ({"messages": []}, "'messages' is empty"),
        ({"messages": {}}, "'messages' is an object: send an array"),
        ({"messages": [USER, 1]}, r"'messages\[1\]' is a number"),
        ({"messages": [USER] * (MESSAGES_MAX + 1)}, f"more than {MESSAGES_MAX}: send the last one only"),
        ({"message": "hi"}, "'message' is a string: send the last message as an object"),
        ({"message": USER, "trigger": "resume"}, "'trigger' is neither"),
        ({"message": USER, "trigger": {}}, "'trigger' is neither"),
        ({"message": USER, "id": 7}, "'id' is a number: send an id as a string"),
        ({"message": USER, "id": True}, "'id' is a boolean"),
        ({"message": USER, "chatId": "a b"}, "'chatId' is no id that we take"),
        ({"message": USER, "messageId": []}, "'messageId' is an array"),
        ({"message": USER, "messageId": ""}, "'messageId' is no id"),
        ({"message": USER, "dialect": 5}, "'dialect' is a number"),
        ({"message": USER, "dialect": "ai-sdk/9"}, "'dialect': unknown dialect 'ai-sdk/9': name ai-sdk/5"),
    ],
)
def test_a_bad_body_is_told_where_and_what_to_send(body: Json, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        chat_request(body)


@pytest.mark.parametrize("id", ["a", "msg_01", "a.b:c~d-e", "x" * ID_CHARS_MAX, "...", "0"])
def test_an_id_is_plain(id: str) -> None:
    assert checked_id(id, "id") == id


@pytest.mark.parametrize(
    "id", ["", ".", "..", "a/b", "a b", "a\n", "ä", "x" * (ID_CHARS_MAX + 1), "\x00", "%2e", "\ud83d", None]
)
def test_what_could_be_taken_for_something_else_is_no_id(id: Json) -> None:
    with pytest.raises(InvalidRequest, match="'where'"):
        checked_id(id, "where")


SEND = SendFrame(
    request_id="r",
    id="c1",
    trigger="submit-message",
    messages=[USER],
    headers={"a": "b"},
    body={"tone": "dry"},
)
CLIENT_FRAMES: list[ClientFrame] = [
    SEND,
    SendFrame(
        request_id="r",
        id="c",
        trigger="regenerate-message",
        message_id="a1",
        messages=[USER],
        headers={},
        body={},
        metadata=[1],
    ),
    ResumeFrame(request_id="r", id="c", headers={}, body={}),
    ResumeFrame(request_id="r", id="c", last_sequence=0, headers={}, body={}, metadata=None),
    AbortFrame(request_id="r"),
]
SERVER_FRAMES: list[ServerFrame] = [
    StartFrame(request_id="r"),
    ChunkFrame(request_id="r", sequence=0, chunk=TextDelta(id="t", delta="\ud83d")),
    ChunkFrame(request_id='"', sequence=7, chunk=Error(error_text="x")),
    EndFrame(request_id="r"),
    NoActiveFrame(request_id="r"),
    ErrorFrame(request_id="r"),
    ErrorFrame(request_id="r", error_text="x"),
]


@pytest.mark.parametrize("frame", CLIENT_FRAMES)
def test_a_frame_of_a_client_comes_back_as_it_was(frame: ClientFrame) -> None:
    assert decode_client_frame(encode_client_frame(frame)) == frame


@pytest.mark.parametrize("frame", SERVER_FRAMES)
def test_a_frame_of_the_server_comes_back_as_it_was(frame: ServerFrame) -> None:
    assert decode_server_frame(encode_server_frame(frame)) == frame


def test_frames_are_written_as_the_transport_writes_them() -> None:
    assert encode_client_frame(ResumeFrame(request_id="r", id="c", headers={}, body={})) == (
        b'{"type":"resume","requestId":"r","id":"c","headers":{},"body":{}}'
    )
    assert encode_server_frame(SERVER_FRAMES[1]) == (
        rb'{"type":"chunk","requestId":"r","sequence":0,"chunk":{"type":"text-delta","id":"t","delta":"\ud83d"}}'
    )
    assert encode_server_frame(NoActiveFrame(request_id="r")) == b'{"type":"no-active","requestId":"r"}'


def test_a_frame_makes_the_request_that_a_post_makes() -> None:
    frame = SendFrame(
        request_id="r",
        id="c1",
        trigger="submit-message",
        messages=[USER],
        headers={},
        body={"id": "other", "messageId": "other", "dialect": "6", "tone": "dry"},
    )
    assert frame.request() == ChatRequest(
        conversation_id="c1",
        messages=(USER,),
        whole_history=True,
        dialect=dialect("6"),
        extra={"tone": "dry"},
    )


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '{"type":"send"}',
        '{"type":"shout","requestId":"r"}',
        '{"type":"abort"}',
        '{"type":"abort","requestId":7}',
        '{"type":"abort","requestId":""}',
        '{"type":"resume","requestId":"r","id":"c","headers":{"a":1},"body":{}}',
        '{"type":"resume","requestId":"r","id":"c","headers":{},"body":[]}',
        '{"type":"resume","requestId":"r","id":"c","headers":{},"body":{},"lastSequence":-1}',
        '{"type":"resume","requestId":"r","id":"c","headers":{},"body":{},"lastSequence":1.5}',
        '{"type":"resume","requestId":"r","id":"../c","headers":{},"body":{}}',
        '{"type":"send","requestId":"r","id":"c","trigger":"resume","messages":[],"headers":{},"body":{}}',
        '{"type":"send","requestId":"r","id":"c","trigger":"submit-message","messages":[1],"headers":{},"body":{}}',
        '{"type":"send","requestId":"r","id":"c","trigger":"submit-message","messageId":null,"messages":[],"headers":{},"body":{}}',
    ],
)
def test_a_bad_frame_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_client_frame(text)


def test_a_frame_has_as_many_headers_as_a_request() -> None:
    headers = {f"x-{number}": "" for number in range(HEADERS_MAX + 1)}
    with pytest.raises(InvalidRequest, match=f"send {HEADERS_MAX} at most"):
        decode_client_frame(
            encode_client_frame(ResumeFrame(request_id="r", id="c", headers=headers, body={}))
        )


@pytest.mark.parametrize("text", ["", "{", '{"type":"abort","requestId":NaN}'])
def test_a_frame_is_json(text: str) -> None:
    with pytest.raises(InvalidJson):
        decode_client_frame(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"chunk","requestId":"r","sequence":-1,"chunk":{"type":"finish"}}',
        '{"type":"chunk","requestId":"r","sequence":true,"chunk":{"type":"finish"}}',
        '{"type":"chunk","requestId":"r","sequence":0,"chunk":{"type":"text-delta"}}',
        '{"type":"chunk","requestId":"r","sequence":0}',
        '{"type":"chunk","sequence":0,"chunk":{"type":"finish"}}',
        '{"type":"begin","requestId":"r"}',
        "7",
    ],
)
def test_a_bad_frame_of_a_server_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_server_frame(text)
