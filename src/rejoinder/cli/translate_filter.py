"""The filter over vendors' events: translate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final

import typer

from rejoinder.cli.chunk_filters import Batch
from rejoinder.cli.streams import Problems, answer_batch, misuse, read_cases, read_texts, write_line
from rejoinder.errors import InvalidChunk, RejoinderError, UnknownDialect
from rejoinder.messages import Json, JsonObject
from rejoinder.translate import Problem, Translation, Translator
from rejoinder.translate.registry import TRANSLATORS, UnknownVendor, translator_of
from rejoinder.wire import dialects, json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json, encode_chunk
from rejoinder.wire.downlevel import Downlevel
from rejoinder.wire.json import is_array

MESSAGE_ID: Final = "message"
"""What the answer's message is called if nobody says otherwise: the same events make the same chunks."""


def translate(
    *,
    vendor: Annotated[
        str, typer.Option("--from", help=f"Who speaks: {', '.join(TRANSLATORS)}.", metavar="NAME")
    ],
    sdk: Annotated[
        str | None,
        typer.Option(
            help="Say it to this AI SDK generation: 5, 6 or 7. All that version 7 has if not given."
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="One release of it, such as 5.0.0. The newest if not given.")
    ] = None,
    id: Annotated[str, typer.Option(help="The id of the message.")] = MESSAGE_ID,
    batch: Batch = False,
) -> None:
    """Events of an agent in, the chunks of one whole answer out.

    Example: rejoinder translate --from claude-code < events.jsonl | rejoinder fold

    Events that nobody knows are told on standard error and left out. A batch line is {"events": […]}, its result
    {"chunks": […], "problems": […]} or {"error": text}.
    """
    translator = _translator(vendor)
    if batch:
        answer_batch(read_cases(), lambda case: _case(case, translator, _speaker(sdk, release), id))
        return
    problems = Problems()
    stage = _speaker(sdk, release)
    turn = Turn(translator, id)
    for chunk in _spoken(turn.begin(), stage):
        write_line(encode_chunk(chunk))
    for where, text in read_texts(problems):
        try:
            event = json.decode(text)
        except RejoinderError as error:
            problems.tell(where, error)
            continue
        for chunk in _spoken(turn.event(event), stage):
            write_line(encode_chunk(chunk))
        for problem in turn.problems():
            problems.warn(f"{where}: {problem}")
    for chunk in _spoken(turn.end(), stage):
        write_line(encode_chunk(chunk))
    for chunk in stage.close() if stage is not None else ():
        write_line(encode_chunk(chunk))
    for problem in turn.problems():
        problems.warn(f"end: {problem}")
    problems.exit()


class Turn:
    """One answer that outlives whatever its events hold."""

    def __init__(self, translator: Translator, message_id: str) -> None:
        self._translation = Translation(translator, message_id=message_id)
        self._problems: list[str] = []

    def begin(self) -> Iterable[Chunk]:
        """The first chunk."""
        return self._translation.begin()

    def event(self, event: Json) -> Iterator[Chunk]:
        """What the event means."""
        try:
            yield from self._translation.event(event)
        except Exception as error:  # noqa: BLE001  an event that breaks its translator must not cost the others
            self._problems.append(f"the event could not be translated: {type(error).__name__}: {error}")

    def end(self) -> Iterable[Chunk]:
        """The last chunks."""
        return self._translation.end()

    def problems(self) -> list[str]:
        """What made no sense since the last time."""
        said = [note.text for note in self._translation.take_notes() if isinstance(note, Problem)]
        told, self._problems = [*said, *self._problems], []
        return told


def _case(case: JsonObject, translator: Translator, stage: Downlevel | None, message_id: str) -> JsonObject:
    events = case.get("events")
    if not is_array(events):
        raise InvalidChunk('a case has its events as an array: {"events": […]}')
    turn = Turn(translator, message_id)
    chunks = [*turn.begin(), *(chunk for event in events for chunk in turn.event(event)), *turn.end()]
    spoken = [*_spoken(chunks, stage), *(stage.close() if stage is not None else ())]
    return {"chunks": [chunk_to_json(chunk) for chunk in spoken], "problems": turn.problems()}


def _spoken(chunks: Iterable[Chunk], stage: Downlevel | None) -> Iterator[Chunk]:
    for chunk in chunks:
        yield from (chunk,) if stage is None else stage.feed(chunk)


def _translator(name: str) -> Translator:
    try:
        return translator_of(name)
    except UnknownVendor as error:
        misuse(str(error))


def _speaker(sdk: str | None, release: str | None) -> Downlevel | None:
    if sdk is None and release is None:
        return None
    try:
        return Downlevel(dialects.dialect(sdk or "7", release=release), patient=True)
    except UnknownDialect as error:
        misuse(str(error))
