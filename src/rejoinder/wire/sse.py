"""Server-sent events, read as browsers read them: any line ends, any cut of the bytes, comments, a BOM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class EventReader:
    """Bytes in, in pieces of any size; the `data` of every complete event out.

    An event counts when its blank line has come. `pending` says whether something was begun and not completed:
    at the end of a stream, that event is lost to every client.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._data: list[bytes] = []
        self._at_start = True
        self._after_return = False

    @property
    def pending(self) -> bool:
        """Whether an event was begun and its end has not come."""
        return bool(self._data) or bool(self._buffer.strip())

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that this piece completes, in order; `[DONE]` included, as it came."""
        buffer = self._buffer + piece
        if self._is_between_events and b"\r" not in buffer:
            yield from self._whole_events(buffer)
            return
        if self._at_start:
            if len(buffer) < 3 and b"\xef\xbb\xbf".startswith(buffer):
                self._buffer = buffer
                return
            buffer = buffer.removeprefix(b"\xef\xbb\xbf")
            self._at_start = False
        if self._after_return:
            # A line ended in CR; if this LF belongs to it, it is no empty line of its own.
            if not buffer:
                return
            buffer = buffer.removeprefix(b"\n")
            self._after_return = False
        start = 0
        for end in _LINE_END.finditer(buffer):
            line = buffer[start : end.start()]
            start = end.end()
            event = self._line(line)
            if event is not None:
                yield event
        self._after_return = start > 0 and start == len(buffer) and buffer.endswith(b"\r")
        self._buffer = buffer[start:]

    @property
    def _is_between_events(self) -> bool:
        return not (self._at_start or self._after_return or self._data)

    def _whole_events(self, buffer: bytes) -> Iterator[bytes]:
        """What nearly every stream looks like: `data: …` and a blank line. Anything else goes line by line."""
        *events, self._buffer = buffer.split(b"\n\n")
        for event in events:
            if event.startswith(b"data: ") and b"\n" not in event:
                yield event[6:]
            else:
                for line in event.split(b"\n"):
                    self._line(line)
                found = self._line(b"")
                if found is not None:
                    yield found

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            event = b"\n".join(self._data) if self._data else None
            self._data = []
            return event
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        return None
