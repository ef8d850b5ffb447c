"""What each event of LangGraph means.

A message may be told up to three times: in pieces (`messages`), by the node that returns it (`updates`) and in every
state from then on (`values`). Its id says that it is the same one; a node that returns what its model said under
another id is found out by the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rejoinder.messages import Json, JsonObject, TurnError, Usage
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import (
    array_of,
    integer_of,
    object_of,
    objects_of,
    said_of,
    text_of,
    text_or_none,
)
from rejoinder.translate.langgraph.content import (
    calls_in,
    has_words,
    text_in,
    thought_in,
)
from rejoinder.translate.langgraph.message import ModelMessage
from rejoinder.translate.langgraph.shapes import (
    Event,
    event_of,
    identity_of,
    is_piece,
    message_of,
    said_by_model,
)
from rejoinder.translate.notes import CallEnded, CallStarted, Failed, Finished, Problem, Remember
from rejoinder.wire.chunks import Chunk, FinishReason
from rejoinder.wire.json import is_array, is_object

_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "content-filter",
    "refusal": "content-filter",
}
_RUNS: Final = ("lc_run--", "run-", "run--")
"""How the ids begin that LangChain gives to what a model writes."""

_FAILED: Final = "The tool failed and did not say why."
_FIELDS_OF_USAGE: Final = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "total_tokens": ("total_tokens",),
    "cache_read_tokens": ("input_token_details", "cache_read"),
    "cache_write_tokens": ("input_token_details", "cache_creation"),
    "reasoning_tokens": ("output_token_details", "reasoning"),
}


class LangGraph:
    """Translates one run."""

    def __init__(self) -> None:
        self._messages: dict[str, ModelMessage] = {}
        self._past: set[str] = set()
        self._interrupts: set[str] = set()
        self._sources: set[str] = set()

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One event."""
        read = event_of(event)
        if read is None:
            say.note(Problem(text="an event of LangGraph has no shape that is known: it is kept as it came"))
            return ()
        match read.mode:
            case "messages":
                return self._streamed(say, read.data)
            case "updates":
                return self._updates(say, read.data)
            case "values":
                return self._values(say, read)
            case "custom":
                return say.data("custom", read.data)
            case "remember":
                # Our own: the checkpoint that the run has ended with.
                say.note(Remember(memory=read.data))
                return ()
            case "error":
                text = text_of(read.data, "message") or said_of(read.data)
                error = TurnError(message=text, code=text_or_none(read.data, "error"), provider="langgraph")
                say.note(Failed(error=error, error_text=text))
                return ()
            case _:
                # Tasks, checkpoints and debug events are about the machine, not about the answer.
                return ()

    def close(self, say: Emitter) -> Iterator[Chunk]:
        """No event will come any more."""
        for message in self._messages.values():
            yield from message.finish(say)

    # Where messages come from

    def _streamed(self, say: Emitter, data: Json) -> Iterable[Chunk]:
        pair = data if is_array(data) else [data]
        about = object_of(pair[1]) if len(pair) > 1 else {}
        return self._message(say, message_of(pair[0] if pair else None), about)

    def _updates(self, say: Emitter, data: Json) -> Iterator[Chunk]:
        for node, update in object_of(data).items():
            if node == "__interrupt__":
                yield from self._interrupted(say, update)
                continue
            for part in update if is_array(update) else [update]:
                yield from self._returned(say, part)

    def _returned(self, say: Emitter, update: Json) -> Iterator[Chunk]:
        if not is_object(update):
            return
        for value in [update, *update.values()]:
            # A node may say that its messages replace those before: `Overwrite(value=…)`.
            told = value["value"] if is_object(value) and "value" in value and value is not update else value
            for item in told if is_array(told) else [told]:
                yield from self._message(say, message_of(item), {})

    def _values(self, say: Emitter, read: Event) -> Iterator[Chunk]:
        """A whole state: what stands before the newest message of the user was said in turns before."""
        state = read.data if is_object(read.data) else {"messages": read.data}
        for kept in state.values():
            messages = [message_of(message) for message in kept] if is_array(kept) else []
            asked = [number for number, message in enumerate(messages) if text_of(message, "type") == "human"]
            new = asked[-1] + 1 if asked else 0
            self._past.update(identity_of(message) for message in messages[:new])
            for message in messages[new:]:
                yield from self._message(say, message, {})
        yield from self._interrupted(say, state.get("__interrupt__"))
        yield from self._interrupted(say, read.interrupts)

    def _message(self, say: Emitter, message: JsonObject, about: JsonObject) -> Iterable[Chunk]:
        if said_by_model(message):
            identity = identity_of(message) if not is_piece(message) else text_of(message, "id")
            if identity in self._past:
                return ()
            if is_piece(message):
                return self._piece(say, identity, message, about)
            return self._whole(say, identity, message)
        if text_of(message, "type") in ("tool", "ToolMessageChunk"):
            return self._result(say, message)
        return ()

    # What a model says

    def _piece(self, say: Emitter, identity: str, message: JsonObject, about: JsonObject) -> Iterator[Chunk]:
        known = self._messages.get(identity)
        if known is None:
            if not identity.startswith(_RUNS) and not has_words(message):
                # Some models announce their answer under the vendor's id, and write it under that of the run.
                return
            known = self._new(say, identity, message, about)
            yield from self._step(say, known)
        yield from known.content(say, message)
        for chunk in objects_of(message, "tool_call_chunks"):
            yield from known.piece_of_call(say, chunk)
        if not array_of(message, "tool_call_chunks") and not message.get("invalid_tool_calls"):
            for call in objects_of(message, "tool_calls"):
                yield from known.whole_call(say, call)
        known.usage = _sum(known.usage, _usage_of(message))
        self._reason(say, message)
        if message.get("chunk_position") == "last":
            yield from known.finish(say)

    def _new(self, say: Emitter, identity: str, message: JsonObject, about: JsonObject) -> ModelMessage:
        provider = text_of(about, "ls_provider") or text_of(message, "response_metadata", "model_provider")
        model = text_of(about, "ls_model_name") or text_of(message, "response_metadata", "model_name")
        say.note(CallStarted(id=identity, provider=provider or "langchain", model=model or "unknown"))
        known = self._messages[identity] = ModelMessage(key=identity, sources=self._sources)
        return known

    def _step(self, say: Emitter, begun: ModelMessage) -> list[Chunk]:
        """A message is a step, unless another one is still being said: then the two share one."""
        others = (message for message in self._messages.values() if message is not begun)
        return say.step() if all(message.complete for message in others) else []

    def _whole(self, say: Emitter, identity: str, message: JsonObject) -> Iterator[Chunk]:
        known = self._messages.get(identity) or self._streamed_as(message)
        if known is None:
            known = self._new(say, identity, message, {})
            calls = [text_of(call, "id") for call in calls_in(message)]
            if calls and all(map(say.complete, calls)):
                # A graph that goes on after it was interrupted tells once more what it was about to do.
                known.confirmed = known.complete = True
                say.note(CallEnded(id=known.key))
                self._messages[identity] = known
                return
            yield from self._step(say, known)
            yield from known.content(say, message)
        elif not known.confirmed:
            yield from known.rest(say, message)
        self._messages[identity] = known
        if not known.confirmed:
            for call in calls_in(message):
                yield from known.whole_call(say, call)
            known.usage = _usage_of(message) or known.usage
            self._reason(say, message)
        known.confirmed = True
        yield from known.finish(say)

    def _streamed_as(self, message: JsonObject) -> ModelMessage | None:
        """The streamed message that a node returns under another id: the same words, the same calls."""
        text, thought = text_in(message).strip(), thought_in(message).strip()
        calls = {text_of(call, "id") for call in calls_in(message)}
        if not text and not calls and not thought:
            return None
        for known in self._messages.values():
            said, came = known.text.strip(), {*known.call_ids.values()}
            if (said, came) == (text, calls) and not known.confirmed:
                return known
        return None

    def _reason(self, say: Emitter, message: JsonObject) -> None:
        about = object_of(message, "response_metadata")
        told = (
            text_of(about, "finish_reason")
            or text_of(about, "stop_reason")
            or text_of(about, "done_reason")
            or text_of(about, "incomplete_details", "reason")
            or text_of(about, "status")
        )
        if told:
            say.note(Finished(reason=_REASONS.get(told.lower(), "other")))

    # What tools and people say

    def _result(self, say: Emitter, message: JsonObject) -> list[Chunk]:
        call_id = text_of(message, "tool_call_id")
        if say.answered(call_id) or identity_of(message) in self._past:
            return []
        name, content = text_or_none(message, "name"), message.get("content")
        if text_of(message, "status") == "error":
            return say.tool_error(call_id, text_in(message) or said_of(content) or _FAILED, name=name)
        return say.tool_output(call_id, content, name=name)

    def _interrupted(self, say: Emitter, interrupts: Json) -> Iterator[Chunk]:
        """The graph waits for somebody. Where it asks whether tools may run, it is asked of their calls."""
        for number, interrupt in enumerate(objects_of(interrupts)):
            interrupt_id = text_of(interrupt, "id") or text_of(interrupt, "interrupt_id") or str(number)
            if interrupt_id in self._interrupts:
                continue
            self._interrupts.add(interrupt_id)
            approvals = self._approvals(say, interrupt_id, interrupt.get("value"))
            yield from approvals or say.data("interrupt", interrupt.get("value"), id=interrupt_id)

    def _approvals(self, say: Emitter, interrupt_id: str, value: Json) -> list[Chunk]:
        """The questions, if all of them are about calls that we know."""
        found: dict[str, str | None] = {}
        requests = objects_of(value, "action_requests")
        for request in requests:
            wanted = request.get("args", request.get("arguments"))
            name = text_of(request, "name") or text_of(request, "action")
            call_id = say.find_call(name, wanted, but=found)
            if call_id is None:
                return []
            found[call_id] = text_or_none(request, "description")
        return [
            chunk
            for number, (call_id, reason) in enumerate(found.items())
            for chunk in say.approval_request(f"{interrupt_id}:{number}", call_id, reason=reason)
        ]


def _usage_of(message: JsonObject) -> Usage | None:
    told = object_of(message, "usage_metadata")
    if not told:
        return None
    return Usage(**{name: integer_of(told, *path) for name, path in _FIELDS_OF_USAGE.items()})


def _sum(left: Usage | None, right: Usage | None) -> Usage | None:
    if left is None or right is None:
        return left or right
    return left + right
