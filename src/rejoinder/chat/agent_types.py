"""The registry of agent types of the agent-messages specification: a service for each name.

Further types are functions that make an agent: `create_agent_service("mine", {"mine": make})`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from rejoinder.chat.agent_service import AgentService, MakeAgent, Options
from rejoinder.errors import RejoinderError
from rejoinder.ports.agents import AgentProtocol

DEFAULT_MODELS: Final[Mapping[str, str]] = MappingProxyType(
    {"openai": "gpt-5-mini", "anthropic-api": "claude-sonnet-5"}
)
"""What is asked if the options name no `model`."""


class UnknownAgentType(RejoinderError):
    """Nobody has registered an agent type of that name."""

    code = "unknown-agent-type"


def create_agent_service(agent_type: str, types: Mapping[str, MakeAgent] | None = None) -> AgentService:
    """The service of that type: one of `types`, or of those there are. Raises `UnknownAgentType`."""
    known = {**AGENT_TYPES, **(types or {})}
    make = known.get(agent_type)
    if make is None:
        raise UnknownAgentType(f"no agent type is called {agent_type!r}: there are {', '.join(known)}")
    return AgentService(agent_type, make)


def _claude_code(cwd: str, options: Options) -> AgentProtocol:
    from claude_agent_sdk import ClaudeAgentOptions

    from rejoinder.agents.claude_code import ClaudeCode

    # The options may be the SDK's, as a mapping of its own names or as what it makes of them.
    given = options.get("options")
    made = given if isinstance(given, ClaudeAgentOptions) else ClaudeAgentOptions(**dict(options))
    return ClaudeCode(replace(made, cwd=cwd))


def _openai(cwd: str, options: Options) -> AgentProtocol:
    from rejoinder.agents.openai import OpenAIResponses
    from rejoinder.engine.model_agent import ModelAgent

    return ModelAgent(OpenAIResponses(**_with_model("openai", options)), name="openai")


def _anthropic(cwd: str, options: Options) -> AgentProtocol:
    from rejoinder.agents.anthropic import AnthropicMessages
    from rejoinder.engine.model_agent import ModelAgent

    return ModelAgent(AnthropicMessages(**_with_model("anthropic-api", options)), name="anthropic-api")


def _with_model(agent_type: str, options: Options) -> dict[str, Any]:
    return {"model": DEFAULT_MODELS[agent_type], **options}


AGENT_TYPES: Final[Mapping[str, MakeAgent]] = MappingProxyType(
    {"claude-code": _claude_code, "openai": _openai, "anthropic-api": _anthropic}
)
"""The types there are. Their packages are imported when one is invoked."""
