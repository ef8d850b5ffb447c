"""What the agents on top of frameworks have in common: the history as it is told, events as JSON, and a stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final

from msgspec import Struct

from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.messages import Json, ToolCall
from rejoinder.messages.provider_message import ProviderMessage
from rejoinder.ports.agents import Call, Stop

EVENTS_AHEAD_MAX: Final = 64
"""So far a framework may run ahead of what is kept of it."""

_NO_MORE: Final = object()


class Decision(Struct, frozen=True, kw_only=True):
    """What the user said to the question whether a tool may run."""

    call: ToolCall
    approved: bool
    reason: str | None = None


def shown(call: Call) -> tuple[ProviderMessage, ...]:
    """The messages that the framework is shown, no call of a tool without its result."""
    messages = call.history if call.continues is None else (*call.history, call.continues)
    return to_provider_messages(messages)


def decisions(call: Call) -> dict[str, Decision]:
    """The questions of the message that is continued which have been answered, by the ids of their calls."""
    parts = () if call.continues is None else call.continues.parts
    return {
        part.call_id: Decision(call=part, approved=part.approval.approved, reason=part.approval.reason)
        for part in parts
        if isinstance(part, ToolCall)
        and part.state == "approval-responded"
        and part.approval is not None
        and part.approval.approved is not None
    }


def as_json(value: Any) -> bytes:
    """An event of a framework that is made of pydantic's models and dataclasses, as JSON: the event that is kept."""
    from pydantic_core import to_json

    return to_json(
        value, fallback=repr, serialize_unknown=True, bytes_mode="base64", inf_nan_mode="null", by_alias=True
    )


async def relayed(events: Callable[[], AsyncIterable[Json]], stop: Stop) -> AsyncGenerator[Json, None]:
    """The events of a framework until it ends, or until the stop is pressed: then it is cancelled.

    It runs in a task of its own, because frameworks open scopes that must be left in the task that entered them.
    """
    ahead: asyncio.Queue[Json] = asyncio.Queue(EVENTS_AHEAD_MAX)

    async def run() -> None:
        iterator: AsyncIterator[Json] = aiter(events())
        try:
            async for event in iterator:
                await ahead.put(event)
        finally:
            if isinstance(iterator, AsyncGenerator):
                await iterator.aclose()
        await ahead.put(_NO_MORE)

    running = asyncio.create_task(run())
    pressed = asyncio.create_task(stop.wait())
    try:
        while True:
            coming = asyncio.create_task(ahead.get())
            try:
                await asyncio.wait({coming, running, pressed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})
            if coming.done() and not coming.cancelled():
                event = coming.result()
                if event is _NO_MORE:
                    return
                yield event
                if stop.pressed:
                    return
            elif stop.pressed:
                return
            else:
                # It ended without a word behind its last event: it has raised.
                await running
                return
    finally:
        pressed.cancel()
        running.cancel()
        await asyncio.wait({running, pressed})


async def bytes_of(events: AsyncGenerator[Json, None]) -> AsyncGenerator[bytes, None]:
    """Events, each as the JSON that is kept of it."""
    async with aclosing(events):
        async for event in events:
            yield as_json(event)
