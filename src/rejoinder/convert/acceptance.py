"""What a request may do to a conversation: history is the server's, and of a request only what is new counts.

`asked` says what a request wants, from the request alone. The caller fetches what that names, and one of
`submission`, `edit`, `regeneration`, `continuation` says what is to be written, or raises a `Refused`. A client can
add a message of the user, edit one, have an answer made anew, answer a tool that it runs, and answer a question
whether a tool may run. Whatever else it sends is not looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct, structs

from rejoinder.convert.accepted_messages import NOTHING_DECLARED, Declared, user_message
from rejoinder.convert.answers import answered, answers_in
from rejoinder.convert.refusals import MessageIdReused, NothingToContinue, UnacceptableMessage
from rejoinder.convert.ui import to_ui
from rejoinder.messages import JsonObject, Message
from rejoinder.wire import json
from rejoinder.wire.requests import ChatRequest, Trigger, checked_id

ID_CHARS: Final = 32
"""So much of a digest names a turn: 128 bits, which never come twice."""


class Submit(Struct, frozen=True, kw_only=True):
    """A new message of the user, behind the newest."""

    message: Message


class Edit(Struct, frozen=True, kw_only=True):
    """Another message in the place of `target`. If there is no such message, it is a new one."""

    target: str
    message: Message


class Regenerate(Struct, frozen=True, kw_only=True):
    """Another answer. `target` is the answer, if the client names it; `message` what it shows as the question."""

    target: str | None = None
    message: Message | None = None


class Continue(Struct, frozen=True, kw_only=True):
    """The client's copy of the answer `target`, in which calls are answered now."""

    target: str
    body: JsonObject


Ask: TypeAlias = Submit | Edit | Regenerate | Continue


class Accepted(Struct, frozen=True, kw_only=True):
    """What is to be written. `key` and `fingerprint` tell a retry from a new request.

    `messages` come behind `after`; `replaces` is a message that the first of them takes the place of.
    `continues` is the answer that is gone on with, `resumes` the turn that waits for it.
    """

    key: str
    fingerprint: str
    trigger: Trigger = "submit-message"
    messages: tuple[Message, ...] = ()
    after: str | None = None
    replaces: str | None = None
    continues: Message | None = None
    resumes: str | None = None


class Place(Struct, frozen=True, kw_only=True):
    """A stored message where it stands: `parent_id` is the one before it, `turn_id` whose turn it belongs to."""

    seq: int
    message: Message
    parent_id: str | None = None
    turn_id: str | None = None


def asked(request: ChatRequest, *, declared: Declared = NOTHING_DECLARED) -> Ask:
    """What the request wants, by itself. Raises `Refused` or `InvalidRequest`."""
    newest, target = request.newest, request.message_id
    if request.trigger == "regenerate-message":
        question = newest if newest is not None and newest.get("role") == "user" else None
        if target is not None or question is None:
            return Regenerate(target=target)
        return Regenerate(message=user_message(question, declared=declared))
    assert newest is not None, "only a regeneration comes without messages"
    named = next((each for each in request.messages if each.get("id") == target), newest)
    if (named if target is not None else newest).get("role") == "assistant":
        body = named if target is not None else newest
        return Continue(target=checked_id(body.get("id"), "id of the message"), body=body)
    message = user_message(newest, declared=declared)
    return Submit(message=message) if target is None else Edit(target=target, message=message)


def submission(ask: Submit | Edit) -> Accepted:
    """A new message. The store says whether its id is free."""
    return Accepted(
        key=f"submit:{ask.message.id}", fingerprint=_fingerprint(ask.message), messages=(ask.message,)
    )


def edit(message: Message, old: Place, *, trigger: Trigger = "submit-message") -> Accepted:
    """Another message in the place of an old one of the user's, which stays as a branch of its own."""
    if old.message.role != "user":
        raise MessageIdReused(
            f"message {old.message.id!r} is not the user's: a client edits the user's messages only"
        )
    takes_over = message.id == old.message.id
    return Accepted(
        key=f"edit:{old.message.id}:{old.seq}" if takes_over else f"submit:{message.id}",
        fingerprint=_fingerprint(message),
        trigger=trigger,
        messages=(message,),
        after=old.parent_id or "",
        replaces=old.message.id if takes_over else None,
    )


def regeneration(target: Place | None, *, attempt: str = "") -> Accepted:
    """Another answer in the place of an old one, or the first one behind a message of the user.

    `attempt` tells one try at a first answer from the next.
    """
    if target is None:
        raise UnacceptableMessage("there is nothing to answer anew: send a message first")
    if target.message.role == "assistant":
        key, after = f"regenerate:{target.message.id}", target.parent_id or ""
    else:
        key, after = f"regenerate:{target.message.id}:{attempt}", target.message.id
    return Accepted(key=key, fingerprint="", trigger="regenerate-message", after=after)


def continuation(ask: Continue, stored: Place | None, *, newest: bool, waiting: bool) -> Accepted:
    """Go on with an answer whose open calls the client has answered.

    `newest` says whether it is the last message of the conversation's active branch, `waiting` whether its turn
    waits for the client.
    """
    if stored is None or stored.message.role != "assistant":
        # Not distinguished from an answer that a client has made up.
        raise UnacceptableMessage(
            "the last message is an assistant's that this conversation does not have: send the user's message"
        )
    message = answered(stored.message, ask.body, open=newest and waiting)
    if message == stored.message:
        raise NothingToContinue(
            f"message {stored.message.id!r} has no open call that this request answers: send a message of the user"
        )
    return Accepted(
        key=continuation_key(ask),
        fingerprint="",
        after=stored.message.id,
        continues=message,
        resumes=stored.turn_id,
    )


def continuation_key(ask: Continue) -> str:
    """The same for every retry, also when the calls are answered already."""
    return f"continue:{ask.target}:{_digest(answers_in(ask.body))}"


def turn_id(conversation_id: str, key: str) -> str:
    """The id of the turn that a request begins. A retry's is the same, so that it can be looked up."""
    return hashlib.sha256(f"{conversation_id}\n{key}".encode()).hexdigest()[:ID_CHARS]


def same_content(one: Message, other: Message) -> bool:
    """Whether two messages say the same, whoever kept them."""
    return _fingerprint(one) == _fingerprint(other)


def with_key(accepted: Accepted, key: str | None) -> Accepted:
    """The client's own idempotency key, where it sent one, outranks what we derive."""
    if key is None:
        return accepted
    # Of a request that has no content of its own, what it would do stands for it.
    fingerprint = accepted.fingerprint or _digest(accepted.key)
    return structs.replace(accepted, key=f"header:{key}", fingerprint=fingerprint)


def _fingerprint(message: Message) -> str:
    body = to_ui(structs.replace(message, id="", created_at=None, status=None))
    return _digest(body)


def _digest(value: JsonObject | Sequence[JsonObject] | str) -> str:
    return hashlib.sha256(json.encode(value)).hexdigest()[:ID_CHARS]
