"""Bad input ends in one clear line and exit 1, or in a right result: never in a traceback, never in a hang."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest

from rejoinder.messages import Json
from rejoinder.wire.json import is_object
from tests.cli.filters import Ran, run

COMMANDS: Final = (
    ("fold",),
    ("explode",),
    ("check-stream", "--sdk", "5"),
    ("downlevel", "--sdk", "5", "--release", "5.0.0"),
    ("convert", "--to", "model"),
    ("convert", "--to", "canonical"),
    ("convert", "--from", "canonical"),
    ("convert", "--from", "rows"),
    ("validate", "--sdk", "6"),
)

LONG: Final = "x" * 50_000_000
DEEP: Final = "[" * 10_000 + "]" * 10_000
TEXT: Final = '{"id":"m","role":"assistant","parts":[{"type":"text","text":%s}]}'
DELTA: Final = '{"type":"text-start","id":"t"}\n{"type":"text-delta","id":"t","delta":%s}\n'

NEVER_RIGHT: Final[dict[str, str | bytes]] = {
    "truncated JSON": '{"type":"text-delta","id":"t"',
    "a truncated array": '[{"id":"m","role":"assi',
    "a word": "hello",
    "NaN": '{"type":"data-x","data":NaN}',
    "a bare NaN": "NaN",
    "an array where an object belongs": "[[1]]",
    "a number where an object belongs": "7",
    "null": "null",
    "invalid UTF-8": b'{"type":"text-delta","id":"\xff","delta":""}',
    "UTF-16": '{"type":"start"}'.encode("utf-16"),
    "nesting 10,000 deep": DEEP,
    "nesting in an object": '{"type":"data-x","data":' + DEEP + "}",
    "control characters": b"\x00\x01\x02\n",
}


ODD_CASES: Final = (
    *("x", "NaN", "null", "5", '"s"', "[]", "[1]", "[[]]", "{}", DEEP),
    *('{"chunks":1}', '{"chunks":[1]}', '{"chunks":[{"type":"data-x","data":' + DEEP + "}]}"),
    *(f'{{"chunks":[{{"type":"start"}}],"onto":{onto}}}' for onto in ("5", "[]", '"x"', "{}", TEXT % "5")),
    '{"chunks":[{"type":"start"}],"onto":{"id":"a","role":"assistant","parts":[5,{"type":7},{"type":"tool-x"}]}}',
    *("[null]", '[{"role":"user"}]', '[{"id":"m","role":"user","parts":[null]}]'),
    '[{"id":"m","role":"\\ud83d","parts":[{"type":"text","text":"x"}]}]',
    '[{"id":"m","role":"user","parts":[{"type":"data-x"}]}]',
    '{"id":"m","role":"assistant","parts":[{"type":"text","text":"x","citations":[{"source":{"id":"s"}}]}]}',
    '{"id":"m","role":"assistant","parts":[{"type":"steering-message","id":"s","parts":[{"type":"text","text":5}]}]}',
    *(
        f'{{"messages":[{TEXT % 1}],"{field}":{odd}}}'
        for field in ("tools", "dataSchemas", "metadataSchema")
        for odd in ("5", "[]", '{"x":5}', '{"type":"nonsense"}')
    ),
)
"""Lines of a batch that are wrong in their own way for some filter or other."""


def is_told(ran: Ran) -> None:
    """A clear refusal: exit 1, words on standard error, no traceback."""
    assert ran.code == 1, ran
    assert ran.err.strip(), ran
    is_quiet(ran)


def is_quiet(ran: Ran) -> None:
    assert ran.code in {0, 1}, ran
    assert "Traceback" not in ran.err, ran.err
    assert all(len(line) < 2_000 for line in ran.err.splitlines())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("what", NEVER_RIGHT)
def test_what_can_never_be_right_is_refused_in_words(command: tuple[str, ...], what: str) -> None:
    is_told(run(*command, given=NEVER_RIGHT[what]))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("given", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_nothing_at_all_is_no_crash(command: tuple[str, ...], given: bytes) -> None:
    is_quiet(run(*command, given=given))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_line_of_fifty_megabytes_is_read(command: tuple[str, ...]) -> None:
    streamed = command[0] in {"fold", "check-stream", "downlevel"}
    is_quiet(run(*command, given=(DELTA if streamed else TEXT) % json.dumps(LONG), seconds=120))


def test_a_long_line_comes_out_whole() -> None:
    ran = run("fold", given=DELTA % json.dumps(LONG), seconds=120)
    assert json.loads(ran.out)["parts"][0]["text"] == LONG


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ('"a\\u0000b"', "a\x00b"),
        ('"\\ud83d"', "\ud83d"),
        ('"\\ude00\\ud83d"', "\ude00\ud83d"),
        ('"\\u2028"', "\u2028"),
        ('"\\ud83d\\ude00"', "😀"),
    ],
)
def test_odd_text_survives_every_filter(delta: str, text: str) -> None:
    folded = run("fold", given=DELTA % delta)
    assert json.loads(folded.out)["parts"][0]["text"] == text
    message = run("fold", given=run("explode", given=folded.out).out)
    assert json.loads(message.out) == json.loads(folded.out)
    for form in ("canonical", "rows"):
        there = run("convert", "--to", form, given=folded.out)
        assert json.loads(run("convert", "--from", form, given=there.out).out) == json.loads(folded.out)


def test_of_two_keys_with_one_name_the_last_counts() -> None:
    ran = run("fold", given='{"type":"start","messageId":"a","messageId":"b"}')
    assert json.loads(ran.out)["id"] == "b"


def test_numbers_beyond_a_double_are_what_javascript_makes_of_them() -> None:
    ran = run("fold", given='{"type":"data-x","data":[1e400,-1e400,1e131071,12345678901234567890,1.0]}')
    assert json.loads(ran.out)["parts"][0]["data"] == [None, None, None, 12345678901234567000, 1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fold", "--sdk", "4"),
        ("fold", "--sdk", "seven"),
        ("fold", "--onto", "no/such/file.json"),
        ("downlevel", "--sdk", "5", "--release", "6.0.0"),
        ("downlevel", "--release", "yesterday"),
        ("convert", "--to", "xml"),
        ("convert", "--from", "xml"),
        ("validate", "--tools", "no/such/file.json"),
        ("fold", "--no-such-option"),
        ("no-such-command",),
    ],
)
def test_wrong_use_exits_2_and_says_what_is_right(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, given="{}")
    assert ran.code == 2, ran
    assert ran.err.strip()
    assert "Traceback" not in ran.err


def test_one_bad_line_does_not_hide_the_next() -> None:
    given = 'nonsense\n{"type":"start","messageId":"m"}\n{"type":"text-delta"}\n'
    ran = run("check-stream", given=given)
    assert ran.code == 1
    assert [line.partition(":")[0] for line in ran.err.splitlines()] == ["line 1", "line 3"]
    assert json.loads(ran.out) == {"type": "start", "messageId": "m"}


@pytest.mark.parametrize(
    "command", [*COMMANDS, ("convert", "--to", "core"), ("convert", "--from", "core")], ids=" ".join
)
def test_no_odd_case_ends_a_batch(command: tuple[str, ...]) -> None:
    ran = run(*command, "--batch", given="\n".join(ODD_CASES))
    answers: list[Json] = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, ran.err, len(answers)) == (0, "", len(ODD_CASES))
    assert all(is_object(answer) and len(answer) == 1 for answer in answers)
    assert all(answer.get("error", "words").strip() for answer in answers)


@pytest.mark.parametrize("option", ["--tools", "--data-schemas", "--metadata-schema"])
def test_a_file_that_holds_no_schemas_is_told(option: str, tmp_path: Path) -> None:
    schemas = tmp_path / "schemas.json"
    schemas.write_text("5")
    is_told(run("validate", option, str(schemas), given=f"[{TEXT % 1}]".replace(":1}", ':"x"}')))


@pytest.mark.parametrize("command", [("fold",), ("check-stream",), ("downlevel",)], ids=" ".join)
def test_a_message_to_continue_that_is_none_is_wrong_use(command: tuple[str, ...], tmp_path: Path) -> None:
    onto = tmp_path / "onto.json"
    onto.write_text("[]")
    ran = run(*command, "--onto", str(onto), given='{"type":"start"}')
    assert ran.code == 2
    assert "A message is a JSON object" in ran.err


HELLO: Final = (
    b'data: {"type":"start","messageId":"m"}\n\n'
    b'data: {"type":"text-start","id":"t"}\n\n'
    b'data: {"type":"text-delta","id":"t","delta":"hi"}\n\n'
)


@pytest.mark.parametrize(
    "given",
    [
        HELLO.replace(b"data: ", b"").replace(b"\n\n", b"\n"),
        HELLO.replace(b"data: ", b"").replace(b"\n\n", b"\r\n"),
        b"\xef\xbb\xbf" + HELLO.replace(b"data: ", b"").replace(b"\n\n", b"\n"),
        b"\n\n" + HELLO.replace(b"data: ", b"").replace(b"\n\n", b"\n").rstrip(),
        HELLO + b"data: [DONE]\n\n",
        b"\xef\xbb\xbf" + HELLO,
        HELLO.replace(b"\n", b"\r\n"),
        HELLO.replace(b"\n", b"\r"),
        HELLO.replace(b"data: ", b"data:"),
        b": stream-open\n\nid: 7\nevent: chunk\nretry: 10\n" + HELLO.replace(b",", b",\ndata: "),
    ],
    ids=[
        "lines",
        "CRLF",
        "BOM",
        "blank",
        "SSE",
        "SSE BOM",
        "SSE CRLF",
        "SSE CR",
        "SSE dense",
        "SSE all fields",
    ],
)
def test_every_form_of_a_stream_is_the_same_stream(given: bytes) -> None:
    ran = run("fold", given=given)
    assert json.loads(ran.out)["parts"] == [{"type": "text", "text": "hi", "state": "streaming"}], ran


@pytest.mark.parametrize("command", [("fold",), ("convert", "--to", "model")], ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_crash(command: tuple[str, ...], closed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "rejoinder", *command]
    done = subprocess.run(shell, input=b"x\n", capture_output=True, timeout=60, check=False)
    is_quiet(Ran(done.returncode, done.stdout.decode(), done.stderr.decode()))
    assert not done.stdout, "problems are told on standard error or not at all"


@pytest.mark.parametrize("command", [("fold", "--batch"), ("check-stream",)], ids=" ".join)
def test_an_interrupt_ends_a_filter_without_a_word(command: tuple[str, ...]) -> None:
    # Whoever was started in the background is deaf to interrupts, and so are its children.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program = [sys.executable, "-c", hearing + "from rejoinder.cli import main; main()", *command]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=told) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"type":"start-step"}\n')
        process.stdin.flush()
        # It answers: so it is at work, and not still being loaded.
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        told.seek(0)
        assert told.read() == b""


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (("fold",), '{"type":"data-x","data":%s}'),
        (("check-stream",), '{"type":"data-x","data":%s}'),
        (("downlevel", "--sdk", "5", "--release", "5.0.0"), '{"type":"data-x","data":%s}'),
        (("explode",), '{"id":"m","role":"assistant","parts":[{"type":"data-x","data":%s}]}'),
        (
            ("convert", "--data-as-text", "--to", "model"),
            '[{"id":"m","role":"user","parts":[{"type":"data-x","data":%s}]}]',
        ),
        (("validate",), '[{"id":"m","role":"assistant","parts":[{"type":"data-x","data":%s}]}]'),
    ],
    ids=["fold", "check-stream", "downlevel", "explode", "convert", "validate"],
)
def test_what_node_can_nest_every_filter_can(command: tuple[str, ...], given: str) -> None:
    nested = '[{"a":' * 1_500 + "1" + "}]" * 1_500
    ran = run(*command, given=given % nested)
    assert (ran.code, ran.err) == (0, ""), ran
    assert json.dumps(nested)[1:-1] in ran.out or nested in ran.out
