"""Bringing results back to their calls, for histories in which they are messages of their own.

Other systems keep a tool's result in a message of the role `tool`. Ours lives in its call, and only there does a
client show it and a model get it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import structs

from rejoinder.messages import Message, Part, ToolCall, is_absent

_OVER: Final = frozenset({"output-available", "output-error", "output-denied"})


def join_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Put each result of a `tool` message into the open call with its id, the latest if there are several.

    A `tool` message that has nothing left to say goes; a result without a call stays where it is.
    """
    joined: list[Message] = []
    waiting: dict[str, tuple[int, int]] = {}
    for message in messages:
        if message.role != "tool":
            for index, part in enumerate(message.parts):
                if isinstance(part, ToolCall) and part.state not in _OVER:
                    waiting[part.call_id] = (len(joined), index)
            joined.append(message)
            continue
        left: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall) and part.state in _OVER and part.call_id in waiting:
                place, index = waiting.pop(part.call_id)
                joined[place] = _with_result(joined[place], index, part)
            else:
                left.append(part)
        if left or not message.parts:
            joined.append(structs.replace(message, parts=tuple(left)))
    return tuple(joined)


def _with_result(message: Message, index: int, result: ToolCall) -> Message:
    call = message.parts[index]
    if not isinstance(call, ToolCall):
        return message
    parts = (*message.parts[:index], _answered(call, result), *message.parts[index + 1 :])
    return structs.replace(message, parts=parts)


def _answered(call: ToolCall, result: ToolCall) -> ToolCall:
    """The call as it was asked, with the outcome as it was told."""
    told = result.result_provider_metadata or result.call_provider_metadata
    return structs.replace(
        call,
        input=result.input if is_absent(call.input) else call.input,
        state=result.state,
        output=result.output,
        error_text=result.error_text,
        preliminary=result.preliminary,
        approval=result.approval or call.approval,
        result_provider_metadata=told or call.result_provider_metadata,
        extra={**(call.extra or {}), **(result.extra or {})} or None,
    )
