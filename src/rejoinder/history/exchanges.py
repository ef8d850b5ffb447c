"""A conversation as turns: what was asked, and all that was answered, so that nothing of it is shown by half."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from rejoinder.history.tokens import said_as
from rejoinder.messages import Message, Part, Reasoning, ReasoningFile, ToolCall, is_absent

EXCERPT_CHARACTERS: Final = 2_000
"""So much of a tool's output is left when it is shortened: its beginning, and the end of it."""

EXCERPT_HEAD: Final = 1_400

_SHORTENABLE: Final = EXCERPT_CHARACTERS + 200


class Placed(Struct, frozen=True):
    """A message and its place in its conversation."""

    message: Message
    seq: int
    turn_id: str | None = None


class Exchange(Struct, frozen=True):
    """What the user said, and everything up to what the user said next: a call and its result are never parted."""

    placed: tuple[Placed, ...]

    @property
    def asks(self) -> bool:
        """Whether it begins with a question. What comes before the first one of all does not."""
        return any(each.message.role == "user" for each in self.placed)


def exchanges(placed: Iterable[Placed]) -> list[Exchange]:
    """The turns of a conversation, oldest first.

    A turn begins where the user speaks and somebody else spoke before, or where another turn recorded what he said.
    """
    found: list[list[Placed]] = []
    for each in placed:
        if not found or _begins(each, found[-1]):
            found.append([])
        found[-1].append(each)
    return [Exchange(tuple(group)) for group in found]


def _begins(each: Placed, group: Sequence[Placed]) -> bool:
    if each.message.role != "user":
        return False
    spoken = [before for before in group if before.message.role != "system"]
    if not spoken:
        return False
    last = spoken[-1]
    another_turn = None not in (each.turn_id, last.turn_id) and each.turn_id != last.turn_id
    return last.message.role != "user" or another_turn


def without_reasoning(message: Message) -> Message:
    """The message without its thoughts.

    Vendors tie what follows a thought to it by ids in their metadata; without the thought those are refused, so they
    go with it.
    """
    if not any(isinstance(part, Reasoning | ReasoningFile) for part in message.parts):
        return message
    return structs.replace(
        message,
        parts=tuple(
            _untied(part) for part in message.parts if not isinstance(part, Reasoning | ReasoningFile)
        ),
    )


def with_excerpts(message: Message) -> Message:
    """The message with the long outputs of its tools shortened to beginning and end."""
    parts = tuple(_excerpted(part) if isinstance(part, ToolCall) else part for part in message.parts)
    return message if parts == message.parts else structs.replace(message, parts=parts)


def _untied(part: Part) -> Part:
    changes: dict[str, None] = {
        name: None
        for name in ("provider_metadata", "call_provider_metadata", "result_provider_metadata")
        if getattr(part, name, None) is not None
    }
    return structs.replace(part, **changes) if changes else part


def _excerpted(call: ToolCall) -> ToolCall:
    if is_absent(call.output) or call.output is None:
        return call
    said = said_as(call.output)
    if len(said) <= _SHORTENABLE:
        return call
    tail = said[len(said) - (EXCERPT_CHARACTERS - EXCERPT_HEAD) :]
    left_out = len(said) - EXCERPT_CHARACTERS
    mark = f"\n[… {left_out} characters left out; the whole output is kept with call {call.call_id[:80]} …]\n"
    return structs.replace(call, output=f"{said[:EXCERPT_HEAD]}{mark}{tail}")


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same messages with results that stand for themselves (role `tool`) taken into the calls that they answer.

    A result whose call is not there is left out: no provider takes it.
    """
    kept: list[Message] = []
    for message in messages:
        if message.role != "tool":
            kept.append(message)
            continue
        for part in message.parts:
            if isinstance(part, ToolCall):
                _answer(kept, part)
    return tuple(kept)


def _answer(kept: list[Message], result: ToolCall) -> None:
    for place in range(len(kept) - 1, -1, -1):
        if kept[place].role != "assistant":
            continue
        answered = answered_by(kept[place], result)
        if answered is not None:
            kept[place] = answered
            return


def answered_by(message: Message, result: ToolCall, *, by_name: bool = False) -> Message | None:
    """The message with the result in the call that waits for it; None if no call here does.

    `by_name` takes the first open call of that tool, for results that do not say which call they answer.
    """
    for place, part in enumerate(message.parts):
        if not isinstance(part, ToolCall) or part.state not in _OPEN:
            continue
        if part.call_id == result.call_id or (by_name and part.name == result.name):
            told = structs.replace(
                part,
                state="output-error" if result.error_text is not None else "output-available",
                output=result.output,
                error_text=result.error_text,
            )
            return structs.replace(message, parts=(*message.parts[:place], told, *message.parts[place + 1 :]))
    return None


_OPEN: Final = ("input-available", "input-streaming", "approval-requested", "approval-responded")
