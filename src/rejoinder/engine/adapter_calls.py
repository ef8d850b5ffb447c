"""Calls of a provider, whatever it can do: its events as they come, or its results as events of ours."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

import msgspec

from rejoinder.messages import Json, JsonObject, is_absent
from rejoinder.ports.agents import AgentError
from rejoinder.ports.providers import (
    LivelyProvider,
    Provider,
    ProviderAdapter,
    ProviderCallParams,
    ProviderCallResult,
    ProviderDelta,
    ProviderDone,
    ProviderStreamEvent,
    ProviderToolCall,
    ProviderToolCallEvent,
    StreamingProviderAdapter,
)
from rejoinder.translate.model_events import (
    MARK,
    ModelAnswered,
    ModelCalled,
    ModelEvent,
    ModelSaid,
    Quoted,
    is_ours,
    write_event,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_object


async def events_of(
    provider: ProviderAdapter, params: ProviderCallParams, *, streams: bool
) -> AsyncGenerator[bytes | JsonObject, None]:
    """One call. `streams` says whether one that can stream shall."""
    if isinstance(provider, Provider):
        events = provider.signs(params) if isinstance(provider, LivelyProvider) else provider.events(params)
        try:
            async for event in events:
                yield _quoted(event)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
    elif streams and isinstance(provider, StreamingProviderAdapter):
        async with aclosing(_streamed(provider, params)) as said:
            async for told in said:
                yield write_event(told)
    else:
        completed: Json = provider.complete(params)
        result: Json = await completed if inspect.isawaitable(completed) else completed
        yield write_event(_answered(result, params))


async def _streamed(
    provider: StreamingProviderAdapter, params: ProviderCallParams
) -> AsyncGenerator[ModelEvent, None]:
    opened: Json = provider.complete_stream(params)  # a generator's method is the stream already
    stream: Json = await opened if inspect.isawaitable(opened) else opened
    events = aiter(stream)
    done = False
    try:
        async for event in events:
            match _read(event):
                case ProviderDelta(delta=delta):
                    yield ModelSaid(delta=delta)
                case ProviderToolCallEvent(tool_call=call):
                    yield _called(call)
                case ProviderDone(result=result):
                    done = True
                    yield _answered(result, params)
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
    if not done:
        yield _answered(await stream.final, params)


def _read(event: Json) -> ProviderStreamEvent:
    """An event of a stream. The specification names no classes for them: a dictionary, or any object, with these fields
    is one. Raises `AgentError`.
    """
    if isinstance(event, ProviderDelta | ProviderToolCallEvent | ProviderDone):
        return event

    def field(name: str) -> Json:
        return event.get(name) if is_object(event) else getattr(event, name, None)

    match field("type"):
        case "delta":
            return ProviderDelta(delta=field("delta"))
        case "tool-call":
            return ProviderToolCallEvent(tool_call=field("tool_call") or field("toolCall"))
        case "done":
            return ProviderDone(result=field("result"))
        case other:
            raise AgentError(f"an adapter's stream has an event of type {other!r}: delta, tool-call or done")


def _called(call: ProviderToolCall) -> ModelCalled:
    return ModelCalled(id=call.id, name=call.name, arguments=call.arguments)


def _answered(answer: Json, params: ProviderCallParams) -> ModelAnswered:
    result = _result(answer)
    calls: Iterable[ProviderToolCall] = result.tool_calls or ()
    return ModelAnswered(
        id=result.id,
        message=result.message,
        tool_calls=tuple(map(_called, calls)),
        usage=result.usage,
        finish_reason=result.finish_reason,
        raw=_plain(result.raw),
    )


def _result(answer: Json) -> ProviderCallResult:
    """The result of a call: one of ours, a dictionary with its fields, or any object. Raises `AgentError`."""
    if isinstance(answer, ProviderCallResult):
        return answer
    try:
        return msgspec.convert(answer, ProviderCallResult, from_attributes=True)
    except msgspec.ValidationError as error:
        raise AgentError(
            f"an adapter's result is a {type(answer).__name__} and no ProviderCallResult: {error}"
        ) from error


def _plain(raw: Json) -> Json:
    """A raw answer, if JSON can hold it: some adapters give the object of their SDK."""
    if is_absent(raw):
        return None
    try:
        return json.decode(json.encode(msgspec.to_builtins(raw)))
    except (TypeError, ValueError):
        return None


def _quoted(event: bytes) -> bytes | JsonObject:
    if MARK.encode() not in event and b"\\u" not in event:
        return event
    told = json.decode(event)
    return write_event(Quoted(event=told)) if is_ours(told) else event
