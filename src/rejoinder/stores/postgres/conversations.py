"""The half of the store that people see, without messages: conversations, checkpoints, blobs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import msgspec
import psycopg

from rejoinder.convert.escapes import load_text
from rejoinder.messages import ABSENT, Conversation, JsonObject, Maybe, is_absent
from rejoinder.ports.journal import AlreadyExists, Checkpoint, NoSuchConversation, NoSuchMessage, StoreError
from rejoinder.ports.store import CONVERSATIONS_PAGE, DEFAULT_TENANT
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.incoming import checkpoint_of, conversation_of
from rejoinder.stores.postgres.values import Jsonb

_WORD: Final = re.compile(r"[^\W_]+")


def payload(value: JsonObject | None) -> Jsonb | None:
    """An object, or SQL's NULL."""
    return None if value is None else Jsonb(value)


class Conversations:
    """Conversations, checkpoints and blobs, in the database."""

    _database: Database
    _make_id: Callable[[], str]

    async def create_conversation(
        self,
        *,
        id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> Conversation:
        id = self._make_id() if id is None else id
        try:
            rows = await self._database.ask("create_conversation", tenant, id, title, payload(metadata))
        except psycopg.IntegrityError as error:
            raise self._refused(error) from error
        if not rows:
            raise AlreadyExists(f"conversation {id!r} is there already: update it, or take another id")
        return conversation_of(rows[0])

    async def list_tenants(self) -> list[str]:
        return [load_text(tenant) for (tenant,) in await self._database.ask("list_tenants")]

    async def get_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> Conversation | None:
        rows = await self._database.ask("get_conversation", tenant, id)
        return conversation_of(rows[0]) if rows else None

    async def update_conversation(
        self, id: str, *, title: Maybe = ABSENT, metadata: Maybe = ABSENT, tenant: str = DEFAULT_TENANT
    ) -> Conversation | None:
        rows = await self._database.ask(
            "update_conversation",
            tenant,
            id,
            not is_absent(title),
            None if is_absent(title) else title,
            not is_absent(metadata),
            None if is_absent(metadata) else payload(metadata),
        )
        return conversation_of(rows[0]) if rows else None

    async def list_conversations(
        self,
        *,
        limit: int = CONVERSATIONS_PAGE,
        before: datetime | tuple[datetime, str] | None = None,
        search: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Conversation]:
        # A time alone lies before every id of that time, because no id comes before the empty one.
        # One without a zone is of this machine's, as everywhere in Python.
        bound = (before.astimezone(UTC), "") if isinstance(before, datetime) else before or (None, "")
        if search is None:
            rows = await self._database.ask("list_conversations", tenant, *bound, limit)
        elif words := " ".join(_WORD.findall(search)):
            rows = await self._database.ask("search_conversations", tenant, *bound, limit, words)
        else:
            rows = []
        return [conversation_of(row) for row in rows]

    async def delete_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        return bool(await self._database.ask("delete_conversation", tenant, id))

    async def fork_conversation(
        self, id: str, *, at: str | None = None, new_id: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> Conversation:
        new_id = self._make_id() if new_id is None else new_id
        try:
            *_, rows = await self._database.run(
                ("fork_conversation", (tenant, id, new_id, at)),
                ("fork_messages", (tenant, id, new_id, at)),
                ("fork_parts", (tenant, id, new_id)),
                ("end_fork", (tenant, new_id)),
            )
        except psycopg.IntegrityError as error:
            if isinstance(error, psycopg.errors.UniqueViolation):
                raise AlreadyExists(f"conversation {new_id!r} is there already: take another id") from error
            raise self._refused(error) from error
        if not rows:
            raise await self._missing(tenant, id, at)
        return conversation_of(rows[0])

    async def put_blob(self, content: bytes, *, media_type: str, tenant: str = DEFAULT_TENANT) -> str:
        digest = hashlib.sha256(content).hexdigest()
        await self._database.ask("put_blob", tenant, digest, media_type, bytes(content))
        return digest

    async def get_blob(self, digest: str, *, tenant: str = DEFAULT_TENANT) -> tuple[bytes, str] | None:
        rows = await self._database.ask("get_blob", tenant, digest)
        return (rows[0][0], rows[0][1]) if rows else None

    async def add_checkpoint(self, checkpoint: Checkpoint, *, tenant: str = DEFAULT_TENANT) -> None:
        conversation_id = checkpoint.conversation_id
        try:
            rows = await self._database.ask(
                "add_checkpoint",
                tenant,
                conversation_id,
                checkpoint.id,
                checkpoint.through_seq,
                Jsonb(msgspec.to_builtins(checkpoint.summary)),
                checkpoint.strategy,
                checkpoint.created_at,
                checkpoint.undone_at,
                payload(checkpoint.metadata),
            )
        except psycopg.IntegrityError as error:
            raise self._refused(error) from error
        if not rows:
            if await self.get_conversation(conversation_id, tenant=tenant) is None:
                raise no_conversation(conversation_id)
            raise AlreadyExists(f"checkpoint {checkpoint.id!r} is there already: take another id")

    async def list_checkpoints(
        self, conversation_id: str, *, undone: bool = False, tenant: str = DEFAULT_TENANT
    ) -> list[Checkpoint]:
        rows = await self._database.ask("list_checkpoints", tenant, conversation_id, undone)
        return [checkpoint_of(row, conversation_id) for row in rows]

    async def undo_checkpoint(
        self, conversation_id: str, checkpoint_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> bool:
        return bool(await self._database.ask("undo_checkpoint", tenant, conversation_id, checkpoint_id))

    async def _missing(self, tenant: str, conversation_id: str, message_id: str | None) -> StoreError:
        """Why a change found nothing to change."""
        rows = await self._database.ask("what_is_missing", tenant, conversation_id, message_id)
        if not rows:
            return no_conversation(conversation_id)
        if rows[0][0]:
            return StoreError(f"conversation {conversation_id!r} was changed by others meanwhile: try again")
        return NoSuchMessage(
            f"no message {message_id!r} in this conversation: list its messages for their ids"
        )

    def _refused(self, error: psycopg.IntegrityError) -> StoreError:
        return failures.failed(error, self._database.where)


def no_conversation(id: str) -> NoSuchConversation:
    """The tenant has no such conversation."""
    return NoSuchConversation(f"no conversation {id!r}: create it first, or mend the id")
