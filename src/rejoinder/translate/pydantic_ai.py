"""Pydantic AI: the events of an agent's run (`run_stream_events`, event stream handlers), as JSON."""

from __future__ import annotations

from ast import literal_eval
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct

from rejoinder.errors import InvalidChunk
from rejoinder.messages import Json, JsonObject, Usage
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import (
    integer_of,
    kind_of,
    object_of,
    objects_of,
    said_of,
    text_of,
    text_or_none,
    without,
)
from rejoinder.translate.notes import CallEnded, CallStarted, Finished, Problem
from rejoinder.translate.sources import DOCUMENT
from rejoinder.wire.chunks import Chunk, FinishReason, ProviderMetadata
from rejoinder.wire.codec import chunk_from_json
from rejoinder.wire.json import is_array, is_object

CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})

_FAILED: Final = "The tool failed and did not say why."

_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_call": "tool-calls",
    "error": "error",
}

_RECORDED: Final = frozenset(
    {
        "final_result",
        "enqueued_messages",
        "tool_availability_delta",
        "capability_load_delta",
        "model_settings_delta",
        "deferred_tool_results",
        "capability",
    }
)
"""What is kept in the record, and says nothing that a client could show. Realtime events are treated alike."""


class _Part(Struct, kw_only=True):
    kind: str
    key: str
    call_id: str
    name: str
    said: str = ""
    given: JsonObject = {}
    ended: bool = False
    by_user: bool = False


