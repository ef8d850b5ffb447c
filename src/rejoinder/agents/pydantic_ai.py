"""An agent of Pydantic AI: `Chat(PydanticAI(Agent("openai:gpt-5-mini")))`. The extra is `pydantic-ai`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from rejoinder.agents.frameworks import bytes_of, decisions, relayed, shown
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.agents.pydantic_ai_messages import pydantic_ai_messages
from rejoinder.messages import Json
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.pydantic_ai import PydanticAI as PydanticAITranslator

if TYPE_CHECKING:
    from pydantic_ai import DeferredToolResults
    from pydantic_ai.agent import AbstractAgent


class PydanticAI:
    """Runs an agent and streams what it says.

    `deps` are its dependencies, or a function that makes them for the call at hand. `options` go into
    `run_stream_events` as they are: `model_settings`, `usage_limits` and so on. Calls that the agent defers
    (`DeferredToolRequests` among its output types) are asked of the user, or left to the client, and the run goes on
    with the answers.
    """

    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        name: str | None = None,
        deps: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.agent: Final[Any] = agent
        self._name = name or agent.name or "pydantic-ai"
        self.idle_seconds: float = IDLE_SECONDS
        self._deps = deps
        self._options = dict(options or {})

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Runs the agent."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its events mean."""
        return PydanticAITranslator

    def _run(self, call: Call) -> AsyncGenerator[bytes, None]:
        return bytes_of(relayed(lambda: self._stream(call), call.stop))

    async def _stream(self, call: Call) -> AsyncIterator[Json]:
        answers = _answers(call)
        waiting = () if answers is None else {*answers.approvals}
        history = pydantic_ai_messages(shown(call), but=waiting)
        async with self.agent.run_stream_events(
            message_history=history,
            deferred_tool_results=answers,
            deps=self._deps(call) if callable(self._deps) else self._deps,
            conversation_id=call.conversation.id,
            **self._options,
        ) as events:
            async for event in events:
                yield _result(event.result) if event.event_kind == "agent_run_result" else event


def _answers(call: Call) -> DeferredToolResults | None:
    """What the user has answered, for the agent to go on with. What the client has is in the history."""
    from pydantic_ai import DeferredToolResults, ToolDenied

    if call.continues is None:
        return None
    answers = DeferredToolResults()
    for call_id, decision in decisions(call).items():
        denied = ToolDenied() if decision.reason is None else ToolDenied(decision.reason)
        answers.approvals[call_id] = True if decision.approved else denied
    return answers if answers.approvals else None


def _result(result: Any) -> Json:
    """The end of a run, without the history that it began with."""
    return {
        "event_kind": "agent_run_result",
        "result": {
            "output": result.output,
            "run_id": result.run_id,
            "message_history": result.new_messages(),
        },
    }
