"""What an agent is, `(name, run, translate)`, and what it is asked.

`run` does I/O and yields the vendor's events, untouched; `translate` does none and says what they mean. An event is
JSON: bytes are kept exactly as they came, any other value as the JSON that we write of it, and `translate` is given
what the kept bytes say, so that a replay gets what the first run got.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from rejoinder.errors import RejoinderError
from rejoinder.messages import Conversation, Json, JsonObject, Message, Text, Turn
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.translate import Translator
from rejoinder.translate.notes import SAFE_ERROR_TEXT


class Stop:
    """A wish that a turn stop. Pressing it interrupts nobody: who works looks at it, or waits for it."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._pressed = asyncio.Event()

    def press(self, reason: str | None = None) -> None:
        """Wish it. A second wish changes nothing."""
        if not self.pressed:
            self.reason = reason
            self._pressed.set()

    @property
    def pressed(self) -> bool:
        """Whether somebody wishes it."""
        return self._pressed.is_set()

    async def wait(self) -> None:
        """Come back once somebody wishes it."""
        await self._pressed.wait()


async def _nobody_keeps() -> None:
    """For calls that no turn is recorded for."""


class Call(Struct, frozen=True, kw_only=True):
    """What an agent is asked.

    `history` is what a model is to be shown, oldest first, the new messages of the user last; a message that this
    turn goes on writing (`continues`) comes after them, with the answers of the client in its tool calls.
    `memory` is what the agent wanted to be told (`Remember`) at the end of the turn before. `extra` is what the
    application put into the request beside the chat's own fields; it comes from the client, so trust it as little.
    `kept` comes back once every event that was yielded before is durable: wait for it before you do what must not
    be done twice.
    """

    conversation: Conversation
    turn: Turn
    history: tuple[Message, ...]
    stop: Stop
    continues: Message | None = None
    memory: Json = None
    extra: JsonObject = {}
    tenant: str = DEFAULT_TENANT
    subject: str | None = None
    kept: Callable[[], Awaitable[None]] = _nobody_keeps

    @property
    def message(self) -> Message | None:
        """The newest message of the user."""
        return next((message for message in reversed(self.history) if message.role == "user"), None)

    @property
    def prompt(self) -> str:
        """The text of that message, parts one below the other."""
        parts = self.message.parts if self.message is not None else ()
        return "\n".join(part.text for part in parts if isinstance(part, Text))


ALIVE: Final = b""
"""An event without anything in it: whoever yields it is silent, but alive. Nothing is kept of it."""

Run: TypeAlias = Callable[[Call], AsyncIterable[Json | bytes]]
"""Does the work and yields what the vendor says, or `ALIVE` while the vendor is at work without a word. It ends by
itself soon after `call.stop` is pressed; if not, it is cancelled. What it raises fails the turn; what it yielded before
is kept."""


@runtime_checkable
class AgentProtocol(Protocol):
    """Whatever has a name, runs, and can be translated."""

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        ...

    @property
    def run(self) -> Run:
        """The I/O."""
        ...

    @property
    def translate(self) -> Translator:
        """The meaning."""
        ...


@runtime_checkable
class Patient(Protocol):
    """An agent that knows how long it may be silent, and sees to it itself: a turn gives it that time."""

    @property
    def idle_seconds(self) -> float:
        """In seconds. A turn's own limit counts where it is longer."""
        ...


@runtime_checkable
class Resident(Protocol):
    """An agent that keeps something between its turns, and must let go of it in the end."""

    def residing(self, store: ConversationStore) -> AbstractAsyncContextManager[None]:
        """Entered when a chat begins to run over this store, left when its last turn is over."""
        ...


class Agent(Struct, frozen=True):
    """An agent from its three parts: `Agent("shout", run, translate)`."""

    name: str
    run: Run
    translate: Translator


class AgentError(RejoinderError):
    """The agent could not go on; the turn has failed. `user_text` is what the user is told."""

    code = "agent"

    def __init__(
        self, message: str, *, user_text: str = SAFE_ERROR_TEXT, provider: str | None = None
    ) -> None:
        super().__init__(message)
        self.user_text = user_text
        self.provider = provider
