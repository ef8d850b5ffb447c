"""Ending a turn in the store, for as long as it takes."""

from __future__ import annotations

import logging
from typing import Final

from rejoinder.engine.writer import RETRY_SECONDS_MAX, retry_seconds
from rejoinder.messages import Turn, TurnError
from rejoinder.ports.clock import Clock
from rejoinder.ports.journal import ClaimLost, Seal, StoreUnavailable
from rejoinder.ports.store import ConversationStore

_log: Final = logging.getLogger(__name__)


async def seal_turn(seal: Seal, *, store: ConversationStore, clock: Clock) -> Turn:
    """End a turn, again and again while the store is out of reach. Raises `ClaimLost` or `StoreUnavailable`."""
    waited, attempt = 0.0, 0
    while True:
        try:
            return await store.end_turn(seal)
        except StoreUnavailable as error:
            if waited >= RETRY_SECONDS_MAX:
                raise
            _log.warning("turn %s is not sealed yet: %s", seal.claim.turn_id, error)
        except ClaimLost:
            raise
        except Exception as error:
            if seal.error is not None and not seal.messages:
                raise
            # The journal has it all. A turn that cannot be sealed would hold its conversation for ever.
            _log.exception("turn %s cannot be stored as it is", seal.claim.turn_id)
            told = TurnError(message=f"the answer could not be stored: {error}", code="store")
            seal = Seal(claim=seal.claim, status="failed", page=seal.page, error=told)
        seconds = retry_seconds(attempt)
        await clock.sleep(seconds)
        waited, attempt = waited + seconds, attempt + 1
