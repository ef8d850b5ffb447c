"""What older clients are told instead: one test a rule."""

from __future__ import annotations

import pytest

from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    CustomChunk,
    DataChunk,
    FileChunk,
    Finish,
    FinishReason,
    FinishStep,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    Start,
    StartStep,
    SteeringMessage,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
)
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import Downlevel
from rejoinder.wire.downlevel_tools import DENIED
from tests.wire.acceptance import ACCEPTED, RELEASES
from tests.wire.telling import available, output, started, told

SAID = {"vendor": {"key": 1}}
CITATIONS = [{"source": {"type": "source", "sourceType": "url", "id": "s", "url": "u"}}]


def test_the_newest_client_is_told_what_was_said_and_nothing_of_it_is_copied() -> None:
    speaker = Downlevel(dialect("7"))
    for chunk, _ in ACCEPTED:
        if not isinstance(chunk, UnknownChunk | Finish):
            assert [id(said) for said in speaker.feed(chunk)] == [id(chunk)]


@pytest.mark.parametrize("release", RELEASES)
def test_text_passes_through_as_it_is(release: str) -> None:
    delta = TextDelta(id="t", delta="x")
    speaker = Downlevel(dialect(release))
    speaker.feed(TextStart(id="t"))
    assert speaker.feed(delta)[0] is delta


@pytest.mark.parametrize("release", RELEASES)
def test_a_type_that_no_client_knows_is_told_to_nobody(release: str) -> None:
    assert told(release, UnknownChunk(body={"type": "ping"})) == []


def test_fields_that_a_release_lacks_are_left_out_even_where_they_were_ignored() -> None:
    start = ToolInputStart(
        tool_call_id="c", tool_name="t", title="x", provider_metadata=SAID, tool_metadata={}
    )
    assert told("5.0.277", start) == [started()]
    assert told("6.0.50", start) == [
        ToolInputStart(tool_call_id="c", tool_name="t", title="x", provider_metadata=SAID)
    ]
    assert told("6.0.326", start) == [start]
    assert told("6.0.0", Abort(reason="x")) == [Abort()]
    assert told("6.0.15", Abort(reason="x")) == [Abort(reason="x")]


def test_extra_fields_of_data_are_left_out_only_for_strict_releases() -> None:
    chunk = DataChunk(name="x", data=1, extra={"more": 1})
    assert told("5.0.216", chunk) == [DataChunk(name="x", data=1)]
    assert told("5.0.217", chunk) == [chunk]


@pytest.mark.parametrize(
    ("release", "said", "heard"),
    [
        ("5.0.91", "stop", None),
        ("5.0.92", "stop", "stop"),
        ("5.0.92", "unknown", "unknown"),
        ("5.0.92", "interrupted", "other"),
        ("6.0.0", "unknown", "other"),
        ("7.0.148", "interrupted", "other"),
        ("7.0.149", "interrupted", "interrupted"),
        ("7.0.173", "unknown", "other"),
    ],
)
def test_a_finish_reason_is_one_that_the_client_knows(
    release: str, said: FinishReason, heard: FinishReason | None
) -> None:
    finish = (
        Finish(message_metadata={}) if heard is None else Finish(finish_reason=heard, message_metadata={})
    )
    assert told(release, Finish(finish_reason=said, message_metadata={})) == [finish]


def test_citations_become_data_beside_the_text() -> None:
    chunks: list[Chunk] = [TextStart(id="t"), TextEnd(id="t", citations=CITATIONS)]
    cited = DataChunk(name="citations", data={"textId": "t", "citations": CITATIONS})
    assert told("6", *chunks) == [TextStart(id="t"), TextEnd(id="t"), cited]
    assert told("7.0.138", *chunks) == chunks


