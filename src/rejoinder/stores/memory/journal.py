"""The half of the store that turns write: their records, claims and pages, and whoever follows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from msgspec import structs

from rejoinder.messages import ABSENT, ProviderCall, Turn
from rejoinder.ports.journal import (
    AlreadyContinued,
    AlreadyExists,
    Append,
    Appended,
    Claim,
    ClaimLost,
    ConversationBusy,
    Durability,
    Fenced,
    Followed,
    IdempotencyConflict,
    NewTurn,
    NoSuchConversation,
    NoSuchTurn,
    Opening,
    Page,
    Seal,
    TurnBegun,
    TurnExists,
)
from rejoinder.ports.store import DEFAULT_TENANT, PAST_MESSAGES_MAX
from rejoinder.stores.memory.detached import detached
from rejoinder.stores.memory.shelf import Shelf, Shelves
from rejoinder.stores.memory.turn_log import TurnLog


class Journal:
    """Turns as records and as journals, over the shelves."""

    _shelves: Shelves

    async def append_turn(
        self,
        turn: Turn,
        *,
        provider_calls: Sequence[ProviderCall] = (),
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        shelf = self._shelves.named(tenant, turn.conversation_id)
        log = self._shelves.logs.get((tenant, turn.id))
        if turn.status in {"queued", "running"}:
            raise ValueError(f"turn {turn.id!r} is {turn.status}: a record is of a turn that is over")
        if log is None:
            log = TurnLog(detached(structs.replace(turn, provider_calls=())), claim=_nobodys(turn, tenant))
            self._shelves.logs[tenant, turn.id] = shelf.turns[turn.id] = log
        elif log.live or turn.id not in shelf.turns:
            raise AlreadyExists(f"turn {turn.id!r} is live or another conversation's: take another id")
        log.turn = detached(structs.replace(turn, provider_calls=()))
        log.provider_calls = detached(tuple(provider_calls or turn.provider_calls))
        shelf.touch(self._shelves.clock())

    async def get_turn(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        log = self._shelves.logs.get((tenant, turn_id))
        return None if log is None else detached(log.turn)

    async def list_turns(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Turn]:
        shelf = self._shelves.find(tenant, conversation_id)
        if shelf is None or (before is not None and before not in shelf.turns):
            return []
        earlier = [*takewhile(lambda log: log.turn.id != before, shelf.turns.values())]
        found = earlier if limit is None else earlier[max(0, len(earlier) - limit) :]
        return detached([structs.replace(log.turn, provider_calls=_listed(log)) for log in found])

    async def list_provider_calls(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> list[ProviderCall]:
        log = self._shelves.logs.get((tenant, turn_id))
        return [] if log is None else list(detached(log.provider_calls))

    async def live_turn(self, conversation_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        shelf = self._shelves.find(tenant, conversation_id)
        log = None if shelf is None else shelf.live
        return None if log is None else detached(log.turn)

    async def begin_turn(self, new: NewTurn) -> Opening:
        shelf = self._shelves.find(new.tenant, new.conversation_id)
        if shelf is not None:
            first = None if new.idempotency_key is None else shelf.keys.get(new.idempotency_key)
            if first is not None and first.fingerprint != new.fingerprint:
                raise IdempotencyConflict(
                    f"key {new.idempotency_key!r} came with other content: new content takes a new key"
                )
            if first is not None:
                return TurnExists(turn=detached(first.turn))
            if shelf.live is not None:
                return ConversationBusy(turn=detached(shelf.live.turn))
            return self._begin(new, shelf)
        if not new.create_conversation:
            raise NoSuchConversation(f"no conversation {new.conversation_id!r}: create it first")
        shelf = self._shelves.make(new.conversation_id, title=new.title)
        begun = self._begin(new, shelf)
        self._shelves.add(new.tenant, shelf)
        return begun

    async def append_pages(
        self, appends: Sequence[Append], *, durability: Durability = "full"
    ) -> list[Appended | Fenced]:
        now = self._shelves.clock()
        answers: list[Appended | Fenced] = []
        for append in appends:
            log = self._shelves.logs.get((append.claim.tenant, append.claim.turn_id))
            answers.append(Fenced(reason="unknown-turn") if log is None else log.append(append, now=now))
        return answers

    async def read_pages(
        self,
        turn_id: str,
        *,
        from_seq: int = 0,
        from_page: int = 0,
        limit: int = 64,
        events: bool = False,
        tenant: str = DEFAULT_TENANT,
    ) -> Followed:
        log = self._named(tenant, turn_id)
        return log.read(from_seq=from_seq, from_page=from_page, limit=limit, events=events)

    async def follow(
        self, turn_id: str, *, from_seq: int = 0, events: bool = False, tenant: str = DEFAULT_TENANT
    ) -> AsyncIterator[Page]:
        from_page = 0
        while True:
            log = self._named(tenant, turn_id)
            # Taken before looking: whatever changes after this look sets this very event.
            changed = log.changed
            seen = log.read(from_seq=from_seq, from_page=from_page, limit=None, events=events)
            for page in seen.pages:
                yield page
            from_page = seen.next_page
            if seen.status not in {"queued", "running"}:
                return
            await changed.wait()

    async def request_stop(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        log = self._shelves.logs.get((tenant, turn_id))
        if log is None or not log.live:
            return False
        log.stop_requested = True
        return True

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim | None]:
        until = self._shelves.clock() + timedelta(seconds=lease_seconds)
        logs = [self._shelves.logs.get((claim.tenant, claim.turn_id)) for claim in claims]
        return [
            None if log is None else log.renew(claim, until=until)
            for claim, log in zip(claims, logs, strict=True)
        ]

    async def end_turn(self, seal: Seal) -> Turn:
        claim, now = seal.claim, self._shelves.clock()
        log = self._shelves.logs.get((claim.tenant, claim.turn_id))
        if log is None or not log.held_by(claim):
            raise ClaimLost(f"turn {claim.turn_id!r} is gone or has another owner: stop working on it")
        if not log.live:
            return detached(log.turn)
        if seal.page is not None:
            answer = log.append(Append(claim=claim, page=seal.page), now=now)
            if isinstance(answer, Fenced):
                raise ClaimLost(f"turn {claim.turn_id!r} refused its last page: {answer.reason}")
        shelf = self._shelves.named(claim.tenant, log.turn.conversation_id)
        shelf.tree.put_answer(seal.messages, answers=log.answers, turn_id=log.turn.id, now=now)
        shelf.touch(now)
        log.close(seal, now=now)
        return detached(log.turn)

    async def stale_turns(self, *, owner: str, lease_seconds: float, limit: int = 8) -> list[Claim]:
        now, lease = self._shelves.clock(), timedelta(seconds=lease_seconds)
        stale = [log for log in self._shelves.logs.values() if log.is_stale(now)]
        stale.sort(key=lambda log: log.claim.lease_until)
        return [log.take_over(owner=owner, until=now + lease) for log in stale[:limit]]

    def _named(self, tenant: str, turn_id: str) -> TurnLog:
        log = self._shelves.logs.get((tenant, turn_id))
        if log is None:
            raise NoSuchTurn(f"no turn {turn_id!r}: it was never begun, or its conversation is deleted")
        return log

    def _begin(self, new: NewTurn, shelf: Shelf) -> TurnBegun:
        now, tree = self._shelves.clock(), shelf.tree
        if (new.tenant, new.id) in self._shelves.logs:
            raise AlreadyExists(f"turn {new.id!r} is there already: take another id")
        after = new.after
        if new.continues is not None:
            newest = tree.newest_through(new.continues.id)
            if new.resumes not in (None, tree.named(new.continues.id).turn_id):
                raise AlreadyContinued(new.continues.id)
            after = newest if after is None else after
        parent = tree.place(after)
        if new.replaces is not None:
            tree.named(new.replaces)
        added = tree.append(new.messages, parent, turn_id=new.id, now=now, replaces=new.replaces)
        tree.leaf = added[-1].message.id if added else parent
        if new.continues is not None:
            tree.put(new.continues, turn_id=None, now=now)
        until = now + timedelta(seconds=new.lease_seconds)
        log = TurnLog(
            _record(new, now=now),
            claim=_claim(new, until=until),
            answers=tree.leaf,
            fingerprint=new.fingerprint,
        )
        self._shelves.logs[new.tenant, new.id] = log
        shelf.hold(log, key=new.idempotency_key)
        shelf.touch(now)
        return TurnBegun(
            turn=detached(log.turn),
            claim=log.claim,
            conversation=detached(shelf.conversation),
            past=detached(tree.newest(PAST_MESSAGES_MAX)),
        )


def _record(new: NewTurn, *, now: datetime) -> Turn:
    return Turn(
        id=new.id,
        conversation_id=new.conversation_id,
        status=new.status,
        created_at=now,
        trigger=new.trigger,
        message_id=new.assistant_message_id,
        agent=new.agent,
        agent_context=detached(new.agent_context),
        started_at=now if new.status == "running" else None,
        metadata=detached(new.metadata),
    )


def _claim(new: NewTurn, *, until: datetime) -> Claim:
    return Claim(
        tenant=new.tenant,
        conversation_id=new.conversation_id,
        turn_id=new.id,
        epoch=1,
        owner=new.owner,
        lease_until=until,
    )


def _nobodys(turn: Turn, tenant: str) -> Claim:
    """The claim on a turn that was over when it was recorded: no owner ever holds epoch 0."""
    return Claim(
        tenant=tenant,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        epoch=0,
        owner="",
        lease_until=turn.created_at,
    )


def _listed(log: TurnLog) -> tuple[ProviderCall, ...]:
    """The calls of a turn as a list of turns has them."""
    return tuple(structs.replace(call, raw=ABSENT) for call in log.provider_calls)
