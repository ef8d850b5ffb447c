"""Laws: what every form can say goes from each form into each other, and arrives as it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.cli.forms import WRITERS
from rejoinder.convert.documents import FORMS
from rejoinder.messages import File, Json, Message, Part, StepStart, Text, ToolCall
from rejoinder.wire import json
from tests.laws.messages import exactly, json_values
from tests.scale import scale

words = st.text('abc deé😀שּׁ\u2028"\\', min_size=1, max_size=9).map(lambda said: f"x{said}x")
# Pydantic AI takes no halves of characters.
inputs = st.dictionaries(words, json_values(), max_size=2).map(json.without_halves)


@st.composite
def answers(draw: st.DrawFn, number: int) -> Message:
    """Some steps, each with words, and calls of which every one was answered."""
    parts: list[Part] = []
    for step in range(draw(st.integers(1, 3))):
        calls = draw(st.integers(0, 2))
        parts += [StepStart(), Text(text=draw(words))]
        parts += [
            ToolCall(
                name=draw(st.sampled_from(["look", "pay"])),
                call_id=f"c{number}-{step}-{place}",
                state="output-available",
                input=draw(inputs),
                output=draw(words),
            )
            for place in range(calls)
        ]
    return Message(id=f"a{number}", role="assistant", parts=tuple(parts))


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """A system prompt, then questions, one of them with a picture, and answers by turns."""
    said = [Message(id="s", role="system", parts=(Text(text=draw(words)),))]
    for number in range(draw(st.integers(1, 2))):
        shown = draw(st.sampled_from(["", "data:image/png;base64,AAAA", "https://example.com/a.png"]))
        asked: list[Part] = [Text(text=draw(words))]
        if shown:
            asked.append(File(media_type="image/png", url=shown))
        said += [Message(id=f"u{number}", role="user", parts=tuple(asked)), draw(answers(number))]
    return said


def told(history: list[Message]) -> Json:
    """What is left of a history in every form: who said what, showed what, called what, and got what.

    Some forms make one text of several that follow each other.
    """
    said: list[Json] = []
    for message in history:
        parts: list[Json] = []
        for each in map(_told, message.parts):
            if isinstance(each, str) and parts and isinstance(parts[-1], str):
                parts[-1] += each
            elif each is not None:
                parts.append(each)
        said.append([message.role, parts])
    return said


def _told(part: Part) -> Json:
    match part:
        case Text(text=text):
            return text
        case File(url=url):
            return ["file", url]
        case ToolCall():
            return [part.name, part.call_id, part.state, part.input, part.output]
        case _:
            return None


def through(form: str, history: list[Message]) -> list[Message]:
    written = json.decode(json.encode(WRITERS[form]("chat", history)))
    return list(FORMS[form].read(written))


@pytest.mark.parametrize("form", sorted(WRITERS))
def test_what_every_form_can_say_goes_from_each_into_each(form: str) -> None:
    @settings(max_examples=scale(15, 500), deadline=None)
    @given(histories())
    def law(history: list[Message]) -> None:
        first = through(form, history)
        assert exactly(told(first)) == exactly(told(history))
        for other in WRITERS:
            assert exactly(told(through(other, first))) == exactly(told(history)), other

    law()


def test_every_form_goes_out_and_in() -> None:
    assert set(WRITERS) == set(FORMS)
