"""The agent service of the agent-messages specification: `invoke(prompt, cwd, session_id, options)`.

It runs the agents that a chat runs, without a store: whoever invokes it keeps what it yields, or lets it go.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from rejoinder.convert.ui import to_ui
from rejoinder.errors import InvalidJson
from rejoinder.fold import Accumulator
from rejoinder.messages import ABSENT, Conversation, Json, JsonObject, Maybe, Message, Text, Turn
from rejoinder.messages.usage import Usage
from rejoinder.ports.agents import AgentError, AgentProtocol, Call, Stop
from rejoinder.ports.clock import Clock, NewId, SystemClock, random_id
from rejoinder.translate import CallEnded, Failed, Finished, Remember, Translation
from rejoinder.translate.fields import text_or_none
from rejoinder.translate.notes import SAFE_ERROR_TEXT
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json
from rejoinder.wire.json import is_object
from rejoinder.wire.session_messages import SessionMessageContent, session_message_content

Options: TypeAlias = Mapping[str, Json]


class AgentStreamEvent(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What an agent service yields.

    A `chunk` comes with the agent's own message that it was made of: `message_number` counts these, for one message
    may make several chunks. A message of which nothing is shown comes without a chunk. The last event is `complete`,
    with `agent_result`, or `error`.
    """

    type: Literal["chunk", "error", "complete"]
    chunk: JsonObject | UnsetType = UNSET
    raw_agent_message: Maybe = ABSENT
    error: Exception | None = None
    agent_result: Maybe = ABSENT
    message_number: int | None = None


AgentStream: TypeAlias = AsyncIterable[AgentStreamEvent]

MakeAgent: TypeAlias = Callable[[str, Options], AgentProtocol]
"""Makes the agent for one invocation, for a folder and with options."""


class AgentServiceInterface(Protocol):
    """What the specification asks of every agent."""

    def invoke(
        self, prompt: str, cwd: str, session_id: str | None = None, options: Options | None = None
    ) -> AgentStream:
        """Ask the agent something."""
        ...


class AgentService:
    """An agent of a type, behind that contract."""

    def __init__(
        self,
        agent_type: str,
        make: MakeAgent,
        *,
        clock: Clock | None = None,
        new_id: NewId = random_id,
    ) -> None:
        self.agent_type: Final = agent_type
        self._make = make
        self._clock: Clock = SystemClock() if clock is None else clock
        self._new_id = new_id

    async def invoke(
        self, prompt: str, cwd: str, session_id: str | None = None, options: Options | None = None
    ) -> AsyncGenerator[AgentStreamEvent]:
        """Ask the agent something, in the session of an earlier answer if there was one (`sessionId` in its result).

        Who stops iterating stops the agent.
        """
        agent = self._make(cwd, options or {})
        call = self._call(prompt, session_id)
        answer = _Answer(agent, call, self.agent_type)
        try:
            for said in answer.begin():
                yield said
            events = aiter(agent.run(call))
            try:
                async for event in events:
                    for said in answer.hear(event):
                        yield said
            finally:
                call.stop.press()
                if isinstance(events, AsyncGenerator):
                    await events.aclose()
            for said in answer.end():
                yield said
        except Exception as error:  # noqa: BLE001  # whatever an agent raises is its answer here
            for said in answer.fail(error):
                yield said
        finally:
            close = getattr(agent, "aclose", None)
            if close is not None:
                await close()

    def _call(self, prompt: str, session_id: str | None) -> Call:
        now, id = self._clock.now(), self._new_id()
        conversation = session_id or id
        return Call(
            conversation=Conversation(id=conversation, created_at=now, updated_at=now),
            turn=Turn(
                id=id,
                conversation_id=conversation,
                status="running",
                created_at=now,
                message_id=self._new_id(),
                agent=self.agent_type,
            ),
            history=(Message(id=self._new_id(), role="user", parts=(Text(text=prompt),), created_at=now),),
            stop=Stop(),
            memory=None if session_id is None else {"sessionId": session_id},
        )


