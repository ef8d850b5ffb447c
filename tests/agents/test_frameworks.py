"""Frameworks as agents, the real packages at loopback servers: a tool call each, the next turn, an approval, a stop."""

# LangGraph's own types are unknown in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest
from agents import Agent as OpenAIAgent
from agents import set_tracing_disabled
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests

from rejoinder import Call, Chat
from rejoinder.agents.langchain import LangChain
from rejoinder.agents.langgraph import LangGraph
from rejoinder.agents.openai_agents import OpenAIAgents
from rejoinder.agents.pydantic_ai import PydanticAI
from rejoinder.agents.strings import Strings
from rejoinder.convert.ui import to_ui
from rejoinder.messages import JsonObject
from rejoinder.ports.agents import AgentProtocol
from tests.agents.talking import Answered, talk
from tests.agents.vendor_server import VendorServer, streamed
from tests.agents.wires import Called, Said, answer, events
from tests.engine.stage import asynchronous
from tests.recordings import langgraph_runs, openai_agents_runs, pydantic_ai_runs
from tests.recordings.clients import closing
from tests.translate.contents import STEP, contents

VENDOR: Final = "openai-chat"

Make = Callable[[str], AgentProtocol]


def pydantic_ai(url: str) -> AgentProtocol:
    made = PydanticAgent(pydantic_ai_runs.model(VENDOR, url), output_type=[str, DeferredToolRequests])
    return PydanticAI(pydantic_ai_runs.with_approval(pydantic_ai_runs.with_tools(made)))


def langgraph(url: str) -> AgentProtocol:
    tools = [langgraph_runs.get_weather, langgraph_runs.delete_file]
    asking = HumanInTheLoopMiddleware(interrupt_on={"delete_file": True})
    made = langgraph_runs.model(VENDOR, url)
    return LangGraph(create_agent(made, tools, middleware=[asking], checkpointer=InMemorySaver()))


def forgetful_langgraph(url: str) -> AgentProtocol:
    return LangGraph(create_agent(langgraph_runs.model(VENDOR, url), [langgraph_runs.get_weather]))


def openai_agents(url: str) -> AgentProtocol:
    set_tracing_disabled(disabled=True)
    tools: list[Any] = [openai_agents_runs.get_weather, openai_agents_runs.delete_file]
    return OpenAIAgents(
        OpenAIAgent(name="Assistant", model=openai_agents_runs.model(VENDOR, url), tools=tools)
    )


ALL: Final[dict[str, Make]] = {
    "pydantic-ai": pydantic_ai,
    "langgraph": langgraph,
    "langgraph without a checkpointer": forgetful_langgraph,
    "openai-agents": openai_agents,
}
ASKING: Final[dict[str, Make]] = {name: make for name, make in ALL.items() if "without" not in name}


def asked_of(body: JsonObject) -> list[object]:
    """What a request to the model held: roles, and for calls and results whose they are."""
    said: list[object] = []
    for message in body["messages"]:
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        said.append(
            (message["role"], *calls, *([message["tool_call_id"]] if "tool_call_id" in message else []))
        )
    return said


@pytest.mark.parametrize("framework", ALL)
@asynchronous
async def test_a_framework_answers_with_a_tool_and_remembers_in_the_next_turn(framework: str) -> None:
    replies = [
        answer(VENDOR, Said("I look."), Called("c1", "get_weather", '{"city":"Paris"}'), id="r1"),
        answer(VENDOR, Said("18 degrees."), id="r2"),
        answer(VENDOR, Said("You asked of Paris."), id="r3"),
    ]
    async with VendorServer(replies) as server, closing():
        chat = Chat(ALL[framework](server.url), store="memory")
        async with talk(chat) as client:
            first = await client.ask("c", "Weather in Paris?")
            second = await client.ask("c", "What did I ask?")
    said, called, *_ = [part for part in contents(first.message) if part != STEP and "data" not in str(part)]
    assert said == ("said", "I look.")
    assert isinstance(called, tuple)
    assert called[:4] == ("called", "get_weather", {"city": "Paris"}, "answered")
    assert contents(first.message)[-1] == ("said", "18 degrees.")
    assert first.turn.status == "succeeded"
    assert first.turn.usage is not None
    assert (first.turn.usage.input_tokens, first.turn.usage.output_tokens) == (40, 18)
    assert contents(second.message) == [STEP, ("said", "You asked of Paris.")]
    # Some tell what was said and what was called in two messages.
    history = [told for told in asked_of(server.requests[-1].body) if told != ("assistant",)]
    assert history == [("user",), ("assistant", "c1"), ("tool", "c1"), ("user",)]


