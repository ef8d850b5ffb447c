"""Where an import writes: conversations and messages that are not there yet, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from rejoinder.messages import JsonObject, Message
from rejoinder.offline.importing.report import Report
from rejoinder.ports.journal import ROOT, AlreadyExists, StoreError
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

IMPORT: Final = "import"
"""The key of metadata under which stands where something came from."""


class Target:
    """One tenant of a store. What is there already is left as it is."""

    def __init__(self, store: ConversationStore, report: Report, *, tenant: str = DEFAULT_TENANT) -> None:
        self.store = store
        self.tenant = tenant
        self._report = report

    async def conversation(self, id: str, *, title: str | None, origin: JsonObject) -> None:
        """Create a conversation, if there is none of that id. Raises `StoreError` for an id that cannot be one."""
        if await self.store.get_conversation(id, tenant=self.tenant) is not None:
            return
        try:
            await self.store.create_conversation(
                id=id, title=title, metadata={IMPORT: origin}, tenant=self.tenant
            )
        except AlreadyExists:
            return  # somebody was quicker
        self._report.conversations += 1

    async def messages(
        self, conversation_id: str, messages: Sequence[Message], *, after: str | None, where: Sequence[str]
    ) -> str | None:
        """Append messages in their order behind `after` (None is the beginning), and answer the last one's id.

        `where` says of each which row it was.
        """
        try:
            await self._append(conversation_id, messages, after)
        except StoreError:
            # Some are there, or cannot be stored: one by one, it shows which.
            for message, row in zip(messages, where, strict=True):
                after = await self._message(conversation_id, message, after, row)
            return after
        self._report.messages += len(messages)
        return messages[-1].id if messages else after

    async def keep(self, row: str, text: bytes, why: object) -> None:
        """Keep a row that cannot be a message, as it came."""
        digest = await self.store.put_blob(text, media_type="application/json", tenant=self.tenant)
        self._report.kept_raw(row, f"{why}; it is the blob {digest}")

    async def _message(
        self, conversation_id: str, message: Message, after: str | None, row: str
    ) -> str | None:
        there = await self.store.get_message(conversation_id, message.id, tenant=self.tenant)
        if there is None:
            try:
                await self._append(conversation_id, [message], after)
            except StoreError as error:
                self._report.left_out(row, error)
                return after
            self._report.messages += 1
        else:
            self._report.there += 1
            if message != structs.replace(there.message, created_at=message.created_at):
                self._report.notes.append(
                    f"{row}: the message is there with other content, and stays as it is"
                )
        return message.id

    async def _append(self, conversation_id: str, messages: Sequence[Message], after: str | None) -> None:
        place = ROOT if after is None else after
        await self.store.append_messages(conversation_id, messages, after=place, tenant=self.tenant)
