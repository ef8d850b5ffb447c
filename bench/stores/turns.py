"""The turn that everybody saves: a question, and an answer of ten parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from rejoinder.convert.ui import to_ui
from rejoinder.messages import File, Message, Part, Reasoning, SourceUrl, StepStart, Text, ToolCall

LAST: Final = 50
"""How many messages are loaded."""


class Contender(Protocol):
    """Somebody who keeps conversations in PostgreSQL."""

    name: str

    async def open(self, url: str) -> None:
        """Get ready, with tables of one's own."""
        ...

    async def close(self) -> None:
        """Let go."""
        ...

    async def fill(self, conversation: str, count: int) -> None:
        """Make a conversation of so many messages, however fast it goes."""
        ...

    async def save(self, conversation: str, number: int) -> None:
        """Save the question and the answer of a turn."""
        ...

    async def load(self, conversation: str) -> int:
        """Load the last messages with all their parts, ready for use. Answers how many."""
        ...

    async def turn(self, conversation: str, number: int) -> None:
        """What a chat server does in a turn: keep the question, load the past, keep the answer."""
        ...


def question(number: int | str) -> Message:
    """What the user says."""
    return Message(
        id=f"u{number}", role="user", parts=(Text(text="How warm is it in Rome, and in Bern? " * 4),)
    )


def answer(number: int | str) -> Message:
    """Ten parts."""
    calls = [
        ToolCall(
            name="weather",
            call_id=f"c{number}-{place}",
            state="output-available",
            input={"city": city, "unit": "celsius"},
            output={"city": city, "hours": [{"hour": hour, "degrees": 20 + hour / 7} for hour in range(6)]},
        )
        for place, city in enumerate(("Rome", "Bern", "Oslo"))
    ]
    parts: Sequence[Part] = (
        StepStart(),
        Reasoning(text="One has to look it up. " * 6, state="done"),
        *calls,
        StepStart(),
        Text(text="It is warm in Rome, mild in Bern, and cold in Oslo. " * 12, state="done"),
        SourceUrl(source_id="s1", url="https://example.com/weather", title="The weather"),
        File(media_type="image/png", url="https://example.com/map.png", filename="map.png"),
        Text(text="Shall I look further ahead? " * 3, state="done"),
    )
    return Message(id=f"a{number}", role="assistant", parts=tuple(parts))


def plain(number: int) -> Message:
    """A message of a long history."""
    kind = "user" if number % 2 == 0 else "assistant"
    return Message(id=f"h{number}", role=kind, parts=(Text(text=f"Message {number}. " + "And so on. " * 12),))


def as_json(message: Message) -> dict[str, Any]:
    """The same as a `UIMessage`, for those who keep JSON."""
    return to_ui(message)