def decided(asking: Answered, *, approved: bool) -> JsonObject:
    """The message as a client sends it back once its user has decided."""
    message = to_ui(asking.message)
    for part in message["parts"]:
        if part.get("state") == "approval-requested":
            part["state"] = "approval-responded"
            part["approval"] = {**part["approval"], "approved": approved, "reason": "because"}
    return message


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("framework", ASKING)
@asynchronous
async def test_a_tool_that_must_be_allowed_asks_the_user_and_goes_on_with_the_answer(
    framework: str, *, approved: bool
) -> None:
    replies = [
        answer(VENDOR, Said("May I?"), Called("c1", "delete_file", '{"path":"a.txt"}'), id="r1"),
        answer(VENDOR, Said("As you like."), id="r2"),
    ]
    async with VendorServer(replies) as server, closing():
        chat = Chat(ASKING[framework](server.url), store="memory")
        async with talk(chat) as client:
            asking = await client.ask("c", "Delete a.txt.")
            assert asking.turn.status == "waiting"
            ended = await client.answer("c", decided(asking, approved=approved))
    assert ended.turn.status == "succeeded"
    assert ended.stored.id == asking.stored.id
    told = contents(ended.stored)
    assert told[:2] == [STEP, ("said", "May I?")]
    assert told[-1] == ("said", "As you like.")
    (outcome,) = [part for part in told if isinstance(part, tuple) and part[0] == "called"]
    assert isinstance(outcome, tuple)
    assert (outcome[3:] == ("answered", "deleted a.txt")) is approved
    assert outcome[3] in ("answered", "failed", "denied")
    assert ("tool", "c1") in asked_of(server.requests[-1].body)
    assert len(server.requests) == 2


@pytest.mark.parametrize("framework", ALL)
@asynchronous
async def test_a_stop_ends_the_framework_and_its_connection(framework: str) -> None:
    pieces = events(VENDOR, [Said("It is going to be ")])
    async with VendorServer([streamed(pieces[:-2], fault="stall")]) as server, closing():
        chat = Chat(ALL[framework](server.url), store="memory")
        async with talk(chat) as client:
            stopped = await client.ask("c", "Weather?", stop_at="It is")
            await server.gone.wait()
    assert stopped.turn.status == "cancelled"
    assert "It is" in str(contents(stopped.message))


@asynchronous
async def test_a_chat_model_of_langchain_needs_no_more() -> None:
    replies = [answer(VENDOR, Said("Good "), id="r1"), answer(VENDOR, Said("evening."), id="r2")]
    async with VendorServer(replies) as server, closing():
        chat = Chat(
            LangChain(langgraph_runs.model(VENDOR, server.url), instructions="Be kind."), store="memory"
        )
        async with talk(chat) as client:
            assert contents((await client.ask("c", "Hello")).message) == [STEP, ("said", "Good ")]
            assert contents((await client.ask("c", "Again")).message) == [STEP, ("said", "evening.")]
    assert asked_of(server.requests[-1].body) == [("system",), ("user",), ("assistant",), ("user",)]


@asynchronous
async def test_a_function_that_yields_strings_is_an_agent() -> None:
    async def shout(call: Call) -> AsyncIterator[str]:
        for word in call.prompt.split():
            yield word.upper() + " "

    agent = Strings(shout)
    async with talk(Chat(agent, store="memory")) as client:
        assert contents((await client.ask("c", "hello there")).message) == [STEP, ("said", "HELLO THERE ")]
    assert agent.name == "shout"


@asynchronous
async def test_what_a_framework_raises_fails_the_turn_and_keeps_what_it_said() -> None:
    async def breaks(call: Call) -> AsyncIterator[str]:
        yield "So far"
        raise RuntimeError("secret-canary")

    async with talk(Chat(Strings(breaks), store="memory")) as client:
        failed = await client.ask("c", "hello")
    assert failed.turn.status == "failed"
    assert contents(failed.stored) == [STEP, ("said", "So far")]
    assert "secret-canary" not in str(failed.chunks)
