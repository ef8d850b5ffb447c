"""Standard input and output of the filters: JSON lines or server-sent events in, JSON lines out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

import typer

from rejoinder.errors import InvalidJson, RejoinderError
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import decode_chunk
from rejoinder.wire.json import Json, JsonObject, is_object
from rejoinder.wire.sse import EventReader

_SSE_FIELDS: Final = (b"data", b"event", b"id", b"retry", b"")


class Problems:
    """What went wrong, told line by line; in the end the exit code follows from it."""

    def __init__(self) -> None:
        self.count = 0

    def tell(self, where: str, problem: object) -> None:
        """One clear line on standard error."""
        self.count += 1
        print(f"{where}: {problem}" if where else str(problem), file=sys.stderr)

    def warn(self, warning: str) -> None:
        """One line on standard error that changes no exit code."""
        print(f"warning: {warning}", file=sys.stderr)

    def exit(self) -> None:
        """End with exit code 1 if there was a problem."""
        if self.count:
            raise typer.Exit(1)


def misuse(message: str) -> NoReturn:
    """End with exit code 2: the command was not used rightly."""
    print(message, file=sys.stderr)
    raise typer.Exit(2)


_LINE_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
"""What JSON leaves as it is and some readers of lines (Python's `splitlines`) take for the end of one."""


def write_line(text: bytes) -> None:
    """Write one line at once, for whoever waits for it."""
    if not text.isascii():
        for end, escape in _LINE_ENDS:
            text = text.replace(end, escape)
    out = sys.stdout.buffer
    out.write(text + b"\n")
    out.flush()


def read_json_file(path: Path) -> Json:
    """Read the JSON file that an option names."""
    try:
        return json.decode(path.read_bytes())
    except OSError as error:
        misuse(f"{path}: {error.strerror}")
    except InvalidJson as error:
        misuse(f"{path}: {error}")


def read_all() -> bytes:
    """Standard input, whole; without the mark that some editors put in front."""
    return sys.stdin.buffer.read().removeprefix(b"\xef\xbb\xbf")


def read_lines() -> Iterator[tuple[str, bytes]]:
    """The lines of standard input that hold something, each with its place."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if text:
            yield f"line {number}", text


def read_chunks(problems: Problems) -> Iterator[tuple[str, Chunk]]:
    """The chunks on standard input, JSON lines or an event stream, each with its place.

    A chunk that cannot be read is told as a problem, and the next one is read.
    """
    for where, text in read_texts(problems):
        try:
            chunk = decode_chunk(text)
        except RejoinderError as error:
            problems.tell(where, error)
            continue
        yield where, chunk


def read_texts(problems: Problems) -> Iterator[tuple[str, bytes]]:
    """The JSON texts of the chunks on standard input, each with its place."""
    lines = enumerate(sys.stdin.buffer, 1)
    for number, line in lines:
        first = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not first.strip():
            continue
        if first.partition(b":")[0].strip() in _SSE_FIELDS:
            yield from _events(chain((first,), (rest for _, rest in lines)), problems)
        else:
            yield f"line {number}", first.strip()
            yield from ((f"line {later}", rest.strip()) for later, rest in lines if rest.strip())


def _events(pieces: Iterable[bytes], problems: Problems) -> Iterator[tuple[str, bytes]]:
    reader = EventReader()
    number = 0
    for piece in pieces:
        for event in reader.feed(piece):
            number += 1
            if event != b"[DONE]":
                yield f"event {number}", event
    if reader.pending:
        problems.tell(
            f"event {number + 1}", "cut off: the blank line that ends it is missing, so clients drop it"
        )


def read_cases() -> Iterator[JsonObject | RejoinderError]:
    """The cases of a batch, one a line. A line that is no JSON object is its error."""
    for _, text in read_lines():
        try:
            case = json.decode(text)
        except RejoinderError as error:
            yield error
            continue
        yield case if is_object(case) else InvalidJson("a case is a JSON object")


def answer_batch(cases: Iterator[Json], answer: Callable[[Json], JsonObject]) -> None:
    """One result a line, in order: what `answer` makes of a case, or `{"error": text}`."""
    for case in cases:
        try:
            if isinstance(case, RejoinderError):
                raise case
            result = answer(case)
        except RejoinderError as error:
            result = {"error": str(error)}
        except RecursionError:
            result = {"error": "nested too deep to work on"}
        write_line(json.encode(result))
