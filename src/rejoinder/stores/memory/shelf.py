"""Where things stand: a shelf holds everything that one conversation owns, and the shelves hold the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from msgspec import structs

from rejoinder.messages import Conversation, JsonObject, Text
from rejoinder.ports.journal import AlreadyExists, Checkpoint, NoSuchConversation
from rejoinder.stores.memory.tree import MessageTree
from rejoinder.stores.memory.turn_log import TurnLog

_WORD: Final = re.compile(r"[^\W_]+")


class Shelf:
    """A conversation with its messages, turns, idempotency keys and checkpoints."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.tree = MessageTree()
        self.turns: dict[str, TurnLog] = {}
        self.keys: dict[str, TurnLog] = {}
        self.checkpoints: dict[str, Checkpoint] = {}
        self._newest: TurnLog | None = None

    @property
    def live(self) -> TurnLog | None:
        """The turn that holds the conversation."""
        return self._newest if self._newest is not None and self._newest.live else None

    def hold(self, log: TurnLog, *, key: str | None) -> None:
        """Let a new turn hold the conversation."""
        self._newest = self.turns[log.turn.id] = log
        if key is not None:
            self.keys[key] = log

    def touch(self, now: datetime) -> None:
        """Say when something changed."""
        self.conversation = structs.replace(self.conversation, updated_at=now)

    def speaks_of(self, search: str) -> bool:
        """Whether the title or one text holds all words of a search."""
        wanted = _words(search)
        texts = (part.text for stored in self.tree for part in stored.message.parts if isinstance(part, Text))
        return bool(wanted) and any(
            wanted <= _words(text) for text in (self.conversation.title or "", *texts)
        )


class Shelves:
    """What all parts of the store share. Keys begin with the tenant, so that nothing of another can be named."""

    def __init__(self, *, clock: Callable[[], datetime], make_id: Callable[[], str]) -> None:
        self.clock = clock
        self.make_id = make_id
        self.logs: dict[tuple[str, str], TurnLog] = {}
        self.blobs: dict[tuple[str, str], tuple[bytes, str]] = {}
        self._shelves: dict[tuple[str, str], Shelf] = {}

    def find(self, tenant: str, id: str) -> Shelf | None:
        """The shelf of a conversation, if this tenant has it."""
        return self._shelves.get((tenant, id))

    def named(self, tenant: str, id: str) -> Shelf:
        """The shelf of a conversation. Raises `NoSuchConversation`."""
        shelf = self.find(tenant, id)
        if shelf is None:
            raise NoSuchConversation(f"no conversation {id!r}: create it first, or mend the id")
        return shelf

    def of(self, tenant: str) -> Iterator[Shelf]:
        """All shelves of a tenant."""
        return (shelf for (owner, _), shelf in self._shelves.items() if owner == tenant)

    def all(self) -> Iterator[tuple[str, Shelf]]:
        """All shelves, each with its tenant."""
        return ((tenant, shelf) for (tenant, _), shelf in self._shelves.items())

    def make(
        self,
        id: str | None,
        *,
        title: str | None,
        metadata: JsonObject | None = None,
        parent_id: str | None = None,
    ) -> Shelf:
        """Make a shelf that does not stand anywhere yet, so that what is put on it can still fail."""
        now = self.clock()
        return Shelf(
            Conversation(
                id=self.make_id() if id is None else id,
                created_at=now,
                updated_at=now,
                title=title,
                metadata=metadata,
                parent_id=parent_id,
            )
        )

    def add(self, tenant: str, shelf: Shelf) -> None:
        """Put up a shelf. Raises `AlreadyExists`."""
        id = shelf.conversation.id
        if self.find(tenant, id) is not None:
            raise AlreadyExists(f"conversation {id!r} is there already: update it, or take another id")
        self._shelves[tenant, id] = shelf

    def remove(self, tenant: str, id: str) -> bool:
        """Take down a shelf with all that is on it. Answers whether it stood."""
        shelf = self._shelves.pop((tenant, id), None)
        if shelf is None:
            return False
        for log in shelf.turns.values():
            del self.logs[tenant, log.turn.id]
            log.wake()
        return True


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