class _Answer:
    """One answer in the making."""

    def __init__(self, agent: AgentProtocol, call: Call, agent_type: str) -> None:
        id = call.turn.message_id or call.turn.id
        self._translation = Translation(agent.translate, message_id=id)
        self._accumulator = Accumulator(message_id=id)
        self._agent_type = agent_type
        self._memory = call.memory
        self._usage: Usage | None = None
        self._heard = -1

    def begin(self) -> list[AgentStreamEvent]:
        return self._said(self._translation.begin(), ABSENT)

    def hear(self, event: Json | bytes) -> Iterator[AgentStreamEvent]:
        self._heard += 1
        raw = event
        if isinstance(event, bytes):
            try:
                raw = json.decode(event)
            except InvalidJson as error:
                raise AgentError(f"the agent's event is not JSON: {error}") from error
        shown = False
        try:
            for chunk in self._translation.event(raw):
                shown = True
                yield from self._said([chunk], raw)
        finally:
            self._take_notes()
        if not shown:
            yield AgentStreamEvent(type="chunk", raw_agent_message=raw, message_number=self._heard)

    def end(self) -> list[AgentStreamEvent]:
        said = self._said([*self._translation.end()], ABSENT)
        self._take_notes()
        ending = self._translation.ending
        if isinstance(ending, Failed):
            return [*said, AgentStreamEvent(type="error", error=AgentError(ending.error.message))]
        reason = ending.reason if isinstance(ending, Finished) else None
        result = {
            "agentType": self._agent_type,
            "sessionId": text_or_none(self._memory, "sessionId") if is_object(self._memory) else None,
            "finishReason": reason,
            "usage": None if self._usage is None else _plain(self._usage),
            "message": to_ui(self._accumulator.message),
        }
        kept = {name: value for name, value in result.items() if value is not None}
        return [*said, AgentStreamEvent(type="complete", agent_result=kept)]

    def fail(self, error: Exception) -> list[AgentStreamEvent]:
        text = error.user_text if isinstance(error, AgentError) else SAFE_ERROR_TEXT
        chunks = [*self._translation.close(), *self._translation.say.fail(text)]
        return [*self._said(chunks, ABSENT), AgentStreamEvent(type="error", error=error)]

    def _said(self, chunks: list[Chunk], raw: Maybe) -> list[AgentStreamEvent]:
        for chunk in chunks:
            self._accumulator.apply(chunk)
        return [
            AgentStreamEvent(
                type="chunk",
                chunk=chunk_to_json(chunk),
                raw_agent_message=raw,
                message_number=None if raw is ABSENT else self._heard,
            )
            for chunk in chunks
        ]

    def _take_notes(self) -> None:
        for note in self._translation.take_notes():
            if isinstance(note, Remember):
                self._memory = note.memory
            elif isinstance(note, CallEnded) and note.usage is not None:
                self._usage = note.usage if self._usage is None else self._usage + note.usage


async def collect(stream: AgentStream, *, agent_type: str = "unknown") -> SessionMessageContent:
    """All of a stream as the specification stores it: each raw message once. Raises the error of an `error` event."""
    chunks: list[bytes] = []
    raw: list[Json] = []
    result: Json = None
    error: Exception | None = None
    async for event in stream:
        if not isinstance(event.chunk, UnsetType):
            chunks.append(json.encode(event.chunk))
        if event.message_number == len(raw):
            raw.append(event.raw_agent_message)
        if event.type == "complete":
            result = event.agent_result
        error = event.error or error
    if error is not None:
        raise error
    told = text_or_none(result, "agentType") if is_object(result) else None
    return session_message_content(
        chunks, map(json.encode, raw), agent_type=told or agent_type, result=result
    )


def _plain(usage: Usage) -> JsonObject:
    value: JsonObject = json.decode(json.encode(usage))
    return value
