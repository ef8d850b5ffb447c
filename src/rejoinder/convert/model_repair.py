"""Histories that a provider would refuse, mended: every tool call gets a result or goes.

A call dangles when nobody will ever answer it: the user typed something else, the turn was interrupted, the
approval was never given. Providers refuse the whole history because of one such call. What becomes of it:

* a call at the provider (`provider_executed`) cannot be answered by us: it goes;
* a call with the id of another one in the message that has its outcome goes: providers refuse an id said twice;
* a call whose input never arrived whole goes, as it does in the SDK;
* a denied approval becomes a denial, every other call an error, `INTERRUPTED`, that the model can read.

An approval that was answered last of all is no dangling call: whoever runs the turn is about to act on it. Version
5 knows no approvals; there every call without an outcome dangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from rejoinder.messages import Message, Part, StepStart, ToolCall

INTERRUPTED: Final = "The tool call was interrupted before it had a result."
DENIED: Final = "Tool call execution denied."

_OUTCOMES: Final = ("output-available", "output-error", "output-denied")


def repaired(messages: Sequence[Message], *, approvals: bool) -> list[Message]:
    """The same history, in which every tool call has a result. `approvals` says whether the SDK knows them."""
    last = len(messages) - 1
    return [
        _repaired_message(message, approvals=approvals, is_last=index == last)
        for index, message in enumerate(messages)
    ]


def _repaired_message(message: Message, *, approvals: bool, is_last: bool) -> Message:
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if all(call.state in _OUTCOMES for call in calls) and not _denials(calls):
        return message
    settled = {call.call_id for call in calls if call.state in _OUTCOMES}
    open_from = _last_step(message.parts) if is_last and approvals else len(message.parts)
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        mended = _repaired_part(part, settled, approvals=approvals, may_be_open=index >= open_from)
        if mended is not None:
            parts.append(mended)
        if isinstance(mended, ToolCall):
            settled.add(mended.call_id)
    return replace(message, parts=tuple(parts))


def _denials(calls: Sequence[ToolCall]) -> bool:
    return any(call.state == "output-denied" for call in calls)


def _last_step(parts: Sequence[Part]) -> int:
    starts = [index for index, part in enumerate(parts) if isinstance(part, StepStart)]
    return starts[-1] if starts else 0


def _repaired_part(part: Part, settled: set[str], *, approvals: bool, may_be_open: bool) -> Part | None:
    if not isinstance(part, ToolCall):
        return part
    if part.state == "output-denied":
        if not approvals:
            return _as_error(part, _denial(part))
        # Of a call at the provider only the answer that the user gave is said. Without one nothing would be.
        return None if part.provider_executed and not _was_answered(part) else part
    if part.state in _OUTCOMES:
        return part
    if part.state == "approval-responded" and may_be_open:
        return part
    if part.state == "input-streaming" or part.provider_executed or part.call_id in settled:
        return None
    approval = part.approval
    if part.state == "approval-responded" and approval is not None and approval.approved is False:
        return replace(part, state="output-denied") if approvals else _as_error(part, _denial(part))
    return _as_error(part, INTERRUPTED)


def _denial(call: ToolCall) -> str:
    reason = None if call.approval is None else call.approval.reason
    return DENIED if reason is None else reason


def _as_error(call: ToolCall, text: str) -> ToolCall:
    # An approval that nobody answered would be asked for again.
    approval = call.approval if _was_answered(call) else None
    return replace(call, state="output-error", error_text=text, approval=approval)


def _was_answered(call: ToolCall) -> bool:
    return call.approval is not None and call.approval.approved is not None
