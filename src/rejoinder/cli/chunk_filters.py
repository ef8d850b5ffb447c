"""The filters over chunks: fold, explode, check-stream, downlevel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.streams import (
    Problems,
    answer_batch,
    misuse,
    read_all,
    read_cases,
    read_chunks,
    read_json_file,
    read_texts,
    write_line,
)
from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.errors import InvalidChunk, InvalidJson, RejoinderError, UnknownDialect
from rejoinder.fold import Accumulator, accumulate
from rejoinder.fold import explode as chunks_of
from rejoinder.messages import Message
from rejoinder.wire import dialects, json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json, chunk_to_json, encode_chunk, unread_fields
from rejoinder.wire.dialects import UNKNOWN_FIELDS_PASS, Dialect
from rejoinder.wire.downlevel import Downlevel
from rejoinder.wire.downlevel import downlevel as spoken
from rejoinder.wire.grammar import Grammar
from rejoinder.wire.json import Json, JsonObject, is_array, is_object

Sdk = Annotated[str, typer.Option(help="The AI SDK generation: 5, 6 or 7.")]
Release = Annotated[
    str | None, typer.Option(help="One release of it, such as 5.0.0. The newest if not given.")
]
Onto = Annotated[Path | None, typer.Option(help="A UIMessage to continue, as a JSON file.")]
Batch = Annotated[
    bool, typer.Option("--batch", help="One case a line in, one result a line out, in constant memory.")
]


def fold(
    *,
    sdk: Sdk = "7",
    onto: Onto = None,
    id: Annotated[str, typer.Option(help="The id of a message that no start names.")] = "",
    batch: Batch = False,
) -> None:
    """Chunks in, the UIMessage that a client of that SDK holds after the last one out.

    Example: curl -N … | rejoinder fold --sdk 7

    A batch line is {"chunks": […], "onto": message}, its result {"message": …} or {"error": text}.
    """
    generation = generation_of(sdk)
    if batch:
        answer_batch(read_cases(), lambda case: {"message": _folded_case(case, generation)})
        return
    problems = Problems()
    known = None if onto is None else _message_of_file(onto)
    accumulator = Accumulator(sdk=generation, onto=known, message_id=id or None)
    count = 0
    for where, chunk in read_chunks(problems):
        problems.exit()
        count += 1
        try:
            accumulator.apply(chunk)
        except RejoinderError as error:
            problems.tell(where, error)
            problems.exit()
    problems.exit()
    if not count:
        problems.tell("", "no chunks on standard input: send JSON lines or an event stream")
        problems.exit()
    write_line(_ui_json(accumulator.message))


def explode(*, batch: Batch = False) -> None:
    """An assistant's UIMessage in, the chunks that make it out, one a line.

    Example: rejoinder explode < message.json | rejoinder fold

    A batch line is a message, its result {"chunks": […]} or {"error": text}.
    """
    if batch:
        answer_batch(
            read_cases(),
            lambda case: {"chunks": [chunk_to_json(chunk) for chunk in chunks_of(from_ui(case))]},
        )
        return
    text = read_all()
    if not text.strip():
        raise InvalidJson("no message on standard input: send a UIMessage as JSON")
    for chunk in chunks_of(from_ui(json.decode(text))):
        write_line(encode_chunk(chunk))


def check_stream(
    *,
    sdk: Sdk = "7",
    release: Release = None,
    onto: Onto = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Hold the stream to the grammar of what our own server sends, too."),
    ] = False,
    batch: Batch = False,
) -> None:
    """Chunks in, the same chunks out; a line on standard error for each that would end that client's stream.

    Example: rejoinder check-stream --sdk 5 --release 5.0.0 < chunks.jsonl

    A batch line is {"chunks": […], "onto": message}, its result {"chunks": […]} or {"error": text}.
    """
    spoken_to = _dialect(sdk, release)
    if batch:
        answer_batch(read_cases(), lambda case: _checked_case(case, spoken_to, strict=strict))
        return
    problems = Problems()
    checker = Checker(spoken_to, onto=None if onto is None else _message_of_file(onto), strict=strict)
    for where, text in read_texts(problems):
        try:
            chunk = checker.check(json.decode(text))
        except RejoinderError as error:
            for line in str(error).splitlines():
                problems.tell(where, line)
            continue
        write_line(encode_chunk(chunk))
    for line in checker.close():
        problems.tell("end", line)
    problems.exit()


def downlevel(*, sdk: Sdk = "7", release: Release = None, onto: Onto = None, batch: Batch = False) -> None:
    """Chunks of version 7 in, chunks that this client accepts and that lose as little as can be out.

    Example: rejoinder downlevel --sdk 5 --release 5.0.0 < chunks.jsonl

    A batch line is {"chunks": […], "onto": message}, its result {"chunks": […]} or {"error": text}.
    """
    spoken_to = _dialect(sdk, release)
    if batch:
        answer_batch(
            read_cases(),
            lambda case: {
                "chunks": [
                    json.decode(encode_chunk(chunk))
                    for chunk in spoken(
                        _chunks_of_case(case), spoken_to, message=_a_message(case.get("onto"))
                    )
                ]
            },
        )
        return
    problems = Problems()
    known = None
    if onto is not None:
        _message_of_file(onto)
        known = read_json_file(onto)
    stage = Downlevel(spoken_to, patient=True, message=known)
    for _, chunk in read_chunks(problems):
        for said in stage.feed(chunk):
            write_line(encode_chunk(said))
    for said in stage.close():
        write_line(encode_chunk(said))
    problems.exit()


class Checker:
    """Whether a client would live through a stream: its vocabulary, its reducer and, if asked, our own grammar."""

    def __init__(self, dialect: Dialect, *, onto: Message | None = None, strict: bool = False) -> None:
        self._dialect = dialect
        self._reducer = Accumulator(sdk=dialect.sdk, onto=onto)
        self._grammar = Grammar() if strict else None

    def check(self, value: Json) -> Chunk:
        """Read the next chunk. Raises an error with a line for each reason why the client would refuse it."""
        chunk = self._read(value)
        reasons = list(dialects.problems(self._dialect, chunk))
        if is_object(value) and not self._dialect.has(UNKNOWN_FIELDS_PASS):
            reasons += [
                f"{sdk_release(self._dialect)} knows no field {name!r}" for name in unread_fields(value)
            ]
        reasons += dialects.refused_keys(self._dialect, value)
        if reasons:
            raise InvalidChunk("\n".join(reasons))
        if self._grammar is not None:
            self._grammar.check(chunk)
        self._reducer.apply(chunk)
        return chunk

    def _read(self, value: Json) -> Chunk:
        try:
            return chunk_from_json(value)
        except InvalidChunk:
            if not is_object(value) or not self._dialect.has(UNKNOWN_FIELDS_PASS):
                raise
            # What this release does not know it passes over, whatever it holds.
            return chunk_from_json(dialects.known_fields(self._dialect, value))

    def close(self) -> Iterable[str]:
        """What is wrong with the stream ending here. Clients take any end; our own grammar does not."""
        if self._grammar is not None and not self._grammar.ended:
            yield "the stream ends without 'finish' or 'abort': clients take it for a success"


def generation_of(sdk: str) -> int:
    """The AI SDK generation that an option names; wrong use ends here."""
    return _dialect(sdk).sdk


def sdk_release(dialect: Dialect) -> str:
    """A dialect's release as people write it."""
    return ".".join(map(str, dialect.release))


