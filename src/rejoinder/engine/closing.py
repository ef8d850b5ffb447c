"""The last words of an answer that breaks off: what is open ends, and calls without a result get to know."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from rejoinder.messages import Message, ToolCall
from rejoinder.translate.emitter import INTERRUPTED
from rejoinder.wire.chunks import (
    Chunk,
    Error,
    Finish,
    FinishStep,
    ReasoningEnd,
    TextEnd,
    ToolOutputDenied,
    ToolOutputError,
)
from rejoinder.wire.grammar import Grammar, ToolPhase

INTERRUPTED_TEXT: Final = "The answer was interrupted."
"""What a user is told of an answer whose maker died, or had to leave."""

_UNANSWERED: Final = (ToolPhase.STREAMING, ToolPhase.CALLED, ToolPhase.APPROVED, ToolPhase.PRELIMINARY)


def closing(grammar: Grammar, message: Message) -> list[Chunk]:
    """End everything that is open in this stream, of which `message` is what has been made so far.

    A call that waits for the user goes on waiting: the answer may come in a later turn.
    """
    said: list[Chunk] = []
    for begun in grammar.open_parts:
        match begun.family:
            case "text":
                said.append(TextEnd(id=begun.id))
            case "reasoning":
                said.append(ReasoningEnd(id=begun.id))
            case _:
                pass  # the input of a call, which is answered below
    calls = {part.call_id: part for part in message.parts if isinstance(part, ToolCall)}
    for call_id, phase in grammar.tools.items():
        if phase in _UNANSWERED:
            said.append(_unanswered(calls.get(call_id), call_id))
        elif phase is ToolPhase.REFUSED:
            said.append(ToolOutputDenied(tool_call_id=call_id))
    if grammar.in_step:
        said.append(FinishStep())
    return said


def interruption() -> list[Chunk]:
    """What is said behind that, to whoever waits for the rest of the answer."""
    return [Error(error_text=INTERRUPTED_TEXT), Finish(finish_reason="interrupted")]


def _unanswered(call: ToolCall | None, call_id: str) -> Chunk:
    # Clients of version 5 find the call by its kind, so the kind is said again.
    dynamic = call is not None and call.dynamic
    executed = call is not None and call.provider_executed is True
    return ToolOutputError(
        tool_call_id=call_id,
        error_text=INTERRUPTED,
        dynamic=dynamic or UNSET,
        provider_executed=executed or UNSET,
    )
