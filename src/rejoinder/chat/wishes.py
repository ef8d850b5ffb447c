"""From a request to the turn that it begins, or began before: what must be looked up, and what is then written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias, assert_never

from msgspec import Struct

from rejoinder.convert.acceptance import (
    Accepted,
    Continue,
    Edit,
    Place,
    Regenerate,
    Submit,
    asked,
    continuation,
    continuation_key,
    edit,
    regeneration,
    same_content,
    submission,
    turn_id,
    with_key,
)
from rejoinder.convert.accepted_messages import Declared
from rejoinder.convert.refusals import NoSuchApproval, Refused, UnacceptableMessage
from rejoinder.messages import Message, Text, Turn
from rejoinder.ports.journal import SUBJECT, NewTurn, NoSuchMessage, StoredMessage, TurnExists
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.wire.requests import ChatRequest

TITLE_CHARACTERS_MAX: Final = 80
"""The first words of a conversation name it: as many as a list of conversations has room for."""

CONTINUE: Final = "continue"
"""What begins a turn that goes on with an answer: the client says only that it submits something."""

Redact: TypeAlias = Callable[[Message], Message]
"""Takes out of a message what must not be stored."""


class Principal(Struct, frozen=True, kw_only=True):
    """Who asks. What belongs to another tenant is not there for him; `subject` is who it is within the tenant."""

    tenant: str = DEFAULT_TENANT
    subject: str | None = None


class Wish(Struct, frozen=True, kw_only=True):
    """A request with its conversation, and who makes it. `key` is the client's own idempotency key."""

    principal: Principal
    conversation_id: str
    request: ChatRequest
    key: str | None = None