def _dialect(sdk: str, release: str | None = None) -> Dialect:
    try:
        return dialects.dialect(sdk, release=release)
    except UnknownDialect as error:
        misuse(str(error))


def _message_of_file(path: Path) -> Message:
    try:
        return from_ui(read_json_file(path))
    except RejoinderError as error:
        misuse(f"{path}: {error}")


def _ui_json(message: Message) -> bytes:
    return json.encode(json.as_javascript(to_ui(message)))


def _chunks_of_case(case: JsonObject) -> Iterator[Chunk]:
    values = case.get("chunks")
    if not is_array(values):
        raise InvalidChunk('a case has its chunks as an array: {"chunks": […]}')
    return map(chunk_from_json, values)


def _a_message(onto: Json) -> JsonObject | None:
    """The message that a stream continues, as JSON. Raises `InvalidMessage` for what is none."""
    if onto is None:
        return None
    from_ui(onto)
    message: JsonObject = onto
    return message


def _onto_of_case(case: JsonObject) -> Message | None:
    onto = case.get("onto")
    return None if onto is None else from_ui(onto)


def _folded_case(case: JsonObject, sdk: int) -> Json:
    message_id = case.get("id")
    message = accumulate(
        _chunks_of_case(case),
        sdk=sdk,
        onto=_onto_of_case(case),
        message_id=message_id if isinstance(message_id, str) else None,
    )
    return json.as_javascript(to_ui(message))


def _checked_case(case: JsonObject, dialect: Dialect, *, strict: bool) -> JsonObject:
    checker = Checker(dialect, onto=_onto_of_case(case), strict=strict)
    values = case.get("chunks")
    if not is_array(values):
        raise InvalidChunk('a case has its chunks as an array: {"chunks": […]}')
    checked = [chunk_to_json(checker.check(value)) for value in values]
    for reason in checker.close():
        raise InvalidChunk(reason)
    return {"chunks": checked}
