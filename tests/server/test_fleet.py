"""Web processes that accept and stream, and workers that carry turns out."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from rejoinder import Chat
from rejoinder.ports.clock import SystemClock
from rejoinder.ports.journal import NewTurn, TurnBegun
from rejoinder.ports.queue import Order
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.stores.turn_queue import PostgresTurnQueue
from tests.engine.stage import asynchronous
from tests.server.agents import AGENT
from tests.server.serving import chatting, started
from tests.stores.databases import Databases


@pytest.fixture(scope="module")
def place(postgres: Databases) -> str:
    return postgres.fresh()


@pytest.fixture(scope="module")
def api(place: str) -> Iterator[str]:
    """A web process that carries no turn out, and a worker beside it."""
    options = ("--agent", "tests.server.agents:AGENT", "--database", place)
    with (
        started("worker", *options, folder=Path.cwd(), says=r"(Waiting for turns)"),
        chatting(Chat(AGENT, store=place, queue=PostgresTurnQueue(place))) as address,
    ):
        yield address


@pytest.fixture
def chat(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W", "-", request.node.name)


def body_of(chat: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"id": f"m-{text[:4].strip()}", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": chat, "messages": [message], **more}


def asked(api: str, body: dict[str, Any]) -> str:
    head = {"content-type": "application/json"}
    answer = httpx.post(f"{api}/chat", content=json.dumps(body), headers=head, timeout=30)
    return answer.raise_for_status().text


def read(api: str, chat: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{api}/chat/{chat}").raise_for_status().json()
    return found


def test_a_turn_is_accepted_here_and_carried_out_there(api: str, chat: str) -> None:
    said = asked(api, body_of(chat, "hello there", note="\0 \ud800"))
    assert '"delta":"HELLO "' in said
    assert said.endswith("data: [DONE]\n\n")
    assert asked(api, body_of(chat, "hello there")) == said
    assert read(api, chat)["messages"][-1]["parts"][-1]["text"] == "HELLO THERE "


def test_an_answer_of_the_client_goes_on_with_the_answer_there(api: str, chat: str) -> None:
    asked(api, body_of(chat, "client tool please"))
    answer = read(api, chat)["messages"][-1]
    call = answer["parts"][-1]
    call |= {"state": "output-available", "output": "Oslo"}
    asked(api, {"id": chat, "messages": [answer], "messageId": answer["id"]})
    messages = read(api, chat)["messages"]
    assert len(messages) == 2
    assert messages[-1]["parts"][-1]["text"] == "You are in Oslo."


def test_many_turns_are_carried_out_at_once_and_each_can_be_stopped_from_here(api: str, chat: str) -> None:
    said: dict[str, str] = {}

    def ask(name: str) -> None:
        said[name] = asked(api, body_of(name, "wait"))

    names = [f"{chat}-{number}" for number in range(4)]
    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for name in names:
        wait_for_turn(api, name)
        with httpx.stream("GET", f"{api}/chat/{name}/stream") as tail:
            for piece in tail.iter_text():
                if "Waiting" in piece:
                    break
    for name in names:
        assert httpx.post(f"{api}/chat/{name}/stop").json()["stopping"] is True
    for thread in threads:
        thread.join(10)
    assert {text.splitlines()[-2] for text in said.values()} == {"data: [DONE]"}
    assert all('"type":"abort"' in text for text in said.values())


def wait_for_turn(api: str, chat: str) -> None:
    wait = threading.Event()
    while httpx.get(f"{api}/chat/{chat}").status_code != 200:
        wait.wait(0.02)


def test_an_order_whose_turn_is_over_is_passed_over(place: str) -> None:
    @asynchronous
    async def walk() -> None:
        store, queue = PostgresConversationStore(place), PostgresTurnQueue(place)
        chat = Chat(AGENT, store=store, queue=queue)
        async with chat.backend.running():
            new = NewTurn(
                id="left",
                conversation_id="left",
                assistant_message_id="a",
                owner="somebody who died",
                lease_seconds=0,
                tenant="default",
                status="queued",
            )
            begun = await store.begin_turn(new)
            assert isinstance(begun, TurnBegun)
            # The sweeper seals what nobody holds; only then does the order come.
            async for _ in store.follow("left"):
                pass
            await queue.put(Order(claim=begun.claim, branch=None))
            working = asyncio.create_task(chat.backend.work(concurrency=1))
            async with asyncio.timeout(60):
                while await _orders(place):
                    await SystemClock().sleep(0.02)
            working.cancel()
            await asyncio.wait({working})
            turn = await store.get_turn("left")
            assert turn is not None
            assert turn.status == "interrupted"

    walk()


async def _orders(place: str) -> int:
    async with await psycopg.AsyncConnection.connect(place) as connection:
        found = await connection.execute("SELECT count(*) FROM rejoinder_queue.procrastinate_jobs")
        row = await found.fetchone()
        assert row is not None
        return int(row[0])
