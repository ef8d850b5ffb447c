"""What a chat may be given, and what stands for it."""

from __future__ import annotations

import pytest

from rejoinder import Chat, ModelAgent, tool
from rejoinder.agents.openai import OpenAIResponses
from rejoinder.chat.choices import AgentHasTools
from rejoinder.testing.scripted import scripted
from rejoinder.testing.scripted_model import ScriptedModel


@tool
def nothing() -> None:
    """Do nothing."""


def test_a_provider_is_asked_by_an_agent_with_the_tools_of_the_chat() -> None:
    plain = Chat(OpenAIResponses("gpt-5-mini"), store="memory").backend.agent
    assert isinstance(plain, ModelAgent)
    assert plain.name == "openai"
    agent = Chat(ScriptedModel("Hi"), tools=[nothing], instructions="Be brief.", store="memory").backend.agent
    assert isinstance(agent, ModelAgent)
    assert [each.name for each in agent.tools] == ["nothing"]


def test_an_agent_has_its_own_tools() -> None:
    agent = ModelAgent(ScriptedModel("Hi"), tools=[nothing])
    assert Chat(agent, store="memory").backend.agent is agent
    with pytest.raises(AgentHasTools):
        Chat(scripted("Hi"), tools=[nothing], store="memory")
    with pytest.raises(AgentHasTools):
        Chat(agent, instructions="Be brief.", store="memory")
