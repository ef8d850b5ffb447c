"""An agent and a history builder of which one knows afterwards what they raised.

A turn survives what its agent raises and records it in words. Whoever called for the turn from Python wants the
exception itself.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from rejoinder.engine.model_agent import ModelAgent
from rejoinder.messages import Json
from rejoinder.ports.agents import Call, Run
from rejoinder.ports.history import HistoryBuilder, HistoryBuildRequest, HistoryBuildResult
from rejoinder.translate import Translator


class Witness:
    """Both in one, for one turn."""

    def __init__(self, agent: ModelAgent, history: HistoryBuilder) -> None:
        self.raised: Exception | None = None
        self._agent = agent
        self._history = history

    @property
    def name(self) -> str:
        """The agent's."""
        return self._agent.name

    @property
    def idle_seconds(self) -> float:
        """The agent's."""
        return self._agent.idle_seconds

    @property
    def translate(self) -> Translator:
        """The agent's."""
        return self._agent.translate

    @property
    def run(self) -> Run:
        """The agent's, watched."""
        return self._run

    async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
        """The builder's, watched."""
        try:
            return await self._history.build_history(req)
        except Exception as error:
            self.raised = error
            raise

    async def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        events: Json = self._agent.run(call)
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        except Exception as error:
            self.raised = error
            raise
