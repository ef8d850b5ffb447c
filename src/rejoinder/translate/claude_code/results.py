"""What tools answered: results in messages of the user, results of tools that ran at the API, sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.anthropic_sources import Sources
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import object_of, objects_of, said_of, text_of, text_or_none
from rejoinder.wire.chunks import Chunk, ProviderMetadata
from rejoinder.wire.json import is_array, is_object

FAILED: Final = "The tool failed and did not say why."
DENIED: Final = "reject"


class Results:
    """The answers to calls, each told once. Denials may be announced before the answer comes."""

    def __init__(self) -> None:
        self._denied: dict[str, str | None] = {}
        self._answered: set[str] = set()

    def denied(self, event: JsonObject) -> None:
        """`system/permission_denied`: the result that follows is a denial."""
        reason = text_or_none(event, "decision_reason") or text_or_none(event, "message")
        self._denied[text_of(event, "tool_use_id")] = reason

    def denied_unseen(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """The calls that a `result` lists as denied: of some no other message says so."""
        for denial in objects_of(event, "permission_denials"):
            call_id = text_of(denial, "tool_use_id")
            if say.knows(call_id) and not say.answered(call_id) and call_id not in self._answered:
                self._answered.add(call_id)
                yield from say.tool_denied(call_id, self._denied.get(call_id))

    def of_message(self, say: Emitter, event: JsonObject, parent: str | None) -> Iterator[Chunk]:
        """The results in a `user` message."""
        content = object_of(event, "message").get("content")
        results = [block for block in objects_of(content) if text_of(block, "type") == "tool_result"]
        verdicts = {text_of(meta, "id"): meta for meta in objects_of(event, "tool_result_meta")}
        # What the tool gave to the program, rather than to the model, is told when it is clear whose it is.
        structured = event.get("tool_use_result") if len(results) == 1 else None
        for result in results:
            call_id = text_of(result, "tool_use_id")
            if call_id in self._answered:
                continue
            self._answered.add(call_id)
            verdict = text_of(verdicts.get(call_id), "permission_decision", "decision")
            text = text_in(result.get("content"))
            if call_id in self._denied or verdict == DENIED:
                yield from say.tool_denied(call_id, text or self._denied.get(call_id))
            elif result.get("is_error") is True:
                yield from say.tool_error(call_id, text or FAILED, provider_metadata=_metadata(parent))
            elif is_object(structured):
                yield from say.tool_output(
                    call_id, structured, provider_metadata=_metadata(parent, {"text": text})
                )
            else:
                output = output_of(result.get("content"))
                yield from say.tool_output(call_id, output, provider_metadata=_metadata(parent))


def server_result(say: Emitter, block: JsonObject, sources: Sources) -> Iterator[Chunk]:
    """A result in a message of the assistant: of a tool that the API ran itself."""
    call_id = text_of(block, "tool_use_id")
    if say.answered(call_id):
        return  # The block was streamed, and this is its snapshot.
    content = block.get("content")
    code = text_of(content, "error_code")
    if block.get("is_error") is True or code:
        yield from say.tool_error(call_id, code or text_in(content) or FAILED)
        return
    is_mcp = text_of(block, "type") == "mcp_tool_result"
    yield from say.tool_output(call_id, output_of(content) if is_mcp else content)
    yield from sources.found(say, content)


def output_of(content: Json) -> Json:
    """The answer of a tool as a client shows it: one text as a text, images in the words of MCP."""
    if not is_array(content):
        return content
    blocks = [_block(block) for block in content]
    first = blocks[0] if len(blocks) == 1 else None
    return text_of(first, "text") if text_of(first, "type") == "text" else blocks


def text_in(content: Json) -> str:
    """The text of a tool's answer."""
    if is_array(content):
        return "\n".join(text_of(block, "text") for block in content if text_of(block, "type") == "text")
    return content if isinstance(content, str) else "" if content is None else said_of(content)


def _block(block: Json) -> Json:
    source = object_of(block, "source")
    if text_of(block, "type") == "image" and text_of(source, "type") == "base64":
        return {"type": "image", "data": source.get("data"), "mimeType": source.get("media_type")}
    return block


def _metadata(parent: str | None, said: JsonObject | None = None) -> ProviderMetadata | None:
    own = dict(said or {})
    if parent is not None:
        own["parentToolCallId"] = parent
    return {"claude-code": own} if own else None
