"""What a translator says to the record, and not to the client: calls of models, memory, endings, oddities."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.messages import ABSENT, Cost, Json, JsonObject, Maybe, ProviderCallStatus, TurnError, Usage
from rejoinder.wire.chunks import FinishReason

SAFE_ERROR_TEXT: Final = "An error occurred."
"""What a user is told where nobody has chosen better words. The AI SDK's own servers say the same."""


class CallStarted(Struct, frozen=True, kw_only=True):
    """A call of a model begins. Whoever keeps the record knows the time.

    `before` is the id under which it was announced, before its provider gave it this one.
    """

    id: str
    provider: str
    model: str
    extensions: JsonObject | None = None
    before: str | None = None


class CallEnded(Struct, frozen=True, kw_only=True):
    """The call of that id is over (one that was never announced began with the turn), and what it consumed."""

    id: str
    status: ProviderCallStatus = "succeeded"
    usage: Usage | None = None
    cost: Cost | None = None
    provider: str | None = None
    model: str | None = None
    raw: Maybe = ABSENT


class Remember(Struct, frozen=True, kw_only=True):
    """What the agent wants to be told at the next turn of the conversation."""

    memory: Json


class Problem(Struct, frozen=True, kw_only=True):
    """Something came that makes no sense here, and was left out of the answer. The event itself is kept."""

    text: str


class Finished(Struct, frozen=True, kw_only=True):
    """The agent has said its last word, and why it is the last. `metadata` goes with it to the client.

    A model that `paused` wants to be asked again with what it has said, and goes on from there.
    """

    reason: FinishReason | None = None
    metadata: Maybe = ABSENT
    paused: bool = False


class Failed(Struct, frozen=True, kw_only=True):
    """The agent has failed: `error` is for the record, `error_text` for the user."""

    error: TurnError
    error_text: str = SAFE_ERROR_TEXT


class Stopped(Struct, frozen=True, kw_only=True):
    """The agent was stopped, by itself or from its own side."""

    reason: str | None = None


Ending: TypeAlias = Finished | Failed | Stopped
"""How an agent says that it ended. Whoever runs the turn says it to the client, once nothing more comes."""

Note: TypeAlias = CallStarted | CallEnded | Remember | Problem | Ending
