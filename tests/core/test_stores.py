"""The stores take and give messages as the specification has them, and the engine runs on each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rejoinder.core import (
    ConversationMessage,
    ConversationStore,
    InMemoryConversationStore,
    RecentNTurnsHistoryBuilder,
    StreamingTurnDelta,
    TextContentPart,
    ToolCallContentPart,
    ToolResultContentPart,
)
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.core.stage import WHEN, Streaming, Whole, asking, delta, done, over, result, said, texts, user
from tests.stores.databases import Databases

Walk = Callable[[ConversationStore], Awaitable[None]]
Opened = Callable[[Walk], None]


@pytest.fixture(params=["memory", "postgres"])
def on(request: pytest.FixtureRequest) -> Opened:
    """Does something with an empty store of each kind."""

    async def walk_with(walk: Walk) -> None:
        store: ConversationStore
        if request.param == "memory":
            store = InMemoryConversationStore()
        else:
            databases: Databases = request.getfixturevalue("postgres")
            store = PostgresConversationStore(databases.fresh())
        await store.open()
        try:
            await walk(store)
        finally:
            await store.close()

    return lambda walk: asyncio.run(walk_with(walk))


def test_messages_of_the_specification_are_stored_and_read(on: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        await store.create_conversation(id="c")
        call = ToolCallContentPart(name="look", arguments={"q": 1}, tool_call_id="k")
        asked = ConversationMessage(
            id="a1", conversation_id="c", role="assistant", created_at=WHEN, content=(call,)
        )
        await store.append_messages([user("m1", "Hi"), asked])
        await store.append_messages("c", [user("m2", "And?")])
        first, second, third = await store.list_messages("c")
        assert (first.id, first.role, first.created_at) == ("m1", "user", WHEN)
        assert first.content == (TextContentPart(text="Hi"),)
        assert second.content == (call,)
        assert third.id == "m2"
        with pytest.raises(ValueError, match="one conversation"):
            await store.append_messages([user("x", "x"), user("y", "y", conversation_id="d")])
        with pytest.raises(ValueError, match="one conversation"):
            await store.append_messages([])

    on(walk)


def test_results_that_stand_for_themselves_are_shown_with_their_calls(on: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        await store.create_conversation(id="c")
        call = ToolCallContentPart(name="look", arguments={"q": 1}, tool_call_id="k")
        asked = ConversationMessage(
            id="a1", conversation_id="c", role="assistant", created_at=WHEN, content=(call,)
        )
        await store.append_messages([user("m1", "Hi"), asked, result("r1", "look", {"rain": True}, "k")])
        model = Whole(said("Fine."))
        engine = over(store, history_builder=RecentNTurnsHistoryBuilder(max_turns=2))
        output = await engine.run_turn(asking(model, user("m2", "Well?")))
        assert texts(output.assistant_messages) == ["Fine."]
        assert [message.role for message in model.asked[0].messages] == ["user", "assistant", "tool", "user"]
        stored = await store.get_message("c", "r1")
        assert stored is not None
        assert stored.content == (
            ToolResultContentPart(name="look", result={"rain": True}, tool_call_id="k"),
        )

    on(walk)


def test_the_engine_runs_on_every_store(on: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        await store.create_conversation(id="c")
        engine = over(store)
        await engine.run_turn(asking(Whole(said("one")), user("m1", "first")))
        provider = Streaming(delta("tw"), delta("o"), done(said("two", id="call-2")))
        turn = await engine.run_streaming_turn(asking(provider, user("m2", "second")))
        heard = [event.delta async for event in turn if isinstance(event, StreamingTurnDelta)]
        assert "".join(texts(tuple(heard))) == "two"
        assert [message.text for message in provider.asked[0].messages] == ["first", "one", "second"]
        spent = await engine.spent("c")
        assert (spent.turns, spent.usage.input_tokens, spent.unpriced_turns) == (2, 20, 0)
        with pytest.raises(ConnectionError):
            await engine.run_turn(asking(Whole(ConnectionError("no route")), user("m3", "third")))
        assert [turn.status for turn in await store.list_turns("c")] == ["succeeded", "succeeded", "failed"]

        patience = asyncio.timeout(None)

        async def forever() -> None:
            patience.reschedule(0)
            await asyncio.Event().wait()

        with pytest.raises(TimeoutError):
            async with patience:
                await engine.run_turn(asking(Whole(forever), user("m4", "fourth")))
        (*_, last) = await store.list_turns("c")
        assert last.status == "cancelled"
        assert [call.status for call in await store.list_provider_calls(last.id)] == ["cancelled"]
        assert await store.live_turn("c") is None

    on(walk)
