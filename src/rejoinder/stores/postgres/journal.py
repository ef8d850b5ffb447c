"""The journal in the database: pages, who writes and who reads them, and how a turn ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final, NamedTuple

import psycopg
from msgspec import structs

from rejoinder.messages import Turn
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    ClaimLost,
    Durability,
    Fenced,
    FenceReason,
    Followed,
    NoSuchTurn,
    Page,
    Seal,
)
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres.conversations import payload
from rejoinder.stores.postgres.database import Database, Row, Step
from rejoinder.stores.postgres.hints import Hints
from rejoinder.stores.postgres.incoming import turn_of
from rejoinder.stores.postgres.outgoing import Outgoing
from rejoinder.stores.postgres.packing import CODEC, packed, unpacked
from rejoinder.stores.postgres.tree import message_refused
from rejoinder.stores.postgres.turns import call_rows, memory_value, outcome
from rejoinder.stores.postgres.values import Bodies, Numbers, Texts, Value

LIVE: Final = frozenset({"queued", "running"})

FOLLOWED_PAGES: Final = 32
"""How many pages a follower reads at once: half a megabyte of them, and the next look costs little."""


class Run(NamedTuple):
    """Pages of one turn that follow each other, with the places of their appends."""

    claim: Claim
    pages: tuple[Page, ...]
    places: tuple[int, ...]

    def goes_on_with(self, append: Append) -> bool:
        """Whether this page is the next one, by the same claim."""
        last, page = self.pages[-1], append.page
        return (
            append.claim.epoch == self.claim.epoch
            and page.number == last.number + 1
            and page.first_seq == last.last_seq + 1
        )


class Journal:
    """The journals of turns."""

    _database: Database
    _hints: Hints

    async def append_pages(
        self, appends: Sequence[Append], *, durability: Durability = "full"
    ) -> list[Appended | Fenced]:
        answers: dict[int, Appended | Fenced] = {}
        for runs in _rounds(appends):
            for run, answer in zip(runs, await self._append(runs, durability), strict=True):
                answers |= zip(run.places, answer, strict=True)
        return [answers[place] for place in range(len(appends))]

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
        _, followed = await self._look(tenant, turn_id, from_seq, from_page, limit, events=events)
        return followed

    async def follow(
        self, turn_id: str, *, from_seq: int = 0, events: bool = False, tenant: str = DEFAULT_TENANT
    ) -> AsyncIterator[Page]:
        key, _ = await self._look(tenant, turn_id, from_seq, 0, 0, events=False)
        from_page = 0
        async with self._hints.watch(key) as watch:
            while True:
                # Cleared before looking: whatever is committed after this look sets it again.
                watch.clear()
                _, seen = await self._look(
                    tenant, turn_id, from_seq, from_page, FOLLOWED_PAGES, events=events
                )
                for page in seen.pages:
                    yield page
                    from_page = page.number + 1
                if len(seen.pages) == FOLLOWED_PAGES:
                    continue
                if seen.status not in LIVE:
                    return
                await watch.wait()

    async def request_stop(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        rows = await self._database.ask("request_stop", tenant, turn_id)
        self._hints.announce(key for (key,) in rows)
        return bool(rows)

    async def end_turn(self, seal: Seal) -> Turn:
        claim = seal.claim
        steps = await _ending(seal)
        try:
            answers = await self._database.run(*steps)
        except psycopg.IntegrityError as error:
            raise message_refused(error, seal.messages, self._database.where) from error
        rows = {query: found for (query, _), found in zip(steps, answers, strict=True)}
        if rows["end_turn"]:
            self._hints.announce([rows["end_turn"][0][0]])
            return turn_of(rows["get_turn"][0])
        end = await self._journal_end(claim, 0 if seal.page is None else seal.page.number)
        if end is None or end.epoch != claim.epoch:
            raise ClaimLost(f"turn {claim.turn_id!r} is gone or has another owner: stop working on it")
        if not end.live:
            return turn_of(rows["get_turn"][0])
        if seal.page is not None and end.page != seal.page:
            raise ClaimLost(f"turn {claim.turn_id!r} refused its last page: {end.refusal(seal.page)}")
        # The page came before, and the answer to it was lost.
        return await self.end_turn(structs.replace(seal, page=None))

    async def _append(self, runs: Sequence[Run], durability: Durability) -> list[list[Appended | Fenced]]:
        """Append runs of different turns in one statement; those that are not taken whole, page by page."""
        rows = await self._database.ask("append_pages", *await _append_values(runs), durability == "fast")
        taken = {place: (key, stop) for place, key, stop, _ in rows}
        self._hints.announce(key for key, _ in taken.values())
        answers: list[list[Appended | Fenced]] = []
        for place, run in enumerate(runs):
            if place in taken:
                stop = taken[place][1]
                answers.append(
                    [Appended(next_seq=page.last_seq + 1, stop_requested=stop) for page in run.pages]
                )
            elif len(run.pages) == 1:
                answers.append([await self._why_not(run.claim, run.pages[0])])
            else:
                alone = [Run(run.claim, (page,), (0,)) for page in run.pages]
                answers.append([(await self._append([each], durability))[0][0] for each in alone])
        return answers

    async def _why_not(self, claim: Claim, page: Page) -> Appended | Fenced:
        """Why a page was not taken; or it came before."""
        end = await self._journal_end(claim, page.number)
        if end is None:
            return Fenced(reason="unknown-turn")
        if end.epoch == claim.epoch and end.live and end.page == page:
            return Appended(next_seq=end.next_seq, stop_requested=end.stop_requested)
        reason: FenceReason = "stale-epoch" if end.epoch != claim.epoch else end.refusal(page)
        return Fenced(reason=reason, next_page=end.next_page, next_seq=end.next_seq)

    async def _journal_end(self, claim: Claim, number: int) -> End | None:
        rows = await self._database.ask("journal_end", claim.tenant, claim.turn_id, number)
        if not rows:
            return None
        epoch, live, next_page, next_seq, stop_requested = rows[0][:5]
        return End(epoch, live, next_page, next_seq, stop_requested, _page(rows[0][5:]))

    async def _look(
        self, tenant: str, turn_id: str, from_seq: int, from_page: int, limit: int, *, events: bool
    ) -> tuple[int, Followed]:
        rows = await self._database.ask("read_pages", tenant, turn_id, from_seq, from_page, limit, events)
        if not rows:
            raise NoSuchTurn(f"no turn {turn_id!r}: it was never begun, or its conversation is deleted")
        key, next_page, next_seq, status, stop_requested = rows[0][:5]
        found = [(row[5], page) for row in rows if (page := _page(row[6:])) is not None]
        return key, Followed(
            pages=tuple(page for _, page in found),
            written=tuple(at for at, _ in found),
            next_page=next_page,
            next_seq=next_seq,
            status=status,
            stop_requested=stop_requested,
        )


class End(NamedTuple):
    """The end of a journal, and a page of it."""

    epoch: int
    live: bool
    next_page: int
    next_seq: int
    stop_requested: bool
    page: Page | None

    def refusal(self, page: Page) -> FenceReason:
        """Why a page of the right epoch is not taken."""
        if not self.live:
            return "closed"
        if page.number > self.next_page or (page.number == self.next_page and page.first_seq > self.next_seq):
            return "gap"
        return "taken"


def _page(row: Row) -> Page | None:
    number, first_seq, last_seq, codec, frames, events = row
    if number is None:
        return None
    return Page(
        number=number,
        first_seq=first_seq,
        last_seq=last_seq,
        frames=frames,
        events=unpacked(codec, events),
    )


def _rounds(appends: Sequence[Append]) -> Iterator[list[Run]]:
    """Runs that can be written together: one of each turn. Hardly ever is there more than one round."""
    of_turns: dict[tuple[str, str], list[Run]] = {}
    for place, append in enumerate(appends):
        claim, page = append.claim, append.page
        assert page.last_seq >= page.first_seq - 1, "a page ends where it begins, or later"
        runs = of_turns.setdefault((claim.tenant, claim.turn_id), [])
        if runs and runs[-1].goes_on_with(append):
            last = runs[-1]
            runs[-1] = Run(claim, (*last.pages, page), (*last.places, place))
        else:
            runs.append(Run(claim, (page,), (place,)))
    for n in range(max(map(len, of_turns.values()), default=0)):
        yield [runs[n] for runs in of_turns.values() if n < len(runs)]


async def _append_values(runs: Sequence[Run]) -> tuple[Value, ...]:
    pages = [page for run in runs for page in run.pages]
    return (
        Texts([run.claim.tenant for run in runs]),
        Texts([run.claim.turn_id for run in runs]),
        Numbers([run.claim.epoch for run in runs]),
        Numbers([run.pages[0].number for run in runs]),
        Numbers([run.pages[0].first_seq for run in runs]),
        Numbers([len(run.pages) for run in runs]),
        Numbers([run.pages[-1].last_seq + 1 for run in runs]),
        Numbers([place for place, run in enumerate(runs, 1) for _ in run.pages]),
        Numbers([page.number for page in pages]),
        Numbers([page.first_seq for page in pages]),
        Numbers([page.last_seq for page in pages]),
        Bodies([page.frames for page in pages]),
        Bodies(await packed(pages)),
        CODEC,
    )


async def _ending(seal: Seal) -> list[Step]:
    claim = seal.claim
    where = (claim.tenant, claim.conversation_id)
    turn = (claim.tenant, claim.turn_id)
    # Said twice in one seal, a message is what was said of it last.
    out = Outgoing(list({message.id: message for message in seal.messages}.values()))
    steps: list[Step] = [("lock_conversation", where)]
    if seal.page is not None:
        steps.append(("append_pages", (*await _append_values([Run(claim, (seal.page,), (0,))]), False)))
    steps.append(("end_turn", (*turn, claim.epoch, seal.page is not None, *_end_values(seal))))
    if seal.messages:
        steps.append(("replace_messages", (*where, claim.turn_id, out.messages, claim.turn_id)))
    steps.append(("add_answer", (*where, claim.turn_id, out.messages)))
    if seal.messages:
        steps.append(("put_parts", (*where, out.parts)))
    if seal.provider_calls:
        steps.append(("put_provider_calls", (*turn, call_rows(seal.provider_calls))))
    steps.append(("get_turn", turn))
    return steps


def _end_values(seal: Seal) -> tuple[Value, ...]:
    return (
        seal.status,
        *outcome(seal.usage, seal.cost, seal.error),
        memory_value(seal.agent_memory),
        payload(seal.metadata),
    )
