"""A model as an agent: any provider answers, and what it said is kept, counted and replayed."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct, field

from rejoinder.engine.model_agent import ModelAgent
from rejoinder.messages import Usage
from rejoinder.messages.provider_message import ProviderMessage, ProviderTextPart
from rejoinder.ports.providers import (
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderCallResult,
    ProviderToolCall,
)
from rejoinder.ports.tools import Tool
from rejoinder.translate import Translation
from rejoinder.wire import json
from tests.engine.stage import asynchronous, calls, stage, texts

WHEN = datetime(2026, 5, 4, tzinfo=UTC)


class Whole(Struct):
    """An adapter of the conversation core that answers as a whole."""

    answers: list[ProviderCallResult]
    asked: list[ProviderCallParams] = field(default_factory=list[ProviderCallParams])

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        self.asked.append(params)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def said(text: str, *wanted: ProviderToolCall, id: str = "answer-1") -> ProviderCallResult:
    message = ProviderMessage(role="assistant", content=(ProviderTextPart(text=text),) if text else ())
    usage = Usage(input_tokens=3, output_tokens=2)
    return ProviderCallResult(id=id, created_at=WHEN, message=message, tool_calls=wanted or None, usage=usage)


@asynchronous
async def test_an_adapter_that_only_completes_answers_a_turn() -> None:
    async with stage() as on:
        adapter = Whole([said("Hello you")])
        params = ProviderCallParams(metadata=ProviderCallMetadata(provider="mine", model="small"))
        turn = await on.run(ModelAgent(adapter, params=params, instructions="Be kind.", max_tokens=7))
        assert turn.status == "succeeded"
        assert texts(await on.answer()) == ["Hello you"]
        (asked,) = adapter.asked
        assert [(message.role, message.text) for message in asked.messages] == [
            ("system", "Be kind."),
            ("user", "Hello"),
        ]
        assert asked.max_tokens == 7
        assert asked.agent_context is not None
        assert asked.agent_context.run_id == "chat:turn"
        assert asked.metadata.extensions is not None
        assert asked.metadata.extensions["ai.model"] == "small"
        (call,) = await on.store.list_provider_calls("turn")
        assert (call.id, call.provider, call.model, call.status) == ("answer-1", "mine", "small", "succeeded")
        assert call.usage == Usage(input_tokens=3, output_tokens=2)
        assert call.extensions is not None
        assert call.extensions["ai.provider"] == "mine"


@asynchronous
async def test_a_call_of_a_tool_that_nobody_here_runs_waits_for_the_client() -> None:
    async with stage() as on:
        wanted = ProviderToolCall(id="c1", name="locate", arguments={"precise": True})
        turn = await on.run(ModelAgent(Whole([said("", wanted)]), tools=[Tool(name="locate")]))
        assert turn.status == "waiting"
        (call,) = calls(await on.answer())
        assert (call.name, call.state, call.input) == ("locate", "input-available", {"precise": True})


@asynchronous
async def test_a_replay_needs_no_model() -> None:
    async with stage() as on:
        agent = ModelAgent(Whole([said("Hello you")]))
        await on.run(agent)
        translation = Translation(agent.translate, message_id="answer of turn")
        chunks = [*translation.begin()]
        for event in await on.events():
            chunks += translation.event(json.decode(event))
        assert [*chunks, *translation.end()] == await on.journal()


@asynchronous
async def test_a_provider_that_raises_fails_its_turn_and_the_call_is_on_record() -> None:
    class Broken:
        async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
            raise ConnectionError("no route")

    async with stage() as on:
        turn = await on.run(ModelAgent(Broken()))
        assert turn.status == "failed"
        (call,) = await on.store.list_provider_calls("turn")
        assert call.status == "failed"
