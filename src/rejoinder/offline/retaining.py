"""Forgetting how an answer came, after a while: first the agent's events, then where a frame ended and the next began.

Frames are joined only when it is proven that they make the stored message, and that joined they make the same. What
cannot be proven stays as it is, and is named: somebody has to look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Final, NamedTuple, Protocol, get_args

from msgspec import structs

from rejoinder.convert.canonical import from_canonical
from rejoinder.errors import RejoinderError
from rejoinder.messages import Message, Turn
from rejoinder.offline.checking import REPROJECTED, comparable, turns_of_message
from rejoinder.offline.differences import differences
from rejoinder.offline.joining import joined, silenced
from rejoinder.offline.journals import Journal, read_journal
from rejoinder.offline.rebuilding import refold
from rejoinder.offline.retelling import answered
from rejoinder.ports.journal import StoreMisconfigured, StoreUnavailable
from rejoinder.ports.retention import Freed, OldTurn, Remains, Retention
from rejoinder.ports.store import ConversationStore
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import encode_event

TURNS_AT_ONCE: Final = 200
"""How many turns a look brings, or a transaction strips: none is long."""


class Policy(NamedTuple):
    """How long after a turn's end its events are kept, and its frames as they were sent. None: for ever."""

    events_after: timedelta | None = None
    frames_after: timedelta | None = None

    def check(self) -> None:
        """Raise `ValueError` if events should outlive the frames that they came with."""
        if self.frames_after is not None and (self.events_after or self.frames_after) > self.frames_after:
            raise ValueError("events go with the frames, so they cannot be kept longer: let them go as early")


class Refused(NamedTuple):
    """A turn whose frames stay as they are, and why."""

    tenant: str
    conversation_id: str
    turn_id: str
    why: str

    def __str__(self) -> str:
        return f"turn {self.turn_id} of conversation {self.conversation_id} ({self.tenant}): {self.why}"


class Retained(NamedTuple):
    """What was forgotten, or would be: events by themselves, and frames that were joined with the events they had."""

    events: Freed
    frames: Freed


class RetainingStore(ConversationStore, Retention, Protocol):
    """A store that can forget."""


async def retain(
    store: RetainingStore,
    policy: Policy,
    *,
    refused: Callable[[Refused], None],
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Retained:
    """Forget what the policy lets go, in all tenants. `progress` is told how many turns are done, and of how many.

    Interrupted, it has done so much; the next time goes on from there. Raises `ValueError` for a policy that is none.
    """
    policy.check()
    frames = Freed()
    if policy.frames_after is not None:
        frames = await _join_all(store, policy.frames_after, refused, dry_run=dry_run, progress=progress)
    events = Freed()
    if policy.events_after is not None:
        if dry_run:
            events = await store.count_old_events(policy.events_after)
        else:
            while (freed := await store.forget_events(policy.events_after, limit=TURNS_AT_ONCE)).turns:
                events = events.plus(freed)
    return Retained(events, frames)


async def _join_all(
    store: RetainingStore,
    age: timedelta,
    refused: Callable[[Refused], None],
    *,
    dry_run: bool,
    progress: Callable[[int, int], None] | None,
) -> Freed:
    remains: tuple[Remains, ...] = get_args(Remains)
    total = await store.count_old_turns(age, remains=remains)
    done, freed = 0, Freed()
    for each in remains:
        behind = None
        while old := await store.list_old_turns(age, remains=each, limit=TURNS_AT_ONCE, behind=behind):
            for turn in old:
                answer = await _join(store, turn, dry_run=dry_run)
                if isinstance(answer, Refused):
                    refused(answer)
                elif answer is not None:
                    freed = freed.plus(answer)
                done += 1
                if progress is not None:
                    progress(done, max(done, total))
            behind = old[-1].place
    return freed


async def _join(store: RetainingStore, old: OldTurn, *, dry_run: bool) -> Freed | Refused | None:
    """Join the frames of a turn. None: it is gone, or is being gone on with just now."""
    turn = await store.get_turn(old.turn_id, tenant=old.tenant)
    if turn is None:
        return None
    try:
        journal = await read_journal(store, turn.id, tenant=old.tenant)
        found = await _proven(store, turn, journal, old.tenant)
    except (StoreUnavailable, StoreMisconfigured):
        raise
    except RejoinderError as error:
        return _refused(old, turn, f"its journal cannot be read: {error}")
    if isinstance(found, str):
        return _refused(old, turn, found)
    if found is None:
        return None
    return await store.join_pages(
        turn.id,
        pages=journal.next_page,
        frames=b"".join(map(encode_event, found)),
        count=len(found),
        dry_run=dry_run,
        tenant=old.tenant,
    )


def _refused(old: OldTurn, turn: Turn, why: str) -> Refused:
    return Refused(old.tenant, turn.conversation_id, turn.id, f"its frames are kept as they are: {why}")


async def _proven(
    store: ConversationStore, turn: Turn, journal: Journal, tenant: str
) -> tuple[Chunk, ...] | str | None:
    """The chunks in fewer, or why these must stay; None if the message is being written."""
    if journal.gaps:
        return journal.gaps[0]
    stored = None
    if turn.message_id is not None:
        stored = await store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
    if stored is None:
        return silenced(journal.chunks)
    last = turn
    if stored.turn_id != turn.id:
        # Another turn went on with the message: what is stored is what all of them made.
        found = None if stored.turn_id is None else await store.get_turn(stored.turn_id, tenant=tenant)
        if found is None or found.message_id != turn.message_id:
            return "its message was stored anew by something else, and cannot be compared"
        last = found
    if last.status in ("queued", "running"):
        return None
    fewer = joined(journal.chunks)
    return await _difference(store, last, stored.message, tenant, turn, fewer) or fewer


async def _difference(
    store: ConversationStore, last: Turn, kept: Message, tenant: str, turn: Turn, fewer: tuple[Chunk, ...]
) -> str | None:
    """Where the message that its turns make is another one than the stored one, as they are or with fewer chunks."""
    kept = await _as_streamed(store, last, kept, tenant)
    told: list[tuple[Chunk, ...]] = []
    instead: list[tuple[Chunk, ...]] = []
    for each in await turns_of_message(store, last, tenant=tenant):
        journal = await read_journal(store, each.id, tenant=tenant)
        told.append(journal.chunks)
        instead.append(fewer if each.id == turn.id else journal.chunks)
    for what, chunks in (("they", told), ("joined, they", instead)):
        found = next(differences(comparable(kept), comparable(_message(chunks, kept))), None)
        if found is not None:
            return f"{what} make another message than the stored one: {found}"
    return None


def _message(turns: Iterable[tuple[Chunk, ...]], kept: Message) -> Message:
    made: Message | None = None
    for chunks in turns:
        onto = None if made is None else answered(made, kept)
        made = refold(chunks, onto=onto, message_id=kept.id).message
    assert made is not None, "a turn is among those that wrote its message"
    return made


async def _as_streamed(store: ConversationStore, turn: Turn, kept: Message, tenant: str) -> Message:
    """The stored message, or, where it was made anew from its events, the one that was streamed."""
    note = (turn.metadata or {}).get(REPROJECTED)
    blob = None if note is None else await store.get_blob(note["before"], tenant=tenant)
    return kept if blob is None else structs.replace(from_canonical(json.decode(blob[0])), id=kept.id)
