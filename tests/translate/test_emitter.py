"""What the emitter says is legal, whatever a translator asks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.fold import accumulate
from rejoinder.messages import Approval, Json, JsonObject, Message, Reasoning, StepStart, Text, ToolCall
from rejoinder.translate import Emitter, Problem
from rejoinder.translate.known_calls import grammar_of
from rejoinder.wire.chunks import (
    Chunk,
    Finish,
    MessageMetadata,
    ReasoningEnd,
    TextStart,
    ToolInputAvailable,
    type_of,
)

Act = Callable[[Emitter], list[Chunk]]

_KEYS: Final = st.sampled_from([None, 0, 1, "b"])
_CALL_IDS: Final = st.sampled_from(["c1", "c2", "c3"])
_APPROVALS: Final = st.sampled_from(["a1", "a2"])
_NO_INPUT: Final[JsonObject] = {}
_WORDS: Final = st.sampled_from(["", "a", "{", '{"x":1}', "\ud83d", "\x00"])


def _asking(
    method: Callable[..., list[Chunk]], *drawn: st.SearchStrategy[object], **named: st.SearchStrategy[object]
) -> st.SearchStrategy[Act]:
    """Calls of one method of the emitter, with what the strategies draw."""

    def bound(*arguments: object, **options: object) -> Act:
        def act(say: Emitter) -> list[Chunk]:
            return method(say, *arguments, **options)

        return act

    return st.builds(bound, *drawn, **named)


def _acts() -> st.SearchStrategy[Act]:
    tool, flags = st.just("t"), st.booleans()
    return st.one_of(
        _asking(Emitter.text, _WORDS, _KEYS),
        _asking(Emitter.text_start, _KEYS),
        _asking(Emitter.text_end, _KEYS),
        _asking(Emitter.reasoning, _WORDS, _KEYS),
        _asking(Emitter.reasoning_start, _KEYS),
        _asking(Emitter.reasoning_end, _KEYS),
        _asking(Emitter.tool_input_start, _CALL_IDS, tool, dynamic=flags),
        _asking(Emitter.tool_input_delta, _CALL_IDS, _WORDS),
        _asking(Emitter.tool_input_end, _CALL_IDS),
        _asking(Emitter.tool_input, _CALL_IDS, tool, st.just(_NO_INPUT), dynamic=flags),
        _asking(Emitter.tool_input_error, _CALL_IDS, tool, st.just("{"), st.just("bad")),
        _asking(Emitter.tool_output, _CALL_IDS, st.just(1), preliminary=flags),
        _asking(Emitter.tool_error, _CALL_IDS, st.just("no")),
        _asking(Emitter.tool_denied, _CALL_IDS, st.just("why")),
        _asking(Emitter.approval_request, _APPROVALS, _CALL_IDS),
        _asking(Emitter.approval_response, _APPROVALS, approved=flags),
        _asking(Emitter.step),
        _asking(Emitter.step_end),
        _asking(Emitter.reset_step),
        _asking(Emitter.close),
        _asking(Emitter.file, st.just("https://example.com/a.png"), st.just("image/png")),
        _asking(Emitter.source_url, st.just("https://example.com")),
        _asking(Emitter.source_document, st.just("Report"), st.just("text/plain")),
        _asking(Emitter.data, st.just("x"), st.just(1), id=st.just("d")),
        _asking(Emitter.metadata, st.just({"a": 1})),
        _asking(Emitter.custom, st.just("vendor.kind")),
    )


_ENDINGS: Final = st.one_of(
    _asking(Emitter.end, st.just("stop")),
    _asking(Emitter.stop, st.just("enough")),
    _asking(Emitter.fail, st.just("It broke.")),
)

_CONTINUED: Final = Message(
    id="m",
    role="assistant",
    parts=(
        StepStart(),
        ToolCall(name="t", call_id="c1", state="input-available", input={}),
        ToolCall(name="t", call_id="c2", state="approval-requested", input={}, approval=Approval(id="a1")),
        ToolCall(
            name="t",
            call_id="c3",
            state="approval-responded",
            input={},
            approval=Approval(id="a3", approved=False),
        ),
    ),
)


@given(st.lists(_acts(), max_size=25), _ENDINGS, st.sampled_from([None, _CONTINUED]))
def test_whatever_is_asked_what_is_said_is_legal_and_comes_to_an_end(
    acts: list[Act], ending: Act, onto: Message | None
) -> None:
    say, grammar = Emitter(onto), grammar_of(onto)
    said = say.start("m")
    for act in (*acts, ending):
        said += act(say)
    for chunk in said:
        grammar.check(chunk)
    assert grammar.ended
    assert not grammar.open_parts
    accumulate(said, onto=onto)


@given(st.lists(_acts(), max_size=25), _ENDINGS)
def test_after_the_end_nothing_is_said_and_everything_is_noted(acts: list[Act], ending: Act) -> None:
    say = Emitter()
    say.start("m")
    ending(say)
    assert [chunk for act in acts for chunk in act(say)] == []


def _said(*acts: Act, onto: Message | None = None) -> list[Chunk]:
    say = Emitter(onto)
    return [*say.start("m"), *(chunk for act in acts for chunk in act(say)), *say.end("stop")]


def _types(chunks: Iterable[Chunk]) -> list[str]:
    return [type_of(chunk) for chunk in chunks]


def test_two_words_are_one_text_in_one_step() -> None:
    message = accumulate(_said(lambda say: say.text("Good "), lambda say: say.text("morning")))
    assert message.parts == (StepStart(), Text(text="Good morning", state="done"))


def test_a_thought_ends_where_the_text_begins() -> None:
    message = accumulate(_said(lambda say: say.reasoning("Hm"), lambda say: say.text("Yes")))
    assert [type(part) for part in message.parts] == [StepStart, Reasoning, Text]
    assert message.parts[1] == Reasoning(text="Hm", id="r0", state="done")


def test_texts_with_keys_grow_side_by_side() -> None:
    said = _said(
        lambda say: say.text("a", 0),
        lambda say: say.text("x", 1),
        lambda say: say.text("b", 0),
        lambda say: say.text("y", 1),
    )
    assert [part.text for part in accumulate(said).parts if isinstance(part, Text)] == ["ab", "xy"]


def test_a_signature_without_a_word_is_kept() -> None:
    said = _said(
        lambda say: say.reasoning_start(0),
        lambda say: say.reasoning_end(0, provider_metadata={"anthropic": {"signature": "s"}}),
    )
    assert [chunk.provider_metadata for chunk in said if isinstance(chunk, ReasoningEnd)] == [
        {"anthropic": {"signature": "s"}}
    ]


@pytest.mark.parametrize(
    ("written", "read"), [('{"city":"Bern"}', {"city": "Bern"}), ("", {}), ("  ", {}), ("7", 7)]
)
def test_an_input_that_has_arrived_is_read(written: str, read: object) -> None:
    said = _said(
        lambda say: say.tool_input_start("c", "weather"),
        lambda say: say.tool_input_delta("c", written[:3]),
        lambda say: say.tool_input_delta("c", written[3:]),
        lambda say: say.tool_input_end("c"),
    )
    assert [chunk.input for chunk in said if isinstance(chunk, ToolInputAvailable)] == [read]


def test_an_input_that_is_not_json_is_an_error_of_the_call() -> None:
    (call,) = _calls(
        lambda say: say.tool_input_start("c", "weather"),
        lambda say: say.tool_input_delta("c", '{"city":'),
        lambda say: say.tool_input_end("c"),
    )
    assert call.state == "output-error"
    assert call.error_text is not None
    assert call.error_text.startswith("The input is not JSON")


def test_a_result_without_a_call_gets_one() -> None:
    (call,) = _calls(lambda say: say.tool_output("c", 7, name="lookup"))
    assert (call.name, call.state, call.output) == ("lookup", "output-available", 7)


def test_a_result_that_comes_while_the_user_is_asked_says_that_it_was_allowed() -> None:
    (call,) = _calls(
        lambda say: say.tool_input("c", "pay", {}),
        lambda say: say.approval_request("a", "c"),
        lambda say: say.tool_output("c", "paid"),
    )
    assert call.approval == Approval(id="a", approved=True)


def test_a_denial_without_a_question_is_told_as_one_that_was_asked() -> None:
    (call,) = _calls(lambda say: say.tool_input("c", "pay", {}), lambda say: say.tool_denied("c", "too much"))
    assert call.state == "output-denied"
    assert call.approval is not None
    assert (call.approval.approved, call.approval.reason) == (False, "too much")


def test_what_follows_an_answered_call_is_another_step() -> None:
    said = _said(
        lambda say: say.text("Let me look."),
        lambda say: say.tool_input("c", "look", {}),
        lambda say: say.tool_output("c", 1),
        lambda say: say.text("There."),
    )
    assert [type(part) for part in accumulate(said).parts] == [StepStart, Text, ToolCall, StepStart, Text]


def test_what_follows_a_call_that_the_provider_ran_is_the_same_step() -> None:
    said = _said(
        lambda say: say.tool_input("c", "search", {}, provider_executed=True),
        lambda say: say.tool_output("c", []),
        lambda say: say.text("Found nothing."),
    )
    assert [type(part) for part in accumulate(said).parts] == [StepStart, ToolCall, Text]


def test_an_answer_that_ends_with_an_answered_call_does_not_look_unfinished_to_clients() -> None:
    said = _said(lambda say: say.tool_input("c", "look", {}), lambda say: say.tool_output("c", 1))
    assert _types(said)[-4:] == ["finish-step", "start-step", "finish-step", "finish"]
    assert isinstance(said[-1], Finish)
    assert said[-1].message_metadata == {}


def test_an_answer_that_waits_for_the_client_stays_in_the_step_of_the_call() -> None:
    said = _said(
        lambda say: say.tool_input("c1", "look", {}),
        lambda say: say.tool_input("c2", "ask", {}),
        lambda say: say.tool_output("c1", 1),
    )
    assert _types(said)[-2:] == ["finish-step", "finish"]
    assert _types(said).count("start-step") == 1


def test_a_stop_answers_what_is_unanswered_and_leaves_a_question_open() -> None:
    say = Emitter()
    said = say.start("m")
    said += say.tool_input("c1", "run", {})
    said += say.tool_input_start("c2", "run")
    said += say.tool_input_delta("c2", '{"a":')
    said += say.tool_input("c3", "pay", {})
    said += say.approval_request("a", "c3")
    said += say.stop()
    states = {part.call_id: part.state for part in accumulate(said).parts if isinstance(part, ToolCall)}
    assert states == {"c1": "output-error", "c2": "output-error", "c3": "approval-requested"}


def test_what_makes_no_sense_is_noted_and_not_said() -> None:
    say = Emitter()
    say.start("m")
    say.tool_input("c", "look", {})
    say.tool_output("c", 1)
    assert say.tool_output("c", 2) == []
    assert say.tool_input_delta("d", "x") == []
    assert [type(note) for note in say.take_notes()] == [Problem, Problem]
    assert say.take_notes() == []


def test_ids_of_texts_are_unique_in_an_answer() -> None:
    said = _said(lambda say: say.text("a"), lambda say: say.step(), lambda say: say.text("b"))
    assert [chunk.id for chunk in said if isinstance(chunk, TextStart)] == ["t0", "t1"]


@pytest.mark.parametrize(
    ("known", "more", "held"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ("word", {"b": 2}, "word"),
        (7, ["b"], 7),
        (True, "word", True),
        (None, "word", "word"),
        ("word", 7, {"0": "w", "1": "o", "2": "r", "3": "d"}),
    ],
)
def test_metadata_of_which_clients_would_die_are_left_out(known: Json, more: Json, held: Json) -> None:
    said = _said(
        lambda say: say.metadata(known),
        lambda say: say.chunk(MessageMetadata(message_metadata=more)),
    )
    assert accumulate(said).metadata == held


def _calls(*acts: Act) -> list[ToolCall]:
    return [part for part in accumulate(_said(*acts)).parts if isinstance(part, ToolCall)]
