"""A server of its own around an agent that is named: what `rejoinder serve` runs in each of its processes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Final

from msgspec import Struct
from starlette.types import ASGIApp

from rejoinder.chat.backend import BusyPolicy
from rejoinder.chat.choices import chosen_queue
from rejoinder.errors import RejoinderError
from rejoinder.ports.agents import AgentProtocol
from rejoinder.ports.journal import Durability
from rejoinder.ports.providers import ProviderAdapter
from rejoinder.server.chat import Chat
from rejoinder.server.first_look import first_look

REMEDY: Final = "name one as module:attribute, for instance my_agents:agent for `agent` in my_agents.py"


class NoSuchAgent(RejoinderError):
    """What was named as the agent cannot be had, or is none. The message says which, and how to name one."""

    code = "no-such-agent"


class Standalone(Struct, frozen=True, kw_only=True):
    """What a server of its own is made of. It crosses into other processes, so it holds names and not things.

    Without `agent`, it is the best of those that this machine can run (`first_look`).
    """

    agent: str | None = None
    store: str | None = None
    redis: str | None = None
    fleet: bool = False
    dialect: str = "ai-sdk/7"
    busy: BusyPolicy = "reject"
    durability: Durability = "full"
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    telemetry: bool = False
    metrics: bool = False

    def chat(self) -> Chat:
        """The chat. Settings of a chat that was named outrank these. Raises `RejoinderError`."""
        found = first_look().agent if self.agent is None else named(self.agent)
        if isinstance(found, Chat):
            return found
        return Chat(
            found,
            store=self.store,
            redis=self.redis,
            queue=chosen_queue(self.store) if self.fleet else None,
            dialect=self.dialect,
            busy=self.busy,
            durability=self.durability,
            origins=self.origins,
            hosts=self.hosts,
            telemetry=self.telemetry,
            metrics=self.metrics,
        )

    def application(self) -> ASGIApp:
        """The ASGI application."""
        return self.chat().app


def named(reference: str) -> AgentProtocol | ProviderAdapter | Chat:
    """The agent, provider or chat that a reference names. Raises `NoSuchAgent`."""
    module, colon, path = reference.partition(":")
    if not (module and colon and path):
        raise NoSuchAgent(f"{reference!r} names no agent: {REMEDY}")
    # As `python -m` does: what lies in the current folder can be named.
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found = _imported(module)
    for name in path.split("."):
        if not hasattr(found, name):
            raise NoSuchAgent(f"{module} has no {path!r}: {REMEDY}")
        found = getattr(found, name)
    # A class has all that its instances have.
    if isinstance(found, type):
        raise NoSuchAgent(f"{reference!r} is the class {found.__name__}: name an instance of it")
    if isinstance(found, Chat | ProviderAdapter | AgentProtocol):
        return found
    raise NoSuchAgent(
        f"{reference!r} is {type(found).__name__}, which is neither an agent nor a provider nor a chat: {REMEDY}"
    )


def _imported(module: str) -> object:
    """The module, which is somebody else's: whatever it raises is told, and where."""
    try:
        return import_module(module)
    except RejoinderError:
        raise  # it says by itself what is wrong, and the way out
    except Exception as error:  # any error at all can stand in a file
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise NoSuchAgent(f"there is no module {module!r}: {REMEDY}") from error
        raise NoSuchAgent(f"{module} cannot be imported: {_told(error)}: mend it, then try again") from error


def _told(error: Exception) -> str:
    """An error in one line, with the last place that lies in the current folder."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, SyntaxError):
        return said  # it has its place in it
    for frame in reversed(extract_tb(error.__traceback__)):
        place = Path(frame.filename)
        if place.is_relative_to(Path.cwd()) and "site-packages" not in place.parts:
            return f"{said} ({place.name}, line {frame.lineno})"
    return said
