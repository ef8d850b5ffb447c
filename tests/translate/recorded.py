"""Recorded runs: what a vendor said (`events/`), and what we say for it (`golden/`), one JSON text a line.

A golden list that is meant to change is written anew by `python -m tests.translate.recorded NAME:VENDOR …`
(`openai_chat_toolcall:openai-chat`); read the difference before you commit it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from rejoinder.fold import accumulate
from rejoinder.messages import Json, JsonObject, Message
from rejoinder.testing.oracle import Oracle
from rejoinder.translate import CallEnded, CallStarted, Note, Problem, Translation
from rejoinder.translate.notes import Ending
from rejoinder.translate.registry import translator_of
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import encode_chunk
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import downlevel
from rejoinder.wire.grammar import Grammar

FOLDER: Final = Path(__file__).resolve().parent
MESSAGE_ID: Final = "m1"


class Told(Struct):
    """What became of a run."""

    chunks: list[Chunk]
    notes: list[Note]
    ending: Ending | None

    @property
    def message(self) -> Message:
        """The message that the chunks make."""
        return accumulate(self.chunks)

    @property
    def calls(self) -> list[CallEnded]:
        """The calls of models that ended."""
        return [note for note in self.notes if isinstance(note, CallEnded)]

    @property
    def began(self) -> list[CallStarted]:
        """The calls of models that began."""
        return [note for note in self.notes if isinstance(note, CallStarted)]

    @property
    def problems(self) -> list[str]:
        """What was left out, and why."""
        return [note.text for note in self.notes if isinstance(note, Problem)]


def events_of(run: str) -> list[Json]:
    """What the vendor said."""
    return [json.decode(line) for line in (FOLDER / "events" / f"{run}.jsonl").read_bytes().splitlines()]


def told(vendor: str, events: Iterable[Json], onto: Message | None = None) -> Told:
    """Translate a run from its first chunk to its last; every chunk is checked against the grammar."""
    translation = Translation(translator_of(vendor), message_id=MESSAGE_ID, message=onto)
    chunks = translation.begin()
    for event in events:
        chunks += translation.event(event)
    chunks += translation.end()
    if onto is None:
        check(chunks)
    return Told(chunks, [*translation.take_notes()], translation.ending)


def check(chunks: Iterable[Chunk]) -> None:
    """Every chunk may come where it comes, and in the end nothing is open."""
    grammar = Grammar()
    for chunk in chunks:
        grammar.check(chunk)
    assert grammar.ended
    assert not grammar.open_parts


def golden(run: str) -> str:
    """What we say for a run."""
    return (FOLDER / "golden" / f"{run}.jsonl").read_text("utf-8")


def written(chunks: Iterable[Chunk]) -> str:
    """Chunks as a golden file has them."""
    return "".join(encode_chunk(chunk).decode() + "\n" for chunk in chunks)


def read_by(oracle: Oracle, sdk: str, chunks: Sequence[Chunk]) -> JsonObject:
    """The message that a release of the real package makes of the chunks, said as that release understands them."""
    said = [json.decode(encode_chunk(chunk)) for chunk in downlevel(chunks, dialect(f"ai-sdk/{sdk}"))]
    verdict = oracle.ask({"do": "schema", "sdk": sdk, "chunks": said})
    assert set(verdict["results"]) == {None}
    # Its own reader stops at an error chunk; what it has made until then is what we compare.
    answer = oracle.ask({"do": "fold", "sdk": sdk, "chunks": said, "onto": None})
    assert "error" not in answer, answer
    message: JsonObject = answer["message"]
    return message


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run_name, _, vendor_name = name.partition(":")
        text = written(told(vendor_name, events_of(run_name)).chunks)
        (FOLDER / "golden" / f"{run_name}.jsonl").write_text(text, "utf-8")
        sys.stdout.write(f"{run_name}: {len(text.splitlines())} chunks\n")
