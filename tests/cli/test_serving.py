"""`rejoinder serve` and `rejoinder demo`, started as a person starts them."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import httpx
import pytest

from rejoinder.chat.choices import chosen_store
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.cli.filters import run
from tests.server.serving import started

AGENT = """
from rejoinder import Agent


async def run(call):
    for word in call.prompt.split():
        yield {"word": word}


def translate(say, event):
    yield from say.text(event["word"].upper() + " ")


agent = Agent("shout", run, translate)
number = 7
"""


def asked(address: str, text: str) -> str:
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    answer = httpx.post(f"{address}/api/chat", json={"id": "c1", "messages": [message]}, timeout=30)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    return answer.raise_for_status().text


def test_the_demo_answers_on_a_page_and_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_MODEL", "scripted")
    with started("demo", "--database", "memory", folder=tmp_path) as address:
        assert "<title>" in httpx.get(address).raise_for_status().text
        assert httpx.get(f"{address}/api/readyz").json() == {"status": "ok"}
        said = asked(address, "hello there")
        # A page elsewhere whose name somebody has pointed at this machine.
        elsewhere = {"host": "evil.example:8000", "origin": "http://evil.example:8000"}
        refused = httpx.get(f"{address}/api/conversations", headers=elsewhere)
        assert (refused.status_code, refused.json()["type"]) == (421, "urn:rejoinder:problem:misdirected")
        localhost = address.replace("127.0.0.1", "localhost")
        assert httpx.get(f"{localhost}/api/conversations").status_code == 200
    assert '"delta":"hello "' in said
    assert said.endswith("data: [DONE]\n\n")


def test_without_a_key_a_real_model_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_MODEL", "local")
    with started("demo", "--database", "memory", folder=tmp_path) as address:
        said = asked(address, "In one word: what is the capital of France?")
    # A small model that samples may say anything; but it says something, in pieces.
    assert "".join(re.findall(r'"text-delta","id":"t0","delta":"([^"]*)"', said)).strip()
    assert '"finishReason":"stop"' in said or '"finishReason":"length"' in said
    assert said.endswith("data: [DONE]\n\n")


def test_an_agent_of_the_current_folder_is_served_by_two_processes(tmp_path: Path, postgres_url: str) -> None:
    (tmp_path / "shouting.py").write_text(AGENT)
    options = ("--agent", "shouting:agent", "--workers", "2", "--port", "0", "--database", postgres_url)
    with started("serve", *options, folder=tmp_path) as address:
        assert '"delta":"HELLO "' in asked(address, "hello")
        # Whoever asks again, at whichever process, gets the same answer and no second one.
        assert {asked(address, "hello") for _ in range(6)} == {asked(address, "hello")}
        assert len(httpx.get(f"{address}/api/chat/c1").json()["messages"]) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--agent", "shouting"), "names no agent"),
        (("--agent", "nowhere:agent"), "no module 'nowhere'"),
        (("--agent", "shouting:missing"), "has no 'missing'"),
        (("--agent", "shouting:number"), "neither an agent nor a provider nor a chat"),
        (("--agent", "raising:agent"), "KeyError: 'MY_KEY' (raising.py, line 3)"),
        (("--agent", "shouting:agent", "--database", "memory", "--origin", "a.example"), "no origin"),
        (("--agent", "shouting:agent", "--database", "mysql://x"), "neither 'memory' nor the address"),
        (("--agent", "shouting:agent", "--database", "postgresql://127.0.0.1:1/x"), "127.0.0.1"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "shouting.py").write_text(AGENT)
    (tmp_path / "raising.py").write_text("import os\n\nkey = os.environ['MY_KEY']\n")
    monkeypatch.chdir(tmp_path)
    ran = run("serve", "--port", "0", *options)
    assert ran.code == 1
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", [("serve", "--agent", "a:b"), ("demo",)], ids=" ".join)
def test_where_one_cannot_listen_is_said(command: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, words in (
            (("--port", port), f"--port {port}: it is taken"),
            (("--port", "99999"), "--port"),
            (("--host", ""), "--host ''"),
            (("--host", "192.0.2.1"), "--host '192.0.2.1'"),
            (("--host", "nowhere.invalid"), "--host 'nowhere.invalid'"),
        ):
            ran = run(*command, "--database", "memory", *options)
            assert ran.code == 2, ran.err
            assert words in ran.err


def test_a_worker_needs_a_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chatting.py").write_text(
        f"{AGENT}\nfrom rejoinder import Chat\n\nchat = Chat(agent, store='memory')"
    )
    monkeypatch.chdir(tmp_path)
    ran = run("worker", "--agent", "chatting:chat")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "has no queue" in ran.err


def test_an_empty_address_of_a_database_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    assert isinstance(chosen_store(None), PostgresConversationStore)


def test_more_processes_than_a_store_has_are_refused() -> None:
    ran = run("serve", "--agent", "a:b", "--workers", "2", "--database", "memory")
    assert ran.code == 2
    assert "--workers" in ran.err
