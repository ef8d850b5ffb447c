"""The published clients, versions 5, 6 and 7: what they end up with is what is stored, in every store."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from rejoinder import Chat
from tests.clients.driver import Client, Clients, State
from tests.server.agents import AGENT
from tests.server.cutting import line_to
from tests.server.serving import chatting
from tests.stores.databases import Databases

SDKS = ("5", "6", "7", "7-socket")

FIRST = ("5.0.0", "6.0.0", "7.0.0")
"""The first release of each version: they refuse what they do not know."""


@pytest.fixture(scope="module", params=["memory", "postgres"])
def api(request: pytest.FixtureRequest) -> Iterator[str]:
    store = "memory"
    if request.param == "postgres":
        databases: Databases = request.getfixturevalue("postgres")
        store = databases.fresh()
    with chatting(Chat(AGENT, store=store)) as address:
        yield address


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with Clients() as process:
        yield process


def conversation(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


@pytest.fixture
def chat(request: pytest.FixtureRequest) -> str:
    return conversation(request)


def stored(api: str, chat: str) -> list[State]:
    messages: list[State] = httpx.get(f"{api}/chat/{chat}").raise_for_status().json()["messages"]
    return messages


def plain(messages: list[State]) -> list[State]:
    """What a person would see: clients of different versions keep different odds and ends."""
    return [
        {
            "id": message["id"],
            "role": message["role"],
            "parts": [
                {name: value for name, value in part.items() if name in SEEN}
                for part in message["parts"]
                if not part["type"].startswith("data-")
            ],
        }
        for message in messages
    ]


SEEN = ("type", "text", "state", "toolCallId", "toolName", "input", "output", "errorText", "approval", "url")


def settled(client: Client, api: str, chat: str) -> State:
    state = client("settle")
    assert plain(state["messages"]) == plain(stored(api, chat))
    return state


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_a_message_is_answered(api: str, clients: Clients, chat: str, sdk: str) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="hello there")
    state = settled(client, api, chat)
    assert state["status"] == "ready"
    assert state["messages"][-1]["parts"][-1]["text"] == "HELLO THERE "
    client("send", text="and again")
    assert len(settled(client, api, chat)["messages"]) == 4


@pytest.mark.parametrize("sdk", SDKS)
def test_a_client_that_sends_the_last_message_only_is_understood(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, lastOnly=True)
    client("send", text="one")
    client("settle")
    client("send", text="two")
    assert len(settled(client, api, chat)["messages"]) == 4


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_tools_of_the_server_run_once_and_the_client_does_not_send_again(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="tools")
    client("send", text="tools please")
    state = settled(client, api, chat)
    assert len(state["requests"]) == 1
    assert [part["type"] for part in state["messages"][-1]["parts"]].count("tool-weather") == 2


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_a_tool_of_the_client_is_answered_and_the_answer_goes_on(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="tools", tools={"locate": "Oslo"})
    client("send", text="client tool please")
    state = settled(client, api, chat)
    assert len(state["requests"]) == 2
    assert len(state["messages"]) == 2
    assert state["messages"][-1]["parts"][-1]["text"] == "You are in Oslo."


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("sdk", ["6", "7", "7-socket"])
def test_an_approval_is_asked_for_given_and_followed(
    api: str, clients: Clients, chat: str, sdk: str, *, approved: bool
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="approvals")
    client("send", text="approval please")
    asked = settled(client, api, chat)["messages"][-1]["parts"][-1]
    assert asked["state"] == "approval-requested"
    client("approve", id=asked["approval"]["id"], approved=approved)
    state = settled(client, api, chat)
    assert len(state["requests"]) == 2
    tool = next(part for part in state["messages"][-1]["parts"] if part["type"] == "tool-delete")
    assert tool["state"] == ("output-available" if approved else "output-denied")


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_a_failure_is_told_without_its_words_and_the_chat_goes_on(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="fail please")
    state = client("settle")
    assert state["status"] == "error"
    assert "canary" not in str(state)
    assert plain(state["messages"]) == plain(stored(api, chat))
    client("regenerate")
    client("settle")
    client("send", text="and now")
    assert settled(client, api, chat)["status"] == "ready"


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_an_answer_is_made_anew(api: str, clients: Clients, chat: str, sdk: str) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="hello")
    first = settled(client, api, chat)["messages"][-1]["id"]
    client("regenerate")
    second = settled(client, api, chat)["messages"]
    assert len(second) == 2
    assert second[-1]["id"] != first
    client("regenerate", messageId=second[-1]["id"])
    assert len(settled(client, api, chat)["messages"]) == 2


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_a_message_is_edited(api: str, clients: Clients, chat: str, sdk: str) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="first")
    edited = settled(client, api, chat)["messages"][0]["id"]
    client("send", text="more")
    client("settle")
    client("send", text="second", messageId=edited)
    state = settled(client, api, chat)
    assert [part["text"] for message in state["messages"] for part in message["parts"] if "text" in part] == [
        "second",
        "SECOND ",
    ]


@pytest.mark.parametrize("sdk", SDKS)
def test_a_page_that_is_loaded_in_the_middle_of_an_answer_gets_all_of_it(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    first = clients.new(sdk, f"{api}/chat", chat)
    first("send", text="slow 40")
    first("heard", text="5 ")
    second = clients.new(sdk, f"{api}/chat", chat, messages=stored(api, chat))
    second("resume")
    assert plain(second("settle")["messages"]) == plain(first("settle")["messages"])
    assert plain(first("look")["messages"]) == plain(stored(api, chat))


@pytest.mark.parametrize("sdk", SDKS)
def test_a_network_that_breaks_in_the_middle_of_an_answer_costs_nothing(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    with line_to(api) as line:
        client = clients.new(sdk, f"{line.address}/api/chat", chat)
        client("send", text="slow 60")
        client("heard", text="5 ")
        line.cut()
        assert client("settle")["status"] == "error"
        if sdk == "5":
            client("drop")
        client("resume")
        state = settled(client, api, chat)
    assert state["status"] == "ready"
    assert state["messages"][-1]["parts"][-1]["text"] == "".join(f"{number} " for number in range(60))


@pytest.mark.parametrize("sdk", ["5", "6", "7"])
def test_leaving_does_not_stop_an_answer_and_stopping_does(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="wait")
    client("heard", text="Waiting")
    client("stop")
    client("settle")
    assert httpx.get(f"{api}/chat/{chat}").json()["live"] is not None
    again = clients.new(sdk, f"{api}/chat", chat, messages=stored(api, chat))
    again("resume")
    again("heard", text="Waiting")
    assert httpx.post(f"{api}/chat/{chat}/stop").json()["stopping"] is True
    settled(again, api, chat)
    assert httpx.get(f"{api}/chat/{chat}").json()["live"] is None


def test_over_a_socket_to_stop_is_to_stop_the_answer(api: str, clients: Clients, chat: str) -> None:
    client = clients.new("7-socket", f"{api}/chat", chat)
    client("send", text="wait")
    client("heard", text="Waiting")
    other = clients.new("7-socket", f"{api}/chat", chat, messages=stored(api, chat))
    other("resume")
    other("heard", text="Waiting")
    client("stop")
    settled(other, api, chat)
    assert httpx.get(f"{api}/chat/{chat}").json()["live"] is None


@pytest.mark.parametrize("sdk", SDKS)
def test_nothing_to_resume_leaves_a_client_as_it_is(api: str, clients: Clients, chat: str, sdk: str) -> None:
    client = clients.new(sdk, f"{api}/chat", chat)
    client("send", text="hello")
    client("settle")
    again = clients.new(sdk, f"{api}/chat", chat, messages=stored(api, chat))
    again("resume")
    assert settled(again, api, chat)["status"] == "ready"
