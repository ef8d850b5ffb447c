"""The agent-runtime specification under its names: a model and a store make an agent that streams and keeps."""

from __future__ import annotations

import pytest

from rejoinder.core import InMemoryConversationStore, NoSuchConversation, StreamingTurnDelta
from rejoinder.core.runtime import Agent, MemoryStore
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Json, JsonObject
from tests.core.stage import PARAMS, Streaming, Whole, delta, done, said, texts
from tests.engine.stage import asynchronous


def canonical(id: str, text: str, **more: Json) -> JsonObject:
    return {
        "id": id,
        "threadId": "t",
        "role": "user",
        "type": "text",
        "content": {"format": 2, "parts": [{"type": "text", "text": text}]},
        **more,
    }


@asynchronous
async def test_an_agent_streams_and_keeps_what_it_streamed() -> None:
    store = InMemoryConversationStore()
    memory = MemoryStore(store)
    await memory.save_thread(thread={"id": "t", "title": "Rome", "resourceId": "ada"})
    model = Streaming(delta("Hel"), delta("lo"), done(said("Hello")))
    agent = Agent(model=model, store=store, params=PARAMS)
    turn = await agent.stream(thread_id="t", messages=[canonical("m1", "Hi")])
    heard = [event.delta async for event in turn if isinstance(event, StreamingTurnDelta)]
    assert "".join(texts(tuple(heard))) == "Hello"
    asked, answered = await memory.list_messages(thread_id="t")
    assert asked["content"]["parts"] == [{"type": "text", "text": "Hi"}]
    assert (answered["role"], answered["threadId"], answered["resourceId"]) == ("assistant", "t", "ada")
    assert answered["content"]["content"] == "Hello"
    assert answered["content"]["format"] == 2


@asynchronous
async def test_an_agent_goes_on_with_what_its_thread_ends_with() -> None:
    store = InMemoryConversationStore()
    memory = MemoryStore(store)
    await memory.save_thread(thread={"id": "t"})
    await memory.save_messages(messages=[canonical("m1", "Hi")])
    model = Whole(said("Hello"), said("Fine", id="call-2"))
    agent = Agent(model=model, store=memory, params=PARAMS)
    await (await agent.stream(thread_id="t")).final
    await (await agent.stream(thread_id="t", messages="How are you?")).final
    assert [message.text for message in model.asked[1].messages] == ["Hi", "Hello", "How are you?"]
    with pytest.raises(NoSuchConversation):
        await agent.stream(thread_id="nobody", messages="Hi")


@asynchronous
async def test_threads_and_messages_are_saved_anew_in_place_and_never_move() -> None:
    memory = MemoryStore(InMemoryConversationStore())
    assert await memory.get_thread_by_id(thread_id="t") is None
    await memory.save_thread(thread={"id": "t", "title": "one", "metadata": {"n": 1}, "resourceId": "ada"})
    await memory.save_thread(thread={"id": "u"})
    thread = await memory.get_thread_by_id(thread_id="t")
    assert thread is not None
    assert (thread["title"], thread["metadata"], thread["resourceId"]) == ("one", {"n": 1}, "ada")
    await memory.save_thread(thread={"id": "t", "title": "two"})
    thread = await memory.get_thread_by_id(thread_id="t")
    assert thread is not None
    assert (thread["title"], thread["metadata"]) == ("two", {})
    await memory.save_messages(messages=[canonical(f"m{n}", str(n)) for n in range(3)])
    await memory.save_messages(messages=[canonical("m0", "again"), canonical("m1", "there", threadId="u")])
    listed = await memory.list_messages(thread_id="t")
    assert [message["content"]["content"] for message in listed] == ["again", "1", "2"]
    newest = await memory.list_messages(thread_id="t", limit=2, order_by="desc")
    assert [message["id"] for message in newest] == ["m2", "m1"]
    assert [message["id"] for message in await memory.list_messages(thread_id="u")] == ["m1"]


@pytest.mark.parametrize(
    "wrong", [{"id": "m"}, canonical("m", "x", role="king"), canonical("m", "x", threadId=1)]
)
@asynchronous
async def test_what_is_no_canonical_message_is_refused(wrong: JsonObject) -> None:
    memory = MemoryStore(InMemoryConversationStore())
    await memory.save_thread(thread={"id": "t"})
    with pytest.raises(InvalidMessage):
        await memory.save_messages(messages=[canonical("ok", "x"), wrong])
    assert await memory.list_messages(thread_id="t") == []
    with pytest.raises(InvalidMessage):
        await memory.save_thread(thread={"id": 1})
