"""The oracle answers in order, says what the packages say, and fails in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from rejoinder.testing.oracle import MODULES_VARIABLE, Oracle, OracleFailure, OracleUnavailable

RELEASES = ("5", "6", "7", "5.0.0", "6.0.0", "7.0.0")
HELLO = [
    {"type": "start", "messageId": "m1"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Hel"},
    {"type": "text-delta", "id": "t", "delta": "lo"},
    {"type": "text-end", "id": "t"},
]


@pytest.mark.parametrize("sdk", RELEASES)
def test_every_release_folds_a_stream(oracle: Oracle, sdk: str) -> None:
    answer = oracle.ask({"do": "fold", "sdk": sdk, "chunks": HELLO, "onto": None})
    part = {"type": "text", "text": "Hello", "state": "done"}
    assert answer == {"message": {"id": "m1", "role": "assistant", "parts": [part]}}


@pytest.mark.parametrize("sdk", RELEASES)
def test_every_release_reads_what_a_server_sends(oracle: Oracle, sdk: str) -> None:
    sse = (
        'data: {"type":"start","messageId":"m1"}\n\n'
        'data: {"type":"text-start","id":"t"}\n\n'
        'data: {"type":"text-delta","id":"t","delta":"\\ud83d"}\n\n'
        "data: [DONE]\n\n"
    )
    answer = oracle.ask({"do": "read", "sdk": sdk, "sse": sse})
    assert answer["message"]["parts"] == [{"type": "text", "text": "\ud83d", "state": "streaming"}]


@pytest.mark.parametrize("sdk", RELEASES)
def test_every_release_judges_chunks_by_its_own_schema(oracle: Oracle, sdk: str) -> None:
    chunks = [{"type": "start-step"}, {"type": "mystery"}, {"type": "start", "tomorrow": 1}]
    known, unknown, extra = oracle.ask({"do": "schema", "sdk": sdk, "chunks": chunks})["results"]
    assert known is None
    assert isinstance(unknown, str)
    # The first releases refuse a field that they do not know, the newest pass over it.
    assert (extra is not None) == sdk.endswith(".0.0")


def test_a_refusal_is_an_answer(oracle: Oracle) -> None:
    answer = oracle.ask(
        {"do": "fold", "sdk": "7", "chunks": [{"type": "text-delta", "id": "x", "delta": "a"}]}
    )
    assert answer == {
        "name": "AI_UIMessageStreamError",
        "error": 'Received text-delta for missing text part with ID "x". '
        'Ensure a "text-start" chunk is sent before any "text-delta" chunks.',
    }


def test_an_error_chunk_ends_the_reading_and_not_the_folding(oracle: Oracle) -> None:
    chunk = {"type": "error", "errorText": "boom"}
    folded = oracle.ask({"do": "fold", "sdk": "6", "chunks": [chunk, *HELLO]})
    read = oracle.ask({"do": "read", "sdk": "6", "sse": 'data: {"type":"error","errorText":"boom"}\n\n'})
    assert folded["message"]["parts"]
    assert read == {"error": "boom", "name": "Error"}


def test_a_message_is_continued(oracle: Oracle) -> None:
    onto = {"id": "old", "role": "assistant", "parts": [{"type": "text", "text": "before"}]}
    answer = oracle.ask({"do": "fold", "sdk": "5", "chunks": [{"type": "start"}, *HELLO[1:]], "onto": onto})
    assert answer["message"]["id"] == "old"
    assert [part["text"] for part in answer["message"]["parts"]] == ["before", "Hello"]


def test_messages_are_converted_with_their_data_if_asked(oracle: Oracle) -> None:
    messages = [
        {"role": "user", "parts": [{"type": "text", "text": "hi"}, {"type": "data-x", "data": {"a": 1}}]}
    ]
    plain = oracle.ask(
        {"do": "convert", "sdk": "6", "messages": messages, "options": {"convertDataPart": None}}
    )
    full = oracle.ask(
        {"do": "convert", "sdk": "6", "messages": messages, "options": {"convertDataPart": "text"}}
    )
    hi = {"type": "text", "text": "hi"}
    assert plain["messages"] == [{"role": "user", "content": [hi]}]
    assert full["messages"] == [{"role": "user", "content": [hi, {"type": "text", "text": '{"a":1}'}]}]


@pytest.mark.parametrize("sdk", ["5", "6", "7"])
def test_messages_are_validated_against_json_schemas(oracle: Oracle, sdk: str) -> None:
    part: dict[str, object] = {
        "type": "tool-weather",
        "toolCallId": "c",
        "state": "input-available",
        "input": {"city": 5},
    }
    request = {
        "do": "validate",
        "sdk": sdk,
        "messages": [{"id": "m", "role": "assistant", "parts": [part]}],
        "tools": {"weather": {"inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}},
    }
    answer = oracle.ask(request)
    assert answer["name"] == "AI_TypeValidationError"
    assert "does not match its JSON schema" in answer["error"]
    part["input"] = {"city": "Oslo"}
    assert oracle.ask(request) == {"messages": request["messages"]}


def test_unfinished_json_is_repaired_and_no_value_is_no_key(oracle: Oracle) -> None:
    questions = [{"do": "partial", "sdk": "7", "text": text} for text in ('{"a":[1,tr', "nope", "null")]
    assert oracle.ask_many(questions) == [
        {"value": {"a": [1, True]}, "state": "repaired-parse"},
        {"state": "failed-parse"},
        {"value": None, "state": "successful-parse"},
    ]


def test_many_long_questions_do_not_block_each_other(oracle: Oracle) -> None:
    texts = [f'"{number}{"x" * 100_000}"' for number in range(100)]
    answers = oracle.ask_many({"do": "partial", "sdk": "7", "text": text} for text in texts)
    assert [answer["value"] for answer in answers] == [text.strip('"') for text in texts]


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "guess"},
        {"do": "constructor"},
        {"do": "fold", "sdk": "7"},
        {"do": "fold", "sdk": 7, "chunks": []},
        {"do": "fold", "sdk": "4", "chunks": []},
        {"do": "validate", "sdk": "5.0.0", "messages": []},
    ],
)
def test_a_question_that_cannot_be_put_is_an_exception_and_harms_no_other(
    oracle: Oracle, request_: dict[str, object]
) -> None:
    good = {"do": "partial", "sdk": "7", "text": "1"}
    with pytest.raises(OracleFailure):
        oracle.ask_many([good, request_, good])
    assert oracle.ask(good)["value"] == 1


def test_node_dying_is_told_and_not_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "oracle.mjs"
    script.write_text("throw new Error('out of order');\n")
    with Oracle(script=script, modules=tmp_path) as broken:
        with pytest.raises(OracleFailure, match="out of order"):
            broken.ask({"do": "partial", "sdk": "7", "text": "1"})
        with pytest.raises(OracleFailure, match="closed"):
            broken.ask({"do": "partial", "sdk": "7", "text": "1"})


def test_missing_packages_are_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODULES_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(OracleUnavailable, match="npm ci"):
        Oracle()
