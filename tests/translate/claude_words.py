"""Messages of Claude Code, made by hand, and what becomes of them."""

from __future__ import annotations

from typing import Final

from rejoinder.messages import Json, JsonObject, ToolCall
from rejoinder.wire.codec import chunk_to_json
from tests.translate.recorded import Told, told

INIT: Final[JsonObject] = {
    "type": "system",
    "subtype": "init",
    "session_id": "s1",
    "model": "m",
    "cwd": "/srv",
    "uuid": "u0",
}
RESULT: Final[JsonObject] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "Hello",
    "session_id": "s1",
    "uuid": "u9",
}


def system(subtype: str, **more: Json) -> JsonObject:
    return {"type": "system", "subtype": subtype, "session_id": "s1", "uuid": f"of {subtype}", **more}


def assistant(*blocks: JsonObject, id: str = "m1", parent: str | None = None, **more: Json) -> JsonObject:
    message = {"id": id, "role": "assistant", "model": "m", "content": [*blocks]}
    uuid = f"{id}:{blocks[0].get('type')}:{blocks[0].get('id')}" if blocks else id
    return {
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": parent,
        "session_id": "s1",
        "uuid": uuid,
        **more,
    }


def streamed(event: JsonObject, parent: str | None = None) -> JsonObject:
    return {"type": "stream_event", "event": event, "session_id": "s1", "parent_tool_use_id": parent}


def stream(*blocks: tuple[JsonObject, list[JsonObject]], id: str = "m1") -> list[JsonObject]:
    """A message as it streams: each block with its deltas."""
    events: list[JsonObject] = [{"type": "message_start", "message": {"id": id, "usage": {}}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
    )
    events.append({"type": "message_stop"})
    return [streamed(event) for event in events]


def results(*blocks: JsonObject, **more: Json) -> JsonObject:
    return {
        "type": "user",
        "message": {"role": "user", "content": [*blocks]},
        "parent_tool_use_id": None,
        "session_id": "s1",
        "uuid": f"of results {len(more)} {blocks[0].get('tool_use_id') if blocks else ''}",
        **more,
    }


def answered(id: str, content: Json, **more: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


TEXT: Final[JsonObject] = {"type": "text", "text": "Hello"}
CALL: Final[JsonObject] = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}


def run(*events: JsonObject | list[JsonObject]) -> Told:
    flat = [each for event in events for each in (event if isinstance(event, list) else [event])]
    return told("claude-code", [INIT, *flat])


def chunks(came: Told, *types: str) -> list[JsonObject]:
    said = [chunk_to_json(chunk) for chunk in came.chunks]
    return [chunk for chunk in said if not types or chunk["type"] in types]


def call_in(came: Told) -> ToolCall:
    (call,) = [part for part in came.message.parts if isinstance(part, ToolCall)]
    return call
