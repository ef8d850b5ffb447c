"""What another format has no field for: kept beside its own words, so that the way back loses nothing.

The other format's words are read as a `UIMessage` part, and the part is written as one; where the two differ, the
difference is the remainder. So a format cannot forget a field, not even one that we learn later.
"""

from __future__ import annotations

from typing import Final, TypeGuard, get_args

from msgspec import structs

from rejoinder.convert.javascript import kind_of
from rejoinder.errors import InvalidMessage
from rejoinder.messages import ABSENT, Json, JsonObject, Message, MessageStatus, ToolCall, is_absent
from rejoinder.wire.json import is_array, is_object

REMAINDER: Final = "rejoinder"
"""The one key that we add to other formats' objects."""

_STATUSES: Final = frozenset(get_args(MessageStatus))

DENIED: Final = "Tool call execution denied."
"""What the model is told of a call that the user refused without a reason: the AI SDK's own words."""


def remainder(body: JsonObject, read: JsonObject) -> JsonObject:
    """What makes `body`, a part's JSON, of `read`, which is all that the other format could say of it.

    An empty object if that was everything.
    """
    rest: JsonObject = {}
    fields = {key: value for key, value in body.items() if key not in read or read[key] != value}
    surplus = [key for key in read if key not in body]
    if fields:
        rest["part"] = fields
    if surplus:
        rest["without"] = surplus
    return rest


def restored(read: JsonObject, rest: Json, path: str) -> JsonObject:
    """Undo `remainder`. Raises `InvalidMessage`, naming the path, for a remainder that somebody damaged."""
    if not is_object(rest):
        raise InvalidMessage(
            f"{path}: an object is kept here, not {kind_of(rest)}. Leave it as it was written."
        )
    fields, surplus = rest.get("part", {}), rest.get("without", [])
    if not is_object(fields):
        raise InvalidMessage(f"{path}.part: an object is kept here, not {kind_of(fields)}.")
    if not is_array(surplus):
        raise InvalidMessage(f"{path}.without: an array is kept here, not {kind_of(surplus)}.")
    return {key: value for key, value in read.items() if key not in surplus} | fields


def message_remainder(message: Message, read: Message) -> JsonObject:
    """What the message itself, apart from its parts, says beyond what the other format could say of it."""
    rest: JsonObject = {}
    if message.metadata != read.metadata:
        rest["metadata"] = message.metadata
    if message.status != read.status:
        rest["status"] = message.status
    if message.extra != read.extra:
        rest["extra"] = message.extra
    return rest


def restored_message(read: Message, rest: Json, path: str) -> Message:
    """Undo `message_remainder`. Raises `InvalidMessage`, naming the path, for a remainder that somebody damaged."""
    if not is_object(rest):
        raise InvalidMessage(
            f"{path}: an object is kept here, not {kind_of(rest)}. Leave it as it was written."
        )
    extra, status = rest.get("extra", read.extra), rest.get("status", read.status)
    if not (extra is None or is_object(extra)):
        raise InvalidMessage(f"{path}.extra: an object is kept here, not {kind_of(extra)}.")
    if not _is_status(status):
        raise InvalidMessage(f"{path}.status: no message has the status {status!r}.")
    return structs.replace(read, metadata=rest.get("metadata", read.metadata), status=status, extra=extra)


def outcome(call: ToolCall) -> Json:
    """What a format that knows only results gives as the result of this call, or `ABSENT` if it has none yet."""
    match call.state:
        case "output-available":
            return call.output
        case "output-error":
            return ABSENT if call.error_text is None else call.error_text
        case "output-denied":
            reason = None if call.approval is None else call.approval.reason
            return DENIED if reason is None else reason
        case "input-streaming" | "input-available" | "approval-requested" | "approval-responded":
            return ABSENT


def has_outcome(call: ToolCall) -> bool:
    """Whether the call is over and says how it ended."""
    return not is_absent(outcome(call))


def _is_status(value: Json) -> TypeGuard[MessageStatus | None]:
    return value is None or (isinstance(value, str) and value in _STATUSES)
