"""Tools that go wrong: the model, the user and the record hear of it, and the conversation goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from msgspec import Struct

from rejoinder import ModelAgent, Tool, ToolError, tool
from rejoinder.messages import Json
from rejoinder.testing.scripted_model import Calls, ScriptedModel
from tests.engine.stage import asynchronous, calls, stage
from tests.engine.tool_stage import add, failures, outcome

TWENTY_MB: Final = 20 * 1024 * 1024


class Broken(Struct):
    what: Any


def raising(error: Exception) -> Tool:
    @tool
    async def fail() -> None:
        raise error

    return fail


def answering(value: Any) -> Tool:
    @tool
    def answer() -> Any:
        return value() if callable(value) else value

    return answer


def _circle() -> Json:
    circle: list[Json] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("given", "input", "code", "words"),
    [
        (add, {"one": "1", "other": 2}, "invalid-input", "Expected `int`, got `str` - at `$.one`"),
        (add, {"one": 1}, "invalid-input", "missing required field `other`"),
        (add, [1, 2], "invalid-input", "Expected `object`"),
        (raising(ValueError("a secret")), {}, "failed", "The tool failed."),
        (raising(ToolError("There is no such city.")), {}, "failed", "There is no such city."),
        (raising(StopAsyncIteration()), {}, "failed", "The tool failed."),
        (answering(lambda: next(iter(()))), {}, "failed", "The tool failed."),
        (answering(lambda: "x" * TWENTY_MB), {}, "output-too-large", "20,971,522 bytes"),
        (answering(object()), {}, "invalid-output", "JSON cannot hold"),
        (answering({1: {"a": object()}}), {}, "invalid-output", "JSON cannot hold"),
        (answering(_circle()), {}, "invalid-output", "JSON cannot hold"),
        (answering(Broken(threading.Lock())), {}, "invalid-output", "JSON cannot hold"),
    ],
)
@asynchronous
async def test_a_tool_that_goes_wrong_tells_the_model_and_the_turn_goes_on(
    given: Tool, input: Json, code: str, words: str
) -> None:
    async with stage() as on:
        state, error = await outcome(on, given, input)
        assert state == "output-error"
        assert words in error
        assert "secret" not in error
        (failed,) = await failures(on)
        assert failed.code == code
        # And the conversation goes on.
        again = await on.begin("second")
        assert (await on.run(ModelAgent(ScriptedModel("Fine."), tools=[given]), again)).status == "succeeded"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", {"__proto__": 1}, b"\x00\xff", {1, 2}]
)
@asynchronous
async def test_what_json_can_hold_somehow_is_shown_as_a_reader_of_the_log_will_see_it(value: Any) -> None:
    async with stage() as on:
        state, _ = await outcome(on, answering(value))
        assert state == "output-available"


@asynchronous
async def test_a_tool_that_nobody_offered_is_refused_and_the_model_hears_which_there_are() -> None:
    async with stage() as on:
        model = ScriptedModel([Calls("rm", {"path": "x"}), Calls("add", {"one": 1, "other": 1})], "Sorry.")
        turn = await on.run(ModelAgent(model, tools=[add]))
        assert turn.status == "succeeded"
        refused, made = calls(await on.answer())
        assert (refused.state, refused.error_text) == (
            "output-error",
            "There is no tool of this name. There are: add.",
        )
        assert made.output == 2
        (failed,) = await failures(on)
        assert failed.code == "unknown-tool"


@asynchronous
async def test_calls_with_the_same_id_are_two_calls() -> None:
    async with stage() as on:
        model = ScriptedModel(
            [Calls("add", {"one": 1, "other": 1}, id="same")],
            [Calls("add", {"one": 2, "other": 2}, id="same")],
            "Done.",
        )
        await on.run(ModelAgent(model, tools=[add]))
        assert [(call.call_id, call.output) for call in calls(await on.answer())] == [
            ("same", 2),
            ("same-2", 4),
        ]


@pytest.mark.parametrize("swallows", [0, 1, 100])
@asynchronous
async def test_a_tool_that_never_returns_is_given_up_and_nobody_says_what_came_of_it(swallows: int) -> None:
    async with stage() as on:
        never = asyncio.Event()

        @tool(timeout_seconds=0.01)
        async def hang() -> None:
            for _ in range(swallows):
                try:
                    await never.wait()
                except asyncio.CancelledError:
                    continue
            await never.wait()

        state, error = await outcome(on, hang)
        assert state == "output-error"
        assert "did not answer within 0.01 seconds: whether it took effect is not known" in error
        (failed,) = await failures(on)
        assert failed.code == "timed-out"
        never.set()


@asynchronous
async def test_a_thread_that_never_returns_is_left_to_itself() -> None:
    async with stage() as on:
        never = threading.Event()

        @tool(timeout_seconds=0.01)
        def hang() -> None:
            never.wait()

        state, error = await outcome(on, hang)
        assert state == "output-error"
        assert "did not answer" in error
        never.set()


@asynchronous
async def test_a_generator_that_never_ends_has_the_time_of_the_tool_for_all_of_it() -> None:
    async with stage() as on:
        closed = asyncio.Event()

        @tool(timeout_seconds=0.05)
        async def count() -> AsyncIterator[int]:
            try:
                number = 0
                while True:
                    yield number
                    number += 1
                    await asyncio.sleep(0.01)
            finally:
                closed.set()

        state, _ = await outcome(on, count)
        assert state == "output-error"
        await closed.wait()
