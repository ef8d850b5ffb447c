"""One turn's translation: what an agent said becomes an answer with a beginning and an end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from rejoinder.fold import accumulate
from rejoinder.messages import Json, Text, TurnError
from rejoinder.translate import CallStarted, Emitter, Failed, Finished, Stopped, Translation, Translator
from rejoinder.wire.chunks import Abort, Chunk, Error, Finish


def shout(say: Emitter, event: Json) -> Iterable[Chunk]:
    return say.text(event["word"].upper())


def said(translator: Translator, *events: Json) -> list[Chunk]:
    translation = Translation(translator, message_id="m1")
    chunks = translation.begin()
    for event in events:
        chunks += translation.event(event)
    return [*chunks, *translation.end()]


def test_a_function_is_all_that_an_agent_needs_to_be_understood() -> None:
    message = accumulate(said(shout, {"word": "hello "}, {"word": "you"}))
    assert message.id == "m1"
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["HELLO YOU"]


def test_a_class_remembers_within_a_turn_and_not_beyond() -> None:
    class Counting:
        def __init__(self) -> None:
            self.count = 0

        def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
            self.count += 1
            return say.text(str(self.count))

    for _ in range(2):
        message = accumulate(said(Counting, None, None))
        assert [part.text for part in message.parts if isinstance(part, Text)] == ["12"]


def test_the_ending_that_the_agent_told_is_the_last_chunk() -> None:
    def ends(say: Emitter, event: Json) -> Iterable[Chunk]:
        say.note(event)
        return ()

    failed = Failed(error=TurnError(message="boom"), error_text="It broke.")
    assert said(ends, Finished(reason="length"))[-1] == Finish(finish_reason="length")
    assert said(ends, Stopped(reason="enough"))[-1] == Abort(reason="enough")
    assert said(ends, failed, Finished(reason="stop"))[-2:] == [
        Error(error_text="It broke."),
        Finish(finish_reason="error"),
    ]


def test_a_translator_that_watches_for_the_end_is_told_of_it_once() -> None:
    class Watching:
        def __init__(self) -> None:
            self.closed = 0

        def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
            return ()

        def close(self, say: Emitter) -> Iterable[Chunk]:
            self.closed += 1
            say.note(Failed(error=TurnError(message=f"cut off {self.closed}")))
            return say.text("… ")

    translation = Translation(Watching, message_id="m1")
    chunks = [*translation.begin(), *translation.close(), *translation.end()]
    assert chunks[-1] == Finish(finish_reason="error")
    assert translation.ending == Failed(error=TurnError(message="cut off 1"))


def test_what_was_said_before_a_translator_raised_is_not_lost() -> None:
    def breaks(say: Emitter, event: Json) -> Iterator[Chunk]:
        say.note(CallStarted(id="c", provider="p", model="m"))
        yield from say.text("so far")
        raise ValueError(event)

    translation = Translation(breaks, message_id="m1")
    chunks = translation.begin()
    with pytest.raises(ValueError, match="odd"):
        chunks.extend(translation.event("odd"))
    chunks += translation.fail(TurnError(message="odd"))
    assert [note.id for note in translation.take_notes() if isinstance(note, CallStarted)] == ["c"]
    assert [part.text for part in accumulate(chunks).parts if isinstance(part, Text)] == ["so far"]
