"""The half of the store that people see: conversations, their messages, checkpoints, and blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice, takewhile

from msgspec import structs

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.messages import ABSENT, Conversation, JsonObject, Maybe, Message, is_absent
from rejoinder.ports.any_message import AnyMessage, addressed
from rejoinder.ports.journal import AlreadyExists, Checkpoint, StoredMessage
from rejoinder.ports.store import CONVERSATIONS_PAGE, DEFAULT_TENANT
from rejoinder.stores.memory.detached import detached
from rejoinder.stores.memory.shelf import Shelves


class Conversations:
    """Conversations, messages, checkpoints and blobs, over the shelves."""

    _shelves: Shelves

    async def create_conversation(
        self,
        *,
        id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> Conversation:
        shelf = self._shelves.make(id, title=title, metadata=detached(metadata))
        self._shelves.add(tenant, shelf)
        return detached(shelf.conversation)

    async def list_tenants(self) -> list[str]:
        return sorted({tenant for tenant, _ in self._shelves.all()})

    async def get_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> Conversation | None:
        shelf = self._shelves.find(tenant, id)
        return None if shelf is None else detached(shelf.conversation)

    async def update_conversation(
        self, id: str, *, title: Maybe = ABSENT, metadata: Maybe = ABSENT, tenant: str = DEFAULT_TENANT
    ) -> Conversation | None:
        shelf = self._shelves.find(tenant, id)
        if shelf is None:
            return None
        given = {"title": title, "metadata": detached(metadata)}
        changes = {name: value for name, value in given.items() if not is_absent(value)}
        shelf.conversation = structs.replace(shelf.conversation, **changes)
        shelf.touch(self._shelves.clock())
        return detached(shelf.conversation)

    async def list_conversations(
        self,
        *,
        limit: int = CONVERSATIONS_PAGE,
        before: datetime | tuple[datetime, str] | None = None,
        search: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Conversation]:
        def place(conversation: Conversation) -> tuple[datetime, str]:
            return conversation.updated_at, conversation.id

        # A time alone lies before every id of that time, because no id comes before the empty one.
        # One without a zone is of this machine's, as everywhere in Python.
        bound = (before.astimezone(UTC), "") if isinstance(before, datetime) else before
        found = [
            shelf.conversation
            for shelf in self._shelves.of(tenant)
            if (bound is None or place(shelf.conversation) < bound)
            and (search is None or shelf.speaks_of(search))
        ]
        return [detached(each) for each in sorted(found, key=place, reverse=True)[:limit]]

    async def delete_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        return self._shelves.remove(tenant, id)

    async def fork_conversation(
        self, id: str, *, at: str | None = None, new_id: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> Conversation:
        source = self._shelves.named(tenant, id)
        leaf = source.tree.place(at)
        fork = self._shelves.make(
            new_id,
            title=source.conversation.title,
            metadata=detached(source.conversation.metadata),
            parent_id=id,
        )
        self._shelves.add(tenant, fork)
        branch = [stored.message for stored in source.tree.branch(leaf)]
        fork.tree.append(branch[::-1], None, turn_id=None, now=self._shelves.clock())
        fork.tree.leaf = leaf
        return detached(fork.conversation)

    async def append_messages(
        self,
        conversation_id: str | Sequence[ConversationMessage],
        messages: Sequence[AnyMessage] = (),
        *,
        after: str | None = None,
        turn_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[StoredMessage]:
        conversation_id, messages = addressed(conversation_id, messages)
        shelf, now = self._shelves.named(tenant, conversation_id), self._shelves.clock()
        parent = shelf.tree.place(after)
        added = shelf.tree.append(messages, parent, turn_id=turn_id, now=now)
        if added:
            shelf.tree.leaf = added[-1].message.id
            shelf.touch(now)
        return detached(added)

    async def upsert_message(
        self,
        conversation_id: str,
        message: Message,
        *,
        turn_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> StoredMessage:
        shelf, now = self._shelves.named(tenant, conversation_id), self._shelves.clock()
        stored = shelf.tree.put(message, turn_id=turn_id, now=now)
        shelf.touch(now)
        return detached(stored)

    async def get_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> StoredMessage | None:
        shelf = self._shelves.find(tenant, conversation_id)
        return None if shelf is None else detached(shelf.tree.get(message_id))

    async def list_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: int | None = None,
        after: int | None = None,
        ascending: bool = True,
        branch: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[StoredMessage]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None or (branch is not None and branch not in shelf.tree):
            return []
        line = shelf.tree.branch(shelf.tree.leaf if branch is None else branch)
        behind = takewhile(lambda stored: after is None or stored.seq > after, line)
        newest_first = [*islice((each for each in behind if before is None or each.seq < before), limit)]
        return detached(newest_first[::-1] if ascending else newest_first)

    async def list_lasting_messages(
        self, conversation_id: str, *, branch: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None or (branch is not None and branch not in shelf.tree):
            return []
        return detached(shelf.tree.lasting(shelf.tree.leaf if branch is None else branch))

    async def list_siblings(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None or message_id not in shelf.tree:
            return []
        parent_id = shelf.tree.named(message_id).parent_id
        return detached([stored for stored in shelf.tree if stored.parent_id == parent_id])

    async def list_forks(
        self, conversation_id: str, message_ids: Sequence[str], *, tenant: str = DEFAULT_TENANT
    ) -> dict[str, tuple[str, ...]]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None:
            return {}
        asked = [shelf.tree.named(id) for id in message_ids if id in shelf.tree]
        children: dict[str | None, list[str]] = {stored.parent_id: [] for stored in asked}
        for stored in shelf.tree:
            if stored.parent_id in children:
                children[stored.parent_id].append(stored.message.id)
        siblings = {stored.message.id: tuple(children[stored.parent_id]) for stored in asked}
        return {id: found for id, found in siblings.items() if len(found) > 1}

    async def choose_branch(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> None:
        tree = self._shelves.named(tenant, conversation_id).tree
        tree.leaf = tree.newest_through(message_id)

    async def delete_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> int:
        shelf = self._shelves.find(tenant, conversation_id)
        deleted = 0 if shelf is None else shelf.tree.delete(message_id)
        if shelf is not None and deleted:
            shelf.touch(self._shelves.clock())
        return deleted

    async def put_blob(self, content: bytes, *, media_type: str, tenant: str = DEFAULT_TENANT) -> str:
        digest = hashlib.sha256(content).hexdigest()
        self._shelves.blobs.setdefault((tenant, digest), (bytes(content), media_type))
        return digest

    async def get_blob(self, digest: str, *, tenant: str = DEFAULT_TENANT) -> tuple[bytes, str] | None:
        return self._shelves.blobs.get((tenant, digest))

    async def add_checkpoint(self, checkpoint: Checkpoint, *, tenant: str = DEFAULT_TENANT) -> None:
        checkpoints = self._shelves.named(tenant, checkpoint.conversation_id).checkpoints
        if checkpoint.id in checkpoints:
            raise AlreadyExists(f"checkpoint {checkpoint.id!r} is there already: take another id")
        checkpoints[checkpoint.id] = detached(checkpoint)

    async def list_checkpoints(
        self, conversation_id: str, *, undone: bool = False, tenant: str = DEFAULT_TENANT
    ) -> list[Checkpoint]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None:
            return []
        return [detached(each) for each in shelf.checkpoints.values() if undone or each.undone_at is None]

    async def undo_checkpoint(
        self, conversation_id: str, checkpoint_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> bool:
        shelf = self._shelves.find(tenant, conversation_id)
        checkpoints = {} if shelf is None else shelf.checkpoints
        checkpoint = checkpoints.get(checkpoint_id)
        if checkpoint is None or checkpoint.undone_at is not None:
            return False
        checkpoints[checkpoint_id] = structs.replace(checkpoint, undone_at=self._shelves.clock())
        return True
