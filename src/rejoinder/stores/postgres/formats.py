"""Messages of an older format, in the database: found by the primary key, and written in the newest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from rejoinder.convert.escapes import load_text
from rejoinder.convert.formats import numbered, unnumbered, upgraded
from rejoinder.messages import Message
from rejoinder.ports.formats import Batch, Place
from rejoinder.stores.postgres.conversations import payload
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.incoming import stored_messages
from rejoinder.stores.postgres.outgoing import Outgoing
from rejoinder.stores.postgres.values import Jsonb, Numbers


class _Kept(NamedTuple):
    """A message: its place, whose it is, the version of its row, and whether it may be of an older format."""

    conversation: int
    seq: int
    tenant: str
    conversation_id: str
    version: str
    may_be_older: bool


class Formats:
    """Messages of older formats, in the database."""

    _database: Database

    async def count_messages(self) -> int:
        [(count,)] = await self._database.ask("count_messages")
        return int(count)

    async def upgrade_messages(self, *, after: Place, limit: int, dry_run: bool = False) -> Batch | None:
        rows = await self._database.ask("next_messages", after.conversation, after.seq, limit)
        looked_at = [_Kept(*row) for row in rows]
        if not looked_at:
            return None
        older: list[tuple[_Kept, Message]] = []
        for key, group in groupby(looked_at, lambda kept: kept.conversation):
            older += await self._older(key, [kept for kept in group if kept.may_be_older])
        written = 0 if dry_run else sum([await self._rewrite(kept, message) for kept, message in older])
        last = Place(looked_at[-1].conversation, looked_at[-1].seq)
        return Batch(looked_at=len(looked_at), older=len(older), written=written, last=last)

    async def _older(self, conversation: int, found: Sequence[_Kept]) -> list[tuple[_Kept, Message]]:
        """Those that are others in the newest format, as they are there."""
        if not found:
            return []
        by_seq = {kept.seq: kept for kept in found}
        rows = await self._database.ask("read_messages", conversation, Numbers([*by_seq]))
        pairs: list[tuple[_Kept, Message]] = []
        for stored in stored_messages(rows, as_kept=True):
            message, format = unnumbered(stored.message)
            now = upgraded(message, format)
            if now is not message:
                pairs.append((by_seq[stored.seq], now))
        return pairs

    async def _rewrite(self, kept: _Kept, message: Message) -> bool:
        tenant, id = load_text(kept.tenant), load_text(kept.conversation_id)
        place = (kept.conversation, kept.seq, kept.version)
        content = (Jsonb(message.metadata), payload(numbered(message)), len(message.parts))
        written, _ = await self._database.run(
            ("upgrade_message", (*place, *content)),
            ("put_parts", (tenant, id, Outgoing([message]).parts)),
        )
        return bool(written)
