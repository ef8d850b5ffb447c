"""Sealing the turns of owners that died: whoever looks first takes them over, and nobody waits longer than 15 s.

A lease lasts ten seconds, a look comes every two and a half, and sealing takes what is left of the fifteen.
"""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Final, Self

from rejoinder.engine.accounts import Price
from rejoinder.engine.closing import INTERRUPTED_TEXT
from rejoinder.engine.recovery import seal_interrupted
from rejoinder.messages import TurnError
from rejoinder.ports.clock import Clock
from rejoinder.ports.journal import Claim, ClaimLost, Page, Seal
from rejoinder.ports.store import ConversationStore
from rejoinder.translate import Translator
from rejoinder.wire.chunks import Chunk, Error, Start
from rejoinder.wire.codec import encode_event

SWEEP_SECONDS: Final = 2.5
"""Between two looks for turns whose lease has run out."""

AT_ONCE_MAX: Final = 8
"""So many are sealed at a time, so that serving is not held up by a process that left hundreds behind."""

OWNERS_TRANSLATING_MAX: Final = 4
"""A turn that has outlived so many owners may owe that to its events: from here on only its frames are read."""

OWNERS_READING_MAX: Final = 8
"""And behind so many nothing is read of it any more: a turn that kills whoever looks at it has to end, too."""

_log: Final = logging.getLogger(__name__)


class Recovery:
    """Looks for turns without an owner, from `async with` to its end."""

    def __init__(
        self,
        store: ConversationStore,
        *,
        clock: Clock,
        owner: str,
        lease_seconds: float,
        translator: Translator | None,
        price: Price | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._translator = translator
        self._price = price
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._look_again_and_again())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def sweep(self) -> int:
        """Look once. Answers how many turns were taken over."""
        claims = await self._store.stale_turns(
            owner=self._owner, lease_seconds=self._lease_seconds, limit=AT_ONCE_MAX
        )
        await asyncio.gather(*(self._seal(claim) for claim in claims))
        return len(claims)

    async def _look_again_and_again(self) -> None:
        while True:
            try:
                taken = await self.sweep()
            except Exception as error:  # noqa: BLE001  # the store is away, and the next look comes soon
                _log.warning("cannot look for turns without an owner: %s", error)
                taken = 0
            if taken < AT_ONCE_MAX:
                await self._clock.sleep(SWEEP_SECONDS)

    async def _seal(self, claim: Claim) -> None:
        try:
            if claim.epoch > OWNERS_READING_MAX:
                await self._seal_unread(claim)
            else:
                await seal_interrupted(
                    claim,
                    store=self._store,
                    clock=self._clock,
                    translator=self._translator if claim.epoch <= OWNERS_TRANSLATING_MAX else None,
                    price=self._price,
                )
        except ClaimLost:
            pass  # somebody was quicker, or the turn was deleted
        except Exception:  # noqa: BLE001  # the others must be sealed nevertheless
            _log.exception("turn %s could not be sealed: the next look tries again", claim.turn_id)
        else:
            _log.warning("turn %s was left behind by its owner and is sealed now", claim.turn_id)

    async def _seal_unread(self, claim: Claim) -> None:
        """End a turn that nobody could seal. What it said stays in the journal.

        What of it is open is not known, and an error may come at any time, so that is the last word.
        """
        seen = await self._store.read_pages(claim.turn_id, limit=1, tenant=claim.tenant)
        said: list[Chunk] = [Error(error_text=INTERRUPTED_TEXT)]
        if not seen.next_seq:
            turn = await self._store.get_turn(claim.turn_id, tenant=claim.tenant)
            said.insert(0, Start(message_id=(turn and turn.message_id) or claim.turn_id))
        page = Page(
            number=seen.next_page,
            first_seq=seen.next_seq,
            last_seq=seen.next_seq + len(said) - 1,
            frames=b"".join(encode_event(chunk) for chunk in said),
        )
        error = TurnError(
            message=f"taken over {claim.epoch - 1} times, and never sealed", code="unsealable-turn"
        )
        await self._store.end_turn(Seal(claim=claim, status="failed", page=page, error=error))
