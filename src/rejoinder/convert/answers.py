"""A client's answers to the open calls of an answer: outputs of tools that it runs, and the user's yes or no.

The stored call is the truth: its input, its question and its signature stay as they were, and a copy of the
client's that says otherwise is refused. A call that is open in a stored answer waits for the client, because the
server answers its own calls before it stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from rejoinder.convert.javascript import same_data
from rejoinder.convert.refusals import (
    ApprovalDecided,
    CallNotOpen,
    InvalidApproval,
    MessageTooLarge,
    NoSuchApproval,
    ToolNotClient,
    UnacceptableMessage,
)
from rejoinder.convert.ui import part_from_ui
from rejoinder.messages import JsonObject, Message, Opaque, Part, ToolCall, is_absent
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

OUTPUT_BYTES_MAX: Final = 1_048_576
"""One output of a tool of the client, as JSON: it goes into the prompt."""

REASON_CHARS_MAX: Final = 4_096
"""Why the user said no, or how a tool failed: a few sentences, which go into the prompt too."""

_ANSWERED: Final = ("output-available", "output-error", "approval-responded")
_SETTLED: Final = ("output-available", "output-error", "output-denied")


def answers_in(body: JsonObject) -> list[JsonObject]:
    """All answers of the client's copy, and nothing else of it: what makes two requests the same."""
    return [
        {
            "id": part.get("toolCallId"),
            "state": part.get("state"),
            "output": part.get("output"),
            "error": part.get("errorText"),
            "approved": approval.get("approved") if is_object(approval := part.get("approval")) else None,
        }
        for part in _call_bodies(body)
        if part.get("state") in _ANSWERED
    ]


def answered(stored: Message, body: JsonObject, *, open: bool) -> Message:
    """The stored answer with the client's answers in it; itself, if there is none. Raises `Refused`.

    `open` says whether it is the newest message and its turn waits for the client.
    """
    calls = {part.call_id: part for part in stored.parts if isinstance(part, ToolCall)}
    given: dict[str, ToolCall] = {}
    seen: set[str] = set()
    for told in _told(body):
        if told.call_id in seen:
            raise UnacceptableMessage(
                f"tool call {told.call_id[:60]!r} comes twice in the message: send it once"
            )
        seen.add(told.call_id)
        ours = calls.get(told.call_id)
        if ours is None:
            raise _unknown(told)
        call = _decided(ours, told) if told.state == "approval-responded" else _returned(ours, told)
        if call is not ours:
            given[ours.call_id] = call
    if not given:
        return stored
    if not open:
        raise CallNotOpen("the turn of that answer is over, so its calls wait for nobody: read it again")
    left = [call.call_id for call in calls.values() if call.call_id not in given and _waits_for_client(call)]
    if left:
        raise UnacceptableMessage(
            f"tool call {left[0][:60]!r} is open as well: answer all open calls at once"
        )
    parts: tuple[Part, ...] = tuple(
        given.get(part.call_id, part) if isinstance(part, ToolCall) else part for part in stored.parts
    )
    return structs.replace(stored, parts=parts)


def _waits_for_client(call: ToolCall) -> bool:
    """Whether the client has to say something of this call. One that is run elsewhere may still be under way."""
    if call.state == "approval-requested":
        return True
    return call.state == "input-available" and call.provider_executed is not True


def _told(body: JsonObject) -> Iterator[ToolCall]:
    for part in _call_bodies(body):
        approval = part.get("approval")
        if part.get("state") == "approval-responded" and not (
            is_object(approval) and isinstance(approval.get("approved"), bool)
        ):
            raise UnacceptableMessage("an approval says 'approved': send true or false there")
        match part_from_ui(part):
            case ToolCall() as call:
                yield call
            case Opaque():
                raise UnacceptableMessage(
                    "a tool part lacks its 'toolCallId' or 'state', or has them in a wrong type: mend it"
                )
            case _:
                pass  # a part of another kind is not looked at


def _call_bodies(body: JsonObject) -> Iterator[JsonObject]:
    parts = body.get("parts")
    if not is_array(parts):
        raise UnacceptableMessage(
            "the message's 'parts' are no array: send the message as it was, with the answers"
        )
    for part in parts:
        kind = part.get("type") if is_object(part) else None
        if is_object(part) and isinstance(kind, str) and (kind.startswith("tool-") or kind == "dynamic-tool"):
            yield part


