"""A turn of the conversation core as it is told: events out of the pages that are kept, for as many as want to hear."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator
from typing import Generic, TypeVar

from msgspec import UNSET

from rejoinder.convert.core_content import (
    ConversationMessage,
    MessageContentPart,
    MetadataContentPart,
    TextContentPart,
    ToolCallContentPart,
    ToolResultContentPart,
)
from rejoinder.engine.conversation_turns import (
    StreamingTurnCompleted,
    StreamingTurnDelta,
    StreamingTurnEvent,
    StreamingTurnToolCall,
    TurnOutput,
)
from rejoinder.messages import Role
from rejoinder.ports.agents import Stop
from rejoinder.ports.journal import Page, TurnBegun
from rejoinder.wire.chunks import (
    Chunk,
    ReasoningDelta,
    TextDelta,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputError,
)
from rejoinder.wire.codec import decode_chunk

Value = TypeVar("Value")


class Outcome(Generic[Value]):
    """Something that comes once, or fails. Awaiting it twice is fine, and so is never."""

    def __init__(self) -> None:
        self._future: asyncio.Future[Value] = asyncio.get_running_loop().create_future()

    def __await__(self) -> Generator[object, None, Value]:
        # Cancelling one who waits must not cancel it for the others.
        return asyncio.shield(self._future).__await__()

    def settle(self, value: Value) -> None:
        """It is there."""
        if not self._future.done():
            self._future.set_result(value)

    def fail(self, error: BaseException) -> None:
        """It will not come."""
        if not self._future.done():
            self._future.set_exception(error)
            self._future.exception()  # so that nobody complains that it was not looked at


class TurnTold:
    """A `StreamingTurn`. Every iteration begins with the first event."""

    def __init__(self, conversation_id: str) -> None:
        self.pressed = Stop()
        self.begun: Outcome[TurnBegun] = Outcome()
        self.turn_id: str | None = None
        self._conversation_id = conversation_id
        self._message_id = ""
        self._events: list[StreamingTurnEvent] = []
        self._more = asyncio.Event()
        self._ended = False
        self._error: BaseException | None = None
        self._final: Outcome[TurnOutput] = Outcome()
        self._names: dict[str, str] = {}

    async def __aiter__(self) -> AsyncIterator[StreamingTurnEvent]:
        place = 0
        while True:
            while place < len(self._events):
                yield self._events[place]
                place += 1
            if self._ended:
                if self._error is not None:
                    raise self._error
                return
            await self._more.wait()

    @property
    def final(self) -> Awaitable[TurnOutput]:
        """What came of it; it raises what the turn failed of."""
        return self._final

    def stop(self, reason: str | None = None) -> None:
        """Wish that the turn stop. It is sealed as cancelled, with what it has said."""
        self.pressed.press(reason)

    def begin(self, begun: TurnBegun) -> None:
        """The turn is claimed."""
        self.turn_id = begun.turn.id
        self._message_id = begun.turn.message_id or begun.turn.id
        self.begun.settle(begun)

    def committed(self, page: Page) -> None:
        """More of it is kept."""
        for frame in page.frames.split(b"\n\n"):
            if frame:
                self._events.extend(self._told(decode_chunk(frame.removeprefix(b"data: "))))
        self._announce()

    def complete(self, output: TurnOutput) -> None:
        """All of it is stored."""
        self._events.append(StreamingTurnCompleted(output=output))
        self._ended = True
        self._final.settle(output)
        self._announce()

    def fail(self, error: BaseException) -> None:
        """It has failed, or never begun."""
        if not self._ended:
            self._ended, self._error = True, error
            self.begun.fail(error)
            self._final.fail(error)
            self._announce()

    def _announce(self) -> None:
        more, self._more = self._more, asyncio.Event()
        more.set()

    def _told(self, chunk: Chunk) -> Iterator[StreamingTurnEvent]:
        match chunk:
            case TextDelta(delta=text):
                yield self._delta(TextContentPart(text=text))
            case ReasoningDelta(delta=text):
                yield self._delta(MetadataContentPart(data={"type": "reasoning", "text": text}))
            case ToolInputAvailable(tool_call_id=id, tool_name=name, input=arguments):
                self._names[id] = name
                given = None if arguments is UNSET else arguments
                yield StreamingTurnToolCall(
                    tool_call=ToolCallContentPart(name=name, arguments=given, tool_call_id=id)
                )
            case ToolOutputAvailable(tool_call_id=id, output=output) if chunk.preliminary is not True:
                yield self._result(id, None if output is UNSET else output)
            case ToolOutputError(tool_call_id=id, error_text=text):
                yield self._result(id, text)
            case _:
                pass  # where parts begin and end shows in the deltas, and the end comes with its output

    def _result(self, id: str, result: object) -> StreamingTurnDelta:
        name = self._names.get(id, "")
        return self._delta(ToolResultContentPart(name=name, result=result, tool_call_id=id), role="tool")

    def _delta(self, part: MessageContentPart, *, role: Role = "assistant") -> StreamingTurnDelta:
        message = ConversationMessage(
            id=self._message_id, conversation_id=self._conversation_id, role=role, content=(part,)
        )
        return StreamingTurnDelta(delta=message)
