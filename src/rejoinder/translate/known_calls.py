"""What is known of a call of a tool, also from the message that an answer continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from rejoinder.messages import Json, Message, ToolCall, ToolState
from rejoinder.wire.chunks import ToolInputAvailable, ToolInputError, ToolInputStart
from rejoinder.wire.grammar import Grammar, ToolPhase

OUTCOME_UNKNOWN: Final = "This call was interrupted while it ran: whether it took effect is not known."
"""What the model and the user are told of a call that began and has no outcome: we do not guess."""

UNSETTLED: Final = (ToolPhase.CALLED, ToolPhase.APPROVED, ToolPhase.PRELIMINARY)
"""What a call is in that has not had its last result, and may."""

_PHASES: Final[Mapping[ToolState, ToolPhase]] = {
    "input-streaming": ToolPhase.STREAMING,
    "input-available": ToolPhase.CALLED,
    "approval-requested": ToolPhase.ASKED,
    "approval-responded": ToolPhase.APPROVED,
    "output-available": ToolPhase.SETTLED,
    "output-error": ToolPhase.SETTLED,
    "output-denied": ToolPhase.SETTLED,
}


class KnownCall(Struct, kw_only=True):
    """What later chunks about a call have to agree with."""

    name: str
    dynamic: bool = False
    provider_executed: bool = False
    approval_id: str | None = None
    pieces: list[str] = field(default_factory=list[str])
    input: Json = None


def phase_of(call: ToolCall) -> ToolPhase:
    """How far a call in a message is."""
    if call.state == "output-available" and call.preliminary:
        return ToolPhase.PRELIMINARY
    if call.state == "approval-responded" and call.approval is not None and call.approval.approved is False:
        return ToolPhase.REFUSED
    return _PHASES[call.state]


def called(chunk: ToolInputStart | ToolInputAvailable | ToolInputError) -> KnownCall:
    """What is known of a call from a chunk about its input."""
    return KnownCall(
        name=chunk.tool_name,
        dynamic=chunk.dynamic is True,
        provider_executed=chunk.provider_executed is True,
        input=chunk.input if isinstance(chunk, ToolInputAvailable) else None,
    )


def known_calls(message: Message | None) -> dict[str, KnownCall]:
    """What is known of the calls in a message, by their ids."""
    parts = () if message is None else message.parts
    return {part.call_id: _known_call(part) for part in parts if isinstance(part, ToolCall)}


def _known_call(call: ToolCall) -> KnownCall:
    return KnownCall(
        name=call.name,
        dynamic=call.dynamic,
        provider_executed=call.provider_executed is True,
        approval_id=None if call.approval is None else call.approval.id,
        pieces=[call.raw_input] if isinstance(call.raw_input, str) else [],
        input=call.input,
    )


def grammar_of(message: Message | None) -> Grammar:
    """The grammar of a stream that continues this message, or begins one of its own."""
    if message is None:
        return Grammar()
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    return Grammar(
        {call.call_id: phase_of(call) for call in calls},
        approvals={call.approval.id: call.call_id for call in calls if call.approval is not None},
    )
