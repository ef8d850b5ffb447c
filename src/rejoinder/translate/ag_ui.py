"""AG-UI: the events of a run, version 1.0 and the earlier ones with `THINKING_…` for `REASONING_…`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from rejoinder.messages import Json, JsonObject, TurnError, Usage
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import (
    array_of,
    integer_of,
    kind_of,
    object_of,
    objects_of,
    text_of,
    text_or_none,
    without,
)
from rejoinder.translate.json_patch import InvalidPatch, patched
from rejoinder.translate.notes import CallEnded, CallStarted, Failed, Finished, Problem, Remember, Stopped
from rejoinder.wire.chunks import Chunk, ProviderMetadata
from rejoinder.wire.json import is_object

OURS: Final = ("", "assistant")
"""Roles of messages that are part of the answer."""

_ENVELOPE: Final = ("type", "timestamp", "rawEvent", "metadata")


Meaning: TypeAlias = Callable[[Emitter, JsonObject], Iterable[Chunk]]


class AgUi:
    """Translates one run, or several in a row."""

    def __init__(self) -> None:
        self._running = False
        self._text: str | None = None
        self._thought: str | None = None
        self._call: str | None = None
        self._foreign: set[str] = set()
        self._said: dict[str, str] = {}
        self._state: Json = None
        self._activities: dict[str, Json] = {}
        self._subagents: dict[str, JsonObject] = {}
        self._runs = 0
        self._meanings: Mapping[str, Meaning] = {
            "RUN_STARTED": self._run_started,
            "RUN_FINISHED": self._run_finished,
            "RUN_ERROR": self._run_error,
            "STEP_STARTED": self._step_started,
            "STEP_FINISHED": self._step_finished,
            "TEXT_MESSAGE_START": self._text_start,
            "TEXT_MESSAGE_CONTENT": self._text_content,
            "TEXT_MESSAGE_END": self._text_end,
            "TEXT_MESSAGE_CHUNK": self._text_chunk,
            "REASONING_MESSAGE_START": self._thought_start,
            "REASONING_MESSAGE_CONTENT": self._thought_content,
            "REASONING_MESSAGE_CHUNK": self._thought_content,
            "REASONING_MESSAGE_END": self._thought_end,
            "REASONING_ENCRYPTED_VALUE": self._thought_value,
            "TOOL_CALL_START": self._call_start,
            "TOOL_CALL_ARGS": self._call_arguments,
            "TOOL_CALL_END": self._call_end,
            "TOOL_CALL_CHUNK": self._call_chunk,
            "TOOL_CALL_RESULT": self._call_result,
            "STATE_SNAPSHOT": self._state_snapshot,
            "STATE_DELTA": self._state_delta,
            "MESSAGES_SNAPSHOT": self._messages,
            "ACTIVITY_SNAPSHOT": self._activity,
            "ACTIVITY_DELTA": self._activity,
            "CUSTOM": self._custom,
            "SUBAGENT_STARTED": self._subagent,
            "SUBAGENT_FINISHED": self._subagent,
            "SUBAGENT_ERROR": self._subagent,
        }

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One event."""
        event = _in_camels(event)
        kind = text_of(event, "type")
        meaning = self._meanings.get(
            kind.replace("THINKING_TEXT_", "REASONING_").replace("THINKING_", "REASONING_")
        )
        if meaning is None or not is_object(event):
            if kind not in _RECORDED:
                say.note(Problem(text=f"an AG-UI event {kind_of(event, 'type')} is not known: it is kept"))
            return ()
        return [*self._thought_ends(say, kind), *meaning(say, event)]

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more. A run that has begun and not ended was cut off."""
        if self._running:
            error = TurnError(message="the AG-UI stream ended before its run", provider="ag-ui")
            say.note(Failed(error=error, error_text="The agent ended before its answer was complete."))
        return self._thought_ends(say, "")

    # Runs

    def _run_started(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._running = True
        self._runs += 1
        return ()

    def _run_finished(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        self._running = False
        self._account(say, event)
        if self._state is not None:
            say.note(Remember(memory=self._state))
        outcome = object_of(event, "outcome")
        for interrupt in objects_of(outcome, "interrupts"):
            yield from self._interrupt(say, interrupt)
        if event.get("result") is not None:
            yield from say.data("result", event["result"])
        if text_of(outcome, "type") == "cancelled":
            say.note(Stopped(reason="cancelled"))
        else:
            say.note(Finished(reason="tool-calls" if say.waiting else "stop"))

    def _interrupt(self, say: Emitter, interrupt: JsonObject) -> list[Chunk]:
        call_id, interrupt_id = text_of(interrupt, "toolCallId"), text_of(interrupt, "id")
        if call_id and interrupt_id and say.knows(call_id):
            said = say.tool_input_end(call_id)
            return said + say.approval_request(
                interrupt_id, call_id, reason=text_or_none(interrupt, "message")
            )
        return say.data("interrupt", interrupt, id=interrupt_id or None)

    def _run_error(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._running = False
        self._account(say, event)
        text = text_of(event, "message") or "The agent failed."
        error = TurnError(message=text, code=text_or_none(event, "code"), provider="ag-ui")
        say.note(Failed(error=error, error_text=text))
        return ()

    def _account(self, say: Emitter, event: JsonObject) -> None:
        for number, told in enumerate(objects_of(event, "usage")):
            call_id = f"run-{self._runs}-{number}"
            provider, model = text_of(told, "provider") or "ag-ui", text_of(told, "model") or "unknown"
            say.note(CallStarted(id=call_id, provider=provider, model=model))
            usage = Usage(
                input_tokens=integer_of(told, "inputTokens"),
                output_tokens=integer_of(told, "outputTokens"),
                total_tokens=integer_of(told, "totalTokens"),
                cache_read_tokens=integer_of(told, "cachedInputTokens"),
                cache_write_tokens=integer_of(told, "cacheWriteInputTokens"),
                reasoning_tokens=integer_of(told, "reasoningTokens"),
            )
            say.note(CallEnded(id=call_id, provider=provider, usage=usage))

    def _step_started(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.step()

    def _step_finished(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.step_end()

    # Texts

    def _text_start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        message_id = text_of(event, "messageId")
        self._text = message_id
        if text_of(event, "role") not in OURS:
            # What the user's side says in between is not the answer.
            self._foreign.add(message_id)
            return ()
        self._said.setdefault(message_id, "")
        return say.text_start(message_id, provider_metadata=_metadata(event))

    def _text_content(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        message_id = text_of(event, "messageId")
        if message_id in self._foreign:
            return ()
        delta = text_of(event, "delta")
        self._said[message_id] = self._said.get(message_id, "") + delta
        return say.text(delta, message_id)

    def _text_end(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.text_end(text_of(event, "messageId"))

    def _text_chunk(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        message_id = text_of(event, "messageId") or self._text or ""
        if message_id != self._text or message_id not in self._said:
            yield from self._text_start(say, {**event, "messageId": message_id})
        yield from self._text_content(say, {**event, "messageId": message_id})

    # Reasoning. What it looks like in cipher comes after its end: so its end waits for what comes next.

    def _thought_start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        message_id = text_of(event, "messageId")
        return say.reasoning_start(message_id, provider_metadata=_metadata(event))

    def _thought_content(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.reasoning(text_of(event, "delta"), text_of(event, "messageId"))

    def _thought_end(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._thought = text_of(event, "messageId")
        return ()

    def _thought_value(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        entity = text_of(event, "entityId")
        if text_of(event, "subtype") != "message" or entity != self._thought:
            return ()
        self._thought = None
        metadata = {"ag-ui": {"encryptedValue": text_of(event, "encryptedValue")}}
        return say.reasoning_end(entity, provider_metadata=metadata)

    def _thought_ends(self, say: Emitter, kind: str) -> list[Chunk]:
        if self._thought is None or kind == "REASONING_ENCRYPTED_VALUE":
            return []
        ended, self._thought = self._thought, None
        return say.reasoning_end(ended)

    # Tools

    def _call_start(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._call = text_of(event, "toolCallId")
        name = text_of(event, "toolCallName") or UNKNOWN_TOOL
        return say.tool_input_start(self._call, name, provider_metadata=_metadata(event))

    def _call_arguments(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.tool_input_delta(text_of(event, "toolCallId"), text_of(event, "delta"))

    def _call_end(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.tool_input_end(text_of(event, "toolCallId"))

    def _call_chunk(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        call_id = text_of(event, "toolCallId") or self._call or ""
        if not say.knows(call_id):
            yield from self._call_start(say, {**event, "toolCallId": call_id})
        yield from self._call_arguments(say, {**event, "toolCallId": call_id})

    def _call_result(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.tool_output(text_of(event, "toolCallId"), event.get("content"))

    # State and what else there is

    def _state_snapshot(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        self._state = event.get("snapshot")
        return say.data("state", self._state, id="state")

    def _state_delta(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        try:
            self._state = patched({} if self._state is None else self._state, array_of(event, "delta"))
        except InvalidPatch as error:
            say.note(Problem(text=f"STATE_DELTA does not fit the state: {error}"))
            return ()
        return say.data("state", self._state, id="state")

    def _activity(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        key = text_of(event, "messageId")
        known = self._activities.get(key)
        try:
            if text_of(event, "type") == "ACTIVITY_DELTA":
                content = patched({} if known is None else known, array_of(event, "patch"))
            elif known is not None and event.get("replace") is False:
                return ()
            else:
                content = event.get("content")
        except InvalidPatch as error:
            say.note(Problem(text=f"ACTIVITY_DELTA does not fit its activity: {error}"))
            return ()
        self._activities[key] = content
        said = {"activityType": text_of(event, "activityType"), "content": content}
        return say.data("activity", said, id=key or None)

    def _custom(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        return say.data(text_of(event, "name") or "custom", event.get("value"))

    def _subagent(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        state, run = text_of(event, "type").removeprefix("SUBAGENT_").lower(), text_of(event, "subagentRunId")
        said = {**self._subagents.get(run, {}), **without(event, *_ENVELOPE), "state": state}
        self._subagents[run] = said
        return say.data("subagent", said, id=run or None)

    def _messages(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """The whole history. What of the answer was not streamed is said; what stands before the question is not."""
        messages = objects_of(event, "messages")
        asked = [number for number, message in enumerate(messages) if text_of(message, "role") == "user"]
        for message in messages[asked[-1] + 1 :] if asked else messages:
            match text_of(message, "role"):
                case "assistant":
                    yield from self._message(say, message)
                case "tool":
                    yield from self._result_in_history(say, message)
                case _:
                    pass  # instructions and activities are no part of the answer's text

    def _message(self, say: Emitter, message: JsonObject) -> Iterator[Chunk]:
        message_id, text = text_of(message, "id"), text_of(message, "content")
        if text and message_id not in self._said and text not in self._said.values():
            self._said[message_id] = text
            yield from say.text(text, message_id)
            yield from say.text_end(message_id)
        for call in objects_of(message, "toolCalls"):
            call_id = text_of(call, "id")
            if not say.knows(call_id):
                name = text_of(call, "function", "name") or UNKNOWN_TOOL
                yield from say.tool_input_start(call_id, name)
                yield from say.tool_input_delta(call_id, text_of(call, "function", "arguments"))
                yield from say.tool_input_end(call_id)

    def _result_in_history(self, say: Emitter, message: JsonObject) -> Iterable[Chunk]:
        call_id = text_of(message, "toolCallId")
        if say.answered(call_id):
            return ()
        error = text_of(message, "error")
        return say.tool_error(call_id, error) if error else say.tool_output(call_id, message.get("content"))


def _in_camels(event: Json) -> Json:
    """The event with its names as the wire has them: written by Python's models, they may have underscores."""
    if not is_object(event) or not any("_" in name for name in event):
        return event
    words = {name: name.split("_") for name in event}
    return {first + "".join(map(str.capitalize, rest)): event[name] for name, (first, *rest) in words.items()}


def _metadata(event: JsonObject) -> ProviderMetadata | None:
    run = text_of(event, "subagentRunId")
    return {"ag-ui": {"subagentRunId": run}} if run else None


_RECORDED: Final = frozenset({"RAW", "REASONING_START", "REASONING_END", "THINKING_START", "THINKING_END"})
"""What is kept in the record, and says nothing that a client could show."""
