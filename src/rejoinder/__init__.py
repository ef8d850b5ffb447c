"""Rejoinder, the Python back half of the AI SDK: any agent or model in, `useChat` out, nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rejoinder.chat.wishes import Principal
    from rejoinder.engine.model_agent import ModelAgent
    from rejoinder.engine.tool_functions import tool
    from rejoinder.ports.agents import Agent, Call
    from rejoinder.ports.tools import Tool, ToolContext, ToolError
    from rejoinder.server.chat import Chat
    from rejoinder.translate.emitter import Emitter

__all__ = [
    "Agent",
    "Call",
    "Chat",
    "Emitter",
    "ModelAgent",
    "Principal",
    "Tool",
    "ToolContext",
    "ToolError",
    "__version__",
    "tool",
]

__version__ = "0.1.0.dev0"

_HOMES = {
    "Agent": "rejoinder.ports.agents",
    "Call": "rejoinder.ports.agents",
    "Chat": "rejoinder.server.chat",
    "Emitter": "rejoinder.translate.emitter",
    "ModelAgent": "rejoinder.engine.model_agent",
    "Principal": "rejoinder.chat.wishes",
    "Tool": "rejoinder.ports.tools",
    "ToolContext": "rejoinder.ports.tools",
    "ToolError": "rejoinder.ports.tools",
    "tool": "rejoinder.engine.tool_functions",
}
"""Where the names live that this package offers. They are fetched when they are asked for, so that importing it is
quick, and what needs an extra is not needed by those who do not use it."""


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rejoinder' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
