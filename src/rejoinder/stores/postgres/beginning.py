"""How a turn begins: one transaction and one round trip, unless something stands in the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

import psycopg

from rejoinder.convert.escapes import load_text
from rejoinder.messages import Turn
from rejoinder.ports.journal import (
    ROOT,
    AlreadyContinued,
    AlreadyExists,
    Claim,
    ConversationBusy,
    IdempotencyConflict,
    NewTurn,
    NoSuchMessage,
    Opening,
    StoreError,
    StoreUnavailable,
    TurnBegun,
    TurnExists,
)
from rejoinder.ports.store import PAST_MESSAGES_MAX
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.conversations import payload
from rejoinder.stores.postgres.database import Database, Step
from rejoinder.stores.postgres.incoming import conversation_of, stored_messages, turn_of
from rejoinder.stores.postgres.outgoing import Outgoing
from rejoinder.stores.postgres.tree import message_refused
from rejoinder.stores.postgres.turns import context_value
from rejoinder.stores.postgres.values import Value

LOOKS_MAX: Final = 32
"""So often is looked what stands in the way: turns of others may begin and end between any two looks."""

_RACES: Final = frozenset({"turn_live", "turn_idempotency_key"})
"""Whoever violates one of these began a turn at the same moment as somebody else, and came second."""


class Beginnings:
    """How a turn begins."""

    _database: Database
    _missing: Callable[[str, str, str | None], Awaitable[StoreError]]

    async def begin_turn(self, new: NewTurn) -> Opening:
        for _ in range(LOOKS_MAX):
            opening = await self._begin(new) or await self._in_the_way(new)
            if opening is not None:
                return opening
        raise StoreUnavailable(f"others kept changing conversation {new.conversation_id!r}: try again")

    async def _begin(self, new: NewTurn) -> TurnBegun | None:
        """Begin it, if nothing stands in the way. Raises `AlreadyExists`."""
        steps = _steps(new)
        try:
            answers = await self._database.run(*steps)
        except psycopg.errors.UniqueViolation as error:
            if error.diag.constraint_name in _RACES:
                return None
            if error.diag.table_name == "turn":
                if await self._is_the_same(new):
                    return None  # a retry in the same moment: it has the id, too, if that comes of the key
                raise AlreadyExists(f"turn {new.id!r} is there already: take another id") from error
            raise message_refused(error, new.messages, self._database.where) from error
        except psycopg.IntegrityError as error:
            raise failures.failed(error, self._database.where) from error
        rows = {query: found for (query, _), found in zip(steps, answers, strict=True)}
        if not rows["begin_turn"]:
            return None
        created_at, started_at, lease_until, _ = rows["begin_turn"][0]
        return TurnBegun(
            turn=_as_begun(new, created_at, started_at),
            claim=Claim(
                tenant=new.tenant,
                conversation_id=new.conversation_id,
                turn_id=new.id,
                epoch=1,
                owner=new.owner,
                lease_until=lease_until,
            ),
            conversation=conversation_of(rows["get_conversation"][0]),
            past=tuple(stored_messages(rows["list_messages"])),
        )

    async def _is_the_same(self, new: NewTurn) -> bool:
        """Whether a turn with this idempotency key has begun."""
        rows = await self._database.ask(
            "who_stands_in_the_way", new.tenant, new.conversation_id, new.idempotency_key
        )
        return bool(rows) and rows[0][1] is True

    async def _in_the_way(self, new: NewTurn) -> TurnExists | ConversationBusy | None:
        """What stood in the way: a turn, or something that is missing (raised), or nothing any more."""
        rows = await self._database.ask(
            "who_stands_in_the_way", new.tenant, new.conversation_id, new.idempotency_key
        )
        if not rows:
            await self._require_place(new)
            return None
        turn_id, is_the_same, fingerprint = rows[0]
        if is_the_same and (None if fingerprint is None else load_text(fingerprint)) != new.fingerprint:
            raise IdempotencyConflict(
                f"key {new.idempotency_key!r} came with other content: new content takes a new key"
            )
        found = await self._database.ask("get_turn", new.tenant, load_text(turn_id))
        if not found:
            return None
        turn = turn_of(found[0])
        return TurnExists(turn=turn) if is_the_same else ConversationBusy(turn=turn)

    async def _require_place(self, new: NewTurn) -> None:
        """Raise if the conversation, or a message that the turn names, is not there."""
        continued = None if new.continues is None else new.continues.id
        named = [id for id in (continued, new.replaces, new.after) if id]
        for message_id in named or (None,):
            there = await self._database.ask("what_is_missing", new.tenant, new.conversation_id, message_id)
            if not there and new.create_conversation and message_id is not None:
                raise NoSuchMessage(
                    f"no message {message_id!r} in this conversation, which is new: mend the id"
                )
            if there != [(True,)] and not (new.create_conversation and _anywhere(new)):
                raise await self._missing(new.tenant, new.conversation_id, message_id)
        if continued is not None and new.resumes is not None:
            rows = await self._database.ask("turn_of_message", new.tenant, new.conversation_id, continued)
            if rows and load_text(rows[0][0]) != new.resumes:
                raise AlreadyContinued(continued)


def _anywhere(new: NewTurn) -> bool:
    """Whether the turn can begin in an empty conversation."""
    return new.continues is None and new.replaces is None and new.after in {None, ROOT}


def _steps(new: NewTurn) -> list[Step]:
    where = (new.tenant, new.conversation_id)
    continued = () if new.continues is None else (new.continues,)
    # Either must be there, and where the turn begins behind another message, that is all there is to it.
    continued_id = new.replaces if new.continues is None else new.continues.id
    steps: list[Step] = []
    if new.create_conversation and _anywhere(new):
        steps.append(("create_conversation_for_a_turn", (*where, new.title)))
    if new.resumes is not None:
        # What is looked at next is then as nobody can change it any more.
        steps.append(("lock_conversation", where))
    steps.append(("claim_conversation", (*where, new.idempotency_key, new.after, continued_id, new.resumes)))
    if new.replaces is not None:
        steps.append(("give_up_id", (*where, new.replaces)))
    if new.messages:
        steps.append(("add_messages", (*where, new.id, Outgoing(new.messages).messages, False)))
    steps.append(("begin_turn", (*where, new.id, *_values(new))))
    if continued:
        # Which turn wrote the message first is not forgotten, so none is named.
        steps.append(("replace_messages", (*where, None, Outgoing(continued).messages, new.id)))
    if new.messages or continued:
        steps.append(("put_parts", (*where, Outgoing((*new.messages, *continued)).parts)))
    steps.append(("list_messages", (*where, None, PAST_MESSAGES_MAX, None, None)))
    steps.append(("get_conversation", where))
    return steps


def _values(new: NewTurn) -> tuple[Value, ...]:
    return (
        new.status,
        new.owner,
        float(new.lease_seconds),
        new.assistant_message_id,
        new.idempotency_key,
        new.fingerprint,
        new.agent,
        new.trigger,
        context_value(new.agent_context),
        payload(new.metadata),
    )


def _as_begun(new: NewTurn, created_at: datetime, started_at: datetime | None) -> Turn:
    return Turn(
        id=new.id,
        conversation_id=new.conversation_id,
        status=new.status,
        created_at=created_at,
        trigger=new.trigger,
        message_id=new.assistant_message_id,
        agent=new.agent,
        agent_context=new.agent_context,
        started_at=started_at,
        metadata=new.metadata,
    )
