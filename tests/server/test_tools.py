"""Tools of a model in the published clients: 5, 6 and 7 show what is stored, and ask no more often than they should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest

from rejoinder import Chat, ModelAgent, Tool, tool
from rejoinder.messages.provider_message import ProviderToolResultPart
from rejoinder.ports.providers import ProviderCallParams
from rejoinder.testing.scripted_model import Answer, Calls, ScriptedModel
from tests.clients.driver import Clients
from tests.server.serving import chatting
from tests.server.test_clients import FIRST, SDKS, settled, stored

APPROVING: Final = tuple(sdk for sdk in (*SDKS, "6.0.0", "7.0.0") if sdk != "5")
SECRET: Final = "for-this-test-only"


@tool
async def weather(city: str) -> AsyncIterator[dict[str, int]]:
    """What the weather is."""
    for degrees in (1, 2, 3):
        yield {"degrees": degrees}
        await asyncio.sleep(0)


@tool(needs_approval=True)
def erase(name: str) -> str:
    """Erase a file."""
    return f"erased {name}"


def say(params: ProviderCallParams) -> Answer:
    """What the question asks for; what comes of it afterwards."""
    last = params.messages[-1]
    results = [part for part in last.content if isinstance(part, ProviderToolResultPart)]
    asked = next(message.text for message in reversed(params.messages) if message.role == "user")
    match asked.split()[0], len([each for each in params.messages if each.role == "tool"]):
        case "loop", _:
            return Calls("weather", {"city": "Ulm"})
        case "steps", 0:
            return ["Let me see. ", Calls("weather", {"city": "Ulm"}), Calls("weather", {"city": "Bonn"})]
        case "steps", 1:
            return Calls("weather", {"city": "Köln"})
        case "client", 0:
            return ["Where? ", Calls("locate", {})]
        case "approval", 0:
            return Calls("erase", {"name": "x"})
        case _:
            return f"{len(results)} results."


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    agent = ModelAgent(
        ScriptedModel(say),
        tools=[weather, erase, Tool(name="locate")],
        max_steps=3,
        approval_secrets=[SECRET],
    )
    with chatting(Chat(agent, store="memory")) as address:
        yield address


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with Clients() as process:
        yield process


@pytest.fixture
def chat(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_calls_in_several_steps_are_shown_as_they_are_stored(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="tools")
    client("send", text="steps")
    state = settled(client, api, chat)
    parts = state["messages"][-1]["parts"]
    assert [part["output"] for part in parts if part["type"] == "tool-weather"] == [{"degrees": 3}] * 3
    assert parts[-1]["text"] == "1 results."
    assert len(state["requests"]) == 1


@pytest.mark.parametrize("sdk", SDKS)
def test_a_loop_that_ends_with_calls_does_not_make_clients_send_for_ever(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="tools")
    client("send", text="loop")
    state = settled(client, api, chat)
    assert state["status"] == "ready"
    assert len(state["requests"]) == 1


@pytest.mark.parametrize("sdk", APPROVING)
@pytest.mark.parametrize("approved", [True, False])
def test_an_approval_is_given_by_a_real_client(
    api: str, clients: Clients, chat: str, sdk: str, *, approved: bool
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="approvals")
    client("send", text="approval please")
    asked = client("settle")["messages"][-1]["parts"][-1]
    # The first release of 6 is not told the signature, so it cannot send it back.
    assert ("signature" in asked["approval"]) is (sdk != "6.0.0")
    client("approve", id=asked["approval"]["id"], approved=approved)
    state = client("settle") if sdk in FIRST else settled(client, api, chat)
    assert len(state["requests"]) == 2
    for message in (state["messages"][-1], stored(api, chat)[-1]):
        call = next(part for part in message["parts"] if part["type"] == "tool-erase")
        assert call["state"] == ("output-available" if approved else "output-denied")
        assert message["parts"][-1]["text"] == "1 results."


@pytest.mark.parametrize("sdk", SDKS + FIRST)
def test_a_tool_of_the_client_is_run_by_a_real_client(
    api: str, clients: Clients, chat: str, sdk: str
) -> None:
    client = clients.new(sdk, f"{api}/chat", chat, auto="tools", tools={"locate": "Oslo"})
    client("send", text="client tool please")
    state = settled(client, api, chat)
    assert len(state["requests"]) == 2
    assert len(state["messages"]) == 2
    assert state["messages"][-1]["parts"][-1]["text"] == "1 results."
