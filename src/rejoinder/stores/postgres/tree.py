"""The messages of conversations, a tree by whom each one answers, in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import psycopg

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.convert.escapes import load_text
from rejoinder.messages import Message
from rejoinder.ports.any_message import AnyMessage, addressed
from rejoinder.ports.journal import AlreadyExists, StoredMessage, StoreError
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.conversations import no_conversation
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.incoming import placed, stored_messages
from rejoinder.stores.postgres.outgoing import Outgoing
from rejoinder.stores.postgres.values import Texts


class Messages:
    """Messages, in the database."""

    _database: Database
    _missing: Callable[[str, str, str | None], Awaitable[StoreError]]

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
        if not messages:
            there = await self._database.ask("what_is_missing", tenant, conversation_id, after or None)
            if there != [(True,)]:
                raise await self._missing(tenant, conversation_id, after or None)
            return []
        out = Outgoing(messages)
        try:
            touched, added, _ = await self._database.run(
                ("touch_conversation", (tenant, conversation_id, after)),
                ("add_messages", (tenant, conversation_id, turn_id, out.messages, False)),
                ("put_parts", (tenant, conversation_id, out.parts)),
            )
        except psycopg.IntegrityError as error:
            raise message_refused(error, messages, self._database.where) from error
        if not touched:
            raise await self._missing(tenant, conversation_id, after or None)
        return [placed(row, message) for row, message in zip(added, messages, strict=True)]

    async def upsert_message(
        self,
        conversation_id: str,
        message: Message,
        *,
        turn_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> StoredMessage:
        out = Outgoing([message])
        try:
            _, changed, added, _ = await self._database.run(
                ("touch_conversation", (tenant, conversation_id, None)),
                ("replace_messages", (tenant, conversation_id, turn_id, out.messages, None)),
                ("add_messages", (tenant, conversation_id, turn_id, out.messages, True)),
                ("put_parts", (tenant, conversation_id, out.parts)),
            )
        except psycopg.IntegrityError as error:
            raise message_refused(error, [message], self._database.where) from error
        if not changed and not added:
            raise no_conversation(conversation_id)
        return placed((changed or added)[0], message)

    async def get_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> StoredMessage | None:
        found = stored_messages(await self._database.ask("get_message", tenant, conversation_id, message_id))
        return found[0] if found else None

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
        found = stored_messages(
            await self._database.ask("list_messages", tenant, conversation_id, branch, limit, before, after)
        )
        return found if ascending else found[::-1]

    async def list_lasting_messages(
        self, conversation_id: str, *, branch: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        return stored_messages(
            await self._database.ask("list_lasting_messages", tenant, conversation_id, branch)
        )

    async def list_siblings(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        return stored_messages(await self._database.ask("list_siblings", tenant, conversation_id, message_id))

    async def list_forks(
        self, conversation_id: str, message_ids: Sequence[str], *, tenant: str = DEFAULT_TENANT
    ) -> dict[str, tuple[str, ...]]:
        rows = await self._database.ask("list_forks", tenant, conversation_id, Texts(message_ids))
        return {load_text(id): tuple(map(load_text, siblings)) for id, siblings in rows}

    async def choose_branch(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> None:
        if not await self._database.ask("choose_branch", tenant, conversation_id, message_id):
            raise await self._missing(tenant, conversation_id, message_id)

    async def delete_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> int:
        _, [(number,)] = await self._database.run(
            ("lock_conversation", (tenant, conversation_id)),
            ("delete_message", (tenant, conversation_id, message_id)),
        )
        return int(number)


def message_refused(error: psycopg.IntegrityError, messages: Sequence[Message], where: str) -> StoreError:
    """What a violated constraint says about messages."""
    if not isinstance(error, psycopg.errors.UniqueViolation):
        return failures.failed(error, where)
    if len({message.id for message in messages}) < len(messages):
        return AlreadyExists("a message id comes twice in one call: give each message its own")
    return AlreadyExists("one of these messages is in the conversation already: upsert it")
