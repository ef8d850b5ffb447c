"""Write a turn that is over, with its journal, so that it can be done again after a kill at any point.

A turn is begun, its pages are appended, it is sealed, and its record gets the times of the source: four steps, each of
which changes nothing when it is repeated. Whoever repeats an import holds the same claim as the one that was killed,
because a turn's first epoch is 1, and sends the same pages. If somebody has meanwhile sealed what looked like a turn
without an owner, another attempt under another id takes its place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Final

from msgspec import Struct, structs

from rejoinder.engine.draft import Draft
from rejoinder.messages import AgentContext, JsonObject, Turn, TurnError
from rejoinder.offline.importing.target import IMPORT, Target
from rejoinder.offline.importing.told import Told
from rejoinder.ports.journal import (
    ROOT,
    Append,
    Claim,
    ClaimLost,
    ConversationBusy,
    Fenced,
    NewTurn,
    Page,
    Seal,
    StoreError,
    TurnBegun,
    TurnExists,
)

OWNER: Final = "rejoinder import"

FIRST_EPOCH: Final = 1

LEASE_SECONDS: Final = 120.0
"""Nobody takes a turn that is being imported for an orphan: writing one takes seconds at most."""

PAGES_AT_ONCE: Final = 64
"""So many pages are written in one transaction: 1 MiB or so."""

ID_CHARS: Final = 32


class Finished(Struct, frozen=True, kw_only=True):
    """A turn of the source. `key` is its name there; `origin` is what of the row has no other place."""

    conversation_id: str
    key: str
    told: Told
    events: Sequence[bytes]
    agent: str
    origin: JsonObject
    after: str | None
    created_at: datetime | None
    finished_at: datetime | None


def turn_id_of(conversation_id: str, key: str, attempt: int) -> str:
    """The id of the turn that a row becomes: the same in every import."""
    name = f"import\n{conversation_id}\n{key}\n{attempt}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]


async def write_turn(target: Target, finished: Finished) -> bool:
    """Write a turn, and answer whether it was not there. Raises `StoreError` if its conversation is busy."""
    for attempt in count():
        turn_id = turn_id_of(finished.conversation_id, finished.key, attempt)
        opening = await target.store.begin_turn(_new_turn(target, finished, turn_id))
        if isinstance(opening, ConversationBusy):
            raise StoreError(
                f"conversation {finished.conversation_id!r} has a live turn: import again when it is over"
            )
        if isinstance(opening, TurnExists) and _is_complete(opening.turn):
            return False
        try:
            await _go_on(target, finished, opening)
        except ClaimLost:
            continue
        if attempt > 0:
            # The message lies on a branch that ended with the turn before.
            await target.store.choose_branch(
                finished.conversation_id, finished.told.message.id, tenant=target.tenant
            )
        return True
    raise AssertionError("there is always another attempt")


async def _go_on(target: Target, finished: Finished, opening: TurnBegun | TurnExists) -> None:
    store, turn = target.store, opening.turn
    claim = opening.claim if isinstance(opening, TurnBegun) else _claim(target, finished, turn)
    pages = _pages(finished)
    for begin in range(0, len(pages) - 1, PAGES_AT_ONCE):
        batch = pages[begin : min(begin + PAGES_AT_ONCE, len(pages) - 1)]
        answers = await store.append_pages([Append(claim=claim, page=page) for page in batch])
        if any(isinstance(answer, Fenced) and answer.reason != "closed" for answer in answers):
            raise ClaimLost(f"turn {turn.id!r} is somebody else's now")
    told = finished.told
    sealed = await store.end_turn(
        Seal(
            claim=claim,
            status=told.ending,
            page=pages[-1],
            messages=(structs.replace(told.message, created_at=finished.created_at),),
            error=None if told.error is None else TurnError(message=told.error),
        )
    )
    metadata = {IMPORT: finished.origin, "complete": True}
    times = {
        "created_at": finished.created_at,
        "started_at": finished.created_at,
        "finished_at": finished.finished_at,
    }
    known = {name: time for name, time in times.items() if time is not None}
    await store.append_turn(structs.replace(sealed, metadata=metadata, **known), tenant=target.tenant)


def _pages(finished: Finished) -> list[Page]:
    """The journal. Events stand before the frames of the chunk that came with them, if it can be told which did."""
    draft = Draft()
    told = finished.told
    # Each chunk was kept with the event that it came from, or else nobody knows.
    paired = len(finished.events) == len(told.frames)
    for event in () if paired else finished.events:
        draft.event(event)
    for place, frames in enumerate((*told.frames, told.closing)):
        if paired and place < len(finished.events):
            draft.event(finished.events[place])
        for frame in frames:
            draft.frame(frame)
    pages: list[Page] = []
    while draft or not pages:
        pages.append(draft.cut())
    return pages


def _new_turn(target: Target, finished: Finished, turn_id: str) -> NewTurn:
    return NewTurn(
        id=turn_id,
        conversation_id=finished.conversation_id,
        assistant_message_id=finished.told.message.id,
        owner=OWNER,
        lease_seconds=LEASE_SECONDS,
        tenant=target.tenant,
        after=ROOT if finished.after is None else finished.after,
        trigger="import",
        agent=finished.agent,
        agent_context=AgentContext(agent=finished.agent),
        metadata={IMPORT: finished.origin},
        idempotency_key=f"import:{turn_id}",
        create_conversation=False,
    )


def _claim(target: Target, finished: Finished, turn: Turn) -> Claim:
    """The claim of whoever began this turn: an import that was killed."""
    return Claim(
        tenant=target.tenant,
        conversation_id=finished.conversation_id,
        turn_id=turn.id,
        epoch=FIRST_EPOCH,
        owner=OWNER,
        lease_until=turn.created_at,
    )


def _is_complete(turn: Turn) -> bool:
    return turn.metadata is not None and turn.metadata.get("complete") is True
