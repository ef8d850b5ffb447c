"""A graph of LangGraph: one node looks something up, the next one answers.

MODEL=openai:gpt-5-mini rejoinder serve --agent langgraph_agent:agent     # without MODEL, one that repeats itself
"""

import itertools
import os
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph

from rejoinder.agents.langgraph import LangGraph


def model() -> BaseChatModel:
    """The model that MODEL names, as langchain does; else a stand-in."""
    if name := os.environ.get("MODEL"):
        return init_chat_model(name)
    return GenericFakeChatModel(messages=itertools.cycle([AIMessage("It opens at nine.")]))


async def look_up(state: MessagesState) -> dict[str, Any]:
    """What a node writes is shown while the graph goes on."""
    get_stream_writer()({"looking": "opening hours"})
    return {"messages": [SystemMessage("The library opens at nine.")]}


async def answer(state: MessagesState) -> dict[str, Any]:
    """The tokens of the model are streamed without a word about it here."""
    return {"messages": [await model().ainvoke(state["messages"])]}


graph = StateGraph(MessagesState)
graph.add_node("look_up", look_up)
graph.add_node("answer", answer)
graph.add_edge(START, "look_up")
graph.add_edge("look_up", "answer")
graph.add_edge("answer", END)

agent = LangGraph(graph.compile())
