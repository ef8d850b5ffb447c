"""The messages of one conversation: a tree in which one branch, from the root to a leaf, is the active one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from msgspec import structs

from rejoinder.history.choice import lasts
from rejoinder.messages import Message
from rejoinder.ports.journal import ROOT, AlreadyExists, NoSuchMessage, StoredMessage, replaced_id
from rejoinder.stores.memory.detached import detached


class MessageTree:
    """Messages by id, in the order of their seqs. `leaf` is where the active branch ends; None is an empty one.

    Every change is whole or raises before it changes anything.
    """

    def __init__(self) -> None:
        self.leaf: str | None = None
        self._messages: dict[str, StoredMessage] = {}
        self._next_seq = 0
        self._linear = True
        self._lasting: set[str] | None = set()

    def __iter__(self) -> Iterator[StoredMessage]:
        return iter(self._messages.values())

    def __contains__(self, id: str) -> bool:
        return id in self._messages

    def get(self, id: str) -> StoredMessage | None:
        """The message, if it is here."""
        return self._messages.get(id)

    def named(self, id: str) -> StoredMessage:
        """The message. Raises `NoSuchMessage`."""
        found = self._messages.get(id)
        if found is None:
            raise NoSuchMessage(f"no message {id!r} in this conversation: list its messages for their ids")
        return found

    def place(self, after: str | None) -> str | None:
        """The parent that `after` means. Raises `NoSuchMessage`."""
        match after:
            case None:
                return self.leaf
            case str() if after == ROOT:
                return None
            case _:
                return self.named(after).message.id

    def append(
        self,
        messages: Sequence[Message],
        parent: str | None,
        *,
        turn_id: str | None,
        now: datetime,
        replaces: str | None = None,
    ) -> list[StoredMessage]:
        """Chain messages behind a parent; one of them may take the id that it `replaces`. Raises `AlreadyExists`."""
        ids = {message.id for message in messages}
        taken = (ids & self._messages.keys()) - {replaces}
        if taken:
            raise AlreadyExists(f"message {min(taken)!r} is in this conversation already: upsert it")
        if len(ids) < len(messages):
            raise AlreadyExists("a message id comes twice in one call: give each message its own")
        if replaces is not None:
            self._give_up_id(replaces)
        added: list[StoredMessage] = []
        for message in messages:
            stored = StoredMessage(
                seq=self._next_seq,
                message=structs.replace(detached(message), created_at=message.created_at or now),
                parent_id=parent,
                turn_id=turn_id,
            )
            self._next_seq += 1
            self._linear = self._linear and parent == next(reversed(self._messages), None)
            self._messages[message.id] = stored
            self._note_lasting(stored)
            parent = message.id
            added.append(stored)
        return added

    def put(self, message: Message, *, turn_id: str | None, now: datetime) -> StoredMessage:
        """Store a message in place, or behind the newest of the active branch."""
        old = self._messages.get(message.id)
        if old is None:
            (stored,) = self.append([message], self.leaf, turn_id=turn_id, now=now)
            self.leaf = message.id
            return stored
        anew = structs.replace(detached(message), created_at=old.message.created_at)
        stored = structs.replace(old, message=anew, turn_id=turn_id or old.turn_id)
        self._messages[message.id] = stored
        self._note_lasting(stored)
        return stored

    def put_answer(
        self, messages: Sequence[Message], *, answers: str | None, turn_id: str, now: datetime
    ) -> None:
        """Store what a turn said, behind what it answers, wherever somebody looks by now."""
        elsewhere = answers in self._messages and not self._leads_through(answers)
        looked_at = self.leaf
        if elsewhere:
            self.leaf = answers
        for message in messages:
            self.put(message, turn_id=turn_id, now=now)
        if elsewhere:
            self.leaf = looked_at

    def newest_through(self, id: str) -> str:
        """The newest message that came after this one in any branch, or itself: a leaf."""
        below = {self.named(id).message.id}
        newest = id
        # A child is newer than its parent, so one look at each message in order finds the whole subtree.
        for stored in self:
            if stored.parent_id in below:
                newest = stored.message.id
                below.add(newest)
        return newest

    def branch(self, leaf: str | None) -> Iterator[StoredMessage]:
        """The messages from a leaf up to the root: newest first."""
        while leaf is not None:
            stored = self._messages[leaf]
            yield stored
            leaf = stored.parent_id

    def lasting(self, leaf: str | None) -> list[StoredMessage]:
        """The messages of a branch that every history holds, oldest first."""
        if self._lasting is None:
            self._lasting = {stored.message.id for stored in self if lasts(stored.message)}
        if leaf is None or not self._lasting:
            return []
        if self._linear:
            found = [self._messages[id] for id in self._lasting]
            end = self._messages[leaf].seq
            return sorted((each for each in found if each.seq <= end), key=lambda each: each.seq)
        return [stored for stored in self.branch(leaf) if stored.message.id in self._lasting][::-1]

    def newest(self, limit: int) -> tuple[StoredMessage, ...]:
        """The newest messages of the active branch, oldest first."""
        return tuple(reversed(list(islice(self.branch(self.leaf), limit))))

    def delete(self, id: str) -> int:
        """Delete the message and all below it. Answers how many."""
        top = self._messages.get(id)
        if top is None:
            return 0
        below = {id}
        for stored in self:
            if stored.parent_id in below:
                below.add(stored.message.id)
        if self.leaf in below:
            self.leaf = top.parent_id
        for each in below:
            del self._messages[each]
        self._lasting = None
        return len(below)

    def _leads_through(self, id: str | None) -> bool:
        return id is None or any(stored.message.id == id for stored in self.branch(self.leaf))

    def _note_lasting(self, stored: StoredMessage) -> None:
        if self._lasting is not None:
            if lasts(stored.message):
                self._lasting.add(stored.message.id)
            else:
                self._lasting.discard(stored.message.id)

    def _give_up_id(self, id: str) -> None:
        """Let another message have this id, and be called otherwise."""
        old = self.named(id)
        new_id = replaced_id(id, old.seq)
        renamed = {
            stored.message.id: structs.replace(
                stored,
                message=structs.replace(stored.message, id=new_id) if stored is old else stored.message,
                parent_id=new_id if stored.parent_id == id else stored.parent_id,
            )
            for stored in self
        }
        self._messages = {stored.message.id: stored for stored in renamed.values()}
        self._lasting = None
        if self.leaf == id:
            self.leaf = new_id
