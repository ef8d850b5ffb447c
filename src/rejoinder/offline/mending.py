"""Mending what a check has found, where it is certain what is right; and saying so where it is not.

Of an answer there are three copies: the message, the frames and the events. Where frames and events make the same, the
message was changed, and is made anew from them. Where only one of these differs, nothing that a reader sees is wrong,
and nothing is done: what was said cannot be made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from msgspec import structs

from rejoinder.convert.canonical import to_canonical
from rejoinder.engine.recovery import seal_interrupted
from rejoinder.errors import RejoinderError
from rejoinder.messages import Turn
from rejoinder.offline.checking import REPROJECTED, Check, Made, Translators
from rejoinder.offline.journals import read_journal
from rejoinder.ports.clock import Clock
from rejoinder.ports.journal import ClaimLost, StoreMisconfigured, StoreUnavailable
from rejoinder.ports.store import ConversationStore
from rejoinder.wire import json
from rejoinder.wire.chunks import Abort, Finish

LEASE_SECONDS: Final = 10.0
"""Sealing takes moments; whoever dies of it leaves the turn to the next."""


class MendingStore(ConversationStore, Protocol):
    """A store whose journals can be mended."""

    async def mend_journal_end(self, turn_id: str, *, tenant: str) -> bool:
        """Let a journal end where its last page does."""
        ...


async def mend(
    store: MendingStore, check: Check, *, tenant: str, translators: Translators, dry_run: bool
) -> str | None:
    """Mend a turn that differs, and say what was done, or would be. None: nothing can be done here."""
    turn = await store.get_turn(check.turn_id, tenant=tenant)
    if turn is None or turn.message_id is None:
        return None
    try:
        if all(each.path == "its journal" for each in check.differences):
            return await _end(store, turn, tenant=tenant, dry_run=dry_run)
        return await _message(store, turn, tenant=tenant, translators=translators, dry_run=dry_run)
    except (StoreUnavailable, StoreMisconfigured):
        raise
    except RejoinderError:
        return None  # it cannot be read


async def _end(store: MendingStore, turn: Turn, *, tenant: str, dry_run: bool) -> str | None:
    """The message is what its frames make, the last of which ends it: only the count of them is wrong."""
    journal = await read_journal(store, turn.id, tenant=tenant)
    whole = bool(journal.frames) and isinstance(journal.frames[-1].chunk, Finish | Abort)
    if not whole or not all(gap.startswith("it ends before") for gap in journal.gaps):
        return None
    if not dry_run:
        await store.mend_journal_end(turn.id, tenant=tenant)
    return "its journal ends where its last page does"


async def _message(
    store: ConversationStore, turn: Turn, *, tenant: str, translators: Translators, dry_run: bool
) -> str | None:
    assert turn.message_id is not None, "who calls has looked"
    stored = await store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
    if stored is None or stored.turn_id != turn.id or REPROJECTED in (turn.metadata or {}):
        return None
    kept = stored.message
    made = (await Made.of(store, turn, kept, tenant=tenant, translators=translators)).agreed
    if made is None:
        return None
    told = f"message {kept.id} is made anew, as its frames and its events both say it"
    if dry_run:
        return told
    old = json.encode(to_canonical(kept, thread_id=turn.conversation_id))
    digest = await store.put_blob(old, media_type="application/json", tenant=tenant)
    message = structs.replace(made, created_at=kept.created_at, status=kept.status)
    await store.upsert_message(turn.conversation_id, message, turn_id=turn.id, tenant=tenant)
    return f"{told}; what stood there is the blob {digest}"


async def seal_abandoned(
    store: ConversationStore, *, owner: str, clock: Clock, translators: Translators
) -> Iterable[str]:
    """Seal the turns whose lease has run out, as a server would that runs. Answers their ids."""
    sealed: list[str] = []
    while claims := await store.stale_turns(owner=owner, lease_seconds=LEASE_SECONDS, limit=1):
        (claim,) = claims
        turn = await store.get_turn(claim.turn_id, tenant=claim.tenant)
        translator = None if turn is None else translators.get(turn.agent or "")
        try:
            await seal_interrupted(claim, store=store, clock=clock, translator=translator)
        except ClaimLost:
            continue  # somebody was quicker
        sealed.append(claim.turn_id)
    return sealed
