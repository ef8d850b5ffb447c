"""What came of a turn, read back from the store: what was said in it, what it consumed, and its record."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import structs

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.convert.core_plain import to_plain_core
from rejoinder.engine.conversation_turns import ConversationTurn, TurnOutput
from rejoinder.engine.past import new_messages
from rejoinder.messages import JsonObject, Message, Turn, Usage
from rejoinder.ports.journal import TurnBegun
from rejoinder.ports.store import ConversationStore


async def output_of(
    begun: TurnBegun,
    turn: Turn,
    continues: Message | None,
    said: Sequence[Message],
    *,
    store: ConversationStore,
) -> TurnOutput:
    """All of it. `continues` is the message that the turn went on writing, `said` what it was begun with."""
    tenant, id = begun.claim.tenant, turn.conversation_id
    conversation = await store.get_conversation(id, tenant=tenant)
    calls = await store.list_provider_calls(turn.id, tenant=tenant)
    answer = await store.get_message(id, turn.message_id or turn.id, tenant=tenant)
    written = () if answer is None else to_plain_core(answer.message, conversation_id=id)
    before = () if continues is None else to_plain_core(continues, conversation_id=id)
    new = [message for message in written[len(before) :] if message.content]
    assistant = tuple(message for message in new if message.role == "assistant")
    results = tuple(message for message in new if message.role == "tool") or None
    asked: tuple[ConversationMessage, ...] = tuple(
        told for message in new_messages(begun) or said for told in to_plain_core(message, conversation_id=id)
    )
    usage = msgspec.to_builtins(turn.usage or Usage())
    fields: JsonObject = {
        **structs.asdict(turn),
        "metadata": {**(turn.metadata or {}), "usage": usage},
        "user_messages": asked,
        "assistant_messages": assistant,
        "tool_messages": results,
        "provider_calls": tuple(calls),
    }
    return TurnOutput(
        conversation=conversation or begun.conversation,
        turn=ConversationTurn(**fields),
        assistant_messages=assistant,
        tool_messages=results,
    )
