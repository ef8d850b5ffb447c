"""The format of stored messages: its number, and what makes the newest of every older one.

A number is raised when the same content is written in another way than before. What was stored is then read as what
it would be today, and `rejoinder migrate` writes it so. A step never loses anything, and what it cannot read it
leaves as it is: a message must load.

The number stands in the row's `extra`, under our key, wherever it makes a difference: a message that is the same in
every format needs none, and those are nearly all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import structs

from rejoinder.convert.remainder import REMAINDER
from rejoinder.convert.ui import to_ui
from rejoinder.convert.ui_4 import from_ui_4
from rejoinder.errors import InvalidMessage
from rejoinder.messages import JsonObject, Message, Opaque
from rejoinder.wire.json import is_object

FORMAT: Final = 2
"""The format in which messages are stored today."""

FIRST: Final = 1
"""The format of what was stored before formats had numbers, and of what has none."""

_PARTS_OF_4: Final = ("tool-invocation", "reasoning", "source", "file")
_FIELDS_OF_4: Final = frozenset({"content", "reasoning", "toolInvocations", "experimental_attachments"})
_TIME: Final = "createdAt"


def numbered(message: Message) -> JsonObject | None:
    """The `extra` of a message that is stored now: with the number of the format, if it makes a difference."""
    extra = message.extra or {}
    if REMAINDER not in extra and upgraded(message, FIRST) is message:
        return message.extra
    note: JsonObject = {"format": FORMAT}
    if REMAINDER in extra:
        note["was"] = extra[REMAINDER]
    return {**extra, REMAINDER: note}


def read(message: Message) -> Message:
    """Undo `numbered`, and give the message as it would be stored today."""
    return upgraded(*unnumbered(message))


def unnumbered(message: Message) -> tuple[Message, int]:
    """The message without the number, and the number."""
    note = None if message.extra is None else message.extra.get(REMAINDER)
    if message.extra is None or not is_object(note) or not isinstance(note.get("format"), int):
        return message, FIRST
    rest = {
        key: note["was"] if key == REMAINDER else value
        for key, value in message.extra.items()
        if key != REMAINDER or "was" in note
    }
    return structs.replace(message, extra=rest or None), note["format"]


def upgraded(message: Message, format: int) -> Message:
    """The message as it would be stored today, the very same if it is; of a format that we do not know yet, too."""
    for number in range(format, FORMAT):
        message = UPGRADES[number](message)
    return message


def _with_parts_of_4(message: Message) -> Message:
    """What a `UIMessage` of the AI SDK 4 says was kept whole in format 1, and shown to nobody: now it is parts."""
    extra = message.extra or {}
    if not _FIELDS_OF_4 & extra.keys() and not any(
        isinstance(part, Opaque) and part.kind in _PARTS_OF_4 for part in message.parts
    ):
        return message
    said = {key: value for key, value in to_ui(message).items() if key != _TIME}
    try:
        meant = from_ui_4(said)
    except InvalidMessage:
        return message
    # The place and the time of a message are the store's; what the client once said of its time stays beside it.
    rest = {**(meant.extra or {}), **({_TIME: extra[_TIME]} if _TIME in extra else {})}
    now = structs.replace(message, parts=meant.parts, extra=rest or None)
    return message if now == message else now


UPGRADES: Final[Mapping[int, Callable[[Message], Message]]] = {1: _with_parts_of_4}
"""By the number of a format: what makes the next one of it."""
