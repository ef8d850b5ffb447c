"""`rejoinder convert` reads and writes the forms of other programs: arrays, objects, lines and batches."""

from __future__ import annotations

import pytest

from rejoinder.cli.message_filters import SOURCES, TARGETS
from rejoinder.messages import Json
from rejoinder.wire import json
from tests.cli.filters import run

THREAD: list[Json] = [
    {"type": "human", "content": "Warm in Rome?", "id": "u"},
    {
        "type": "ai",
        "content": "",
        "id": "a",
        "tool_calls": [{"id": "c", "name": "weather", "args": {"city": "Rome"}}],
    },
    {"type": "tool", "content": "21", "tool_call_id": "c", "name": "weather"},
    {"type": "ai", "content": "It is 21."},
]
TOLD: list[Json] = [
    {"role": "user", "content": [{"type": "text", "text": "Warm in Rome?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "toolCallId": "c", "toolName": "weather", "input": {"city": "Rome"}}
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c",
                "toolName": "weather",
                "output": {"type": "text", "value": "21"},
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It is 21."}]},
]


def text(*values: Json) -> bytes:
    return b"\n".join(map(json.encode, values))


@pytest.mark.parametrize(
    "given", [text(THREAD), text({"messages": THREAD}), text({"values": {"messages": THREAD}})]
)
def test_an_array_or_an_object_comes_out_as_an_array(given: bytes) -> None:
    ran = run("convert", "--from", "langchain", "--to", "model", given=given)
    assert (ran.code, ran.err) == (0, "")
    assert json.decode(ran.out) == TOLD


def test_lines_come_out_as_lines() -> None:
    ran = run("convert", "--from", "langgraph", "--to", "model", given=text(*THREAD))
    assert (ran.code, ran.err) == (0, "")
    assert [json.decode(line) for line in ran.out.splitlines()] == TOLD


def test_what_a_model_was_told_becomes_messages_and_is_told_again() -> None:
    read = run("convert", "--from", "model", "--to", "ui", given=text(TOLD))
    [question, answer] = json.decode(read.out)
    assert [part["type"] for part in answer["parts"]] == ["step-start", "tool-weather", "step-start", "text"]
    assert answer["parts"][1]["output"] == "21"
    assert question["role"] == "user"
    again = run("convert", "--from", "ui", "--to", "model", given=read.out)
    assert json.decode(again.out) == TOLD


def test_a_batch_is_answered_line_by_line() -> None:
    given = text(TOLD, {"messages": TOLD}, [{"role": "robot"}], 7)
    ran = run("convert", "--from", "model", "--to", "canonical", "--batch", given=given)
    answers = [json.decode(line) for line in ran.out.splitlines()]
    assert answers[0] == answers[1]
    assert [message["role"] for message in answers[0]["messages"]] == ["user", "assistant"]
    assert "'robot'" in answers[2]["error"]
    assert "error" in answers[3]


@pytest.mark.parametrize("form", [form for form in TARGETS if form not in ("rows", "core")])
def test_every_form_is_written_and_read(form: str) -> None:
    written = run("convert", "--from", "langchain", "--to", form, "--thread", "t", given=text(THREAD))
    assert (written.code, written.err) == (0, "")
    assert isinstance(json.decode(written.out), dict if form == "anthropic" else list)
    back = run("convert", "--from", form, "--to", "model", given=written.out)
    assert (back.code, back.err) == (0, "")
    assert json.decode(back.out) == TOLD


@pytest.mark.parametrize(
    "form", [form for form in SOURCES if form not in ("ui", "canonical", "rows", "core")]
)
@pytest.mark.parametrize("given", [b"{", b"[7]"])
def test_what_is_none_of_a_form_is_one_line(form: str, given: bytes) -> None:
    ran = run("convert", "--from", form, "--to", "ui", given=given)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)


def test_a_form_that_nobody_knows_is_wrong_use() -> None:
    ran = run("convert", "--from", "smoke", given=b"[]")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
