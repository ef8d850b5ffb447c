"""The real Claude Code, driven by real chat clients through the server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.agents.claude_stage import Stage, staged
from tests.clients.driver import Clients, State


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("claude")) as made:
        yield made


@pytest.fixture(scope="module")
def api(stage: Stage) -> Iterator[str]:
    with stage.chatting() as address:
        yield address


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with Clients() as process:
        yield process


@pytest.fixture
def chat(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


def stored(api: str, chat: str) -> list[State]:
    messages: list[State] = httpx.get(f"{api}/chat/{chat}").raise_for_status().json()["messages"]
    return messages


def texts(message: State) -> list[str]:
    return [part["text"] for part in message["parts"] if part["type"] == "text"]


def calls(message: State) -> list[State]:
    return [part for part in message["parts"] if "toolCallId" in part]


def test_an_answer_streams_and_the_next_turn_goes_on_with_the_session(
    api: str, clients: Clients, chat: str, stage: Stage
) -> None:
    client = clients.new("7", f"{api}/chat", chat)
    client("send", text="hello")
    state = client("settle")
    assert state["status"] == "ready", state
    assert texts(state["messages"][-1]) == ["You said: hello "]
    client("send", text="and more")
    assert client("settle")["status"] == "ready"
    assert stage.shown == [("user", "hello"), ("assistant", "You said: hello"), ("user", "and more")]
    assert stored(api, chat) == client("look")["messages"]


@pytest.mark.parametrize(("sdk", "approved"), [("7", True), ("7", False), ("6", True)])
def test_the_user_is_asked_whether_a_tool_may_run(
    api: str, clients: Clients, chat: str, stage: Stage, sdk: str, *, approved: bool
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="approvals")
    client("send", text=f"bash touch {chat}.txt; echo made")
    (call,) = calls(client("settle")["messages"][-1])
    assert call["state"] == "approval-requested"
    assert not (stage.project / f"{chat}.txt").exists()
    client("approve", id=call["approval"]["id"], approved=approved)
    state = client("settle")
    message = state["messages"][-1]
    (call,) = calls(message)
    assert (stage.project / f"{chat}.txt").exists() == approved
    assert call["state"] == ("output-available" if approved else "output-denied")
    assert "It said: " in texts(message)[-1]
    assert len(state["messages"]) == 2
    assert texts(stored(api, chat)[-1]) == texts(message)


def test_calls_that_wait_behind_one_another_are_asked_about_together(
    api: str, clients: Clients, chat: str, stage: Stage
) -> None:
    client = clients.new("7", f"{api}/chat", chat, auto="approvals")
    client("send", text=f"twice touch {chat}")
    one, two = calls(client("settle")["messages"][-1])
    assert [one["state"], two["state"]] == ["approval-requested"] * 2
    client("approve", id=one["approval"]["id"], approved=True)
    client("approve", id=two["approval"]["id"], approved=False)
    state = client("settle")
    one, two = calls(state["messages"][-1])
    assert [one["state"], two["state"]] == ["output-available", "output-denied"]
    assert (stage.project / "one").exists()
    assert not (stage.project / "two").exists()
    assert stored(api, chat) == state["messages"]


def test_tools_of_the_servers_own_run_without_a_question(api: str, clients: Clients, chat: str) -> None:
    client = clients.new("7", f"{api}/chat", chat)
    client("send", text="mcp Oslo")
    state = client("settle")
    (call,) = calls(state["messages"][-1])
    assert call["output"] == "18 degrees in Oslo"
    assert state["status"] == "ready"


def test_a_subagent_works_and_reports(api: str, clients: Clients, chat: str) -> None:
    client = clients.new("7", f"{api}/chat", chat)
    client("send", text="delegate it")
    state = client("settle")
    assert state["status"] == "ready"
    (call,) = calls(state["messages"][-1])
    assert call["toolName"] == "Agent"
    assert call["state"] == "output-available"
    assert "The answer is 42." in str(call["output"])
    assert stored(api, chat) == state["messages"]


def test_a_stop_interrupts_the_program_and_the_conversation_goes_on(
    api: str, clients: Clients, chat: str
) -> None:
    client = clients.new("7", f"{api}/chat", chat)
    client("send", text="long story")
    client("heard", text="word word ")
    assert httpx.post(f"{api}/chat/{chat}/stop").json()["stopping"] is True
    client("settle")
    assert httpx.get(f"{api}/chat/{chat}").json()["live"] is None
    (turn,) = httpx.get(f"{api}/chat/{chat}/turns").json()["turns"]
    assert turn["status"] == "cancelled"
    client("send", text="hello again")
    message = client("settle")["messages"][-1]
    assert texts(message) == ["You said: hello again "]
    assert "data-claude-session-lost" not in [part["type"] for part in message["parts"]]


def test_what_a_subagent_wants_to_run_is_asked_about_too(
    api: str, clients: Clients, chat: str, stage: Stage
) -> None:
    client = clients.new("7", f"{api}/chat", chat, auto="approvals")
    client("send", text=f"delegate touch {chat}.txt")
    asked = calls(client("settle")["messages"][-1])[-1]
    assert (asked["toolName"], asked["state"]) == ("Bash", "approval-requested")
    client("approve", id=asked["approval"]["id"], approved=True)
    state = client("settle")
    assert [call["state"] for call in calls(state["messages"][-1])] == ["output-available"] * 2
    assert (stage.project / f"{chat}.txt").exists()
    assert stored(api, chat) == state["messages"]


def test_a_question_of_the_model_is_answered_with_the_reason_of_the_approval(
    api: str, clients: Clients, chat: str
) -> None:
    client = clients.new("7", f"{api}/chat", chat, auto="approvals")
    client("send", text="ask me")
    (asked,) = calls(client("settle")["messages"][-1])
    client("approve", id=asked["approval"]["id"], approved=True, reason="Blue")
    (call,) = calls(client("settle")["messages"][-1])
    assert call["output"]["answers"] == {"Which colour?": "Blue"}


def test_a_stop_ends_what_the_program_has_started(
    api: str, clients: Clients, chat: str, stage: Stage
) -> None:
    started = stage.project / "started"
    client = clients.new("7", f"{api}/chat", chat, auto="approvals")
    client("send", text=f"bash touch {started}; exec tail -f {started}")
    (asked,) = calls(client("settle")["messages"][-1])
    client("approve", id=asked["approval"]["id"], approved=True)
    while not started.exists():
        client("look")
    assert running(str(started))
    assert httpx.post(f"{api}/chat/{chat}/stop").json()["stopping"] is True
    client("settle")
    assert not running(str(started))
    (call,) = calls(stored(api, chat)[-1])
    assert call["state"] == "output-error"


def running(words: str) -> list[str]:
    """The processes that have these words in their command line, and have not ended."""
    lines: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in line:
                lines.append(line)
    return lines


def test_an_answer_lasts_as_long_as_its_subagents_in_the_background(
    api: str, clients: Clients, chat: str
) -> None:
    client = clients.new("7", f"{api}/chat", chat)
    client("send", text="background work")
    message = client("settle")["messages"][-1]
    assert texts(message)[-1] == "The answer is 42. "
    (task,) = [part["data"] for part in message["parts"] if part["type"] == "data-task"]
    assert task["status"] == "completed"
    (turn,) = httpx.get(f"{api}/chat/{chat}/turns").json()["turns"]
    assert turn["status"] == "succeeded"
