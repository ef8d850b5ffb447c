"""What is recorded of a turn: its ending, what it waits for, what its agent remembers, calls of models and costs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from decimal import Decimal

import pytest
from msgspec import structs

from rejoinder.engine.accounts import Price
from rejoinder.messages import Cost, Json, ProviderCall, TurnError, Usage
from rejoinder.ports.agents import Agent, AgentError, Call
from rejoinder.ports.history import HistoryBuildRequest, HistoryBuildResult
from rejoinder.testing.scripted import scripted
from rejoinder.translate import CallEnded, CallStarted, Emitter, Failed, Finished, Note, Remember
from rejoinder.wire.chunks import (
    Chunk,
    Error,
    Start,
    ToolApprovalRequest,
    ToolInputAvailable,
)
from tests.engine.stage import asynchronous, calls, spoken, stage, texts


def _always(cost: Cost) -> Price:
    def price(call: ProviderCall) -> Cost:
        return cost

    return price


def _by_model(costs: dict[str, Cost]) -> Price:
    def price(call: ProviderCall) -> Cost | None:
        return costs.get(call.model)

    return price


@pytest.mark.parametrize(
    ("note", "status"),
    [
        (Failed(error=TurnError(message="no", code="x"), error_text="No."), "failed"),
        (Finished(reason="stop"), "succeeded"),
        (Finished(reason="error"), "failed"),
    ],
)
@asynchronous
async def test_the_turn_ends_as_the_agent_says(note: Note, status: str) -> None:
    async with stage() as on:
        assert (await on.run(spoken("text", note))).status == status


@pytest.mark.parametrize(
    "open_call",
    [
        [ToolInputAvailable(tool_call_id="c", tool_name="t", input=1)],
        [
            ToolInputAvailable(tool_call_id="c", tool_name="t", input=1),
            ToolApprovalRequest(approval_id="a", tool_call_id="c"),
        ],
    ],
)
@asynchronous
async def test_a_turn_with_an_open_call_waits_and_the_next_one_goes_on_with_its_message(
    open_call: list[Chunk],
) -> None:
    async with stage() as on:
        turn = await on.run(scripted(*open_call))
        assert turn.status == "waiting"
        assert await on.store.live_turn("chat") is None
        message = await on.answer()
        answered = structs.replace(
            message,
            parts=(structs.replace(calls(message)[0], state="output-available", output=7, approval=None),),
        )
        begun = await on.begin("second", messages=(), continues=answered, assistant_message_id=message.id)
        seen: list[Call] = []

        async def look(call: Call) -> None:
            seen.append(call)

        turn = await on.run(scripted(look, "Seven."), begun)
        assert turn.status == "succeeded"
        assert seen[0].continues is not None
        assert calls(seen[0].continues)[0].output == 7
        assert [message.role for message in seen[0].history] == ["user"]
        message = await on.answer()
        assert calls(message)[0].output == 7
        assert texts(message) == ["Seven."]
        said = await on.journal("second")
        assert said[0] == Start(message_id=message.id)


@asynchronous
async def test_an_agent_is_told_what_it_wanted_to_remember_on_this_branch() -> None:
    async with stage() as on:
        told: list[Json] = []

        async def look(call: Call) -> None:
            told.append(call.memory)

        async def run(call: Call) -> AsyncIterator[Json]:
            told.append(call.memory)
            yield {"session": len(told)}

        def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
            say.note(Remember(memory=event))
            return ()

        agent = Agent("remembering", run, translate)
        await on.run(agent, await on.begin("one", agent="remembering"))
        await on.run(agent, await on.begin("two", agent="remembering"))
        await on.run(agent, await on.begin("three", agent="remembering", after="answer of one"))
        await on.run(scripted(look, name="other"), await on.begin("four", agent="other"))
        assert told == [None, {"session": 1}, {"session": 1}, None]


@asynchronous
async def test_calls_of_models_are_recorded_with_times_and_sums_however_the_turn_ends() -> None:
    notes: list[Json] = [
        CallStarted(id="one", provider="p", model="m", extensions={"ai.model": "m"}),
        "text",
        CallEnded(id="one", usage=Usage(input_tokens=1, output_tokens=2)),
        CallStarted(id="one", provider="p", model="m"),
        CallEnded(id="one", usage=Usage(input_tokens=10)),
        CallEnded(id="unannounced", model="n"),
        CallStarted(id="open", provider="p", model="m"),
        Failed(error=TurnError(message="broke")),
    ]
    async with stage() as on:
        priced = Cost(amount=Decimal("0.5"))
        turn = await on.run(spoken(*notes), price=_always(priced))
        recorded = await on.store.list_provider_calls("turn")
        assert [call.id for call in recorded] == ["one", "one:1", "unannounced", "open"]
        assert [call.status for call in recorded] == ["succeeded", "succeeded", "succeeded", "failed"]
        assert recorded[0].first_token_at is not None
        assert recorded[1].first_token_at is None
        assert recorded[0].extensions == {"ai.model": "m"}
        assert turn.usage == Usage(input_tokens=11, output_tokens=2)
        assert turn.cost == Cost(amount=Decimal("1.0"))
        assert all(call.finished_at is not None for call in recorded)


@asynchronous
async def test_a_cost_that_is_unknown_in_part_is_unknown() -> None:
    usage = Usage(input_tokens=1)
    async with stage() as on:
        prices = {"known": Cost(amount=Decimal(1))}
        turn = await on.run(
            spoken(CallEnded(id="1", model="known", usage=usage), CallEnded(id="2", model="x", usage=usage)),
            price=_by_model(prices),
        )
        assert turn.cost is None


@asynchronous
async def test_a_history_that_cannot_be_built_fails_the_turn() -> None:
    class Broken:
        async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
            raise AgentError("too little budget", user_text="Too long.")

    async with stage() as on:
        on.history = Broken()
        turn = await on.run(scripted("unsaid"))
        assert turn.status == "failed"
        assert Error(error_text="Too long.") in await on.journal()
