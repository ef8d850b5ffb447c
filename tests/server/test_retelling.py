"""A turn told again by its translator: the same, unless the translator has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest

from rejoinder import Agent, Chat, Emitter
from rejoinder.messages import Json
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.wire.chunks import Chunk
from tests.server.serving import chatting
from tests.web.actor import ACTOR, SCRIPTS


@pytest.fixture(scope="module")
def store() -> InMemoryConversationStore:
    return InMemoryConversationStore()


@pytest.fixture(scope="module")
def api(store: InMemoryConversationStore) -> Iterator[str]:
    with chatting(Chat(ACTOR, store=store)) as address:
        yield address


def said(api: str, chat: str, message: dict[str, Any]) -> list[dict[str, Any]]:
    """Send a message, and give the turns of the conversation."""
    httpx.post(f"{api}/chat", json={"id": chat, "messages": [message]}).raise_for_status()
    turns: list[dict[str, Any]] = httpx.get(f"{api}/chat/{chat}/turns").json()["turns"]
    return turns


def user(text: str) -> dict[str, Any]:
    return {"id": "question", "role": "user", "parts": [{"type": "text", "text": text}]}


def stored(api: str, chat: str) -> dict[str, Any]:
    message: dict[str, Any] = httpx.get(f"{api}/chat/{chat}").json()["messages"][-1]
    return message


def retold(api: str, chat: str, turn: str) -> dict[str, Any]:
    answer = httpx.get(f"{api}/chat/{chat}/turns/{turn}/retold")
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.parametrize("prompt", ["hello", "fail now", *SCRIPTS])
def test_a_turn_told_again_says_what_it_said(api: str, prompt: str) -> None:
    chat = "again-" + "-".join(prompt.split())
    (turn,) = said(api, chat, user(prompt))
    again = retold(api, chat, turn["id"])
    frames = httpx.get(f"{api}/chat/{chat}/turns/{turn['id']}/frames").json()["frames"]
    assert [frame["chunk"] for frame in again["frames"]] == [frame["chunk"] for frame in frames]
    assert again["same"] is True
    assert again["message"] == stored(api, chat)


def test_a_turn_that_was_stopped_is_told_to_where_it_was_stopped(api: str) -> None:
    with httpx.stream("POST", f"{api}/chat", json={"id": "stopped", "messages": [user("wait")]}) as answer:
        for line in answer.iter_lines():
            if "Waiting" in line:
                httpx.post(f"{api}/chat/stopped/stop").raise_for_status()
    (turn,) = httpx.get(f"{api}/chat/stopped/turns").json()["turns"]
    assert turn["status"] == "cancelled"
    assert retold(api, "stopped", turn["id"])["same"] is True


@pytest.mark.parametrize("approved", [True, False])
def test_a_turn_that_went_on_with_an_approval_is_told_from_there(api: str, *, approved: bool) -> None:
    chat = f"approved-{approved}"
    said(api, chat, user("delete it"))
    message = stored(api, chat)
    call = message["parts"][-1]
    call |= {"state": "approval-responded", "approval": {"id": call["approval"]["id"], "approved": approved}}
    first, second = said(api, chat, message)
    assert retold(api, chat, first["id"])["same"] is True
    again = retold(api, chat, second["id"])
    assert (again["same"], again["problems"]) == (True, [])
    assert again["message"] == stored(api, chat)


def test_a_turn_that_went_on_with_a_clients_answer_is_told_from_there(api: str) -> None:
    said(api, "answered", user("where am i"))
    message = stored(api, "answered")
    message["parts"][-1] |= {"state": "output-available", "output": "Oslo"}
    second = said(api, "answered", message)[-1]
    again = retold(api, "answered", second["id"])
    assert again["same"] is True
    assert again["message"] == stored(api, "answered")


def test_another_translator_tells_it_another_way_and_the_record_stays(
    api: str, store: InMemoryConversationStore
) -> None:
    def louder(say: Emitter, event: Json) -> Iterable[Chunk]:
        if event["type"] == "text":
            yield from say.text(event["text"].upper())

    (turn,) = said(api, "louder", user("hello"))
    with chatting(Chat(Agent("actor", ACTOR.run, louder), store=store)) as other:
        again = retold(other, "louder", turn["id"])
        assert again["same"] is False
        assert again["message"]["parts"][-1]["text"] == "YOU SAID: HELLO"
        assert stored(other, "louder")["parts"][-1]["text"] == "You said: hello"


def test_a_translator_that_fails_today_says_so(api: str, store: InMemoryConversationStore) -> None:
    def broken(say: Emitter, event: Json) -> Iterable[Chunk]:
        raise LookupError("no such word")

    (turn,) = said(api, "broken", user("hello"))
    with chatting(Chat(Agent("actor", ACTOR.run, broken), store=store)) as other:
        again = retold(other, "broken", turn["id"])
    assert again["same"] is False
    assert again["problems"] == ["LookupError: no such word"]


def test_what_another_agent_said_is_not_told_again(api: str, store: InMemoryConversationStore) -> None:
    (turn,) = said(api, "other", user("hello"))
    with chatting(Chat(Agent("somebody", ACTOR.run, ACTOR.translate), store=store)) as other:
        assert retold(other, "other", turn["id"])["type"].endswith("another-agent")
        assert httpx.get(f"{other}/chat/other/turns/none/retold").status_code == 404
