"""What a turn begins with: which message it continues, what is new, and what its agent wanted to be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rejoinder.history.budget import HistoryBudget, HistoryOverBudget
from rejoinder.messages import Json, JsonObject, Message
from rejoinder.ports.agents import AgentError, Call, Stop
from rejoinder.ports.any_message import ours
from rejoinder.ports.history import HistoryBuilder, HistoryBuildRequest
from rejoinder.ports.journal import TurnBegun
from rejoinder.ports.store import ConversationStore

TOO_LONG_TEXT: Final = "This message is too long to be answered."
"""What a user is told whose message no budget has room for."""


def continued(begun: TurnBegun) -> Message | None:
    """The message that the turn goes on writing, if it does."""
    id = begun.turn.message_id
    return next((stored.message for stored in begun.past if stored.message.id == id), None)


def new_messages(begun: TurnBegun) -> tuple[Message, ...]:
    """What the user said that began this turn. Nothing, if an answer is made anew or continued."""
    return tuple(
        stored.message
        for stored in begun.past
        if stored.turn_id == begun.turn.id and stored.message.id != begun.turn.message_id
    )


async def memory_for(begun: TurnBegun, agent: str, *, store: ConversationStore) -> Json:
    """What this agent noted at the end of the turn that wrote the newest answer of the branch.

    The branch, because another one may have led the agent elsewhere; this agent, because no other understands it.
    """
    answer = next((stored for stored in reversed(begun.past) if stored.message.role == "assistant"), None)
    if answer is None or answer.turn_id is None or answer.turn_id == begun.turn.id:
        return None
    turn = await store.get_turn(answer.turn_id, tenant=begun.claim.tenant)
    return turn.agent_memory if turn is not None and turn.agent == agent else None


async def call_for(
    begun: TurnBegun,
    *,
    store: ConversationStore,
    history: HistoryBuilder,
    budget: HistoryBudget | None,
    continues: Message | None,
    stop: Stop,
    memory: Json,
    extra: JsonObject,
    subject: str | None,
) -> tuple[Call, JsonObject]:
    """Choose the history, and say what the agent is asked, and for the record what it is shown.

    Raises `AgentError` if what must be shown is more than the budget allows.
    """
    tenant = begun.claim.tenant
    request = HistoryBuildRequest(
        conversation=begun.conversation,
        store=store,
        new_user_messages=new_messages(begun),
        budget=budget,
        tenant=tenant,
        branch=begun.past[-1].message.id if begun.past else None,
        past=begun.past,
    )
    try:
        built = await history.build_history(request)
    except HistoryOverBudget as error:
        raise AgentError(str(error), user_text=TOO_LONG_TEXT) from error
    being_written = None if continues is None else continues.id
    call = Call(
        conversation=begun.conversation,
        turn=begun.turn,
        history=_each_once(ours(built.messages), without=being_written),
        stop=stop,
        continues=continues,
        memory=memory,
        extra=extra,
        tenant=tenant,
        subject=subject,
    )
    return call, built.record()


def _each_once(messages: Sequence[Message], *, without: str | None) -> tuple[Message, ...]:
    """Builders that read the store find there what is new as well."""
    found = {message.id: message for message in messages if message.id != without}
    return tuple(found.values())
