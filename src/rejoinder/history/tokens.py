"""How much of a budget a message takes: characters, and tokens by whatever counts them.

Everything counts that a model is shown: text, thoughts, the arguments and results of tools, files by what vendors
make of them. What no model is shown (sources, step marks, data parts of the application) costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Final, Protocol, TypeAlias

from rejoinder.messages import File, Json, Message, Part, Reasoning, Steering, Text, ToolCall, is_absent
from rejoinder.wire import json

BYTES_PER_TOKEN: Final = 3.5
"""What a token is about, over languages and vocabularies: rather too little, so that an estimate is rather too high."""

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its content: its role, and where it begins and ends."""

FILE_TOKENS: Final[Mapping[str, int]] = {
    "image": 1_600,
    "audio": 2_000,
    "video": 20_000,
    "application": 3_000,
}
"""What vendors make of a file, by the first half of its media type: what a large picture costs, some minutes of sound,
a few pages. Nobody can know it beforehand; a text is counted as what it says."""

RATIO_MIN: Final = 0.5
RATIO_MAX: Final = 2.0
"""How far a conversation's own usage may move an estimate: instructions and tools are in that usage, too, and in a
short conversation they are most of it."""

TextCounter: TypeAlias = Callable[[str], int]
"""How many tokens a text has."""


class TokenCounter(Protocol):
    """Counts the tokens of a message as one model does. The same message has the same number each time."""

    def count(self, message: Message) -> int:
        """How many tokens the message takes in a request."""
        ...


class TextTokenCounter:
    """A counter for everybody who can count a text."""

    def __init__(self, text: TextCounter) -> None:
        self._text = text

    def count(self, message: Message) -> int:
        """The texts by that count, files by what they are taken for, and a little for the message."""
        return MESSAGE_TOKENS + files_of(message) + sum(map(self._text, texts_of(message)))


class CalibratedCounter:
    """The default: UTF-8 bytes, by a ratio that the conversation's own usage has taught. It needs no vocabulary."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.ratio = min(max(ratio, RATIO_MIN), RATIO_MAX)

    def count(self, message: Message) -> int:
        """The estimate of the message."""
        return ceil(estimated(message) * self.ratio)


def estimated(message: Message) -> int:
    """How many tokens a message may have, for models of which nothing is known."""
    said = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts_of(message))
    return MESSAGE_TOKENS + files_of(message) + ceil(said / BYTES_PER_TOKEN)


def calibrated(estimate: int, counted: int) -> CalibratedCounter:
    """A counter for a conversation in which so many tokens were estimated, and so many counted by the provider."""
    return CalibratedCounter(counted / estimate if estimate > 0 else 1.0)


def characters_of(message: Message) -> int:
    """How many characters of text a model is shown with this message."""
    return sum(map(len, texts_of(message)))


def texts_of(message: Message) -> Iterator[str]:
    """Every text of a message that a model is shown."""
    for part in message.parts:
        yield from _texts(part)


def files_of(message: Message) -> int:
    """What the files of a message are taken for, in tokens."""
    return sum(map(_tokens_of_file, _files(message)))


def _texts(part: Part) -> Iterator[str]:
    match part:
        case Text(text=text) | Reasoning(text=text):
            yield text
        case ToolCall():
            yield part.name
            for said in (part.input, part.raw_input if is_absent(part.input) else None, part.output):
                if not is_absent(said) and said is not None:
                    yield said_as(said)
            if part.error_text is not None:
                yield part.error_text
        case File(media_type=media_type, url=url) if media_type.startswith("text/"):
            yield url
        case Steering(parts=parts):
            for said in parts:
                yield from _texts(said)
        case _:
            pass  # no model is shown it, or it is counted as a file


def said_as(value: Json) -> str:
    """What is sent of a JSON payload."""
    return value if isinstance(value, str) else json.encode(value).decode("utf-8", "surrogatepass")


def _files(message: Message) -> Iterator[File]:
    for part in message.parts:
        if isinstance(part, File):
            yield part
        elif isinstance(part, Steering):
            yield from (said for said in part.parts if isinstance(said, File))


def _tokens_of_file(file: File) -> int:
    family = file.media_type.partition("/")[0]
    return 0 if family == "text" else FILE_TOKENS.get(family, FILE_TOKENS["application"])
