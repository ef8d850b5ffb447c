"""Is what is stored what was streamed? Every answer is made anew, from its frames and from its events, and compared."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple, TypeAlias

from msgspec import structs

from rejoinder.convert.ui import to_ui
from rejoinder.errors import RejoinderError
from rejoinder.messages import JsonObject, Message, Turn
from rejoinder.offline.differences import Difference, differences
from rejoinder.offline.journals import Journal, read_journal
from rejoinder.offline.rebuilding import Rebuilt, refold
from rejoinder.offline.retelling import Retold, answered, retell
from rejoinder.ports.analytics import Analytics, Span
from rejoinder.ports.journal import StoreMisconfigured, StoreUnavailable
from rejoinder.ports.store import ConversationStore
from rejoinder.translate import Translator

Translators: TypeAlias = Mapping[str, Translator]
"""Translators by the names of their agents."""

TURNS_AT_ONCE: Final = 100

CONVERSATIONS_AT_ONCE: Final = 200

CHECKS_AT_ONCE: Final = 8
"""While one is made anew, the database looks for those that come next."""

EVER: Final[Span] = (date(1, 1, 2), date(9999, 12, 30))
"""All days, and one to each side, for time zones."""

REPROJECTED: Final = "reprojected"
"""The key of a turn's metadata under which stands that its answer has been made anew: it is no longer the one that was
streamed."""

IMPORTED: Final = "import"
"""What begins a turn that another program streamed: its chunks are kept as they were, and made by nobody here."""

GOES_ON: Final = ("continue", "tool-results")
"""What begins a turn that goes on with a message: a client's answer, or results that the engine was given."""

_LIVE: Final = ("queued", "running")


class Check(NamedTuple):
    """What came of one turn. `left_out` says why a comparison could not be made."""

    conversation_id: str
    turn_id: str
    differences: tuple[Difference, ...] = ()
    left_out: str | None = None

    def __str__(self) -> str:
        where = f"turn {self.turn_id} of conversation {self.conversation_id}"
        return "\n".join([where, *(f"  {each}" for each in self.differences)])


async def check_turn(store: ConversationStore, turn: Turn, *, tenant: str, translators: Translators) -> Check:
    """Make the answer of a turn anew, and compare it with what is stored."""
    named = Check(turn.conversation_id, turn.id)
    if turn.status in _LIVE:
        return named._replace(left_out="it is live")
    if turn.message_id is None:
        return named._replace(left_out="it wrote no message")
    stored = await store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
    if stored is None:
        return named._replace(left_out="its message is deleted")
    if stored.turn_id != turn.id:
        return named._replace(left_out="another turn went on with its message")
    try:
        made = await Made.of(store, turn, stored.message, tenant=tenant, translators=translators)
    except (StoreUnavailable, StoreMisconfigured):
        raise
    except RejoinderError as error:
        return named._replace(differences=(Difference("its journal cannot be read", None, str(error)),))
    return made.compared(named, made_anew=REPROJECTED in (turn.metadata or {}))


