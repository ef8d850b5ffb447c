"""Cancelled at any await, of the caller or of the engine: no claim and no task is left, and nothing said is lost."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine

import pytest

from rejoinder.core import ConversationStore, InMemoryConversationStore, ProviderToolCall, TurnInput
from rejoinder.engine.telling import TurnTold
from rejoinder.messages import Json, Text, Turn
from tests.core.stage import PARAMS, Streaming, Whole, delta, done, over, said, user
from tests.engine.stage import Interrupted, asynchronous
from tests.scale import scale

OVER = {"cancelled", "interrupted", "succeeded"}


class Remote:
    """A store that one has to wait for, as for a database: before it does something, and after."""

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Json:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def waited_for(*given: Json, **named: Json) -> Json:
            await asyncio.sleep(0)
            answer = await found(*given, **named)
            await asyncio.sleep(0)
            return answer

        return waited_for


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def tools() -> TurnInput:
    wanted = ProviderToolCall(id="k", name="double", arguments={"n": 21})
    provider = Whole(said("so far", wanted), said("It is 42.", id="call-2"))
    return TurnInput(
        conversation_id="c",
        user_messages=[user("m1", "Hi")],
        provider=provider,
        provider_params=PARAMS,
        tools=[double],
    )


def streamed() -> TurnInput:
    provider = Streaming(delta("so far"), delta(", so good"), done(said("so far, so good")))
    return TurnInput(
        conversation_id="c", user_messages=[user("m1", "Hi")], provider=provider, provider_params=PARAMS
    )


async def left(store: ConversationStore) -> Turn | None:
    """What is left of the one turn, once nothing runs any more."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not others
    assert await store.live_turn("c") is None
    turns = await store.list_turns("c")
    if not turns:
        return None
    assert turns[0].status in OVER
    calls = await store.list_provider_calls(turns[0].id)
    assert all(call.status in {*OVER} for call in calls)
    return turns[0]


@pytest.mark.parametrize("given", [tools, streamed])
@pytest.mark.parametrize("who", ["caller", "engine"])
@asynchronous
async def test_cancelled_at_any_await_a_turn_is_sealed_and_nothing_runs_on(
    given: Callable[[], TurnInput], who: str
) -> None:
    at, began = 0, 0
    while True:
        at += 1
        store = InMemoryConversationStore()
        await store.create_conversation(id="c")
        on = over(Remote(store))
        interrupted = Interrupted(at)
        walk: Coroutine[Json, Json, Json] = on.run_turn(given())
        if who == "engine":
            walk.close()
            walk = on.produce(given(), TurnTold("c"), stream=True)
        task = asyncio.create_task(interrupted.run(walk))
        await asyncio.wait({task})
        turn = await left(store)
        began += turn is not None
        if not interrupted.reached:
            assert task.exception() is None
            assert turn is not None
            assert turn.status == "succeeded"
            break
        if who == "caller":
            assert task.cancelled()
    assert began >= 1
    assert who == "caller" or at > 10


@pytest.mark.parametrize("given", [tools, streamed])
@asynchronous
async def test_cancelled_at_any_moment_a_turn_is_sealed_and_nothing_runs_on(
    given: Callable[[], TurnInput],
) -> None:
    for moment in range(scale(60, 400)):
        store = InMemoryConversationStore()
        await store.create_conversation(id="c")
        task = asyncio.create_task(over(Remote(store)).run_turn(given()))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await left(store)


@asynchronous
async def test_what_was_received_before_a_cancellation_is_kept() -> None:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    on = over(store)

    patience = asyncio.timeout(None)

    async def forever() -> None:
        patience.reschedule(0)
        await asyncio.Event().wait()

    wanted = ProviderToolCall(id="k", name="double", arguments={"n": 21})
    provider = Whole(said("so far", wanted), forever)
    input = TurnInput(
        conversation_id="c",
        user_messages=[user("m1", "Hi")],
        provider=provider,
        provider_params=PARAMS,
        tools=[double],
    )
    with pytest.raises(TimeoutError):
        async with patience:
            await on.run_turn(input)
    turn = await left(store)
    assert turn is not None
    assert turn.status == "cancelled"
    assert turn.usage is not None
    assert turn.usage.input_tokens == 10
    assert [call.status for call in await store.list_provider_calls(turn.id)] == ["succeeded", "cancelled"]
    answer = (await store.list_messages("c"))[-1].message
    assert answer.status == "cancelled"
    assert "so far" in [part.text for part in answer.parts if isinstance(part, Text)]


@asynchronous
async def test_a_caller_that_is_cancelled_twice_still_leaves_a_sealed_turn() -> None:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    on = over(Remote(store))
    asked = asyncio.Event()

    async def forever() -> None:
        asked.set()
        await asyncio.Event().wait()

    input = TurnInput(
        conversation_id="c",
        user_messages=[user("m1", "Hi")],
        provider=Whole(forever),
        provider_params=PARAMS,
    )
    task = asyncio.create_task(on.run_turn(input))
    await asked.wait()
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    turn = await left(store)
    assert turn is not None
    assert turn.status in {"cancelled", "interrupted"}
