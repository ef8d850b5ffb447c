"""What stored chunks and raw messages say: frames that every client can read, the message they make, an ending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from rejoinder.errors import IllegalChunk, RejoinderError
from rejoinder.fold import Accumulator
from rejoinder.messages import Message, MessageStatus
from rejoinder.ports.journal import TurnEnding
from rejoinder.translate.ai_sdk import ChunkStream
from rejoinder.translate.notes import Failed, Problem, Stopped
from rejoinder.translate.translation import Translation
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, Start, type_of
from rejoinder.wire.codec import decode_chunk, encode_event, unread_fields
from rejoinder.wire.grammar import Grammar

NO_END: Final = "The stored stream has no end."

STATUSES: Final[dict[TurnEnding, MessageStatus]] = {
    "succeeded": "complete",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}


class Told(NamedTuple):
    """A turn as it was told: the frames of each stored chunk, and those that close the stream.

    `problems` are empty if every chunk is carried over as it was.
    """

    frames: tuple[tuple[bytes, ...], ...]
    closing: tuple[bytes, ...]
    message: Message
    ending: TurnEnding
    error: str | None
    problems: tuple[str, ...]


def told(chunks: Sequence[bytes], *, message_id: str) -> Told:
    """Read the chunks of one stored stream, the JSON of each. Never raises for what is in them."""
    try:
        return _as_they_are(chunks, message_id)
    except RejoinderError as error:
        return _said_again(chunks, message_id, str(error))


def stored_id(chunks: Sequence[bytes]) -> str | None:
    """The id of the message, if the stream's start names one."""
    for text in chunks[:2]:
        try:
            chunk = decode_chunk(text)
        except RejoinderError:
            continue
        if isinstance(chunk, Start) and isinstance(chunk.message_id, str):
            return chunk.message_id or None
    return None


def _as_they_are(chunks: Sequence[bytes], message_id: str) -> Told:
    grammar, accumulator = Grammar(), Accumulator(message_id=message_id)
    frames: list[tuple[bytes, ...]] = []
    problems: list[str] = []
    for text in chunks:
        chunk = decode_chunk(text)
        problems.extend(
            f"a field {name!r} of {type_of(chunk)!r} is not known, and is left out of the frames"
            for name in unread_fields(json.decode(text))
        )
        if isinstance(chunk, Start):
            chunk = structs.replace(chunk, message_id=message_id)
        grammar.check(chunk)
        accumulator.apply(chunk)
        frames.append((encode_event(chunk),))
    if not grammar.ended:
        raise IllegalChunk(NO_END, chunk_type="finish")
    failed = bool(accumulator.errors)
    ending: TurnEnding = "failed" if failed else "cancelled" if accumulator.aborted else "succeeded"
    return _told(frames, (), accumulator, ending, accumulator.errors[0] if failed else None, problems)


def _said_again(chunks: Sequence[bytes], message_id: str, problem: str) -> Told:
    translation, accumulator = (
        Translation(ChunkStream, message_id=message_id),
        Accumulator(message_id=message_id),
    )
    problems = [problem]

    def said(spoken: Iterable[Chunk]) -> tuple[bytes, ...]:
        frames: list[bytes] = []
        try:
            for chunk in spoken:
                accumulator.apply(chunk)
                frames.append(encode_event(chunk))
        except RejoinderError as error:
            problems.append(str(error))
        problems.extend(note.text for note in translation.take_notes() if isinstance(note, Problem))
        return tuple(frames)

    def events(text: bytes) -> Iterator[Chunk]:
        yield from translation.event(json.decode(text))

    opening = said(translation.begin())
    frames = [said(events(text)) for text in chunks]
    ending: TurnEnding = "interrupted"
    error: str | None = None
    match translation.ending:
        case None:
            closing = said(translation.stop(NO_END))
        case Failed() as failed:
            ending, error = "failed", failed.error.message
            closing = said(translation.end())
        case Stopped():
            ending = "cancelled"
            closing = said(translation.end())
        case _:
            ending = "succeeded"
            closing = said(translation.end())
    # The start is ours, and belongs to what the first chunk says.
    if frames:
        frames[0] = opening + frames[0]
    else:
        closing = opening + closing
    return _told(frames, closing, accumulator, ending, error, problems)


def _told(
    frames: Sequence[tuple[bytes, ...]],
    closing: tuple[bytes, ...],
    accumulator: Accumulator,
    ending: TurnEnding,
    error: str | None,
    problems: Sequence[str],
) -> Told:
    message = structs.replace(accumulator.message, status=STATUSES[ending])
    return Told(tuple(frames), closing, message, ending, error, tuple(dict.fromkeys(problems)))