def test_what_only_version_7_shows_becomes_data_or_a_file() -> None:
    parts = [{"type": "text", "text": "x"}]
    chunks = (
        CustomChunk(kind="a.b", provider_metadata=SAID),
        SteeringMessage(id="s", parts=parts),
        ReasoningFileChunk(url="u", media_type="m"),
    )
    assert told("5", *chunks) == [
        DataChunk(name="custom", data={"kind": "a.b", "providerMetadata": SAID}),
        DataChunk(name="steering-message", data={"id": "s", "parts": parts}),
        FileChunk(url="u", media_type="m"),
    ]


def test_version_5_is_told_of_approvals_in_one_data_part_that_changes() -> None:
    said = told(
        "5",
        available(),
        ToolApprovalRequest(approval_id="a", tool_call_id="c", reason="why"),
        ToolApprovalResponse(approval_id="a", approved=False, reason="no"),
        ToolOutputDenied(tool_call_id="c"),
    )
    asked = {"approvalId": "a", "toolCallId": "c", "reason": "why"}
    assert said == [
        available(),
        DataChunk(name="tool-approval", id="a", data=asked),
        DataChunk(name="tool-approval", id="a", data=asked | {"approved": False, "reason": "no"}),
        ToolOutputError(tool_call_id="c", error_text="no"),
    ]


def test_a_denial_without_a_reason_has_words_and_the_kind_of_its_call() -> None:
    said = told("5", available(dynamic=True), ToolOutputDenied(tool_call_id="c"))
    assert said[1] == ToolOutputError(tool_call_id="c", error_text=DENIED, dynamic=True)


def test_a_denial_does_not_wipe_out_a_result() -> None:
    assert told("5", available(), output(), ToolOutputDenied(tool_call_id="c")) == [available(), output()]


def test_version_6_is_told_of_answers_to_approvals_in_data() -> None:
    request = ToolApprovalRequest(approval_id="a", tool_call_id="c", signature="s", reason="why")
    said = told("6", available(), request, ToolApprovalResponse(approval_id="a", approved=True))
    assert said == [
        available(),
        ToolApprovalRequest(approval_id="a", tool_call_id="c", signature="s"),
        DataChunk(
            name="tool-approval",
            id="a",
            data={"approvalId": "a", "toolCallId": "c", "reason": "why", "signature": "s", "approved": True},
        ),
    ]


def test_version_5_is_told_the_kind_of_a_call_with_its_output() -> None:
    assert told("5", available(dynamic=True), output())[1] == ToolOutputAvailable(
        tool_call_id="c", output=1, dynamic=True
    )
    wrong = ToolOutputError(tool_call_id="c", error_text="x", dynamic=True)
    assert told("5", available(), wrong)[1] == ToolOutputError(tool_call_id="c", error_text="x")
    assert told("6", available(dynamic=True), output())[1] == output()


def test_the_calls_of_a_continued_message_have_kinds_too() -> None:
    message = {
        "id": "m",
        "role": "assistant",
        "parts": [
            {
                "type": "dynamic-tool",
                "toolName": "t",
                "toolCallId": "c",
                "state": "input-available",
                "input": 1,
            }
        ],
    }
    assert told("5", output(), message=message) == [
        ToolOutputAvailable(tool_call_id="c", output=1, dynamic=True)
    ]
    assert told("5", output(), message=message | {"role": "user"}) == [output()]


def test_early_version_5_is_told_of_bad_input_without_being_asked_to_use_it() -> None:
    error = ToolInputError(tool_call_id="c", tool_name="t", input={"a": "ß"}, error_text="no")
    assert told("5.0.6", error) == [
        started(),
        ToolInputDelta(tool_call_id="c", input_text_delta='{"a":"ß"}'),
        ToolOutputError(tool_call_id="c", error_text="no"),
    ]
    assert told("5.0.7", error) == [error]


def test_bad_input_goes_to_the_call_that_had_begun() -> None:
    error = ToolInputError(tool_call_id="c", tool_name="t", input=1, error_text="no")
    assert told("6.0.100", started(dynamic=True), error)[1] == ToolInputError(
        tool_call_id="c", tool_name="t", input=1, error_text="no", dynamic=True
    )
    assert told("6.0.326", started(dynamic=True), error)[1] == error


