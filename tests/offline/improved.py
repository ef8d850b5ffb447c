"""The obedient agent with a better translator, for a command that is told its name."""

from __future__ import annotations

from rejoinder import Agent
from tests.offline.test_reprojecting import politely
from tests.server.agents import run

AGENT = Agent("obedient", run, politely)
