"""What a model is shown of a conversation, and what it is not, and why.

What system says, what is pinned and what is new is shown in any case. Before it, the newest turns, whole, as many as
fit; of the first one that does not, a shorter form without thoughts, then with shortened outputs of tools, and
that is the oldest. So a larger budget shows everything that a smaller one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from rejoinder.history.budget import HistoryBudget, HistoryOverBudget
from rejoinder.history.exchanges import (
    Exchange,
    Placed,
    exchanges,
    joined,
    with_excerpts,
    without_reasoning,
)
from rejoinder.history.tokens import TokenCounter, characters_of
from rejoinder.messages import Message
from rejoinder.wire.json import is_object

DropReason: TypeAlias = Literal["messages", "turns", "chars", "tokens", "summarised", "no-question", "older"]
"""Which limit was reached; or that a summary stands for it, that it answers no question, or that it lies behind
something that was dropped."""

PINNED: Final = "pinned"
"""The field of a message's metadata that, being true, keeps the message in every history."""


class Drop(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What was not shown, and why. `messages` is how many at most, where `read` says that nobody looked at them."""

    reason: DropReason
    messages: int
    turns: int = 0
    tokens: int = 0
    from_seq: int | None = None
    through_seq: int | None = None
    read: bool = True


class Trim(Struct, frozen=True, kw_only=True, rename="camel"):
    """A message that is shown in a shorter form."""

    message_id: str
    left_out: Literal["reasoning", "reasoning and tool outputs"]


class Choice(Struct, frozen=True, kw_only=True):
    """What is shown. `needs_more` says that older messages may fit and have not been read yet."""

    messages: tuple[Message, ...]
    turns: int
    tokens: int
    drops: tuple[Drop, ...]
    trims: tuple[Trim, ...]
    needs_more: bool


class Known(Struct, frozen=True, kw_only=True):
    """What has been read of a conversation. `read` is its newest stretch, without the new messages.

    `lasting` are the messages of system and the pinned ones, wherever they lie. `more`: there is something older
    than what was read. `summary` stands for everything up to the seq `summarised`.
    """

    read: tuple[Placed, ...]
    new: tuple[Message, ...]
    lasting: tuple[Placed, ...] = ()
    more: bool = False
    summary: Message | None = None
    summarised: int = -1


class _Size(NamedTuple):
    messages: int = 0
    chars: int = 0
    tokens: int = 0

    def plus(self, other: _Size) -> _Size:
        return _Size(self.messages + other.messages, self.chars + other.chars, self.tokens + other.tokens)


class _Shape(NamedTuple):
    of: Callable[[Message], Message]
    left_out: Literal["reasoning", "reasoning and tool outputs"] | None


def _whole(message: Message) -> Message:
    return message


def _shortest(message: Message) -> Message:
    return with_excerpts(without_reasoning(message))


_SHAPES: Final = (
    _Shape(_whole, None),
    _Shape(without_reasoning, "reasoning"),
    _Shape(_shortest, "reasoning and tool outputs"),
)


def lasts(message: Message) -> bool:
    """Whether a message is part of every history: system said it, or it is pinned (`metadata.pinned`)."""
    pinned = is_object(message.metadata) and message.metadata.get(PINNED) is True
    return message.role == "system" or pinned


def choose(known: Known, *, budget: HistoryBudget, counter: TokenCounter) -> Choice:
    """Choose what is shown. Raises `HistoryOverBudget` if what must be shown does not fit."""
    return _Choosing(known, budget, counter).choice()


class _Choosing:
    def __init__(self, known: Known, budget: HistoryBudget, counter: TokenCounter) -> None:
        self._known = known
        self._budget = budget
        self._counter = counter
        self._sizes: dict[int, tuple[Message, _Size]] = {}
        groups = exchanges(known.read)
        self._asked: Exchange | None = groups.pop() if groups and not known.new else None
        self._cut = known.more and (bool(groups) or self._asked is not None)
        self._groups = groups
        self._kept: list[tuple[int, int, Message]] = []
        self._trims: list[Trim] = []
        self._drops: list[Drop] = []
        self._turns = 0
        self._needs_more = False
        self._tokens_max = (
            None if budget.max_tokens is None else budget.max_tokens - budget.reserve_output_tokens
        )

    def choice(self) -> Choice:
        spent = self._keep_what_must_be()
        self._keep_newest(spent)
        self._say_what_was_summarised()
        self._kept.sort(key=lambda entry: entry[:2])
        messages = joined((*(entry[2] for entry in self._kept), *self._known.new))
        return Choice(
            messages=messages,
            turns=self._turns,
            tokens=sum(map(self._counter.count, messages)),
            drops=tuple(self._drops),
            trims=tuple(self._trims),
            needs_more=self._needs_more,
        )

    def _keep_what_must_be(self) -> _Size:
        known = self._known
        must = {placed.seq: placed.message for placed in known.lasting}
        must |= {placed.seq: placed.message for placed in known.read if lasts(placed.message)}
        if self._asked is not None:
            must |= {placed.seq: placed.message for placed in self._asked.placed}
            self._needs_more = self._cut and not self._groups
        self._kept = [(seq, 0, message) for seq, message in must.items()]
        if known.summary is not None:
            self._kept.append((known.summarised, 1, known.summary))
        spent = _Size()
        for message in (*(entry[2] for entry in self._kept), *known.new):
            spent = spent.plus(self._size(message))
        over = self._over(spent)
        if over is not None:
            needed = {"messages": spent.messages, "chars": spent.chars, "tokens": spent.tokens}
            raise HistoryOverBudget(
                f"what must be shown (the new messages, system's, pinned ones) takes {needed[over]} {over}, and the "
                f"budget allows {self._limit(over)}: raise it, or show less"
            )
        return spent

    def _keep_newest(self, spent: _Size) -> None:
        for place in range(len(self._groups) - 1, -1, -1):
            group = self._groups[place]
            rest = [placed for placed in group.placed if not lasts(placed.message)]
            cut = self._cut and place == 0
            if not rest and not cut:
                continue
            if self._budget.max_turns is not None and self._turns >= self._budget.max_turns:
                return self._drop("turns", place)
            found, over = self._fitting(rest, spent)
            if found is None:
                return self._drop(over, place)
            if cut:
                self._needs_more = True
                return None
            if not group.asks:
                return self._drop("no-question", place)
            shape, taken = found
            spent = spent.plus(taken)
            self._turns += 1
            for placed in rest:
                message = shape.of(placed.message)
                self._kept.append((placed.seq, 0, message))
                if shape.left_out is not None and message is not placed.message:
                    self._trims.append(Trim(message_id=message.id, left_out=shape.left_out))
            if shape.left_out is not None:
                return self._drop("older", place - 1)
        if self._known.more and not self._groups and self._asked is None:
            self._needs_more = True
        return None

    def _fitting(
        self, rest: Sequence[Placed], spent: _Size
    ) -> tuple[tuple[_Shape, _Size] | None, DropReason]:
        """The longest form of a turn that fits, or which limit is in the way of the shortest."""
        over: DropReason = "older"
        for shape in _SHAPES:
            size = _Size()
            for placed in rest:
                size = size.plus(self._size(shape.of(placed.message)))
            exceeded = self._over(spent.plus(size))
            if exceeded is None:
                return (shape, size), over
            over = exceeded
        return None, over

    def _drop(self, reason: DropReason, place: int) -> None:
        """Everything up to this turn, and what was not read, is not shown."""
        gone = [
            placed
            for group in self._groups[: place + 1]
            for placed in group.placed
            if not lasts(placed.message)
        ]
        if gone:
            self._drops.append(
                Drop(
                    reason=reason,
                    messages=len(gone),
                    turns=place + 1,
                    tokens=sum(self._counter.count(placed.message) for placed in gone),
                    from_seq=gone[0].seq,
                    through_seq=gone[-1].seq,
                )
            )
        oldest, floor = self._known.read[0].seq if self._known.read else 0, self._known.summarised + 1
        if self._known.more and oldest > floor:
            self._drops.append(
                Drop(
                    reason="older",
                    messages=oldest - floor,
                    from_seq=floor,
                    through_seq=oldest - 1,
                    read=False,
                )
            )

    def _say_what_was_summarised(self) -> None:
        if self._known.summary is not None and self._known.summarised >= 0:
            through = self._known.summarised
            self._drops.append(
                Drop(reason="summarised", messages=through + 1, from_seq=0, through_seq=through, read=False)
            )

    def _size(self, message: Message) -> _Size:
        known = self._sizes.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        # Counting a large vocabulary's tokens is dear; who sets no limit on them is spared.
        tokens = self._counter.count(message) if self._tokens_max is not None else 0
        size = _Size(1, characters_of(message), tokens)
        self._sizes[id(message)] = (message, size)
        return size

    def _over(self, size: _Size) -> Literal["messages", "chars", "tokens"] | None:
        for name in _LIMITS:
            limit = self._limit(name)
            if limit is not None and getattr(size, name) > limit:
                return name
        return None

    def _limit(self, name: Literal["messages", "chars", "tokens"]) -> int | None:
        limits = {
            "messages": self._budget.max_messages,
            "chars": self._budget.max_chars,
            "tokens": self._tokens_max,
        }
        return limits[name]


_LIMITS: Final[tuple[Literal["messages", "chars", "tokens"], ...]] = ("messages", "chars", "tokens")


def told(drops: Iterable[Drop], trims: Iterable[Trim]) -> str:
    """Why something is missing, a line a reason, for people."""
    lines = [_REASONS[drop.reason].format(_count(drop)) for drop in drops]
    lines += [f"message {trim.message_id!r} is shown without {_SHORTER[trim.left_out]}" for trim in trims]
    return "\n".join(lines) or "everything is shown"


def _count(drop: Drop) -> str:
    some = f"{drop.messages} message" + ("s" if drop.messages != 1 else "")
    return some if drop.read else f"up to {some}"


_SHORTER: Final = {
    "reasoning": "its reasoning",
    "reasoning and tool outputs": "its reasoning, and with excerpts of long tool outputs",
}
_REASONS: Final[dict[DropReason, str]] = {
    "messages": "{} left out: the budget of messages is used up",
    "turns": "{} left out: the budget of turns is used up",
    "chars": "{} left out: the budget of characters is used up",
    "tokens": "{} left out: the budget of tokens is used up",
    "summarised": "{} left out: a summary stands for them",
    "no-question": "{} left out: a history begins with what the user said",
    "older": "{} left out: they are older than what was shown last",
}
