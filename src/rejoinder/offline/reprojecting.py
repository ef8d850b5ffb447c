"""Answers made anew from their events, after a translator has improved; the old ones are kept, and can be had back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import structs

from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.messages import Message, Turn
from rejoinder.offline.checking import (
    IMPORTED,
    REPROJECTED,
    Translators,
    comparable,
    every_turn,
    turns_of_message,
)
from rejoinder.offline.differences import Difference, differences
from rejoinder.offline.journals import read_journal
from rejoinder.offline.retelling import answered, retell
from rejoinder.ports.store import ConversationStore
from rejoinder.wire import json

MEDIA_TYPE: Final = "application/json"


class Change(NamedTuple):
    """An answer that is another one now, or would be."""

    conversation_id: str
    turn_id: str
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        where = f"turn {self.turn_id} of conversation {self.conversation_id}"
        return "\n".join([where, *(f"  {each}" for each in self.differences)])


async def reproject(
    store: ConversationStore,
    *,
    tenant: str,
    agent: str,
    translators: Translators,
    now: datetime,
    since: datetime | None = None,
    dry_run: bool = False,
) -> AsyncIterator[Change]:
    """Make the answers of an agent anew. With `dry_run` only say which would change.

    An answer is changed when its last turn is, and keeps its place and its times. Doing it again changes nothing.
    """
    async for turn in every_turn(store, tenant=tenant):
        if turn.agent != agent or turn.trigger == IMPORTED or (since is not None and turn.created_at < since):
            continue
        kept = await _answer_of(store, turn, tenant)
        made = None if kept is None else await _made(store, turn, kept, tenant, translators)
        if kept is None or made is None:
            continue
        found = tuple(differences(comparable(kept), comparable(made)))
        if not found:
            continue
        if not dry_run:
            await _replace(store, turn, kept, made, tenant=tenant, now=now)
        yield Change(turn.conversation_id, turn.id, found)


async def undo(store: ConversationStore, *, tenant: str, agent: str | None = None) -> AsyncIterator[Change]:
    """Give answers that were made anew back as they were before the first time."""
    async for turn in every_turn(store, tenant=tenant):
        note = (turn.metadata or {}).get(REPROJECTED)
        if note is None or (agent is not None and turn.agent != agent):
            continue
        blob = await store.get_blob(note["before"], tenant=tenant)
        if blob is None:
            continue
        old = from_canonical(json.decode(blob[0]))
        current = await _answer_of(store, turn, tenant)
        await store.upsert_message(turn.conversation_id, old, turn_id=turn.id, tenant=tenant)
        metadata = {key: value for key, value in (turn.metadata or {}).items() if key != REPROJECTED}
        await _record(store, structs.replace(turn, metadata=metadata or None), tenant)
        made = comparable(old)
        yield Change(
            turn.conversation_id,
            turn.id,
            () if current is None else tuple(differences(comparable(current), made)),
        )


async def _answer_of(store: ConversationStore, turn: Turn, tenant: str) -> Message | None:
    """The message that this turn wrote last."""
    if turn.message_id is None or turn.status in ("queued", "running"):
        return None
    stored = await store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
    return stored.message if stored is not None and stored.turn_id == turn.id else None


async def _made(
    store: ConversationStore, turn: Turn, kept: Message, tenant: str, translators: Translators
) -> Message | None:
    made: Message | None = None
    for each in await turns_of_message(store, turn, tenant=tenant):
        translator = translators.get(each.agent or "")
        journal = await read_journal(store, each.id, tenant=tenant)
        if translator is None or not journal.events:
            return None
        onto = None if made is None else answered(made, kept)
        made = retell(journal.telling(each), translator, continues=onto).message
    return made


async def _replace(
    store: ConversationStore, turn: Turn, kept: Message, made: Message, *, tenant: str, now: datetime
) -> None:
    # The old one is safe before the new one is written, and its place is known after it: whoever is interrupted in
    # between does it again.
    body: Any = to_canonical(kept, thread_id=turn.conversation_id)
    digest = await store.put_blob(json.encode(body), media_type=MEDIA_TYPE, tenant=tenant)
    before = (turn.metadata or {}).get(REPROJECTED, {}).get("before", digest)
    note = {"before": before, "at": now.isoformat()}
    await _record(store, structs.replace(turn, metadata={**(turn.metadata or {}), REPROJECTED: note}), tenant)
    message = structs.replace(made, created_at=kept.created_at, status=kept.status)
    await store.upsert_message(turn.conversation_id, message, turn_id=turn.id, tenant=tenant)


async def _record(store: ConversationStore, turn: Turn, tenant: str) -> None:
    calls = await store.list_provider_calls(turn.id, tenant=tenant)
    await store.append_turn(turn, provider_calls=calls, tenant=tenant)
