"""Asking twice, asking at once, and what a conversation is called: retries, policies, titles, trees."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from rejoinder import Chat
from rejoinder.messages import Message, Text
from tests.server.agents import AGENT
from tests.server.serving import chatting
from tests.stores.databases import Databases

Body = dict[str, Any]


def message(text: str, id: str = "m1") -> Body:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}


def ask(api: str, chat: str, text: str, id: str = "m1", **headers: str) -> httpx.Response:
    return httpx.post(
        f"{api}/chat", json={"id": chat, "messages": [message(text, id)]}, headers=headers, timeout=30
    )


def read(api: str, chat: str) -> Body:
    found: Body = httpx.get(f"{api}/chat/{chat}").raise_for_status().json()
    return found


def texts(api: str, chat: str) -> list[str]:
    return [
        "".join(part.get("text", "") for part in each["parts"]).strip()
        for each in read(api, chat)["messages"]
    ]


def kind(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["type"].removeprefix("urn:rejoinder:problem:")


@pytest.fixture(scope="module", params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> str:
    if request.param == "memory":
        return "memory"
    databases: Databases = request.getfixturevalue("postgres")
    return databases.fresh()


@contextmanager
def waiting(api: str, chat: str) -> Generator[None]:
    """An answer that is being made, and does not end until it is stopped."""
    asking = threading.Thread(target=ask, args=(api, chat, "wait", "m0"))
    asking.start()
    wait_for(lambda: begun(api, chat))
    try:
        yield
    finally:
        httpx.post(f"{api}/chat/{chat}/stop")
        asking.join(10)


def begun(api: str, chat: str) -> bool:
    found = httpx.get(f"{api}/chat/{chat}")
    return found.status_code == 200 and found.json()["live"] is not None


def test_two_tabs_at_once_are_one_answer_and_one_refusal(store: str) -> None:
    with chatting(Chat(AGENT, store=store)) as api, waiting(api, "reject"):
        refused = ask(api, "reject", "hello")
        assert kind(refused) == (409, "turn-in-progress")
        assert refused.json()["stream"].startswith("chat/reject/stream?turn=")
        assert len(read(api, "reject")["messages"]) == 1


def test_a_message_may_wait_until_the_answer_before_it_is_made(store: str) -> None:
    with chatting(Chat(AGENT, store=store, busy="enqueue")) as api:
        said: list[str] = []
        first = threading.Thread(target=ask, args=(api, "queue", "slow 20", "m0"))
        first.start()
        wait_for(lambda: begun(api, "queue"))
        said.append(ask(api, "queue", "second").text)
        first.join(10)
        assert '"delta":"SECOND "' in said[0]
        assert [text.split()[0] for text in texts(api, "queue")] == ["slow", "0", "second", "SECOND"]


def test_a_message_may_interrupt_the_answer_before_it(store: str) -> None:
    with chatting(Chat(AGENT, store=store, busy="interrupt")) as api, waiting(api, "interrupt"):
        assert '"delta":"NOW "' in ask(api, "interrupt", "now").text
        assert texts(api, "interrupt") == ["wait", "Waiting", "now", "NOW"]
        turns = httpx.get(f"{api}/chat/interrupt/turns").json()["turns"]
        assert [turn["status"] for turn in turns] == ["cancelled", "succeeded"]


def test_one_request_from_many_sides_is_one_turn(store: str) -> None:
    with chatting(Chat(AGENT, store=store)) as api:
        said: list[str] = []
        sides = [
            threading.Thread(target=lambda: said.append(ask(api, "many", "slow 5").text)) for _ in range(8)
        ]
        for side in sides:
            side.start()
        for side in sides:
            side.join(20)
        assert len(set(said)) == 1
        assert len(httpx.get(f"{api}/chat/many/turns").json()["turns"]) == 1


def test_a_key_of_the_client_tells_a_retry_from_other_content(store: str) -> None:
    with chatting(Chat(AGENT, store=store)) as api:
        key = {"idempotency-key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}
        first = ask(api, "keys", "hello", **key)
        assert ask(api, "keys", "hello", **key).text == first.text
        assert kind(ask(api, "keys", "other", "m2", **key)) == (422, "idempotency-key-reused")
        assert kind(ask(api, "keys", "other", "m1")) == (409, "message-id-reused")
        assert kind(ask(api, "keys", "other", "m3", **{"idempotency-key": "x" * 300})) == (
            400,
            "invalid-request",
        )
        assert texts(api, "keys") == ["hello", "HELLO"]


def test_a_fork_goes_its_own_way_and_what_is_deleted_is_gone(store: str) -> None:
    with chatting(Chat(AGENT, store=store)) as api:
        ask(api, "tree", "one", "m1")
        ask(api, "tree", "two", "m2")
        made = httpx.post(f"{api}/chat/tree/fork", json={"at": "m2", "id": "fork"})
        assert (made.status_code, made.json()["id"]) == (201, "fork")
        assert texts(api, "fork") == ["one", "ONE", "two"]
        ask(api, "fork", "three", "m3")
        assert texts(api, "tree") == ["one", "ONE", "two", "TWO"]
        assert httpx.delete(f"{api}/chat/tree/messages/m2").status_code == 204
        assert texts(api, "tree") == ["one", "ONE"]
        assert httpx.delete(f"{api}/chat/tree").status_code == 204
        assert kind(httpx.get(f"{api}/chat/tree")) == (404, "not-found")
        assert texts(api, "fork")[:3] == ["one", "ONE", "two"]


def test_an_edit_makes_a_branch_and_either_can_be_shown(store: str) -> None:
    with chatting(Chat(AGENT, store=store)) as api:
        ask(api, "edit", "one", "m1")
        body = {"id": "edit", "messages": [message("uno", "m1")], "messageId": "m1"}
        httpx.post(f"{api}/chat", json=body).raise_for_status()
        assert texts(api, "edit") == ["uno", "UNO"]
        (siblings,) = [each["siblings"] for each in read(api, "edit")["places"] if "siblings" in each]
        (old,) = [sibling for sibling in siblings if sibling != "m1"]
        httpx.patch(f"{api}/chat/edit", json={"branch": old}).raise_for_status()
        assert texts(api, "edit") == ["one", "ONE"]


def test_a_conversation_is_called_by_its_first_words_or_as_somebody_says(store: str) -> None:
    async def by_length(first: Message) -> str | None:
        said = "".join(part.text for part in first.parts if isinstance(part, Text))
        return f"{len(said)} letters" if "fail" not in said else str(1 / 0)

    with chatting(Chat(AGENT, store=store)) as api:
        ask(api, "words", "  What is\nthe weather? " + "So " * 100)
        assert read(api, "words")["title"].startswith("What is the weather? So So")
        assert len(read(api, "words")["title"]) <= 81
    with chatting(Chat(AGENT, store=store, title=by_length)) as api:
        ask(api, "named", "hello")
        ask(api, "named", "and something longer", "m2")
        ask(api, "unnamed", "fail please")
        wait_for(lambda: read(api, "named")["title"] == "5 letters")
        assert read(api, "unnamed")["title"] == "fail please"


def wait_for(test: Callable[[], bool]) -> None:
    for _ in range(6000):
        if test():
            return
        threading.Event().wait(0.01)
    pytest.fail("it never came to that")


def test_the_dialect_is_the_headers_else_the_bodys_else_the_servers(store: str) -> None:
    def asks(api: str, chat: str, header: str | None, field: str | None) -> bool:
        """Whether a client of that dialect is asked for an approval, which those of version 5 do not know."""
        body: Body = {"id": chat, "messages": [message("approval please")], "dialect": field}
        headers = {} if header is None else {"x-rejoinder-dialect": header}
        said = httpx.post(f"{api}/chat", json=body, headers=headers).raise_for_status().text
        return "tool-approval-request" in said

    with chatting(Chat(AGENT, store=store, dialect="ai-sdk/5")) as api:
        assert not asks(api, "d1", None, None)
        assert asks(api, "d2", None, "ai-sdk/6")
        assert asks(api, "d3", "ai-sdk/7", "ai-sdk/5")
        unknown = ask(api, "d4", "hello", **{"x-rejoinder-dialect": "ai-sdk/9000"})
        assert kind(unknown) == (400, "unknown-dialect")
        assert httpx.get(f"{api}/chat/d4").status_code == 404