def _unknown(told: ToolCall) -> NoSuchApproval | CallNotOpen:
    if told.state == "approval-responded":
        return NoSuchApproval(f"nobody asked whether tool call {told.call_id[:60]!r} may run")
    return CallNotOpen(f"this answer has no tool call {told.call_id[:60]!r}: read the conversation again")


def _decided(ours: ToolCall, told: ToolCall) -> ToolCall:
    """Our call with the user's answer to the question whether it may run."""
    asked, answer = ours.approval, told.approval
    if asked is None or answer is None:
        raise NoSuchApproval(f"nobody asked whether tool call {ours.call_id!r} may run")
    if asked.id != answer.id or told.name != ours.name:
        raise InvalidApproval(
            f"the approval of tool call {ours.call_id!r} is another one: answer what was asked"
        )
    # Older clients drop the signature, or were never told it. The stored one is what counts.
    if answer.signature not in (None, asked.signature):
        raise InvalidApproval(
            f"the approval of tool call {ours.call_id!r} has another signature: send it as it came"
        )
    if not (is_absent(told.input) or same_data(told.input, ours.input)):
        raise InvalidApproval(
            f"the approval of tool call {ours.call_id!r} has another input than was asked about"
        )
    if ours.state != "approval-requested":
        if asked.approved == answer.approved:
            return ours
        raise ApprovalDecided(f"whether tool call {ours.call_id!r} may run has been decided, and otherwise")
    _check_length(answer.reason, "reason")
    decided = structs.replace(asked, approved=answer.approved, reason=answer.reason)
    return structs.replace(ours, state="approval-responded", approval=decided)


def _returned(ours: ToolCall, told: ToolCall) -> ToolCall:
    """Our call with what the client's tool answered; itself, if the client tells nothing new."""
    if ours.state in _SETTLED or told.state not in ("output-available", "output-error"):
        if told.state in ("output-available", "output-error") and _differs(ours, told):
            raise CallNotOpen(f"tool call {ours.call_id!r} is answered already, and otherwise")
        return ours
    if ours.state != "input-available" or ours.approval is not None or ours.provider_executed:
        raise ToolNotClient(f"tool call {ours.call_id!r} is not the client's to answer")
    if told.provider_executed or told.preliminary:
        raise UnacceptableMessage(
            f"the output of tool call {ours.call_id!r} claims to be a provider's: leave that out"
        )
    if told.approval is not None:
        raise CallNotOpen(f"nobody asked whether tool call {ours.call_id!r} may run: leave 'approval' out")
    if told.name != ours.name or not (is_absent(told.input) or same_data(told.input, ours.input)):
        raise CallNotOpen(f"tool call {ours.call_id!r} was called otherwise: answer what was asked")
    if told.state == "output-error":
        if told.error_text is None:
            raise UnacceptableMessage(f"tool call {ours.call_id!r} failed without an 'errorText': send one")
        _check_length(told.error_text, "errorText")
        return structs.replace(ours, state="output-error", error_text=told.error_text)
    if is_absent(told.output):
        raise UnacceptableMessage(f"tool call {ours.call_id!r} has no 'output': send one, null for nothing")
    if len(json.encode(told.output)) > OUTPUT_BYTES_MAX:
        raise MessageTooLarge(
            f"the output of tool call {ours.call_id!r} has more than {OUTPUT_BYTES_MAX} bytes"
        )
    return structs.replace(ours, state="output-available", output=told.output)


def _differs(ours: ToolCall, told: ToolCall) -> bool:
    """Whether a client's copy of a settled call has another outcome. What approvals it shows is its affair."""
    if ours.state == "output-denied" or told.state != ours.state:
        return True
    return told.state == "output-available" and not same_data(told.output, ours.output)


def _check_length(text: str | None, field: str) -> None:
    if text is not None and len(text) > REASON_CHARS_MAX:
        raise MessageTooLarge(f"{field!r} has more than {REASON_CHARS_MAX} characters: say it shorter")