class PydanticAI:
    """Translates one run."""

    def __init__(self) -> None:
        self._responses = 0
        self._parts: dict[int, _Part] = {}
        self._complete: set[str] = set()
        self._sources: set[str] = set()
        self._acted = False
        self._spoke = False

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One event."""
        say.runs_broken_inputs = True
        kind = text_of(event, "event_kind")
        match kind:
            case "part_start":
                return self._start(say, event)
            case "part_delta":
                return self._delta(say, event)
            case "part_end":
                return self._end(say, event)
            case "function_tool_call" | "output_tool_call" | "builtin_tool_call":
                return self._call(say, object_of(event, "part"))
            case "function_tool_result" | "output_tool_result" | "builtin_tool_result":
                return self._result(say, object_of(event, "part") or object_of(event, "result"))
            case "deferred_tool_requests":
                return self._deferred(say, object_of(event, "requests"))
            case "custom":
                said = without(event, "event_kind", "__class__", "name")
                return say.data(text_of(event, "name") or "custom", said)
            case "agent_run_result":
                return self._run_result(say, object_of(event, "result"))
            case _:
                if kind not in _RECORDED and not kind.startswith("realtime_"):
                    say.note(
                        Problem(text=f"a Pydantic AI event {kind_of(event, 'event_kind')} is not known: kept")
                    )
                return ()

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more."""
        return self._files(say)

    # What the model says

    def _start(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        part, index = object_of(event, "part"), integer_of(event, "index") or 0
        if not (index in self._parts and self._parts[index].kind == text_of(part, "part_kind")):
            yield from self._files(say)
        if self._is_new_response(event, index):
            self._responses += 1
            self._parts.clear()
            self._acted = False
            yield from say.step()
        kind = text_of(part, "part_kind")
        key = f"{self._responses}/{index}"
        call_id = text_of(part, "tool_call_id") or key
        before = self._parts.get(index)
        if before is not None and before.kind == kind and (kind not in CALLS or before.call_id == call_id):
            yield from self._again(say, before, part)
            return
        begun = _Part(kind=kind, key=key, call_id=call_id, name=text_of(part, "tool_name") or UNKNOWN_TOOL)
        begun.by_user = text_of(part, "speaker") == "user"
        self._parts[index] = begun
        match kind:
            case "text":
                self._spoke = True
                yield from say.text_start(key, provider_metadata=_metadata(part))
                yield from self._more(say, begun, text_of(part, "content"))
            case "thinking":
                yield from say.reasoning_start(key, provider_metadata=_metadata(part))
                yield from self._more(say, begun, text_of(part, "content"))
            case "tool-call" | "builtin-tool-call":
                yield from say.tool_input_start(
                    call_id,
                    begun.name,
                    provider_executed=kind == "builtin-tool-call",
                    provider_metadata=_metadata(part),
                )
                begun.given = object_of(part, "args")
                yield from self._more(say, begun, text_of(part, "args"))
            case "builtin-tool-return":
                if not say.knows(call_id):
                    yield from say.tool_input(call_id, begun.name, {}, provider_executed=True)
                yield from self._result(say, part)
            case "file":
                begun.given = part
            case "compaction":
                yield from say.data("compaction", without(part, "__class__", "part_kind"))
            case "speech":
                self._spoke = True
                yield from self._more(say, begun, text_of(part, "transcript"))
            case _:
                say.note(Problem(text=f"a part {kind!r} of Pydantic AI is not known: it is kept as it came"))

    def _files(self, say: Emitter) -> Iterator[Chunk]:
        """Files that are complete: they begin several times while they are drawn."""
        for part in self._parts.values():
            if part.kind == "file" and not part.ended:
                part.ended = True
                yield from _file(say, part.given)

    def _is_new_response(self, event: JsonObject, index: int) -> bool:
        """Whether a part is the first one of a response, and not one that begins again."""
        if index != 0 or event.get("previous_part_kind") is not None:
            return False
        first = self._parts.get(0)
        return first is None or first.ended or self._acted or len(self._parts) > 1

    def _again(self, say: Emitter, part: _Part, whole: JsonObject) -> list[Chunk]:
        """A part begins again, to replace itself as it was: with more in it, as a rule."""
        content = whole.get("args" if part.kind in CALLS else "content")
        if part.kind == "file":
            part.given = whole
            return []
        if is_object(content):
            part.given = content
            return []
        return self._more(say, part, _beyond(part.said, content if isinstance(content, str) else ""))

    def _delta(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        part = self._parts.get(integer_of(event, "index") or 0)
        delta = object_of(event, "delta")
        if part is None:
            say.note(Problem(text="a delta of Pydantic AI belongs to no part"))
        elif part.kind in CALLS:
            part.given = {**part.given, **object_of(delta, "args_delta")}
            yield from self._more(say, part, text_of(delta, "args_delta"))
        elif part.kind == "speech":
            whole = text_of(delta, "transcript")
            more = _beyond(part.said, whole) if whole else text_of(delta, "transcript_delta")
            yield from self._more(say, part, more)
        else:
            yield from self._more(say, part, text_of(delta, "content_delta"))
            signed = {**delta, "signature": delta.get("signature_delta")}
            if part.kind == "thinking" and delta.get("signature_delta") and not part.ended:
                yield from say.reasoning("", part.key, provider_metadata=_metadata(signed))
            yield from self._cite(say, delta, "citations_delta")

    def _end(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        index, whole = integer_of(event, "index") or 0, object_of(event, "part")
        part = self._parts.get(index)
        if part is None or part.ended:
            return
        if part.kind == "file":
            part.given = whole or part.given
            yield from self._files(say)
            return
        part.ended = True
        if part.kind in CALLS:
            told = {"tool_call_id": part.call_id, "tool_name": part.name, "args": part.given or part.said}
            yield from self._call(say, whole or told)
            return
        if part.kind in ("text", "thinking", "speech"):
            yield from self._more(say, part, _beyond(part.said, text_of(whole, "content")))
        if part.kind == "thinking":
            yield from say.reasoning_end(part.key, provider_metadata=_metadata(whole))
            return
        yield from say.text_end(part.key, provider_metadata=_metadata(whole))
        yield from self._cite(say, whole, "citations")
        if part.kind == "speech" and not part.by_user and object_of(whole, "audio"):
            yield from _file(say, {**whole, "content": whole["audio"]})

    def _cite(self, say: Emitter, part: JsonObject, name: str) -> Iterator[Chunk]:
        """The sources of a text, each once."""
        for citation in objects_of(part, name):
            for source in objects_of(citation, "sources"):
                url, title = text_of(source, "url"), text_or_none(source, "title")
                place = url or text_of(source, "document_id") or title or ""
                if not place or place in self._sources:
                    continue
                self._sources.add(place)
                if url:
                    yield from say.source_url(url, title)
                else:
                    yield from say.source_document(title or place, DOCUMENT)

    def _more(self, say: Emitter, part: _Part, delta: str) -> list[Chunk]:
        part.said += delta
        if part.ended and part.kind in CALLS:
            return []
        match part.kind:
            case "text":
                return say.text(delta, part.key)
            case "speech":
                return [] if part.by_user else say.text(delta, part.key)
            case "thinking":
                return say.reasoning(delta, part.key)
            case "tool-call" | "builtin-tool-call":
                return say.tool_input_delta(part.call_id, delta) if delta else []
            case _:
                return []

    # Tools

    def _call(self, say: Emitter, part: JsonObject) -> list[Chunk]:
        """The call is complete: its part has ended, or the tool is about to run."""
        call_id = text_of(part, "tool_call_id")
        self._acted = True
        if not call_id or call_id in self._complete or say.complete(call_id):
            return []
        self._complete.add(call_id)
        given = part.get("args")
        name = text_of(part, "tool_name") or UNKNOWN_TOOL
        if is_object(given):
            return say.tool_input(call_id, name, given, provider_metadata=_metadata(part))
        said: list[Chunk] = []
        if not say.knows(call_id):
            said += say.tool_input_start(call_id, name, provider_metadata=_metadata(part))
            said += say.tool_input_delta(call_id, text_of(part, "args"))
        return said + say.tool_input_end(call_id)

    def _result(self, say: Emitter, part: JsonObject) -> list[Chunk]:
        return [*self._answer(say, part), *self._attached(say, part)]

    def _answer(self, say: Emitter, part: JsonObject) -> list[Chunk]:
        self._acted = True
        call_id, name = text_of(part, "tool_call_id"), text_or_none(part, "tool_name")
        content = part.get("content")
        text = _FAILED if content is None else said_of(content)
        outcome = text_of(part, "outcome")
        if outcome == "denied":
            return say.tool_denied(call_id, text, name=name)
        if outcome in ("failed", "retried") or text_of(part, "part_kind") == "retry-prompt":
            return say.tool_error(call_id, text, name=name)
        return say.tool_output(call_id, content, name=name)

    def _attached(self, say: Emitter, part: JsonObject) -> Iterator[Chunk]:
        """Chunks of the AI SDK that a tool puts beside its result: Pydantic AI's own adapter hands them on, too."""
        told = part.get("metadata")
        for item in told if is_array(told) else [told]:
            if is_object(item) and text_of(item, "type").startswith(("data-", "source-", "file")):
                try:
                    chunk = chunk_from_json(
                        {name: value for name, value in item.items() if value is not None}
                    )
                except InvalidChunk as error:
                    say.note(Problem(text=str(error)))
                else:
                    yield from say.chunk(chunk)

    def _deferred(self, say: Emitter, requests: JsonObject) -> Iterator[Chunk]:
        for part in objects_of(requests, "approvals") + objects_of(requests, "calls"):
            yield from self._call(say, part)
        for part in objects_of(requests, "approvals"):
            call_id = text_of(part, "tool_call_id")
            if not say.asked(call_id):
                yield from say.approval_request(f"approval:{call_id}", call_id)

    # The end

    def _run_result(self, say: Emitter, result: JsonObject) -> Iterator[Chunk]:
        output = result.get("output")
        yield from self._deferred(say, object_of(output))
        if isinstance(output, str) and not self._spoke and not self._complete:
            yield from say.text(output)
        state = object_of(result, "_state") or object_of(result, "state") or result
        run_id = state.get("run_id")
        responses = [
            message
            for message in objects_of(state, "message_history") or objects_of(result, "messages")
            if text_of(message, "kind") == "response" and message.get("run_id") == run_id
        ]
        for number, response in enumerate(responses):
            _account(say, response, f"response-{number}")
        reason = text_of(responses[-1], "finish_reason") if responses else ""
        say.note(Finished(reason="tool-calls" if say.waiting else _REASONS.get(reason, "stop")))


def _account(say: Emitter, response: JsonObject, fallback: str) -> None:
    call_id = text_of(response, "provider_response_id") or fallback
    provider = text_of(response, "provider_name") or "pydantic-ai"
    usage = object_of(response, "usage")
    say.note(CallStarted(id=call_id, provider=provider, model=text_of(response, "model_name") or "unknown"))
    told = Usage(
        input_tokens=integer_of(usage, "input_tokens"),
        output_tokens=integer_of(usage, "output_tokens"),
        cache_read_tokens=integer_of(usage, "cache_read_tokens"),
        cache_write_tokens=integer_of(usage, "cache_write_tokens"),
        reasoning_tokens=integer_of(usage, "output_reasoning_tokens"),
    )
    say.note(CallEnded(id=call_id, provider=provider, usage=told))


def _file(say: Emitter, part: JsonObject) -> list[Chunk]:
    content = object_of(part, "content")
    media_type = (
        text_of(content, "media_type") or text_of(content, "_media_type") or "application/octet-stream"
    )
    url = text_of(content, "url") or f"data:{media_type};base64,{_base64(text_of(content, 'data'))}"
    return say.file(url, media_type, provider_metadata=_metadata(part))


def _base64(data: str) -> str:
    """Bytes as they stand in JSON: in base64, of either alphabet, or as Python would show them."""
    if data.startswith(("b'", 'b"')):
        with suppress(ValueError, SyntaxError):
            return b64encode(literal_eval(data)).decode()
    return data.replace("-", "+").replace("_", "/")


def _beyond(said: str, whole: str) -> str:
    return whole[len(said) :] if whole.startswith(said) else ""


def _metadata(part: JsonObject) -> ProviderMetadata | None:
    """What the provider wants to be told again: as Pydantic AI's own adapter writes it, and in the vendor's words."""
    names = ("id", "signature", "provider_name", "provider_details")
    own = {name: part[name] for name in names if part.get(name) is not None}
    if not own:
        return None
    metadata: ProviderMetadata = {"pydantic_ai": own}
    signature = text_of(part, "signature")
    if signature and text_of(part, "provider_name") == "anthropic":
        metadata["anthropic"] = {"signature": signature}
    return metadata
