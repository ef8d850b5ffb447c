"""Providers that say what they are told to, in the words of the conversation core, and an engine to ask them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

from rejoinder.core import (
    ConversationMessage,
    DefaultConversationEngine,
    InMemoryConversationStore,
    ProviderAdapter,
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderCallResult,
    ProviderDelta,
    ProviderDone,
    ProviderMessage,
    ProviderStreamEvent,
    ProviderTextPart,
    ProviderToolCall,
    ProviderToolCallEvent,
    RecentNTurnsHistoryBuilder,
    TextContentPart,
    TokenUsage,
    ToolResultContentPart,
    TurnInput,
)
from rejoinder.engine.running import TurnLimits

WHEN = datetime(2026, 5, 4, tzinfo=UTC)
PARAMS = ProviderCallParams(metadata=ProviderCallMetadata(provider="openai", model="gpt-5-mini"))
AT_ONCE = TurnLimits(stop_seconds=0, close_seconds=0.2)


def said(text: str, *calls: ProviderToolCall, id: str = "call-1") -> ProviderCallResult:
    content = (ProviderTextPart(text=text),) if text else ()
    return ProviderCallResult(
        id=id,
        created_at=WHEN,
        message=ProviderMessage(role="assistant", content=content),
        tool_calls=calls or None,
        usage=TokenUsage(input_tokens=10, output_tokens=4),
    )


class Whole:
    """A provider that only completes. What is no result is raised, or awaited."""

    def __init__(self, *answers: ProviderCallResult | Exception | Callable[[], Awaitable[None]]) -> None:
        self.answers = [*answers]
        self.asked: list[ProviderCallParams] = []

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, ProviderCallResult):
            await answer()
            return await self.complete(params)
        return answer


class Stream:
    """A `ProviderStream` of given events."""

    def __init__(self, events: list[ProviderStreamEvent | Exception]) -> None:
        self._events = events

    async def __aiter__(self) -> AsyncIterator[ProviderStreamEvent]:
        for event in self._events:
            await asyncio.sleep(0)
            if isinstance(event, Exception):
                raise event
            yield event

    @property
    def final(self) -> Awaitable[ProviderCallResult]:
        done = asyncio.get_running_loop().create_future()
        for event in self._events:
            if isinstance(event, ProviderDone):
                done.set_result(event.result)
        return done


class Streaming(Whole):
    """A provider that streams these events, the same in every call."""

    def __init__(self, *events: ProviderStreamEvent | Exception) -> None:
        super().__init__(said("not streamed"))
        self.events = [*events]

    async def complete_stream(self, params: ProviderCallParams) -> Stream:
        self.asked.append(params)
        return Stream(self.events)


def delta(text: str) -> ProviderDelta:
    return ProviderDelta(delta=ProviderMessage(role="assistant", content=(ProviderTextPart(text=text),)))


def called(id: str, name: str) -> ProviderToolCallEvent:
    return ProviderToolCallEvent(tool_call=ProviderToolCall(id=id, name=name, arguments={"q": 1}))


def done(result: ProviderCallResult) -> ProviderDone:
    return ProviderDone(result=result)


def user(id: str, text: str, conversation_id: str = "c") -> ConversationMessage:
    return ConversationMessage(
        id=id,
        conversation_id=conversation_id,
        role="user",
        created_at=WHEN,
        content=(TextContentPart(text=text),),
    )


def result(id: str, name: str, value: object, call_id: str | None) -> ConversationMessage:
    part = ToolResultContentPart(name=name, result=value, tool_call_id=call_id)
    return ConversationMessage(id=id, conversation_id="c", role="tool", created_at=WHEN, content=(part,))


def asking(provider: ProviderAdapter, *messages: ConversationMessage) -> TurnInput:
    return TurnInput(conversation_id="c", user_messages=messages, provider=provider, provider_params=PARAMS)


async def engine(**more: object) -> DefaultConversationEngine:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    return over(store, **more)


def over(store: object, **more: object) -> DefaultConversationEngine:
    given = {"history_builder": RecentNTurnsHistoryBuilder(max_turns=8), "limits": AT_ONCE, **more}
    return DefaultConversationEngine(store=store, **given)  # type: ignore[arg-type]  # tests pass what they test


def texts(messages: tuple[ConversationMessage, ...]) -> list[str]:
    return [
        part.text for message in messages for part in message.content if isinstance(part, TextContentPart)
    ]
