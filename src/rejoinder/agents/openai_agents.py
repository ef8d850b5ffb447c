"""An agent of the OpenAI Agents SDK: `Chat(OpenAIAgents(Agent(name="Assistant")))`. The extra is `openai-agents`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from rejoinder.agents.frameworks import as_json, decisions, relayed, shown
from rejoinder.agents.openai_responses_request import response_items
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.fields import object_of, objects_of, text_of
from rejoinder.translate.openai_agents import OpenAIAgents as OpenAIAgentsTranslator
from rejoinder.wire import json

if TYPE_CHECKING:
    from agents import Agent, RunConfig, RunResultStreaming

TURNS_MAX: Final = 20
"""So often the models are asked in one turn, handovers included."""


class OpenAIAgents:
    """Runs an agent, and those that it hands over to, and streams what they say.

    `context` is what tools are given. A tool that needs an approval asks the user; the run is kept as the SDK keeps
    it, and goes on with the answer.
    """

    def __init__(
        self,
        agent: Agent[Any],
        *,
        name: str | None = None,
        context: Any = None,
        max_turns: int = TURNS_MAX,
        run_config: RunConfig | None = None,
    ) -> None:
        self.agent: Final = agent
        self._name = name or agent.name
        self.idle_seconds: float = IDLE_SECONDS
        self._context = context
        self._max_turns = max_turns
        self._run_config = run_config

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
        return OpenAIAgentsTranslator

    def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        return relayed(lambda: self._stream(call), call.stop)

    async def _stream(self, call: Call) -> AsyncIterator[bytes]:
        run = await self._begun(call)
        try:
            async for event in run.stream_events():
                yield as_json(_plain(event))
            if run.interruptions:
                asked = [
                    {"call_id": item.call_id, "name": item.tool_name, "arguments": item.arguments}
                    for item in run.interruptions
                ]
                yield json.encode(
                    {"type": "run_interrupted", "interruptions": asked, "state": run.to_state().to_json()}
                )
        finally:
            run.cancel()

    async def _begun(self, call: Call) -> RunResultStreaming:
        from agents import Runner
        from agents.run_state import RunState

        answers = decisions(call)
        kept = object_of(call.memory, "state")
        given: Any = [_plainly(item) for item in response_items(shown(call))]
        if answers and kept:
            context = {} if self._context is None else {"context_override": self._context}
            given = await RunState.from_json(self.agent, kept, **context)
            for item in given.get_interruptions():
                answer = answers.get(item.call_id or "")
                if answer is not None and answer.approved:
                    given.approve(item)
                elif answer is not None:
                    given.reject(item, rejection_message=answer.reason)
        return Runner.run_streamed(
            self.agent,
            given,
            context=None if answers and kept else self._context,
            max_turns=self._max_turns,
            run_config=self._run_config,
        )


def _plainly(item: JsonObject) -> JsonObject:
    """An item as models of both APIs take it: to Chat Completions, what was said before is a text and no list."""
    if item.get("role") != "assistant":
        return item
    return {
        "role": "assistant",
        "content": "".join(text_of(part, "text") for part in objects_of(item, "content")),
    }


def _plain(event: Any) -> JsonObject:
    """An event without the objects in it that are not its own: agents, and what they hold."""
    match event.type:
        case "raw_response_event":
            data = event.data
            plain = data.model_dump(mode="json", warnings=False) if hasattr(data, "model_dump") else data
            return {"type": event.type, "data": plain}
        case "run_item_stream_event":
            item = event.item
            told = {"type": item.type, "raw_item": item.raw_item, "output": getattr(item, "output", None)}
            return {"type": event.type, "name": event.name, "item": told}
        case _:
            agent = getattr(event, "new_agent", None)
            return {"type": event.type, "new_agent": text_of({"name": getattr(agent, "name", "")}, "name")}