class Made:
    """One answer, made twice: from its frames and from its events."""

    def __init__(self, kept: Message) -> None:
        self.kept = kept
        self.from_frames: Rebuilt | None = None
        self.from_events: Retold | None = None
        self.left_out: str | None = None
        self.gaps: list[Difference] = []

    @classmethod
    async def of(
        cls, store: ConversationStore, turn: Turn, kept: Message, *, tenant: str, translators: Translators
    ) -> Made:
        """Read the journals of all turns that wrote the message, and make it of them."""
        made = cls(kept)
        frames: Message | None = None
        events: Message | None = None
        for each in await turns_of_message(store, turn, tenant=tenant):
            journal = await read_journal(store, each.id, tenant=tenant)
            made.gaps += [Difference("its journal", None, gap) for gap in journal.gaps]
            if not journal.frames:
                made.left_out = "it has no journal"
                return made
            frames = made._fold(each, journal, frames)
            # Where the events of an earlier turn are gone, what its frames made is what a later one went on with.
            events = made._translate(each, journal, events, translators) or frames
        return made

    @property
    def agreed(self) -> Message | None:
        """What frames and events both make, if they do: then it is the stored message that is wrong."""
        if self.gaps or self.from_frames is None or self.from_events is None:
            return None
        made = self.from_frames.message
        return made if comparable(made) == comparable(self.from_events.message) else None

    def _fold(self, turn: Turn, journal: Journal, onto: Message | None) -> Message:
        onto = None if onto is None else answered(onto, self.kept)
        self.from_frames = refold(journal.chunks, onto=onto, message_id=self.kept.id)
        return self.from_frames.message

    def _translate(
        self, turn: Turn, journal: Journal, onto: Message | None, translators: Translators
    ) -> Message | None:
        translator = translators.get(turn.agent or "")
        if turn.trigger == IMPORTED or translator is None or not journal.events:
            self.from_events = None
            if turn.trigger != IMPORTED:
                why = "it has no events" if translator else f"nobody here translates for {turn.agent!r}"
                self.left_out = f"{why}: only the frames were compared"
            return None
        onto = None if onto is None else answered(onto, self.kept)
        self.from_events = retell(journal.telling(turn), translator, continues=onto)
        return self.from_events.message

    def compared(self, check: Check, *, made_anew: bool) -> Check:
        """The check, with what differs."""
        found = self.gaps
        # What was made anew from its events is no longer what was streamed, and is not meant to be.
        frames = None if made_anew else self.from_frames
        left_out = self.left_out
        if made_anew and self.from_events is None:
            left_out = "its answer was made anew, and cannot be made of events any more"
        kept = comparable(self.kept)
        for source, made in (("frames", frames), ("events", self.from_events)):
            if made is not None:
                found += [
                    each._replace(path=f"from its {source}: {each.path}")
                    for each in differences(kept, comparable(made.message))
                ]
        return check._replace(differences=tuple(found), left_out=left_out)


def comparable(message: Message) -> JsonObject:
    """A message without what only the store knows of it."""
    return to_ui(structs.replace(message, created_at=None, status=None))


async def turns_of_message(store: ConversationStore, turn: Turn, *, tenant: str) -> list[Turn]:
    """The turns that wrote a message, the first one first: all but one only where a client had to answer."""
    found = [turn]
    if turn.trigger not in GOES_ON:
        return found
    before: str | None = turn.id
    while before is not None:
        page = await store.list_turns(turn.conversation_id, limit=TURNS_AT_ONCE, before=before, tenant=tenant)
        for each in reversed(page):
            if each.message_id == turn.message_id:
                found.insert(0, each)
                if each.trigger not in GOES_ON:
                    return found
        before = page[0].id if len(page) == TURNS_AT_ONCE else None
    return found


async def check_all(
    store: ConversationStore,
    *,
    tenants: Sequence[str],
    translators: Translators,
    agent: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> AsyncIterator[Check]:
    """Check every turn of these tenants, a conversation after the other."""
    done = 0
    checking: deque[asyncio.Task[Check]] = deque()
    try:
        for tenant in tenants:
            async for turn in every_turn(store, tenant=tenant):
                if agent is None or turn.agent == agent:
                    check = check_turn(store, turn, tenant=tenant, translators=translators)
                    checking.append(asyncio.create_task(check))
                if len(checking) == CHECKS_AT_ONCE:
                    yield await checking.popleft()
                done += 1
                if progress is not None:
                    progress(done)
        while checking:
            yield await checking.popleft()
    finally:
        for task in checking:
            task.cancel()
        await asyncio.gather(*checking, return_exceptions=True)


async def count_turns(store: ConversationStore, *, tenants: Sequence[str]) -> int | None:
    """How many turns there are to check, if the store counts."""
    if not isinstance(store, Analytics):
        return None
    rows = await store.count_turns("tenant", EVER, tenant=None)
    return sum(row.turns for row in rows if row.key in tenants)


async def every_turn(store: ConversationStore, *, tenant: str) -> AsyncIterator[Turn]:
    """All turns of a tenant, a page at a time."""
    async for conversation_id in every_conversation(store, tenant=tenant):
        before: str | None = None
        while True:
            page = await store.list_turns(conversation_id, limit=TURNS_AT_ONCE, before=before, tenant=tenant)
            for turn in page:
                yield turn
            if len(page) < TURNS_AT_ONCE:
                break
            before = page[0].id


async def every_conversation(store: ConversationStore, *, tenant: str) -> AsyncIterator[str]:
    """The ids of all conversations of a tenant, a page at a time."""
    before = None
    while True:
        page = await store.list_conversations(limit=CONVERSATIONS_AT_ONCE, before=before, tenant=tenant)
        for conversation in page:
            yield conversation.id
        if len(page) < CONVERSATIONS_AT_ONCE:
            return
        before = (page[-1].updated_at, page[-1].id)
