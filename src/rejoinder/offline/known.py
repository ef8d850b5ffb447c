"""Translators by the names of agents: those that ship with us, and those of agents that somebody brings."""

from __future__ import annotations

from collections.abc import Iterable

from rejoinder.offline.checking import Translators
from rejoinder.ports.agents import AgentProtocol
from rejoinder.translate.registry import TRANSLATORS


def translators_of(agents: Iterable[AgentProtocol] = ()) -> Translators:
    """What is understood: a turn names the agent that made it. An agent that is brought outranks ours of its name."""
    ours = {name: find() for name, find in TRANSLATORS.items()}
    return {**ours, **{agent.name: agent.translate for agent in agents}}
