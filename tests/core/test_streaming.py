"""Turns that stream: what is told, to whom, and that they end whether or not anybody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from types import SimpleNamespace

import pytest

from rejoinder.core import (
    ConversationMessage,
    HistoryBuildRequest,
    HistoryBuildResult,
    InMemoryConversationStore,
    NoSuchConversation,
    ProviderCallParams,
    ProviderMessage,
    ProviderTextPart,
    StreamingTurnCompleted,
    StreamingTurnDelta,
    StreamingTurnToolCall,
    TextContentPart,
    ToolCallContentPart,
    TurnInput,
    TurnOutput,
    aggregate,
)
from rejoinder.messages import Json, Text
from rejoinder.ports.agents import AgentError
from tests.core.stage import (
    PARAMS,
    Streaming,
    Whole,
    asking,
    called,
    delta,
    done,
    engine,
    over,
    said,
    texts,
    user,
)
from tests.engine.stage import asynchronous


def hello() -> Streaming:
    return Streaming(delta("Hel"), delta("lo "), delta("you"), done(said("Hello you")))


@asynchronous
async def test_deltas_bring_what_is_new_and_together_they_are_the_answer() -> None:
    on = await engine()
    turn = await on.run_streaming_turn(asking(hello(), user("m1", "Hi")))
    events = [event async for event in turn]
    deltas = [event.delta for event in events if isinstance(event, StreamingTurnDelta)]
    assert "".join(texts(tuple(deltas))) == "Hello you"
    last = events[-1]
    assert isinstance(last, StreamingTurnCompleted)
    assert (last.type, deltas[0].role, deltas[0].conversation_id) == ("completed", "assistant", "c")
    whole = aggregate(deltas)
    assert whole is not None
    (answer,) = last.output.assistant_messages
    assert (whole.id, whole.content) == (answer.id, answer.content)
    assert await turn.final == last.output
    assert last.output.turn.status == "succeeded"


@asynchronous
async def test_a_call_of_a_tool_is_told_once_with_its_id() -> None:
    on = await engine()
    provider = Streaming(delta("Let me see."), called("k", "look"), done(said("Let me see.")))
    turn = await on.run_streaming_turn(asking(provider, user("m1", "Weather?")))
    calls = [event.tool_call async for event in turn if isinstance(event, StreamingTurnToolCall)]
    assert calls == [ToolCallContentPart(name="look", arguments={"q": 1}, tool_call_id="k")]
    assert (await turn.final).turn.status == "waiting"


@asynchronous
async def test_a_turn_that_nobody_reads_ends_and_is_stored() -> None:
    on = await engine()
    async with on:
        await on.run_streaming_turn(asking(hello(), user("m1", "Hi")))
    (turn,) = await on.store.list_turns("c")
    assert turn.status == "succeeded"
    assert turn.usage is not None
    assert len(await on.store.list_messages("c")) == 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


@asynchronous
async def test_a_reader_that_leaves_ends_nothing_but_its_own_reading() -> None:
    on = await engine()
    turn = await on.run_streaming_turn(asking(hello(), user("m1", "Hi")))
    async for _ in turn:
        break
    reader = asyncio.ensure_future(_first(turn.final))
    await asyncio.sleep(0)
    reader.cancel()
    output = await turn.final
    assert texts(output.assistant_messages) == ["Hello you"]


async def _first(final: Awaitable[TurnOutput]) -> TurnOutput:
    return await final


@asynchronous
async def test_every_reader_hears_the_turn_from_its_beginning() -> None:
    on = await engine()
    turn = await on.run_streaming_turn(asking(hello(), user("m1", "Hi")))
    await turn.final
    first, second = [event async for event in turn], [event async for event in turn]
    assert first == second
    assert len(first) > 1


@asynchronous
async def test_a_provider_that_breaks_off_fails_the_turn_and_keeps_what_it_said() -> None:
    on = await engine()
    provider = Streaming(delta("so far"), ConnectionError("cut"))
    turn = await on.run_streaming_turn(asking(provider, user("m1", "Hi")))
    heard: list[ConversationMessage] = []

    async def listen() -> None:
        async for event in turn:
            assert isinstance(event, StreamingTurnDelta)
            heard.append(event.delta)

    with pytest.raises(ConnectionError, match="cut"):
        await listen()
    with pytest.raises(ConnectionError, match="cut"):
        await turn.final
    assert texts(tuple(heard)) == ["so far"]
    (recorded,) = await on.store.list_turns("c")
    assert recorded.status == "failed"
    answer = (await on.store.list_messages("c"))[-1].message
    assert answer.status == "failed"
    assert [part.text for part in answer.parts if isinstance(part, Text)] == ["so far"]
    assert [call.status for call in await on.store.list_provider_calls(recorded.id)] == ["failed"]


@asynchronous
async def test_a_stop_keeps_what_was_said_and_says_cancelled() -> None:
    on = await engine()
    asked = asyncio.Event()

    async def forever() -> None:
        asked.set()
        await asyncio.Event().wait()

    turn = await on.run_streaming_turn(asking(Whole(forever), user("m1", "Hi")))
    await asked.wait()
    turn.stop("enough")
    output = await turn.final
    assert output.turn.status == "cancelled"
    assert [call.status for call in output.turn.provider_calls] == ["cancelled"]
    assert await on.store.live_turn("c") is None


@asynchronous
async def test_a_stop_from_elsewhere_reaches_the_turn() -> None:
    on = await engine()
    turn = await on.run_streaming_turn(asking(hello(), user("m1", "Hi")))
    assert turn.turn_id is not None
    await on.store.request_stop(turn.turn_id)
    output = await turn.final
    assert output.turn.status in {"cancelled", "succeeded"}


@asynchronous
async def test_what_cannot_begin_is_raised_where_one_asked_for_it() -> None:
    with pytest.raises(NoSuchConversation):
        await over(InMemoryConversationStore()).run_streaming_turn(asking(hello(), user("m1", "Hi")))
    assert asyncio.all_tasks() == {asyncio.current_task()}


@asynchronous
async def test_an_adapter_that_only_completes_streams_one_delta() -> None:
    on = await engine()
    turn = await on.run_streaming_turn(asking(Whole(said("All at once")), user("m1", "Hi")))
    deltas = [event.delta async for event in turn if isinstance(event, StreamingTurnDelta)]
    assert [message.content for message in deltas] == [(TextContentPart(text="All at once"),)]


@asynchronous
async def test_a_hundred_turns_at_once_do_not_mix() -> None:
    store = InMemoryConversationStore()
    on = over(store, create_if_missing=True)

    async def one(number: int) -> list[str]:
        provider = Streaming(*(delta(f"{number}.{n} ") for n in range(5)), done(said("x")))
        turn = await on.run_streaming_turn(
            TurnInput(
                conversation_id=f"c{number}",
                user_messages=[user("m", "Hi", conversation_id=f"c{number}")],
                provider=provider,
                provider_params=PARAMS,
            )
        )
        return texts((await turn.final).assistant_messages)

    answers = await asyncio.gather(*(one(number) for number in range(100)))
    assert answers == [["".join(f"{number}.{n} " for n in range(5))] for number in range(100)]


@asynchronous
async def test_events_of_an_adapter_are_what_has_their_fields() -> None:
    hello = ProviderMessage(role="assistant", content=(ProviderTextPart(text="Hello"),))

    class Generated(Whole):
        async def complete_stream(self, params: ProviderCallParams) -> AsyncIterator[Json]:
            yield {"type": "delta", "delta": hello}
            yield SimpleNamespace(type="done", result=said("Hello"))

    class Odd(Whole):
        async def complete_stream(self, params: ProviderCallParams) -> AsyncIterator[Json]:
            yield {"type": "else"}

    on = await engine()
    turn = await on.run_streaming_turn(asking(Generated(), user("m1", "Hi")))
    assert texts((await turn.final).assistant_messages) == ["Hello"]
    turn = await on.run_streaming_turn(asking(Odd(), user("m2", "Hi")))
    with pytest.raises(AgentError, match="'else'"):
        await turn.final


@asynchronous
async def test_a_builder_may_show_what_the_store_gives_it() -> None:
    class Everything:
        async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
            stored = await req.store.list_messages(req.conversation.id)
            return HistoryBuildResult(messages=[*stored, *req.new_user_messages], truncated=False)

    on = await engine(history_builder=Everything())
    provider = Whole(said("one"), said("two", id="call-2"))
    await on.run_turn(asking(provider, user("m1", "first")))
    await on.run_turn(asking(provider, user("m2", "second")))
    assert [message.text for message in provider.asked[1].messages] == ["first", "one", "second"]
