"""Runs of LangGraph with LangChain's own models, at a server on loopback that speaks their vendors' wires.

python -m tests.recordings.langgraph_runs
"""

# LangGraph's own types are unknown in part, and it says so of most that it gives.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import SecretStr

from rejoinder.messages import Json
from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import KEY, Called, Said, Thought, answer
from tests.recordings.clients import OPEN, closing
from tests.recordings.hosted import hosted_anthropic, hosted_responses
from tests.recordings.plain import keep, plain

ALL: Final = ["messages", "updates", "custom", "values"]


def model(vendor: str, url: str, **more: Any) -> BaseChatModel:
    """LangChain's model of this vendor, at this server."""
    key = SecretStr(KEY)
    if vendor == "anthropic":
        return ChatAnthropic(
            model_name="claude-sonnet-5", api_key=key, base_url=url, timeout=10, stop=None, **more
        )
    named = "gpt-5-mini" if vendor == "openai-responses" else "gpt-4.1"
    made = ChatOpenAI(
        model=named,
        api_key=key,
        base_url=f"{url}/v1",
        use_responses_api=vendor == "openai-responses",
        streaming=True,
        stream_usage=True,
        **more,
    )
    OPEN.extend([made.root_async_client, _Closable(made.root_client)])
    return made


class _Closable:
    """A client of the kind that does not wait."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def close(self) -> None:
        """Close it."""
        self._client.close()


@tool
def get_weather(city: str) -> str:
    """Weather."""
    get_stream_writer()({"progress": f"asking {city}"})
    return f"18 degrees in {city}"


@tool
def get_map(city: str) -> str:
    """Map."""
    raise ValueError(f"no map of {city}")


@tool
def get_data(city: str) -> list[dict[str, Any]]:
    """Content blocks."""
    return [
        {"type": "text", "text": f"data of {city}"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


@tool
def delete_file(path: str) -> str:
    """Delete."""
    return f"deleted {path}"


def forgiving(graph_tools: Sequence[Any]) -> Any:
    """Tools whose failures the model is told of."""
    from langgraph.prebuilt import ToolNode

    return ToolNode(list(graph_tools), handle_tool_errors=True)


async def stream(
    graph: Any,
    given: Any,
    *,
    version: str = "v1",
    modes: Any = ALL,
    subgraphs: bool = False,
    thread: str = "1",
) -> list[Json]:
    """What `astream` yields, each event as the fixtures have it."""
    events: list[Json] = []
    config = {"configurable": {"thread_id": thread}}
    async for event in graph.astream(given, config, stream_mode=modes, version=version, subgraphs=subgraphs):
        if version == "v2" or isinstance(modes, str):
            events.append(plain(event))
        elif subgraphs:
            namespace, mode, data = event
            events.append({"ns": plain(namespace), "mode": mode, "data": plain(data)})
        else:
            mode, data = event
            events.append({"mode": mode, "data": plain(data)})
    return events


def asked(text: str) -> Any:
    """A question."""
    return {"messages": [{"role": "user", "content": text}]}


def chat_tools() -> list[Reply]:
    """Two rounds with several calls."""
    return [
        answer(
            "openai-chat",
            Said("One moment."),
            Called("c1", "get_weather", '{"city":"Paris"}'),
            Called("c2", "get_map", '{"city":"Oslo"}'),
            Called("c3", "get_data", '{"city":"Rome"}'),
            id="r1",
        ),
        answer("openai-chat", Called("c4", "get_weather", '{"city":"Paris"}'), id="r2"),
        answer("openai-chat", Said("18 degrees in Paris. No map."), id="r3"),
    ]


async def tools(name: str, version: str, modes: Any = ALL) -> None:
    """An agent with tools, one of which fails."""
    async with VendorServer(chat_tools()) as server:
        graph = create_agent(
            model("openai-chat", server.url),
            [get_weather, get_map, get_data, delete_file],
            middleware=[_Forgiving()],
        )
        keep(name, await stream(graph, asked("Weather and maps, please."), version=version, modes=modes))


class _Forgiving:
    def __new__(cls) -> Any:
        from langchain.agents.middleware import wrap_tool_call
        from langchain_core.messages import ToolMessage

        @wrap_tool_call
        async def forgive(request: Any, handler: Any) -> Any:
            try:
                return await handler(request)
            except ValueError as error:
                return ToolMessage(
                    str(error),
                    tool_call_id=request.tool_call["id"],
                    name=request.tool_call["name"],
                    status="error",
                )

        return forgive


async def thinking(name: str, vendor: str, version: str, **more: Any) -> None:
    """A model that thinks before it calls."""
    replies = [
        answer(
            vendor,
            Thought("Which tool?"),
            Said("Let me see."),
            Called("c1", "get_weather", '{"city":"Paris"}'),
            Called("c2", "get_weather", '{"city":"Oslo"}'),
            id="r1",
        ),
        answer(vendor, Thought("Good."), Said("18 degrees "), Said("in both."), id="r2"),
    ]
    async with VendorServer(replies) as server:
        graph = create_agent(model(vendor, server.url, **more), [get_weather])
        keep(name, await stream(graph, asked("Weather?"), version=version))


async def hosted(name: str, vendor: str, reply: Reply, **more: Any) -> None:
    """A model whose vendor runs tools of its own."""

    @tool
    def now() -> str:
        """Time."""
        return "noon"

    async with VendorServer([reply, answer(vendor, Said("There it is."), id="r2")]) as server:
        graph = create_agent(
            model(vendor, server.url, **more), [now, get_weather, get_map], middleware=[_Forgiving()]
        )
        keep(name, await stream(graph, asked("Search."), version="v2"))


async def human(name: str, version: str) -> None:
    """An agent that asks before it acts, and goes on once it is answered: two recordings."""
    replies = [
        answer(
            "openai-chat",
            Said("May I?"),
            Called("c1", "delete_file", '{"path":"a.txt"}'),
            Called("c2", "delete_file", '{"path":"b.txt"}'),
            Called("c3", "get_weather", '{"city":"Oslo"}'),
            id="r1",
        ),
        answer("openai-chat", Said("One is gone, the other is not."), id="r2"),
    ]
    async with VendorServer(replies) as server:
        graph = create_agent(
            model("openai-chat", server.url),
            [get_weather, delete_file],
            middleware=[HumanInTheLoopMiddleware(interrupt_on={"delete_file": True})],
            checkpointer=InMemorySaver(),
        )
        keep(f"{name}_asks", await stream(graph, asked("Delete a.txt and b.txt."), version=version))
        decisions = {"decisions": [{"type": "approve"}, {"type": "reject", "message": "keep it"}]}
        keep(f"{name}_resumes", await stream(graph, Command(resume=decisions), version=version))


async def question(name: str, version: str, modes: Sequence[str]) -> None:
    """A graph of one's own, that asks with `interrupt`."""

    def ask(state: MessagesState) -> Any:
        said = interrupt({"question": "Which city?"})
        return {"messages": [{"role": "ai", "content": f"It is {said}."}]}

    graph = (
        StateGraph(MessagesState)
        .add_node("ask", ask)
        .add_edge(START, "ask")
        .compile(checkpointer=InMemorySaver())
    )
    keep(f"{name}_asks", await stream(graph, asked("Where?"), version=version, modes=modes))
    keep(f"{name}_resumes", await stream(graph, Command(resume="Rome"), version=version, modes=modes))


