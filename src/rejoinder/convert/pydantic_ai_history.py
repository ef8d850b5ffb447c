"""The message history of Pydantic AI, as its `ModelMessagesTypeAdapter` writes it ⇄ messages of ours.

A request holds what is for the model: prompts, results of tools, notes of the framework's own. Prompts become messages,
results go to their calls, and notes stay where they were, as parts of a kind of its own. What no field of ours says is
kept with the part, the step or the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import structs

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.moments import moment_of
from rejoinder.convert.provider_values import output_text
from rejoinder.convert.pydantic_ai_content import PARTS, VENDOR, about, parts_of_answer, parts_of_prompt
from rejoinder.convert.transcript import Transcript
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Approval, Custom, Json, JsonObject, Message, Part, Text, ToolCall
from rejoinder.wire.json import is_array, is_object

_ENVELOPE: Final = frozenset({"kind", "parts"})
_SAID: Final = frozenset(
    {"part_kind", "content", "tool_name", "tool_call_id", "outcome", "content_file_digests"}
)
_FAILURES: Final = ("failed", "retried", "interrupted")
_PROMPTS: Final = ("system-prompt", "user-prompt")


def from_pydantic_ai(items: Sequence[Json]) -> tuple[Message, ...]:
    """Read a history. An answer and its tools' results become one message, and messages are called after places.

    Raises `InvalidMessage`, naming the place, for what is no such history.
    """
    transcript = Transcript()
    for place, item in enumerate(items):
        path = f"messages[{place}]"
        if not is_object(item):
            raise InvalidMessage(f"{path}: a message is an object, this is {kind_of(item)}.")
        parts = _parts(item, path)
        match item.get("kind"):
            case "request":
                _request(transcript, item, parts)
            case "response":
                said, results = parts_of_answer(parts, path)
                kept = _kept(item)
                transcript.step(said, created_at=_moment(item), extra={VENDOR: kept} if kept else None)
                for result in results:
                    _result(transcript, result, {})
            case kind:
                raise InvalidMessage(f"{path}.kind: request or response, not {kind!r}.")
    return transcript.messages()


def _parts(item: JsonObject, path: str) -> Sequence[JsonObject]:
    parts = item.get("parts")
    if not is_array(parts):
        raise InvalidMessage(f"{path}.parts: an array of parts, this is {kind_of(parts)}.")
    for place, part in enumerate(parts):
        if not is_object(part):
            raise InvalidMessage(f"{path}.parts[{place}]: a part is an object, this is {kind_of(part)}.")
    return parts


def _kept(item: JsonObject) -> JsonObject:
    """What a message says beside its parts. Empty fields say nothing, and neither does it that it is complete."""
    kept = {key: value for key, value in item.items() if key not in _ENVELOPE and value not in (None, {}, [])}
    if kept.get("state") == "complete":
        del kept["state"]
    if is_object(kept.get("usage")):
        kept["usage"] = {key: value for key, value in kept["usage"].items() if value}
    return {key: value for key, value in kept.items() if value != {}}


def _moment(item: JsonObject) -> datetime | None:
    try:
        return moment_of(item.get("timestamp"), "timestamp")
    except InvalidMessage:
        return None  # It is kept as it came.


def _request(transcript: Transcript, item: JsonObject, parts: Sequence[JsonObject]) -> None:
    kept = _kept(item)
    prompts = [part for part in parts if part.get("part_kind") in _PROMPTS]
    notes = [_note(part) for part in parts if not _is_known(part)]
    for part in parts:
        if part.get("part_kind") in _PROMPTS:
            last = part is prompts[-1]
            _prompt(transcript, part, kept, notes if last else [])
            kept = {}
        elif _is_known(part):
            _result(transcript, part, kept)
            kept = {}
    for note in [] if prompts else notes:
        transcript.add(note)


def _is_known(part: JsonObject) -> bool:
    kind = part.get("part_kind")
    if kind == "retry-prompt":
        return isinstance(part.get("tool_name"), str)
    return kind in (*_PROMPTS, "tool-return")


def _note(part: JsonObject) -> Custom:
    return Custom(kind=f"{VENDOR}.{part.get('part_kind')}", provider_metadata={VENDOR: {PARTS: [part]}})


def _prompt(transcript: Transcript, part: JsonObject, kept: JsonObject, notes: Sequence[Custom]) -> None:
    rest = {
        key: value
        for key, value in part.items()
        if key not in _SAID and value is not None and (key, value) != ("scope", "conversation")
    }
    extra = {**({"part": rest} if rest else {}), **({"request": kept} if kept else {})}
    content = part.get("content")
    if part["part_kind"] == "system-prompt":
        said = [Text(text=output_text(content))]
        transcript.said("system", [*said, *notes], created_at=_moment(part), extra={VENDOR: extra})
    else:
        said_by_user = [*parts_of_prompt(content), *notes]
        transcript.said("user", said_by_user, created_at=_moment(part), extra={VENDOR: extra})


def _result(transcript: Transcript, part: JsonObject, kept: JsonObject) -> None:
    """A result, or the failure that the model is asked to do better than."""
    id, name, content = part.get("tool_call_id"), part.get("tool_name"), part.get("content")
    called = name if isinstance(name, str) else "tool"
    outcome = part.get("outcome")
    failed = outcome in _FAILURES or part["part_kind"] == "retry-prompt"
    rest = {key: value for key, value in part.items() if key not in _SAID and value is not None}
    if part["part_kind"] == "retry-prompt":
        rest["part_kind"] = "retry-prompt"
    if isinstance(outcome, str) and outcome not in ("success", "failed"):
        rest["outcome"] = outcome
    if failed and not isinstance(content, str):
        rest["content"] = content
    if kept:
        rest["request"] = kept

    def answered(call: ToolCall) -> ToolCall:
        call = structs.replace(call, result_provider_metadata=about(rest))
        if outcome == "denied":
            approval = Approval(id=call.call_id, approved=False, reason=output_text(content))
            return structs.replace(call, state="output-denied", approval=approval)
        if failed:
            return structs.replace(call, state="output-error", error_text=output_text(content))
        return structs.replace(call, state="output-available", output=content)

    transcript.answer(id if isinstance(id, str) else called, called, answered)


def notes_of(parts: Sequence[Part]) -> Iterator[JsonObject]:
    """Parts of requests that are no message's: they go back as they came."""
    for part in parts:
        if isinstance(part, Custom):
            kept: Json = (part.provider_metadata or {}).get(VENDOR)
            listed = kept.get(PARTS) if is_object(kept) else None
            yield from listed if is_array(listed) else []
