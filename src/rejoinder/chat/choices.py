"""What a chat is built from: a provider as an agent, a store by its address, and a history where none was chosen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final, TypeAlias

from rejoinder.engine.histories import BudgetedHistoryBuilder
from rejoinder.engine.model_agent import Instructions, ModelAgent
from rejoinder.engine.offered import AnyTool
from rejoinder.errors import RejoinderError
from rejoinder.history.budget import HistoryBudget
from rejoinder.ports.agents import AgentProtocol
from rejoinder.ports.bus import Bus
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.providers import ProviderAdapter
from rejoinder.ports.queue import TurnQueue
from rejoinder.ports.store import ConversationStore

URL_VARIABLE: Final = "DATABASE_URL"
"""The environment variable that names the database, as nearly every platform has it."""

MEMORY: Final = "memory"
"""The store that forgets: for tests and first looks."""

DEFAULT_BUDGET: Final = HistoryBudget(max_turns=20, max_tokens=100_000, reserve_output_tokens=8_000)
"""What a model is shown where nobody says: turns that a turn's own beginning has read already, at a length that the
models of today take. Give a smaller one to a smaller model."""

StoreChoice: TypeAlias = ConversationStore | str | None
"""A store, the URL of a PostgreSQL, `memory`; or nothing, for `DATABASE_URL` if it is set, else the embedded server."""


class AgentHasTools(RejoinderError):
    """Tools and instructions were given beside an agent that has its own. Give them to the agent."""

    code = "agent-has-tools"


class NoSuchStore(RejoinderError):
    """The store that was chosen cannot be had: an address of something else, or an extra that is not installed."""

    code = "no-such-store"


def chosen_agent(
    choice: AgentProtocol | ProviderAdapter, *, tools: Sequence[AnyTool], instructions: Instructions | None
) -> AgentProtocol:
    """The agent that was meant: a provider is asked by one of ours. Raises `AgentHasTools` or `InvalidTool`."""
    if not isinstance(choice, AgentProtocol):
        return ModelAgent(choice, tools=tools, instructions=instructions)
    if tools or instructions is not None:
        raise AgentHasTools(
            f"agent {choice.name!r} is given no tools and no instructions here: give them to the agent itself"
        )
    return choice


def chosen_store(choice: StoreChoice, *, redis: str | None = None) -> ConversationStore:
    """The store that was meant; `redis` is the URL of what carries its wake-ups. Raises `NoSuchStore`."""
    if choice is not None and not isinstance(choice, str):
        return choice
    url = os.environ.get(URL_VARIABLE) or None if choice is None else choice
    if url == MEMORY:
        from rejoinder.stores.memory import InMemoryConversationStore

        return InMemoryConversationStore()
    if url is not None and not url.startswith(("postgresql://", "postgres://")):
        raise NoSuchStore("the store is neither 'memory' nor the address of a PostgreSQL (postgresql://…)")
    try:
        from rejoinder.stores.postgres.store import PostgresConversationStore
    except ImportError as error:
        extra = "embedded" if url is None else "postgres"
        raise NoSuchStore(
            f"PostgreSQL needs an extra ({error.name} is missing): pip install 'rejoinder[{extra}]', "
            "or choose store='memory'"
        ) from error
    return PostgresConversationStore(url, bus=None if redis is None else chosen_bus(redis))


def chosen_history() -> HistoryBuilder:
    """The newest turns, as far as most models read with pleasure."""
    return BudgetedHistoryBuilder(DEFAULT_BUDGET)


def chosen_queue(choice: str | None) -> TurnQueue:
    """A queue of turns in the database that was meant. Raises `NoSuchStore`."""
    url = os.environ.get(URL_VARIABLE) or None if choice is None else choice
    if url == MEMORY:
        raise NoSuchStore("workers share a PostgreSQL: the store 'memory' is one process's own")
    if find_spec("procrastinate") is None:
        raise NoSuchStore("a queue of turns needs an extra: pip install 'rejoinder[worker]'")
    from rejoinder.stores.turn_queue import PostgresTurnQueue

    return PostgresTurnQueue(url)


def chosen_bus(url: str) -> Bus:
    """The bus on the Redis or Valkey that a URL names. Raises `NoSuchStore`."""
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise NoSuchStore("the bus is not the address of a Redis or Valkey (redis://…)")
    try:
        from rejoinder.stores.redis_bus import RedisBus

        return RedisBus(url)
    except ImportError as error:
        raise NoSuchStore("Redis needs an extra: pip install 'rejoinder[redis]'") from error
