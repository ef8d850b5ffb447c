"""Sessions and questions of Claude Code survive restarts, other hosts, and users who change their minds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from rejoinder.stores.memory import InMemoryConversationStore
from tests.agents.claude_stage import Stage, staged
from tests.clients.driver import Client, Clients, State
from tests.stores.databases import Databases


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with staged(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with Clients() as process:
        yield process


def talking(clients: Clients, api: str) -> Client:
    """A client that has just loaded the conversation."""
    messages = httpx.get(f"{api}/chat/c").json().get("messages", [])
    return clients.new("7", f"{api}/chat", "c", auto="approvals", messages=messages)


def answer(state: State) -> str:
    """The last text of the last message."""
    assert state["status"] == "ready", state
    texts = [str(part["text"]) for part in state["messages"][-1]["parts"] if part["type"] == "text"]
    return texts[-1].strip()


def calls(state: State) -> list[State]:
    return [part for part in state["messages"][-1]["parts"] if "toolCallId" in part]


def told(client: Client, text: str, **more: Any) -> State:
    client("send", text=text, **more)
    return client("settle")


def test_another_host_goes_on_with_the_session(
    stage: Stage, clients: Clients, postgres: Databases, tmp_path: Path
) -> None:
    database = postgres.fresh()
    with stage.chatting(store=database) as api:
        assert answer(told(talking(clients, api), "hello")) == "You said: hello"
    elsewhere = stage.elsewhere(tmp_path / "elsewhere")
    with elsewhere.chatting(store=database) as api:
        assert answer(told(talking(clients, api), "and more")) == "You said: and more"
        assert stage.shown == [("user", "hello"), ("assistant", "You said: hello"), ("user", "and more")]


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_that_comes_after_a_restart_is_followed_and_no_call_runs_twice(
    stage: Stage, clients: Clients, tmp_path: Path, *, approved: bool
) -> None:
    store = InMemoryConversationStore()
    with stage.chatting(store=store) as api:
        (asked,) = calls(told(talking(clients, api), "bash echo ran >> log.txt"))
        assert asked["state"] == "approval-requested"
    with stage.elsewhere(tmp_path / "elsewhere").chatting(store=store) as api:
        client = talking(clients, api)
        client("approve", id=asked["approval"]["id"], approved=approved)
        state = client("settle")
        assert state["status"] == "ready"
        old, *new = calls(state)
        if approved:
            assert old["state"] == "output-error"
            assert "has not run" in old["errorText"]
            assert [call["state"] for call in new] == ["output-available"]
            assert (stage.project / "log.txt").read_text() == "ran\n"
        else:
            assert old["state"] == "output-denied"
            assert new == []
            assert not (stage.project / "log.txt").exists()
        assert state["messages"] == httpx.get(f"{api}/chat/c").json()["messages"]


def test_a_new_message_instead_of_an_answer_goes_on_without_the_call(stage: Stage, clients: Clients) -> None:
    with stage.chatting() as api:
        client = talking(clients, api)
        told(client, "bash touch made.txt")
        assert answer(told(client, "hello instead")) == "You said: hello instead"
        assert not (stage.project / "made.txt").exists()


def test_a_question_that_nobody_answers_in_time_can_still_be_answered(stage: Stage, clients: Clients) -> None:
    with stage.chatting(stage.agent(waiting_seconds=0.0)) as api:
        client = talking(clients, api)
        (asked,) = calls(told(client, "bash touch made.txt"))
        client("approve", id=asked["approval"]["id"], approved=True)
        assert [call["state"] for call in calls(client("settle"))] == ["output-error", "output-available"]
        assert (stage.project / "made.txt").exists()


def test_an_answer_made_anew_and_an_edit_go_on_from_where_they_branch_off(
    stage: Stage, clients: Clients
) -> None:
    with stage.chatting() as api:
        client = talking(clients, api)
        told(client, "one")
        edited = told(client, "two")["messages"][2]["id"]
        client("regenerate")
        assert answer(client("settle")) == "You said: two"
        assert stage.shown == [("user", "one"), ("assistant", "You said: one"), ("user", "two")]
        told(client, "three", messageId=edited)
        assert stage.shown == [("user", "one"), ("assistant", "You said: one"), ("user", "three")]


def test_a_session_that_is_nowhere_any_more_is_told_again_and_the_user_hears_of_it(
    stage: Stage, clients: Clients, postgres: Databases, tmp_path: Path
) -> None:
    database = postgres.fresh()
    with stage.chatting(store=database) as api:
        told(talking(clients, api), "hello")
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM rejoinder.transcript")
    with stage.elsewhere(tmp_path / "elsewhere").chatting(store=database) as api:
        state = told(talking(clients, api), "and more")
        assert answer(state) == "You said: and more"
        assert "data-claude-session-lost" in [part["type"] for part in state["messages"][-1]["parts"]]
        (shown,) = stage.stand_in.requests[-1]["messages"][:1]
        assert "You said: hello" in str(shown)
