"""Sealing a turn whose owner died, from what the journal has of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from msgspec import structs

from rejoinder.engine.accounts import Accounts, Price, cost_of, usage_of
from rejoinder.engine.closing import closing, interruption
from rejoinder.engine.sealing import seal_turn
from rejoinder.errors import IllegalChunk
from rejoinder.fold import Accumulator
from rejoinder.messages import Json, Message, ProviderCall, Turn
from rejoinder.ports.clock import Clock
from rejoinder.ports.journal import Claim, ClaimLost, Event, Page, Seal
from rejoinder.ports.store import ConversationStore
from rejoinder.translate import (
    CallEnded,
    CallStarted,
    Failed,
    Finished,
    Problem,
    Remember,
    Stopped,
    Translation,
    Translator,
)
from rejoinder.translate.known_calls import grammar_of
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, Start
from rejoinder.wire.codec import decode_chunk, encode_event
from rejoinder.wire.grammar import Grammar

READ_PAGES_MAX: Final = 64
"""How much of a journal is read at once: some 1 MiB."""

_log: Final = logging.getLogger(__name__)


async def seal_interrupted(
    claim: Claim,
    *,
    store: ConversationStore,
    clock: Clock,
    translator: Translator | None = None,
    price: Price | None = None,
    committed: Callable[[Page], None] | None = None,
) -> Turn:
    """End a turn that `stale_turns` has given to us: what the journal has of it is the answer, interrupted.

    Open parts are closed, calls without a result get to know. `translator`, the agent's, reads out of the events what
    was consumed; without it they are not read, and that stays unknown. Sealing a turn that is over changes nothing.
    Raises `ClaimLost`.
    """
    tenant = claim.tenant
    turn = await store.get_turn(claim.turn_id, tenant=tenant)
    if turn is None:
        raise ClaimLost(f"turn {claim.turn_id!r} is gone: there is nothing to seal")
    if turn.status not in {"queued", "running"}:
        return turn
    remains = await _read(turn, claim, store, events=translator is not None)
    told = remains.told(translator)
    remains.close(told)
    page = remains.last_page()
    calls, memory = remains.accounts(turn, told, clock=clock, price=price)
    seal = Seal(
        claim=claim,
        status="interrupted",
        page=page,
        messages=(structs.replace(remains.message, status="interrupted"),),
        usage=usage_of(calls),
        cost=cost_of(calls),
        provider_calls=calls,
        agent_memory=memory,
    )
    sealed = await seal_turn(seal, store=store, clock=clock)
    if committed is not None:
        committed(page)
    return sealed


class _Remains:
    """What is left of a turn: its chunks, folded, and its events."""

    def __init__(self, message_id: str, continues: Message | None) -> None:
        self.continues = continues
        self.events: list[Event] = []
        self.next_page = 0
        self.next_seq = 0
        self._message_id = message_id
        self._grammar: Grammar = grammar_of(continues)
        self._accumulator = Accumulator(onto=continues, message_id=message_id)
        self._begun = False
        self._said: list[bytes] = []

    @property
    def message(self) -> Message:
        return self._accumulator.message

    def take(self, page: Page) -> None:
        """Fold a page that was written."""
        self.events.extend(page.events)
        for chunk in _chunks(page):
            self._take(chunk)

    def told(self, translator: Translator | None) -> Translation | None:
        """What the events say. A translator that stumbles over one has told what it told before."""
        if translator is None:
            return None
        translation = Translation(translator, message_id=self._message_id, message=self.continues)
        translation.begin()
        with suppress(Exception):
            for event in self.events:
                for _ in translation.event(json.decode(event.body)):
                    pass
        return translation

    def close(self, told: Translation | None) -> None:
        """Say what a reader still has to hear."""
        if not self._begun:
            self._say(Start(message_id=self._message_id))
        if told is not None:
            # It knows which calls had begun: what came of those is not known.
            for chunk in told.interrupt():
                self._say(chunk)
        for chunk in (*closing(self._grammar, self.message), *interruption()):
            self._say(chunk)

    def last_page(self) -> Page:
        """What was said here, as the journal's last page."""
        return Page(
            number=self.next_page,
            first_seq=self.next_seq,
            last_seq=self.next_seq + len(self._said) - 1,
            frames=b"".join(self._said),
        )

    def accounts(
        self, turn: Turn, told: Translation | None, *, clock: Clock, price: Price | None
    ) -> tuple[tuple[ProviderCall, ...], Json]:
        """What the turn consumed, and what its agent wanted to be told, as far as the events tell."""
        began_at = turn.started_at or turn.created_at
        accounts = Accounts(began_at, price=price, context=turn.agent_context)
        memory: Json = None
        for note in () if told is None else told.take_notes():
            match note:
                case CallStarted():
                    accounts.started(note, began_at)
                case CallEnded():
                    accounts.ended(note, clock.now())
                case Remember():
                    memory = note.memory
                case Problem() | Finished() | Failed() | Stopped():
                    pass  # what came of the turn is known: it broke off
        return accounts.close("interrupted", clock.now()), memory

    def _say(self, chunk: Chunk) -> None:
        if self._take(chunk):
            self._said.append(encode_event(chunk))

    def _take(self, chunk: Chunk) -> bool:
        try:
            self._grammar.check(chunk)
            self._accumulator.apply(chunk)
        except IllegalChunk as error:
            _log.warning("in a journal: %s", error)
            return False
        self._begun = True
        return True


async def _read(turn: Turn, claim: Claim, store: ConversationStore, *, events: bool) -> _Remains:
    message_id = turn.message_id or turn.id
    stored = await store.get_message(turn.conversation_id, message_id, tenant=claim.tenant)
    remains = _Remains(message_id, None if stored is None else stored.message)
    while True:
        seen = await store.read_pages(
            turn.id, from_page=remains.next_page, limit=READ_PAGES_MAX, events=events, tenant=claim.tenant
        )
        for page in seen.pages:
            remains.take(page)
        remains.next_page, remains.next_seq = seen.next_page, seen.next_seq
        if not seen.pages or seen.pages[-1].number + 1 == seen.next_page:
            return remains
        remains.next_page = seen.pages[-1].number + 1


def _chunks(page: Page) -> Iterator[Chunk]:
    for event in page.frames.split(b"\n\n"):
        if event:
            yield decode_chunk(event.removeprefix(b"data: "))