def test_plain_text_input_is_told_as_pieces_of_one_json_string() -> None:
    start = ToolInputStart(tool_call_id="c", tool_name="t", input_encoding="text")
    deltas = [ToolInputDelta(tool_call_id="c", input_text_delta=text) for text in ('say "', "hi\n", "\ud83d")]
    said = told("6.0.307", start, *deltas)
    assert said[0] == started()
    assert [chunk.input_text_delta for chunk in said if isinstance(chunk, ToolInputDelta)] == [
        '"say \\"',
        "hi\\n",
        "\ud83d",
    ]
    assert told("6.0.308", start, *deltas) == [start, *deltas]


def test_a_call_id_that_comes_again_is_another_call() -> None:
    step: list[Chunk] = [StartStep(), available(), output(), FinishStep()]
    again: list[Chunk] = [StartStep(), available("c#2"), output("c#2"), FinishStep()]
    assert told("5.0.217", *step, *step, *step)[4:] == [
        *again,
        *(StartStep(), available("c#3"), output("c#3"), FinishStep()),
    ]
    assert told("5.0.218", *step, *step) == [*step, *step]
    assert told("6.0.232", *step, *step) == [*step, *again]
    assert told("7.0.32", *step, *step) == [*step, *again]


def test_a_late_output_goes_to_the_call_that_version_7_would_take() -> None:
    chunks = (
        StartStep(),
        available(),
        FinishStep(),
        StartStep(),
        available(),
        FinishStep(),
        StartStep(),
        output(),
    )
    assert told("7.0.0", *chunks)[-1] == output("c#2")


def test_an_input_that_arrives_over_two_steps_begins_again_in_the_second() -> None:
    delta = [ToolInputDelta(tool_call_id="c", input_text_delta=text) for text in ("[1", ",2")]
    assert told("6.0.0", StartStep(), started(), delta[0], StartStep(), delta[1])[4:] == [
        started("c#2"),
        ToolInputDelta(tool_call_id="c#2", input_text_delta="[1,2"),
    ]


def test_an_input_of_the_continued_message_begins_again_where_clients_forgot_it() -> None:
    part = {"type": "tool-t", "toolCallId": "c", "state": "input-streaming", "rawInput": "[1"}
    message = {"id": "m", "role": "assistant", "parts": [part]}
    delta = ToolInputDelta(tool_call_id="c", input_text_delta=",2")
    assert told("6.0.296", delta, message=message) == [
        started(),
        ToolInputDelta(tool_call_id="c", input_text_delta="[1,2"),
    ]
    assert told("6.0.297", delta, message=message) == [delta]


def test_the_end_of_a_step_waits_for_the_end_of_its_texts() -> None:
    before: list[Chunk] = [StartStep(), TextStart(id="t"), ReasoningStart(id="t")]
    after: list[Chunk] = [StartStep(), TextEnd(id="t"), ReasoningEnd(id="t"), FinishStep(), Finish()]
    chunks: list[Chunk] = [*before, FinishStep(), *after]
    assert told("7.0.78", *chunks) == [*before, *after[:3], FinishStep(), *after[3:]]
    assert told("7.0.79", *chunks) == chunks


def test_the_end_of_a_step_is_not_told_after_all_when_a_text_never_ends() -> None:
    assert told("6", StartStep(), TextStart(id="t"), FinishStep(), Finish()) == [
        StartStep(),
        TextStart(id="t"),
        Finish(),
    ]


@pytest.mark.parametrize(("release", "key"), [("5.0.145", "[constructor]"), ("5.0.146", "constructor")])
def test_a_null_constructor_stands_in_brackets_where_it_would_kill_the_stream(release: str, key: str) -> None:
    output = ToolOutputAvailable(tool_call_id="c", output=[{"constructor": None}, {"constructor": "Ltd."}])
    assert told(release, Start(), ToolInputAvailable(tool_call_id="c", tool_name="t", input={}), output)[
        -1
    ] == (ToolOutputAvailable(tool_call_id="c", output=[{key: None}, {"constructor": "Ltd."}]))
