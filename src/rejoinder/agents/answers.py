"""A provider's call as the conversation core sees it: deltas, tool calls, and one result in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from datetime import UTC, datetime

from rejoinder.agents.errors import error_of
from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.fold import Accumulator
from rejoinder.messages import Usage
from rejoinder.messages.provider_message import ProviderMessage, ProviderReasoningPart, ProviderTextPart
from rejoinder.ports.agents import AgentError
from rejoinder.ports.providers import (
    ProviderCallResult,
    ProviderDelta,
    ProviderDone,
    ProviderStreamEvent,
    ProviderToolCall,
    ProviderToolCallEvent,
)
from rejoinder.translate import CallEnded, CallStarted, Failed, Finished, Translation, Translator
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, ReasoningDelta, TextDelta, ToolInputAvailable


class Answer:
    """A call that streams. Whoever reads it, or waits for `final`, drives it; what has come is kept for the other.

    So there is no task behind it that somebody would have to end, and no queue that could overflow: what waits for
    a second reader is the answer itself, which the result holds as well.
    """

    def __init__(self, events: AsyncIterator[bytes], translator: Translator, *, provider: str) -> None:
        self._events = events
        self._translation = Translation(translator, message_id="answer")
        self._accumulator = Accumulator()
        self._provider = provider
        self._came: list[ProviderStreamEvent] = []
        self._result: ProviderCallResult | None = None
        self._error: BaseException | None = None
        self._turn = asyncio.Lock()
        self._id = ""
        self._usage: Usage | None = None
        self._tool_calls: list[ProviderToolCall] = []
        self._hear(self._translation.begin())

    def __aiter__(self) -> AsyncIterator[ProviderStreamEvent]:
        """The events from the first one on, also for a second reader."""
        return self._read()

    @property
    def final(self) -> Awaitable[ProviderCallResult]:
        """The result; it raises what the call raised."""
        return self._wait()

    async def _read(self) -> AsyncIterator[ProviderStreamEvent]:
        position = 0
        while await self._reaches(position):
            yield self._came[position]
            position += 1
        if self._error is not None:
            raise self._error

    async def _wait(self) -> ProviderCallResult:
        while self._result is None:
            if not await self._reaches(len(self._came)) and self._error is not None:
                raise self._error
        return self._result

    async def _reaches(self, position: int) -> bool:
        """Whether there is an event at this position, once as much has come as is needed to know."""
        async with self._turn:
            while position >= len(self._came) and self._result is None and self._error is None:
                await self._advance()
        return position < len(self._came)

    async def _advance(self) -> None:
        try:
            event = await anext(self._events, None)
        except BaseException as error:
            cancelled = AgentError("the call was cancelled", provider=self._provider)
            self._error = error if isinstance(error, Exception) else cancelled
            raise
        if event is not None:
            self._hear(self._translation.event(json.decode(event)))
            return
        self._hear(self._translation.close())
        ending = self._translation.ending
        if isinstance(ending, Failed):
            self._error = error_of(ending, provider=self._provider)
        else:
            self._finish(ending.reason if isinstance(ending, Finished) else None)

    def _hear(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self._accumulator.apply(chunk)
            if isinstance(chunk, TextDelta):
                self._delta(ProviderTextPart(text=chunk.delta))
            elif isinstance(chunk, ReasoningDelta):
                self._delta(ProviderReasoningPart(text=chunk.delta))
            elif isinstance(chunk, ToolInputAvailable) and chunk.provider_executed is not True:
                call = ProviderToolCall(id=chunk.tool_call_id, name=chunk.tool_name, arguments=chunk.input)
                self._tool_calls.append(call)
                self._came.append(ProviderToolCallEvent(tool_call=call))
        for note in self._translation.take_notes():
            if isinstance(note, CallStarted):
                self._id = note.id
            elif isinstance(note, CallEnded) and note.usage is not None:
                self._usage = note.usage if self._usage is None else self._usage + note.usage

    def _delta(self, part: ProviderTextPart | ProviderReasoningPart) -> None:
        self._came.append(ProviderDelta(delta=ProviderMessage(role="assistant", content=(part,))))

    def _finish(self, reason: str | None) -> None:
        said = to_provider_messages([self._accumulator.message])
        content = tuple(part for message in said if message.role == "assistant" for part in message.content)
        self._result = ProviderCallResult(
            id=self._id,
            created_at=datetime.now(UTC),
            message=ProviderMessage(role="assistant", content=content),
            tool_calls=tuple(self._tool_calls) or None,
            usage=self._usage,
            finish_reason=reason,
        )
        self._came.append(ProviderDone(result=self._result))
