"""One turn: its record, its pages, and the claim that fences them."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from datetime import datetime

from msgspec import structs

from rejoinder.messages import ProviderCall, Turn
from rejoinder.ports.journal import Append, Appended, Claim, Fenced, FenceReason, Followed, Page, Seal
from rejoinder.stores.memory.detached import detached


class TurnLog:
    """A turn with its journal. `answers` is the message that the turn answers, if there is any."""

    def __init__(
        self,
        turn: Turn,
        *,
        claim: Claim,
        answers: str | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.turn = turn
        self.claim = claim
        self.answers = answers
        self.fingerprint = fingerprint
        self.provider_calls: tuple[ProviderCall, ...] = ()
        self.stop_requested = False
        self._changed: asyncio.Event | None = None
        self._pages: list[Page] = []
        self._written: list[datetime] = []

    @property
    def changed(self) -> asyncio.Event:
        """What the next change sets."""
        if self._changed is None:
            self._changed = asyncio.Event()
        return self._changed

    @property
    def live(self) -> bool:
        """Whether the turn is queued or running."""
        return self.turn.status in {"queued", "running"}

    def held_by(self, claim: Claim) -> bool:
        """Whether this is the claim of the turn's owner."""
        return claim.epoch == self.claim.epoch

    def wake(self) -> None:
        """Let everybody who waits for a change look again."""
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set()

    def append(self, append: Append, *, now: datetime) -> Appended | Fenced:
        """Take a page into the journal, or say why not."""
        reason = self.refusal(append)
        if reason is not None:
            return Fenced(reason=reason, next_page=len(self._pages), next_seq=self._next_seq)
        if append.page.number == len(self._pages):
            self._pages.append(append.page)
            self._written.append(now)
            if self.turn.status == "queued":
                self.turn = structs.replace(self.turn, status="running", started_at=now)
            self.wake()
        return Appended(next_seq=self._next_seq, stop_requested=self.stop_requested)

    def refusal(self, append: Append) -> FenceReason | None:
        """Why the journal would not take this page. One that it has, in that place, it takes again."""
        page, count = append.page, len(self._pages)
        assert page.last_seq >= page.first_seq - 1, "a page ends where it begins, or later"
        if not self.held_by(append.claim):
            return "stale-epoch"
        if not self.live:
            return "closed"
        if page.number < count:
            return None if self._pages[page.number] == page else "taken"
        if page.number > count or page.first_seq > self._next_seq:
            return "gap"
        return "taken" if page.first_seq < self._next_seq else None

    def read(self, *, from_seq: int, from_page: int, limit: int | None, events: bool) -> Followed:
        """A reader's view of this moment."""
        # A page without frames lies before the frame that its place names, so it counts as being there.
        begin = bisect_left(self._pages, from_seq, key=lambda page: max(page.first_seq, page.last_seq))
        found = self._pages[max(begin, from_page) :]
        if not events:
            found = [structs.replace(page, events=()) for page in found if page.last_seq >= page.first_seq]
        pages = tuple(found[:limit])
        return Followed(
            pages=pages,
            # Pages are numbered from 0 without gaps, so a page's number is its place here, too.
            written=tuple(self._written[page.number] for page in pages),
            next_page=len(self._pages),
            next_seq=self._next_seq,
            status=self.turn.status,
            stop_requested=self.stop_requested,
        )

    def renew(self, claim: Claim, *, until: datetime) -> Claim | None:
        """Prolong the lease of the owner."""
        if not self.live or not self.held_by(claim):
            return None
        self.claim = structs.replace(self.claim, lease_until=until)
        return self.claim

    def is_stale(self, now: datetime) -> bool:
        """Whether the lease of a live turn has run out."""
        return self.live and self.claim.lease_until <= now

    def take_over(self, *, owner: str, until: datetime) -> Claim:
        """Give the turn a new owner."""
        self.claim = structs.replace(self.claim, epoch=self.claim.epoch + 1, owner=owner, lease_until=until)
        return self.claim

    def close(self, seal: Seal, *, now: datetime) -> None:
        """Write how the turn ended. Nobody can append after this."""
        kept = detached(seal)
        self.turn = structs.replace(
            self.turn,
            status=kept.status,
            usage=kept.usage,
            cost=kept.cost,
            error=kept.error,
            agent_memory=kept.agent_memory,
            finished_at=now,
            metadata=self.turn.metadata if kept.metadata is None else kept.metadata,
        )
        self.provider_calls = kept.provider_calls
        self.wake()

    @property
    def _next_seq(self) -> int:
        return self._pages[-1].last_seq + 1 if self._pages else 0