class Wishes:
    """Reads what a wish needs and says which turn it wants."""

    def __init__(
        self,
        store: ConversationStore,
        *,
        new_id: Callable[[], str],
        owner: str,
        lease_seconds: float,
        agent: str,
        declared: Declared,
        redact: Redact | None,
        queued: bool = False,
    ) -> None:
        self._store = store
        self._new_id = new_id
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._agent = agent
        self._declared = declared
        self._redact = redact
        self._status: Literal["queued", "running"] = "queued" if queued else "running"

    async def new_turn(self, wish: Wish) -> NewTurn | TurnExists:
        """The turn to begin, or the one that the same wish began before. Raises `Refused` or `StoreError`."""
        ask = asked(wish.request, declared=self._declared)
        accepted = await self._accepted(wish, ask)
        if isinstance(accepted, Turn):
            return TurnExists(turn=accepted)
        accepted = with_key(accepted, wish.key)
        messages = accepted.messages
        if self._redact is not None:
            messages = tuple(map(self._redact, messages))
        continues = accepted.continues
        if continues is not None and self._redact is not None:
            continues = self._redact(continues)
        return NewTurn(
            id=turn_id(wish.conversation_id, accepted.key),
            conversation_id=wish.conversation_id,
            assistant_message_id=self._new_id() if continues is None else continues.id,
            owner=self._owner,
            lease_seconds=self._lease_seconds,
            tenant=wish.principal.tenant,
            messages=messages,
            after=accepted.after,
            replaces=accepted.replaces,
            continues=continues,
            resumes=accepted.resumes,
            trigger=accepted.trigger if continues is None else CONTINUE,
            agent=self._agent,
            metadata=None if wish.principal.subject is None else {SUBJECT: wish.principal.subject},
            idempotency_key=accepted.key,
            fingerprint=accepted.fingerprint,
            create_conversation=bool(messages),
            title=title_of(messages[0]) if messages else None,
            status=self._status,
        )

    async def _accepted(self, wish: Wish, ask: Submit | Edit | Regenerate | Continue) -> Accepted | Turn:
        match ask:
            case Submit():
                return submission(ask)
            case Edit(target=target, message=message):
                return await self._edited(wish, target, message)
            case Regenerate():
                return await self._regenerated(wish, ask)
            case Continue():
                return await self._continued(wish, ask)
            case _:
                assert_never(ask)

    async def _edited(self, wish: Wish, target: str, message: Message) -> Accepted | Turn:
        old = await self._place(wish, target)
        if old is None:
            return submission(Submit(message=message))
        if target == message.id and same_content(old.message, message):
            # Either this very edit came before, or there is nothing to edit: its turn is the answer.
            turn = await self._turn(wish, old.turn_id)
            if turn is not None:
                return turn
        return edit(message, old, trigger=wish.request.trigger)

    async def _regenerated(self, wish: Wish, ask: Regenerate) -> Accepted | Turn:
        if ask.target is not None:
            target = await self._place(wish, ask.target)
            if target is None:
                raise NoSuchMessage(
                    f"no message {ask.target!r} in this conversation: list its messages for their ids"
                )
            if target.message.role != "assistant":
                raise UnacceptableMessage(
                    f"message {ask.target!r} is no answer: name the answer, or leave 'messageId' out"
                )
            return regeneration(target)
        newest = await self._newest(wish)
        question = newest if ask.message is None else await self._place(wish, ask.message.id)
        if ask.message is not None and question is None:
            return submission(Submit(message=ask.message))
        if (
            ask.message is not None
            and question is not None
            and not same_content(question.message, ask.message)
        ):
            return edit(ask.message, question, trigger=wish.request.trigger)
        if newest is None or question is None:
            return regeneration(None)
        if newest.parent_id == question.message.id and newest.message.role == "assistant":
            return regeneration(newest)
        attempt = newest.message.id if newest.seq != question.seq else await self._last_turn(wish)
        return regeneration(question, attempt=attempt)

    async def _continued(self, wish: Wish, ask: Continue) -> Accepted | Turn:
        key = continuation_key(ask) if wish.key is None else f"header:{wish.key}"
        before = await self._turn(wish, turn_id(wish.conversation_id, key))
        if before is not None:
            return before
        stored, newest = await self._place(wish, ask.target), await self._newest(wish)
        turn = await self._turn(wish, None if stored is None else stored.turn_id)
        asked = None if turn is None else (turn.metadata or {}).get(SUBJECT)
        if asked is not None and asked != wish.principal.subject:
            raise NoSuchApproval(
                "the calls of that answer wait for somebody else: only who asked may answer them"
            )
        try:
            return continuation(
                ask,
                stored,
                newest=stored is not None and newest is not None and stored.seq == newest.seq,
                waiting=turn is not None and turn.status == "waiting",
            )
        except Refused:
            # The same answer may have begun its turn since we looked for that: then the message has it already.
            begun = await self._turn(wish, turn_id(wish.conversation_id, key))
            if begun is None:
                raise
            return begun

    async def _place(self, wish: Wish, message_id: str) -> Place | None:
        found = await self._store.get_message(wish.conversation_id, message_id, tenant=wish.principal.tenant)
        return None if found is None else _placed(found)

    async def _newest(self, wish: Wish) -> Place | None:
        found = await self._store.list_messages(wish.conversation_id, limit=1, tenant=wish.principal.tenant)
        return _placed(found[0]) if found else None

    async def _turn(self, wish: Wish, id: str | None) -> Turn | None:
        return None if id is None else await self._store.get_turn(id, tenant=wish.principal.tenant)

    async def _last_turn(self, wish: Wish) -> str:
        turns = await self._store.list_turns(wish.conversation_id, limit=1, tenant=wish.principal.tenant)
        return turns[0].id if turns else ""


def title_of(message: Message) -> str | None:
    """The first words of a message, on one line."""
    said = " ".join(part.text for part in message.parts if isinstance(part, Text))
    words = " ".join(said[: 8 * TITLE_CHARACTERS_MAX].split())
    if len(words) <= TITLE_CHARACTERS_MAX:
        return words or None
    short = words[:TITLE_CHARACTERS_MAX]
    return f"{short[: short.rfind(' ')] if ' ' in short else short}…"


def _placed(stored: StoredMessage) -> Place:
    return Place(seq=stored.seq, message=stored.message, parent_id=stored.parent_id, turn_id=stored.turn_id)