async def team(name: str, version: str) -> None:
    """Two agents as nodes, one after the other, then two at a time."""

    def reply(id: str, *pieces: Any) -> Reply:
        return answer("openai-chat", *pieces, id=id)

    replies = [
        reply("r1", Said("I look it up."), Called("c1", "get_weather", '{"city":"Paris"}')),
        reply("r2", Said("18 degrees in Paris.")),
        reply("r3", Said("The weather is fine.")),
    ]
    async with VendorServer(replies) as server:
        made = model("openai-chat", server.url)
        searcher = create_agent(made, [get_weather], name="searcher")
        writer = create_agent(made, [], name="writer")
        graph = (
            StateGraph(MessagesState)
            .add_node("searcher", searcher)
            .add_node("writer", writer)
            .add_edge(START, "searcher")
            .add_edge("searcher", "writer")
            .add_edge("writer", END)
            .compile()
        )
        keep(name, await stream(graph, asked("Weather report."), version=version, subgraphs=True))


async def fan_out(name: str, version: str) -> None:
    """Three calls of a model at a time."""
    replies = [answer("openai-chat", Said(f"Fact {number}."), id=f"r{number}") for number in range(3)]
    async with VendorServer(replies) as server:
        made = model("openai-chat", server.url)

        async def fact(state: Any) -> Any:
            return {"messages": [await made.ainvoke(f"A fact about {state['topic']}")]}

        def send(state: Any) -> Any:
            return [Send("fact", {"topic": topic}) for topic in ("salt", "tin", "tea")]

        builder = StateGraph(MessagesState).add_node("fact", fact)
        graph = builder.add_conditional_edges(START, send, ["fact"]).compile()
        keep(name, await stream(graph, asked("Facts."), version=version))


async def main() -> None:
    """All of them."""
    async with closing():
        await tools("langgraph_tools", "v1")
        await tools("langgraph_tools_v2", "v2")
        await tools("langgraph_values_only", "v1", "values")
        await tools("langgraph_messages_only", "v1", "messages")
        await tools("langgraph_updates_only_v2", "v2", ["updates"])
        await thinking("langgraph_anthropic_v2", "anthropic", "v2")
        await thinking("langgraph_responses", "openai-responses", "v1", reasoning={"summary": "auto"})
        await thinking("langgraph_responses_blocks_v2", "openai-responses", "v2", output_version="v1")
        await hosted(
            "langgraph_hosted_anthropic_blocks_v2", "anthropic", hosted_anthropic(), output_version="v1"
        )
        await hosted("langgraph_hosted_responses_v2", "openai-responses", hosted_responses())
        await human("langgraph_human_v2", "v2")
        await question("langgraph_question", "v1", ALL)
        await question("langgraph_question_v2", "v2", ["values"])
        await team("langgraph_team", "v1")
        await fan_out("langgraph_fan_out_v2", "v2")


if __name__ == "__main__":
    asyncio.run(main())
