"""The filters do what the design's page says, line by line and in batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rejoinder.messages import Json
from rejoinder.testing.oracle import Oracle
from tests.cli.filters import run
from tests.conformance.histories import history, validation
from tests.conformance.streams import legal_stream, stream
from tests.conformance.test_fold import agree
from tests.scale import scale

CHUNKS = [
    {"type": "start", "messageId": "m1"},
    {"type": "start-step"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Hello \ud83d"},
    {"type": "text-delta", "id": "t", "delta": "\ude00"},
    {"type": "text-end", "id": "t"},
    {"type": "finish-step"},
    {"type": "finish", "finishReason": "stop"},
]
MESSAGE = {
    "id": "m1",
    "role": "assistant",
    "parts": [{"type": "step-start"}, {"type": "text", "text": "Hello 😀", "state": "done"}],
}
HISTORY = [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}, MESSAGE]


def lines(values: list[Json]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def events(values: list[Json]) -> str:
    return (
        ": stream-open\r\n\r\n"
        + "".join(f"data: {json.dumps(value)}\r\n\r\n" for value in values)
        + "data: [DONE]\n\n"
    )


def parsed(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("form", [lines, events])
def test_fold_reads_lines_and_event_streams(form: Callable[[list[Json]], str]) -> None:
    ran = run("fold", "--sdk", "7", given=form(CHUNKS))
    assert (ran.code, parsed(ran.out), ran.err) == (0, [MESSAGE], "")


def test_fold_continues_a_message_from_a_file(tmp_path: Path) -> None:
    onto = tmp_path / "message.json"
    onto.write_text(json.dumps(MESSAGE, indent=2))
    ran = run("fold", "--onto", str(onto), given=lines([{"type": "start-step"}]))
    assert parsed(ran.out) == [MESSAGE | {"parts": [*MESSAGE["parts"], {"type": "step-start"}]}]


def test_explode_and_fold_are_inverse() -> None:
    exploded = run("explode", given=json.dumps(MESSAGE, indent=1))
    assert exploded.code == 0
    assert parsed(run("fold", given=exploded.out).out) == [MESSAGE]


def test_check_stream_names_every_chunk_that_a_client_would_die_of() -> None:
    given = lines(
        [*CHUNKS, {"type": "custom", "kind": "a.b"}, {"type": "text-delta", "id": "x", "delta": ""}]
    )
    ran = run("check-stream", "--sdk", "5", "--release", "5.0.0", given=given)
    assert ran.code == 1
    assert [line.partition(":")[0] for line in ran.err.splitlines()] == ["line 8", "line 9", "line 10"]
    assert run("check-stream", "--sdk", "7", given=lines(CHUNKS)).code == 0


def test_check_stream_sees_fields_that_only_strict_clients_refuse() -> None:
    given = lines([{"type": "start", "messageId": "m", "colour": "red"}])
    assert "colour" in run("check-stream", "--sdk", "5", "--release", "5.0.0", given=given).err
    assert run("check-stream", "--sdk", "5", given=given).code == 0


def test_check_stream_lets_pass_what_a_loose_client_passes_over() -> None:
    odd = {"type": "tool-input-start", "toolCallId": "c", "toolName": "x", "title": None, "toolMetadata": 7}
    assert run("check-stream", "--sdk", "5", given=lines([odd])).code == 0
    for arguments in (("--sdk", "5", "--release", "5.0.0"), ("--sdk", "6"), ("--sdk", "7")):
        assert run("check-stream", *arguments, given=lines([odd])).code == 1


@pytest.mark.parametrize(
    ("data", "refusing"),
    [
        ({"deep": [{"__proto__": 1}]}, ("5.0.0", "5.0.277", "6.0.0", "7.0.0", "7.0.173")),
        ({"constructor": {"prototype": 1}}, ("5.0.0", "5.0.277", "6.0.0", "7.0.0", "7.0.173")),
        ([{"constructor": None}], ("5.0.0", "6.0.0")),
    ],
)
def test_check_stream_sees_keys_that_a_client_dies_of(data: Json, refusing: tuple[str, ...]) -> None:
    for release in ("5.0.0", "5.0.277", "6.0.0", "7.0.0", "7.0.173"):
        ran = run(
            *("check-stream", "--sdk", release[0], "--release", release),
            given=lines([{"type": "data-x", "data": data}]),
        )
        assert ran.code == (release in refusing), release


def test_check_stream_strict_holds_a_stream_to_our_own_grammar() -> None:
    truncated = lines(CHUNKS[:-1])
    assert run("check-stream", given=truncated).code == 0
    assert "ends without" in run("check-stream", "--strict", given=truncated).err


def test_downlevel_speaks_so_that_the_old_client_lives() -> None:
    approval = {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}
    call = {"type": "tool-input-available", "toolCallId": "c", "toolName": "n", "input": 1}
    ran = run("downlevel", "--sdk", "5", "--release", "5.0.0", given=lines([*CHUNKS[:2], call, approval]))
    assert ran.code == 0
    assert run("check-stream", "--sdk", "5", "--release", "5.0.0", given=ran.out).code == 0


@pytest.mark.parametrize("form", ["canonical", "rows", "core", "ui"])
def test_convert_goes_there_and_back(form: str) -> None:
    there = run("convert", "--to", form, given=json.dumps(HISTORY))
    assert there.code == 0
    back = run("convert", "--from", form, given=there.out)
    assert json.loads(back.out) == HISTORY


def test_convert_keeps_lines_lines() -> None:
    ran = run("convert", "--to", "model", "--sdk", "6", given=lines(HISTORY))
    assert [message["role"] for message in parsed(ran.out)] == ["user", "assistant"]


def test_validate_passes_what_is_right_and_names_what_is_not() -> None:
    wrong = {"id": "x", "role": "user", "parts": [{"type": "text"}]}
    assert json.loads(run("validate", "--sdk", "7", given=json.dumps(HISTORY)).out) == HISTORY
    refused = run("validate", given=json.dumps([*HISTORY, wrong]))
    assert (refused.code, refused.out) == (1, "")
    assert "messages[2].parts[0].text" in refused.err
    tolerated = run("validate", "--tolerant", given=json.dumps([*HISTORY, wrong]))
    assert tolerated.code == 1
    assert json.loads(tolerated.out) == HISTORY


def test_validate_holds_messages_against_schemas(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('{"w": {"inputSchema": {"type": "object"}}}')
    part = {"type": "tool-w", "toolCallId": "c", "state": "input-available", "input": 7}
    given = json.dumps([{"id": "a", "role": "assistant", "parts": [part]}])
    assert run("validate", given=given).code == 0
    refused = run("validate", "--tools", str(tmp_path / "tools.json"), given=given)
    assert refused.code == 1
    assert "input" in refused.err


def test_batches_answer_every_case_in_order_whatever_it_is() -> None:
    cases: list[Json] = [
        {"chunks": CHUNKS},
        {"chunks": [{"type": "text-end", "id": "x"}]},
        [],
        {"chunks": 7},
        {"chunks": []},
    ]
    given = lines(cases[:2]) + "no json\n" + lines(cases[2:])
    ran = run("fold", "--batch", given=given)
    answers = parsed(ran.out)
    assert ran.code == 0
    assert answers[0] == {"message": MESSAGE}
    assert answers[1]["error"].startswith('Received text-end for missing text part with ID "x".')
    assert [set(answer) for answer in answers[2:]] == [{"error"}, {"error"}, {"error"}, {"message"}]


def test_a_batch_answers_while_it_is_still_being_asked() -> None:
    command = [sys.executable, "-m", "rejoinder", "explode", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        for _ in range(3):
            asked.stdin.write(json.dumps(MESSAGE).encode() + b"\n")
            asked.stdin.flush()
            assert "chunks" in json.loads(asked.stdout.readline())
        asked.stdin.close()


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_fold_in_batches_is_the_package(oracle: Oracle, sdk: int) -> None:
    cases = [stream(seed, sdk) for seed in range(1_000_000, 1_000_100)]
    given = lines([{"chunks": list(case.chunks), "onto": case.onto, "id": "generated"} for case in cases])
    ours = parsed(run("fold", "--sdk", str(sdk), "--batch", given=given).out)
    theirs = oracle.ask_many(case.request for case in cases)
    assert all(agree(sdk, *pair) for pair in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_convert_and_validate_in_batches_decide_as_the_package(oracle: Oracle, sdk: int) -> None:
    histories = [history(seed, sdk) for seed in range(100)]
    plain = [case for case in histories if not case.options]
    ours = parsed(
        run(
            "convert", "--to", "model", "--sdk", str(sdk), "--batch", given=lines([c.messages for c in plain])
        ).out
    )
    theirs = oracle.ask_many(case.request for case in plain)
    for one, other in zip(ours, theirs, strict=True):
        assert ("error" in one) == ("error" in other)
        assert "error" in one or one == other
    validations = [case for case in (validation(seed, sdk) for seed in range(100)) if case.tools is None]
    asked = [case for case in validations if case.data_schemas is None and case.metadata_schema is None]
    ours = parsed(
        run("validate", "--sdk", str(sdk), "--batch", given=lines([case.messages for case in asked])).out
    )
    theirs = oracle.ask_many(case.request for case in asked)
    for one, other in zip(ours, theirs, strict=True):
        assert ("error" in one) == ("error" in other)
        assert "error" in one or one == other


def test_every_filter_runs_over_a_whole_batch_of_streams() -> None:
    cases = [legal_stream(seed) for seed in range(50)]
    given = lines([{"chunks": list(case.chunks), "onto": case.onto} for case in cases])
    for release in ("5.0.0", "6.0.0", "7.0.0"):
        spoken = run("downlevel", "--sdk", release[0], "--release", release, "--batch", given=given)
        answers = parsed(spoken.out)
        assert all("chunks" in answer for answer in answers)


def test_help_shows_an_example_for_every_filter() -> None:
    for command in ("fold", "explode", "check-stream", "downlevel", "convert", "validate"):
        ran = run(command, "--help")
        assert ran.code == 0
        assert "Example" in ran.out, command


def test_a_reader_that_has_seen_enough_ends_the_filter_quietly() -> None:
    command = f"{sys.executable} -m rejoinder explode --batch | head -n 1"
    given = lines([MESSAGE] * 20_000).encode()
    ran = subprocess.run(command, shell=True, input=given, capture_output=True, check=True)
    assert len(ran.stdout.splitlines()) == 1
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("command", "case"),
    [
        (("fold",), json.dumps({"chunks": CHUNKS})),
        (("downlevel", "--sdk", "5"), json.dumps({"chunks": CHUNKS})),
        (("convert", "--to", "model"), json.dumps(HISTORY)),
        (("validate",), json.dumps(HISTORY)),
    ],
)
def test_a_batch_takes_no_more_memory_the_longer_it_is(command: tuple[str, ...], case: str) -> None:
    short, long = (peak_of_batch(command, case, count) for count in (500, scale(2_000, 100_000)))
    # Peaks are counted in KiB here and in bytes elsewhere: a share says the same in both.
    assert long < 1.1 * short


def peak_of_batch(command: tuple[str, ...], case: str, count: int) -> int:
    """The most memory that a batch of so many equal cases took at any time."""
    program = [sys.executable, "-m", "rejoinder", *command, "--batch"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        line = case.encode() + b"\n"
        for _ in range(count):
            process.stdin.write(line)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss
