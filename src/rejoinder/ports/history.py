"""What chooses the history that a model is shown. The names are those of the conversation-core specification, §6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from rejoinder.history.budget import HistoryBudget
from rejoinder.history.choice import Drop, Trim, told
from rejoinder.messages import Conversation, JsonObject
from rejoinder.ports.any_message import AnyMessage
from rejoinder.ports.journal import StoredMessage
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

RECORDED_MESSAGES_MAX: Final = 64
"""So many of the messages that were shown, the newest, are named in the record of a turn: some 4 KiB of it."""


class HistoryBuildRequest(Struct, frozen=True, kw_only=True):
    """What a history is to be built for. `new_user_messages` may be in the store already; they come last, once each.

    `past` are the newest messages of the branch, oldest first and without a gap, if the caller has read them: whoever
    builds need not read them again. `branch` is the message that the branch ends in; None is the active one.
    """

    conversation: Conversation
    store: ConversationStore
    new_user_messages: Sequence[AnyMessage]
    budget: HistoryBudget | None = None
    tenant: str = DEFAULT_TENANT
    branch: str | None = None
    past: tuple[StoredMessage, ...] | None = None


class Dropped(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was left out, added up. `messages` are at most so many: who reads only the window counts no others."""

    messages: int = 0
    turns: int = 0
    tokens: int = 0


class HistoryBuildResult(Struct, frozen=True, kw_only=True):
    """What the model is shown, oldest first, and whether anything older was left out.

    A builder that knows says more: `tokens` by its counter, the `estimate` that needs none, the `budget` it kept, and
    for all that is missing (`drops`) or shorter (`trims`) the reason.
    """

    messages: Sequence[AnyMessage]
    truncated: bool = False
    tokens: int | None = None
    turns: int | None = None
    estimate: int | None = None
    budget: HistoryBudget | None = None
    drops: tuple[Drop, ...] = ()
    trims: tuple[Trim, ...] = ()

    @property
    def dropped(self) -> Dropped:
        """What was left out, all reasons together."""
        return Dropped(
            messages=sum(drop.messages for drop in self.drops),
            turns=sum(drop.turns for drop in self.drops),
            tokens=sum(drop.tokens for drop in self.drops),
        )

    def explain(self) -> str:
        """What was left out and why, a line a reason, for people."""
        if self.truncated and not self.drops:
            return "older messages were left out"
        return told(self.drops, self.trims)

    def record(self) -> JsonObject:
        """The same for the record of the turn, and which messages were shown."""
        named = self.messages[-RECORDED_MESSAGES_MAX:]
        known: JsonObject = {
            "tokens": self.tokens,
            "turns": self.turns,
            "estimate": self.estimate,
            "budget": None if self.budget is None else msgspec.to_builtins(self.budget),
            "trims": [*msgspec.to_builtins(self.trims)] or None,
        }
        return {
            "messages": len(self.messages),
            "sent": [{"id": message.id, "role": message.role} for message in named],
            "truncated": self.truncated,
            "dropped": [*msgspec.to_builtins(self.drops)],
            "explanation": self.explain(),
            **{name: value for name, value in known.items() if value is not None},
        }


class HistoryBuilder(Protocol):
    """Chooses."""

    async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
        """Choose what the model is shown for these new messages."""
        ...
