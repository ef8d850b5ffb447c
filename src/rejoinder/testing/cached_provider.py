"""A provider whose calls are recorded once and replayed ever after: for tests and demos without a key.

model = CachedProvider(OpenAIResponses("gpt-5-mini"), Path("recordings"), mode="auto")

A call is known by the digest of what was asked: the model, the messages, the tools, the settings. What is new with
each run is no part of it: labels, the context of the agent, and what the calls of tools are called.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import structs

from rejoinder.errors import RejoinderError
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderMessage,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import (
    ProviderCallParams,
    ProviderCallResult,
    ProviderDone,
    ProviderStream,
    ProviderStreamEvent,
    StreamingProviderAdapter,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

DIGEST_DIGITS: Final = 32
"""So much of a digest names a recording: enough that no two requests meet, short enough for any file system."""

Mode: TypeAlias = Literal["record", "replay", "auto"]
"""`record` asks in any case, `replay` never, `auto` where there is no recording."""


class NotRecorded(RejoinderError):
    """There is no recording of this call, or none that can be read. Record it: `mode="record"`, or `"auto"`."""

    code = "not-recorded"


class CachedProvider:
    """Records the calls of a provider in a folder, a file for each, or replays them.

    A call that fails is not recorded. Calls that stream and those that do not are recorded apart.
    """

    def __init__(self, provider: StreamingProviderAdapter, folder: Path, *, mode: Mode = "replay") -> None:
        self.name: Final = str(getattr(provider, "name", "cached"))
        self.model: Final = str(getattr(provider, "model", ""))
        self._provider = provider
        self._folder = folder
        self._mode: Mode = mode

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        """The answer as a whole. Raises `NotRecorded`, or what the provider raises."""
        file = self._file(params, "complete")
        events = await self._known(file)
        if events is not None:
            return _result(events, file)
        result = await self._provider.complete(params)
        await asyncio.to_thread(_write, file, [ProviderDone(result=result)])
        return result

    async def complete_stream(self, params: ProviderCallParams) -> ProviderStream:
        """The answer as it came. Raises `NotRecorded`, or what the provider raises."""
        file = self._file(params, "stream")
        events = await self._known(file)
        if events is not None:
            return _Replayed(events, _result(events, file))
        return _Recorded(await self._provider.complete_stream(params), file)

    def _file(self, params: ProviderCallParams, kind: str) -> Path:
        return self._folder / f"{digest_of(params, self.model)}.{kind}.json"

    async def _known(self, file: Path) -> list[ProviderStreamEvent] | None:
        """The events of a recording; None if the provider is to be asked."""
        if self._mode == "record":
            return None
        try:
            text = await asyncio.to_thread(file.read_bytes)
        except FileNotFoundError:
            if self._mode == "auto":
                return None
            raise NotRecorded(
                f"there is no recording {file.name} in {self._folder}: record it with mode='auto'"
            ) from None
        try:
            events: list[ProviderStreamEvent] = json.read_as(json.decode(text), list[ProviderStreamEvent])
        except (msgspec.ValidationError, RejoinderError) as error:
            raise NotRecorded(f"{file} is no recording: {error}. Delete it and record again") from error
        return events


class _Replayed:
    """A call that streamed once."""

    def __init__(self, events: Sequence[ProviderStreamEvent], result: ProviderCallResult) -> None:
        self._events = events
        self._result = result

    def __aiter__(self) -> AsyncIterator[ProviderStreamEvent]:
        return self._said()

    @property
    async def final(self) -> ProviderCallResult:
        """All of it."""
        return self._result

    async def _said(self) -> AsyncIterator[ProviderStreamEvent]:
        for event in self._events:
            yield event


class _Recorded:
    """A call that streams, and is written down when it is over."""

    def __init__(self, stream: ProviderStream, file: Path) -> None:
        self._stream = stream
        self._file = file
        self._written = False

    def __aiter__(self) -> AsyncIterator[ProviderStreamEvent]:
        return self._said()

    @property
    async def final(self) -> ProviderCallResult:
        """All of it. If nobody reads the events, the recording has only this."""
        result = await self._stream.final
        if not self._written:
            await self._write([ProviderDone(result=result)])
        return result

    async def _said(self) -> AsyncIterator[ProviderStreamEvent]:
        events: list[ProviderStreamEvent] = []
        async for event in self._stream:
            events.append(event)
            if isinstance(event, ProviderDone):
                await self._write(events)
            yield event

    async def _write(self, events: Sequence[ProviderStreamEvent]) -> None:
        self._written = True
        await asyncio.to_thread(_write, self._file, events)


def digest_of(params: ProviderCallParams, model: str = "") -> str:
    """What stands for a request: equal ones have the same, whatever their calls, turns and tenants are called."""
    names: dict[str, str] = {}
    messages = tuple(_renamed(message, names) for message in params.messages)
    asked = structs.replace(params, agent_context=None, messages=messages)
    body: JsonObject = json.decode(json.encode(asked))
    body["metadata"] = {"model": params.metadata.model or model}
    return hashlib.sha256(json.encode(_in_order(body))).hexdigest()[:DIGEST_DIGITS]


def _renamed(message: ProviderMessage, names: dict[str, str]) -> ProviderMessage:
    """The message with calls of tools called after their places."""
    content = [
        structs.replace(part, call_id=names.setdefault(part.call_id, f"call-{len(names) + 1}"))
        if isinstance(part, ProviderToolCallPart | ProviderToolResultPart)
        else part
        for part in message.content
    ]
    return structs.replace(message, content=tuple(content))


def _in_order(value: Json) -> Json:
    if is_array(value):
        return [_in_order(item) for item in value]
    return {key: _in_order(value[key]) for key in sorted(value)} if is_object(value) else value


def _result(events: Sequence[ProviderStreamEvent], file: Path) -> ProviderCallResult:
    last = events[-1] if events else None
    if not isinstance(last, ProviderDone):
        raise NotRecorded(f"{file} breaks off before the answer is over. Delete it and record again")
    return last.result


def _write(file: Path, events: Sequence[ProviderStreamEvent]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".part")
    partial.write_bytes(json.encode(events) + b"\n")
    partial.replace(file)
