"""A chat that gives its turns a moment to end when it is to leave."""

from __future__ import annotations

from rejoinder import Chat
from tests.server.agents import AGENT

CHAT = Chat(AGENT, store="memory", drain_seconds=0.5)
