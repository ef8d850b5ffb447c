"""The agent service of the agent-messages specification, over the agents that chats run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
from msgspec import UNSET

from rejoinder.chat.agent_service import AgentService, AgentStreamEvent, collect
from rejoinder.chat.agent_types import AGENT_TYPES, UnknownAgentType, create_agent_service
from rejoinder.fold import accumulate
from rejoinder.messages import ABSENT, Json, Text
from rejoinder.ports.agents import Agent, Call
from rejoinder.translate import Emitter, Remember
from rejoinder.translate.fields import text_or_none
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json
from rejoinder.wire.session_messages import session_message_to_json
from tests.agents.anthropic_stand_in import StandIn
from tests.agents.claude_stage import Stage, staged


async def _shout(call: Call) -> AsyncIterator[Json]:
    yield {"session": text_or_none(call.memory, "sessionId") or "new"}
    for word in call.prompt.split():
        if word == "fail":
            raise RuntimeError("no more words")
        yield {"word": word}


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    if "session" in event:
        say.note(Remember(memory={"sessionId": event["session"]}))
    else:
        yield from say.text(event["word"].upper() + " ")


def _service() -> AgentService:
    return create_agent_service("shout", {"shout": lambda _, __: Agent("shout", _shout, _translate)})


async def _all(events: AsyncIterator[AgentStreamEvent]) -> list[AgentStreamEvent]:
    return [event async for event in events]


def test_each_chunk_comes_with_the_message_that_it_was_made_of_and_the_result_last() -> None:
    events = asyncio.run(_all(_service().invoke("hi you", "/", "s1")))
    assert [event.type for event in events[:-1]] == ["chunk"] * (len(events) - 1)
    chunks = [event.chunk for event in events if event.chunk is not UNSET]
    message = accumulate([chunk_from_json(chunk) for chunk in chunks])
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["HI YOU "]
    with_words = [event for event in events if event.raw_agent_message == {"word": "hi"}]
    assert [event.chunk["type"] for event in with_words if event.chunk is not UNSET] == [
        "start-step",
        "text-start",
        "text-delta",
    ]
    silent = [event for event in events if event.type == "chunk" and event.chunk is UNSET]
    assert [event.raw_agent_message for event in silent] == [{"session": "s1"}]
    result = events[-1].agent_result
    assert events[-1].type == "complete"
    assert (result["agentType"], result["sessionId"]) == ("shout", "s1")
    assert result["message"]["parts"][-1]["text"] == "HI YOU "


def test_what_is_collected_holds_every_message_of_the_agent_once() -> None:
    content = asyncio.run(collect(_service().invoke("hi you", "/")))
    said = session_message_to_json(content)
    assert said["agentType"] == "shout"
    assert said["rawAgentMessages"] == [{"session": "new"}, {"word": "hi"}, {"word": "you"}]
    assert said["aiSDKChunks"][0]["type"] == "start"
    assert said["aiSDKChunks"][-1]["type"] == "finish"
    assert said["agentResult"]["sessionId"] == "new"


def test_an_agent_that_fails_ends_its_chunks_and_says_why() -> None:
    events = asyncio.run(_all(_service().invoke("hi fail", "/")))
    *_, error, finish, last = events
    assert error.chunk == {"type": "error", "errorText": "An error occurred."}
    assert finish.chunk == {"type": "finish", "finishReason": "error"}
    assert last.type == "error"
    assert str(last.error) == "no more words"
    assert last.agent_result is ABSENT
    with pytest.raises(RuntimeError, match="no more words"):
        asyncio.run(collect(_service().invoke("hi fail", "/")))


def test_who_leaves_stops_the_agent() -> None:
    ended: list[bool] = []

    async def run(call: Call) -> AsyncIterator[Json]:
        try:
            while True:
                yield {"word": "again"}
        finally:
            ended.append(call.stop.pressed)

    async def walk() -> None:
        service = AgentService("loop", lambda _, __: Agent("loop", run, _translate))
        events = service.invoke("", "/")
        async for event in events:
            if event.raw_agent_message is not ABSENT:
                break
        await events.aclose()

    asyncio.run(walk())
    assert ended == [True]


def test_a_type_that_nobody_registered_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownAgentType, match="claude-code, openai, anthropic-api"):
        create_agent_service("unknown")
    assert [*AGENT_TYPES] == ["claude-code", "openai", "anthropic-api"]


def test_the_api_of_anthropic_is_an_agent_type() -> None:
    with StandIn(lambda _: [{"type": "text", "text": "Hello."}]).serving() as server:
        service = create_agent_service("anthropic-api")
        options = {"base_url": server.url, "api_key": "none", "model": "m"}
        said = session_message_to_json(asyncio.run(collect(service.invoke("Hi", "/", None, options))))
    assert said["agentResult"]["usage"]["inputTokens"] == 120
    assert said["agentResult"]["message"]["parts"][-1]["text"] == "Hello. "


def test_claude_code_is_invoked_in_a_folder_and_goes_on_with_a_session(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        said = _invoked(stage, "hello")
        (begun,) = [raw for raw in said["rawAgentMessages"] if raw.get("subtype") == "init"]
        assert begun["cwd"] == str(stage.project)
        assert said["agentResult"]["sessionId"] == begun["session_id"]
        assert said["agentResult"]["message"]["parts"][-1]["text"] == "You said: hello "
        _invoked(stage, "and more", begun["session_id"])
        assert stage.shown == [("user", "hello"), ("assistant", "You said: hello"), ("user", "and more")]


def _invoked(stage: Stage, prompt: str, session_id: str | None = None) -> Json:
    service = create_agent_service("claude-code")
    events = service.invoke(prompt, str(stage.project), session_id, {"options": stage.options()})
    return session_message_to_json(asyncio.run(collect(events)))
