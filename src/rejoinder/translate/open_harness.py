"""Open Harness: the events of a runtime, as its adapter for the AI SDK is specified to translate them.

Where the specification's own adapter was found wrong, `docs/why.md` says what is done instead: every part has an id
of its own, a node is a step, a tool that fails is a failed tool and not a failed stream, and what ends the answer
is the end of the flow, or of the only agent where no flow is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages import ABSENT, Json, JsonObject, TurnError, Usage, is_absent
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, kind_of, object_of, said_of, text_of, text_or_none
from rejoinder.translate.notes import CallEnded, CallStarted, Failed, Finished, Problem, Remember
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.json import is_object

FlowStatus: TypeAlias = Literal["running", "paused", "complete", "aborted"]

NO_OUTPUT: Final = "The tool gave no output."
_ABORTED: Final = "The run was aborted."
_FAILED: Final = "The agent failed."

_RECORDED: Final = frozenset(
    {
        "node:skipped",
        "edge:fire",
        "loop:iterate",
        "state:patch",
        "command:received",
        "agent:start",
        "recording:linked",
    }
)
"""What is kept in the record, and says nothing that a client could show."""

_CALL_IDS: Final = ("toolCallId", "toolUseId", "callId")


class OpenHarnessOptions(Struct, frozen=True, kw_only=True):
    """What of a run a client is told."""

    send_reasoning: bool = True
    send_step_markers: bool = True
    send_flow_metadata: bool = False
    send_node_outputs: bool = False


class _Call(Struct, kw_only=True):
    id: str
    place: str
    name: str
    input: Json


class RunEnd:
    """Whether a run is over: its flow is; or its agent, where neither a flow nor nodes are told.

    Where nodes are told and no flow, another node may always follow: `agent_ended` is all that is known then, and
    the runtime has to be asked.
    """

    def __init__(self) -> None:
        self.in_flow = False
        self.in_nodes = False
        self._terminal = False

    def hear(self, event: Json) -> None:
        """The next event."""
        kind = text_of(event, "type")
        if kind in ("flow:start", "flow:resumed"):
            self.in_flow, self._terminal = True, False
        elif kind in ("flow:complete", "flow:paused", "flow:aborted"):
            self.in_flow = self._terminal = True
        elif kind.startswith("node:"):
            self.in_nodes = True
        elif kind in ("agent:complete", "agent:paused", "agent:aborted"):
            self._terminal = self._terminal or not self.in_flow
        elif kind == "agent:error" and not self.in_flow and not self.in_nodes:
            self._terminal = True

    @property
    def agent_ended(self) -> bool:
        """Whether something has ended, after which nothing need come."""
        return self._terminal

    @property
    def over(self) -> bool:
        """Whether nothing more belongs to the run."""
        return self._terminal and (self.in_flow or not self.in_nodes)


class OpenHarness:
    """Translates one run."""

    def __init__(self, options: OpenHarnessOptions | None = None) -> None:
        self._options = OpenHarnessOptions() if options is None else options
        self._flow = ""
        self._end = RunEnd()
        self._texts: dict[str, str] = {}
        self._thoughts: dict[str, str] = {}
        self._spoke: set[str] = set()
        self._waiting: list[_Call] = []
        self._calls = 0
        self._completed = 0
        self._meanings: Mapping[str, Callable[[Emitter, JsonObject], Iterable[Chunk]]] = {
            "flow:start": self._flow_start,
            "flow:resumed": self._flow_resumed,
            "flow:complete": self._flow_complete,
            "flow:paused": self._flow_paused,
            "flow:aborted": self._flow_aborted,
            "node:start": self._node_start,
            "node:complete": self._node_complete,
            "node:error": self._node_error,
            "agent:text:delta": self._text_delta,
            "agent:text": self._text,
            "agent:thinking:delta": self._thinking_delta,
            "agent:thinking": self._thinking,
            "agent:tool": self._tool,
            "agent:error": self._agent_error,
            "agent:complete": self._agent_complete,
            "agent:paused": self._agent_paused,
            "agent:aborted": self._agent_aborted,
        }

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One event. One that lacks what it needs is noted and left out."""
        say.own_steps = True
        kind = text_of(event, "type")
        problem = _problem(event)
        if problem is not None:
            say.note(Problem(text=problem))
            return ()
        self._end.hear(event)
        meaning = self._meanings.get(kind)
        if meaning is None:
            if kind not in _RECORDED:
                say.note(
                    Problem(text=f"an Open Harness event {kind_of(event, 'type')} is not known: it is kept")
                )
            return ()
        return meaning(say, event)

    def close(self, say: Emitter) -> Iterator[Chunk]:
        """No event will come any more."""
        for call in self._waiting:
            yield from say.tool_error(call.id, NO_OUTPUT)
        if not self._end.agent_ended:
            error = TurnError(message="the Open Harness stream ended before its run", provider="open-harness")
            say.note(Failed(error=error, error_text="The agent ended before its answer was complete."))

    # Flows

    def _flow_start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._flow = text_of(event, "flowName")
        return self._status(say, "running")

    def _flow_resumed(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return self._status(say, "running")

    def _flow_complete(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._flow = text_of(event, "flowName") or self._flow
        if text_of(event, "status") == "failed":
            self._fail(say, "The flow failed.")
            return self._status(say, "aborted")
        say.note(Finished(reason="stop"))
        return self._status(say, "complete")

    def _flow_paused(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        say.note(Finished(reason="other"))
        return self._status(say, "paused")

    def _flow_aborted(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._fail(say, _ABORTED)
        return self._status(say, "aborted")

    def _status(self, say: Emitter, status: FlowStatus) -> Iterable[Chunk]:
        if not self._options.send_flow_metadata:
            return ()
        return say.data("flow-status", {"status": status, "flowName": self._flow})

    # Nodes: a node is a step

    def _node_start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        if not self._options.send_step_markers:
            return say.close()
        return say.step()

    def _node_complete(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        if self._options.send_node_outputs:
            said = {"nodeId": event.get("nodeId"), "runId": event.get("runId"), "output": event.get("output")}
            yield from say.data("node-output", said)
        yield from say.step_end() if self._options.send_step_markers else say.close()

    def _node_error(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._fail(say, _text_of_error(event.get("error")) or _FAILED)
        return ()

    # What an agent says and thinks

    def _text_delta(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        place, delta = _place(event), text_of(event, "content")
        self._texts[place] = self._texts.get(place, "") + delta
        self._spoke.add(place)
        return [*say.reasoning_end(place), *say.text(delta, place)]

    def _text(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        place = _place(event)
        yield from self._text_delta(say, {**event, "content": _missing(self._texts.pop(place, ""), event)})
        yield from say.text_end(place)
        self._texts.pop(place, None)

    def _thinking_delta(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        if not self._options.send_reasoning:
            return ()
        place, delta = _place(event), text_of(event, "content")
        self._thoughts[place] = self._thoughts.get(place, "") + delta
        return [*say.text_end(place), *say.reasoning(delta, place)]

    def _thinking(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        place = _place(event)
        said = self._thoughts.pop(place, "")
        yield from self._thinking_delta(say, {**event, "content": _missing(said, event)})
        yield from say.reasoning_end(place)
        self._thoughts.pop(place, None)

    # Tools: told once, when they have run; or twice, when they begin and when they have

    def _tool(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        place, name = _place(event), text_of(event, "toolName")
        yield from say.text_end(place)
        yield from say.reasoning_end(place)
        error, output = _text_of_error(event.get("error")), event.get("toolOutput", ABSENT)
        call = self._begun(event, place, name)
        if call is None:
            call = self._new(event, place, name)
            # The runtime runs its tools: a client has nothing to do with them, and nothing to send on after them.
            yield from say.tool_input(call.id, name, call.input, provider_executed=True)
        if error:
            yield from say.tool_error(call.id, error)
        elif not is_absent(output):
            yield from say.tool_output(call.id, output)
        else:
            self._waiting.append(call)

    def _begun(self, event: JsonObject, place: str, name: str) -> _Call | None:
        """The call that this event goes on with: it was told without a result, by the same agent."""
        call_id, given = _call_id(event), event.get("toolInput", ABSENT)
        for call in self._waiting:
            is_same = call.id == call_id if call_id else (call.place, call.name) == (place, name)
            if is_same and (call_id or is_absent(given) or given == call.input):
                self._waiting.remove(call)
                return call
        return None

    def _new(self, event: JsonObject, place: str, name: str) -> _Call:
        call_id = (
            _call_id(event) or f"{text_of(event, 'runId')}:{text_of(event, 'nodeId')}:tool:{self._calls}"
        )
        self._calls += 1
        given = event.get("toolInput")
        return _Call(id=call_id, place=place, name=name, input={} if given is None else given)

    # How an agent ends

    def _agent_error(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._fail(say, text_of(event, "message") or _FAILED, text_or_none(event, "errorType"))
        return ()

    def _agent_complete(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        result = event.get("result")
        if _place(event) not in self._spoke and isinstance(result, str) and result:
            yield from self._text(say, {**event, "content": result})
        if event.get("structuredOutput") is not None:
            yield from say.data("structured-output", event["structuredOutput"])
        self._account(say, event)
        say.note(Finished(reason="stop"))

    def _agent_paused(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        session = text_or_none(event, "sessionId")
        if session is not None:
            say.note(Remember(memory={"sessionId": session}))
        say.note(Finished(reason="other"))
        return ()

    def _agent_aborted(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._fail(say, text_of(event, "reason") or _ABORTED)
        return ()

    def _account(self, say: Emitter, event: JsonObject) -> None:
        usage = object_of(event, "usage")
        read, written = (
            integer_of(usage, "cacheReadInputTokens"),
            integer_of(usage, "cacheCreationInputTokens"),
        )
        fresh = integer_of(usage, "inputTokens")
        told = Usage(
            input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
            output_tokens=integer_of(usage, "outputTokens"),
            cache_read_tokens=read,
            cache_write_tokens=written,
        )
        call_id = f"{_place(event)}:{self._completed}"
        self._completed += 1
        model = next(iter(object_of(event, "modelUsage")), "unknown")
        say.note(CallStarted(id=call_id, provider="open-harness", model=model))
        say.note(CallEnded(id=call_id, provider="open-harness", usage=told))

    def _fail(self, say: Emitter, text: str, code: str | None = None) -> None:
        say.note(Failed(error=TurnError(message=text, code=code, provider="open-harness"), error_text=text))


def _problem(event: Json) -> str | None:
    """Why an event cannot be taken, if so."""
    kind = text_of(event, "type")
    if not is_object(event) or not kind:
        return "an Open Harness event without a type: it is kept and left out"
    missing = [name for name in ("runId", "nodeId") if kind.startswith("agent:") and not text_of(event, name)]
    if kind == "agent:tool" and not text_of(event, "toolName"):
        missing.append("toolName")
    return f"{kind} without {' and '.join(missing)}: it is kept and left out" if missing else None


def _place(event: JsonObject) -> str:
    return f"{text_of(event, 'runId')}/{text_of(event, 'nodeId')}"


def _call_id(event: JsonObject) -> str:
    return next((text_of(event, name) for name in _CALL_IDS if text_of(event, name)), "")


def _missing(said: str, event: JsonObject) -> str:
    """What the complete text has beyond its deltas."""
    whole = text_of(event, "content")
    return whole[len(said) :] if whole.startswith(said) else ""


def _text_of_error(error: Json) -> str:
    if error is None or error is False:
        return ""
    return text_of(error, "message") or said_of(error)
