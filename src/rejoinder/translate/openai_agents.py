"""The OpenAI Agents SDK: `stream_events()` of a run.

What the models say comes as the events of OpenAI Responses (whatever model it is), and is understood by their
translator. The run's own items say it once more, and alone what the tools answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import kind_of, object_of, objects_of, said_of, text_of, text_or_none
from rejoinder.translate.notes import Finished, Problem, Remember
from rejoinder.translate.openai_responses import OpenAIResponses
from rejoinder.wire.chunks import Chunk

_ANSWERS: Final = frozenset(
    {"tool_output", "handoff_occured", "handoff_occurred", "tool_search_output_created"}
)
_SAID: Final = frozenset(
    {
        "message_output_created",
        "reasoning_item_created",
        "tool_called",
        "tool_search_called",
        "handoff_requested",
    }
)
_RECORDED: Final = frozenset({"mcp_approval_requested", "mcp_approval_response", "mcp_list_tools"})
"""The models' own events say these."""


class OpenAIAgents:
    """Translates one run."""

    def __init__(self) -> None:
        self._model = OpenAIResponses()
        self._models_speak = False

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One event."""
        say.runs_broken_inputs = True
        match text_of(event, "type"):
            case "raw_response_event":
                self._models_speak = True
                return self._model(say, object_of(event, "data"))
            case "run_item_stream_event":
                return self._item(say, event)
            case "agent_updated_stream_event":
                name = text_of(event, "new_agent") or text_of(event, "new_agent", "name")
                return say.data("agent", {"name": name}, transient=True)
            case "run_interrupted":
                return self._interrupted(say, event)
            case _:
                say.note(
                    Problem(text=f"an event {kind_of(event, 'type')}, which the Agents SDK does not have")
                )
                return ()

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more."""
        return self._model.close(say)

    def _interrupted(self, say: Emitter, event: Json) -> Iterator[Chunk]:
        """Our own: the run waits for the user's answers, and can be taken up again."""
        for item in objects_of(event, "interruptions"):
            call_id = text_of(item, "call_id")
            yield from self._call(say, item)
            if call_id and not say.asked(call_id):
                yield from say.approval_request(f"approval:{call_id}", call_id)
        say.note(Remember(memory={"state": object_of(event, "state")}))
        say.note(Finished(reason="tool-calls"))

    def _item(self, say: Emitter, event: Json) -> Iterable[Chunk]:
        name, item = text_of(event, "name"), object_of(event, "item")
        if name in _ANSWERS:
            return self._answer(say, item)
        if name in _SAID:
            return () if self._models_speak else self._said(say, object_of(item, "raw_item"))
        if name not in _RECORDED:
            say.note(Problem(text=f"a run item {kind_of(event, 'name')}, which the Agents SDK does not have"))
        return ()

    def _answer(self, say: Emitter, item: JsonObject) -> list[Chunk]:
        raw = object_of(item, "raw_item")
        call_id = text_of(raw, "call_id") or text_of(raw, "id")
        if not call_id or say.answered(call_id):
            return []
        output = item.get("output")
        return say.tool_output(call_id, raw.get("output") if output is None else output)

    def _said(self, say: Emitter, raw: JsonObject) -> Iterator[Chunk]:
        """What a model said, when its own events are not among the events."""
        match text_of(raw, "type"):
            case "message":
                for part in objects_of(raw, "content"):
                    yield from say.text(text_of(part, "text") or text_of(part, "refusal"))
                yield from say.text_end()
            case "reasoning":
                for part in objects_of(raw, "summary") + objects_of(raw, "content"):
                    yield from say.reasoning(text_of(part, "text"))
                yield from say.reasoning_end()
            case _:
                yield from self._call(say, raw)

    def _call(self, say: Emitter, raw: JsonObject) -> Iterator[Chunk]:
        call_id = text_of(raw, "call_id") or text_of(raw, "id")
        if not call_id or say.knows(call_id):
            return
        yield from say.tool_input_start(call_id, text_or_none(raw, "name") or UNKNOWN_TOOL)
        given = raw.get("arguments", raw.get("input"))
        yield from say.tool_input_delta(call_id, "" if given is None else said_of(given))
        yield from say.tool_input_end(call_id)
