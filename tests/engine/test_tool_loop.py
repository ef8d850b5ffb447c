"""Tools in the loop of a model: what they answer is stored, shown and told to the model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from rejoinder import ModelAgent, Tool, ToolContext, tool
from rejoinder.messages import JsonObject, StepStart
from rejoinder.ports.tools import NeedsApproval
from rejoinder.testing.scripted_model import Calls, ScriptedModel
from rejoinder.wire.chunks import Finish, ToolOutputAvailable
from tests.engine.stage import asynchronous, calls, stage, texts
from tests.engine.tool_stage import add, outcome, results


@asynchronous
async def test_a_model_hears_what_its_tools_answered_until_it_has_said_its_last_word() -> None:
    async with stage() as on:
        model = ScriptedModel(
            ["Let me add.", Calls("add", {"one": 1, "other": 2})],
            [Calls("add", {"one": 3, "other": 4}), Calls("add", {"one": 7, "other": 3})],
            "It is ten.",
        )
        turn = await on.run(ModelAgent(model, tools=[add]))
        assert turn.status == "succeeded"
        message = await on.answer()
        assert [(call.call_id, call.state, call.output) for call in calls(message)] == [
            ("call-1", "output-available", 3),
            ("call-2", "output-available", 7),
            ("call-3", "output-available", 10),
        ]
        assert texts(message) == ["Let me add.", "It is ten."]
        assert len([part for part in message.parts if isinstance(part, StepStart)]) == 3
        assert [result.result for result in results(model.asked[2])] == [3, 7, 10]
        assert model.asked[0].tools is not None
        (definition,) = model.asked[0].tools
        assert (definition.name, definition.description) == ("add", "Add two numbers.")
        recorded = await on.store.list_provider_calls("turn")
        assert [call.status for call in recorded] == ["succeeded"] * 3
        assert turn.usage is not None
        assert turn.usage.input_tokens == 30


@asynchronous
async def test_calls_of_one_answer_run_at_the_same_time() -> None:
    async with stage() as on:
        together = asyncio.Barrier(3)

        @tool
        async def meet(name: str) -> str:
            await together.wait()
            return f"met {name}"

        model = ScriptedModel([Calls("meet", {"name": name}) for name in "abc"], "All met.")
        await on.run(ModelAgent(model, tools=[meet]))
        assert [call.output for call in calls(await on.answer())] == ["met a", "met b", "met c"]


@asynchronous
async def test_many_calls_wait_for_each_other_and_all_are_made() -> None:
    async with stage() as on:
        running: list[int] = []
        most = 0

        @tool
        async def count(number: int) -> int:
            nonlocal most
            running.append(number)
            most = max(most, len(running))
            await asyncio.sleep(0)
            running.remove(number)
            return number

        model = ScriptedModel([Calls("count", {"number": number}) for number in range(50)], "Done.")
        await on.run(ModelAgent(model, tools=[count]))
        assert [call.output for call in calls(await on.answer())] == [*range(50)]
        assert 1 < most <= 16


@asynchronous
async def test_what_is_not_async_runs_in_one_thread_that_is_not_the_loops() -> None:
    async with stage() as on:
        threads: list[int] = []

        @tool
        def slow(context: ToolContext) -> Iterator[str]:
            threads.append(threading.get_ident())
            yield context.tool
            threads.append(threading.get_ident())
            yield context.call_id

        assert await outcome(on, slow) == ("output-available", "call-1")
        assert threads[0] == threads[1] != threading.get_ident()


@asynchronous
async def test_a_generator_shows_how_far_it_is_and_its_last_value_is_the_output() -> None:
    async with stage() as on:

        @tool
        async def climb(steps: int) -> AsyncIterator[dict[str, int]]:
            for step in range(steps):
                yield {"step": step}

        assert await outcome(on, climb, {"steps": 3}) == ("output-available", {"step": 2})
        shown = [chunk for chunk in await on.journal() if isinstance(chunk, ToolOutputAvailable)]
        assert [(chunk.output["step"], chunk.preliminary is True) for chunk in shown] == [
            (0, True),
            (1, True),
            (2, True),
            (2, False),
        ]


@asynchronous
async def test_a_generator_that_yields_nothing_answers_null() -> None:
    async with stage() as on:

        @tool
        def nothing() -> Iterator[int]:
            yield from ()

        assert await outcome(on, nothing) == ("output-available", None)


@asynchronous
async def test_a_tool_may_be_any_function_with_a_schema() -> None:
    async with stage() as on:

        def twice(given: JsonObject, context: ToolContext) -> int:
            return int(given["n"]) * 2

        schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
        double = Tool(name="double", schema=schema, run=twice)
        assert await outcome(on, double, {"n": 4}) == ("output-available", 8)
    async with stage() as on:
        state, error = await outcome(on, double, {"n": 10})
        assert state == "output-error"
        assert "input is not valid" in error


@asynchronous
async def test_a_model_is_told_what_the_tool_says_of_its_output_and_the_client_gets_all_of_it() -> None:
    async with stage() as on:

        @tool(to_model_output=lambda output: f"{len(output['rows'])} rows")
        def query() -> dict[str, list[int]]:
            return {"rows": [1, 2, 3]}

        model = ScriptedModel(Calls("query", {}), "Three.")
        await on.run(ModelAgent(model, tools=[query]))
        assert calls(await on.answer())[0].output == {"rows": [1, 2, 3]}
        assert results(model.asked[1])[0].result == "3 rows"


@asynchronous
async def test_a_loop_that_does_not_end_is_ended() -> None:
    async with stage() as on:
        model = ScriptedModel(lambda _: Calls("add", {"one": 1, "other": 1}))
        turn = await on.run(ModelAgent(model, tools=[add], max_steps=3))
        assert turn.status == "succeeded"
        assert len(model.asked) == 3
        said = await on.journal()
        # Clients that send by themselves once all calls are answered are told that the model had its say.
        assert said[-1] == Finish(finish_reason="tool-calls", message_metadata={})


@asynchronous
async def test_an_application_may_say_which_step_was_the_last() -> None:
    async with stage() as on:
        model = ScriptedModel(lambda _: Calls("add", {"one": 1, "other": 1}))
        agent = ModelAgent(model, tools=[add], stop_when=lambda step: step.number == 2)
        await on.run(agent)
        assert len(model.asked) == 2


@asynchronous
async def test_what_needs_nobody_runs_while_the_rest_waits_for_the_user_and_the_client() -> None:
    async with stage() as on:

        @tool(needs_approval=True)
        async def erase() -> str:
            return "erased"

        model = ScriptedModel(
            [
                Calls("add", {"one": 1, "other": 2}),
                Calls("erase", {}),
                Calls("locate", {}),
                Calls("nowhere", {}),
            ]
        )
        agent = ModelAgent(model, tools=[add, erase, Tool(name="locate")])
        turn = await on.run(agent)
        assert turn.status == "waiting"
        assert [(call.name, call.state) for call in calls(await on.answer())] == [
            ("add", "output-available"),
            ("erase", "approval-requested"),
            ("locate", "input-available"),
            ("nowhere", "output-error"),
        ]
        assert len(model.asked) == 1


def _fails(given: JsonObject) -> bool:
    raise KeyError("amount")


async def _no(given: JsonObject) -> bool:
    await asyncio.sleep(0)
    return int(given["amount"]) > 100


@pytest.mark.parametrize(("rule", "status"), [(_fails, "waiting"), (_no, "succeeded"), (False, "succeeded")])
@asynchronous
async def test_the_user_is_asked_where_the_rule_says_so_or_cannot_say(
    rule: NeedsApproval, status: str
) -> None:
    async with stage() as on:

        @tool(needs_approval=rule)
        async def pay(amount: int) -> int:
            return amount

        model = ScriptedModel(Calls("pay", {"amount": 5}), "Paid.")
        turn = await on.run(ModelAgent(model, tools=[pay]))
        assert turn.status == status


@asynchronous
async def test_a_call_with_an_invalid_input_is_refused_before_anybody_is_asked() -> None:
    async with stage() as on:

        @tool(needs_approval=True)
        async def pay(amount: int) -> int:
            return amount

        model = ScriptedModel(Calls("pay", {"amount": "much"}), "Sorry.")
        assert (await on.run(ModelAgent(model, tools=[pay]))).status == "succeeded"
        (call,) = calls(await on.answer())
        assert (call.state, call.approval) == ("output-error", None)
