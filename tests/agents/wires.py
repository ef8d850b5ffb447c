"""What the vendors say on their wires for the same short answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.agents.anthropic import AnthropicMessages
from rejoinder.agents.openai import OpenAIChat, OpenAIResponses
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.messages import Json, JsonObject
from rejoinder.wire import json
from tests.agents.vendor_server import Fault, Reply, streamed

Vendor: TypeAlias = OpenAIChat | OpenAIResponses | AnthropicMessages
VENDORS: Final = ("openai-responses", "openai-chat", "anthropic")
KEY: Final = "sk-loopback-0123456789abcdef"


class Thought(Struct, frozen=True):
    """What the model thinks."""

    text: str
    signature: str = "signed-by-the-vendor"


class Said(Struct, frozen=True):
    """What the model says."""

    text: str
    refusal: bool = False


class Called(Struct, frozen=True):
    """A call that the model makes."""

    id: str
    name: str
    arguments: str


Piece: TypeAlias = Thought | Said | Called


def provider(
    vendor: str, url: str, *, idle_seconds: float = IDLE_SECONDS, settings: Mapping[str, Json] | None = None
) -> Vendor:
    """The provider of that vendor, at this server."""
    match vendor:
        case "openai-responses":
            return OpenAIResponses(
                "gpt-5-mini", api_key=KEY, base_url=f"{url}/v1", idle_seconds=idle_seconds, settings=settings
            )
        case "openai-chat":
            return OpenAIChat(
                "gpt-4.1", api_key=KEY, base_url=f"{url}/v1", idle_seconds=idle_seconds, settings=settings
            )
        case _:
            return AnthropicMessages(
                "claude-sonnet-5", api_key=KEY, base_url=url, idle_seconds=idle_seconds, settings=settings
            )


def answer(vendor: str, *pieces: Piece, id: str = "a1", fault: Fault | None = None) -> Reply:
    """A whole answer, streamed."""
    return streamed(events(vendor, pieces, id), done=vendor == "openai-chat", fault=fault)


def events(vendor: str, pieces: Sequence[Piece], id: str = "a1") -> list[JsonObject]:
    """The events of an answer."""
    match vendor:
        case "openai-responses":
            return _responses(pieces, id)
        case "openai-chat":
            return _chat(pieces, id)
        case _:
            return _anthropic(pieces, id)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _responses(pieces: Sequence[Piece], id: str) -> list[JsonObject]:
    said: list[JsonObject] = [{"type": "response.created", "response": _response(id, "in_progress", [])}]
    items: list[JsonObject] = []
    for place, piece in enumerate(pieces):
        item_id = f"i{id}{place}"
        at: JsonObject = {"output_index": place, "item_id": item_id}
        begun, item, between = _item(piece, item_id)
        items.append(item)
        said.append({"type": "response.output_item.added", "output_index": place, "item": begun})
        said += [{**event, **at} for event in between]
        said.append({"type": "response.output_item.done", "output_index": place, "item": item})
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 29,
    }
    whole = {**_response(id, "completed", items), "usage": usage}
    return [*said, {"type": "response.completed", "response": whole}]


def _response(id: str, status: str, output: list[JsonObject]) -> JsonObject:
    return {"id": id, "object": "response", "model": "gpt-5-mini", "status": status, "output": output}


def _item(piece: Piece, id: str) -> tuple[JsonObject, JsonObject, list[JsonObject]]:
    match piece:
        case Thought():
            item: JsonObject = {"type": "reasoning", "id": id, "summary": []}
            deltas: list[JsonObject] = [
                {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": half}
                for half in _halves(piece.text)
            ]
            summary = [{"type": "summary_text", "text": piece.text}]
            return item, {**item, "summary": summary, "encrypted_content": piece.signature}, deltas
        case Said():
            item = {"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []}
            family = "refusal" if piece.refusal else "output_text"
            deltas = [
                {"type": f"response.{family}.delta", "content_index": 0, "delta": half}
                for half in _halves(piece.text)
            ]
            content = {"type": family, ("refusal" if piece.refusal else "text"): piece.text}
            return item, {**item, "status": "completed", "content": [content]}, deltas
        case Called():
            item = {
                "type": "function_call",
                "id": id,
                "call_id": piece.id,
                "name": piece.name,
                "arguments": "",
            }
            deltas = [
                {"type": "response.function_call_arguments.delta", "delta": half}
                for half in _halves(piece.arguments)
            ]
            return item, {**item, "arguments": piece.arguments, "status": "completed"}, deltas


def _chat(pieces: Sequence[Piece], id: str) -> list[JsonObject]:
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    calls = 0
    for piece in pieces:
        match piece:
            case Thought():
                deltas += [{"reasoning_content": half} for half in _halves(piece.text)]
            case Said():
                field = "refusal" if piece.refusal else "content"
                deltas += [{field: half} for half in _halves(piece.text)]
            case Called():
                first, second = _halves(piece.arguments)
                function = {"name": piece.name, "arguments": first}
                begun = {"index": calls, "id": piece.id, "type": "function", "function": function}
                deltas.append({"tool_calls": [begun]})
                deltas.append({"tool_calls": [{"index": calls, "function": {"arguments": second}}]})
                calls += 1
    head: JsonObject = {"id": id, "object": "chat.completion.chunk", "model": "gpt-4.1"}
    said: list[JsonObject] = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    reason = "tool_calls" if calls else "stop"
    usage = {
        "prompt_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 29,
    }
    end: JsonObject = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return [*said, end, {**head, "choices": [], "usage": usage}]


def _anthropic(pieces: Sequence[Piece], id: str) -> list[JsonObject]:
    usage = {"input_tokens": 16, "cache_read_input_tokens": 4, "output_tokens": 1}
    message = {"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-5", "usage": usage}
    said: list[JsonObject] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, piece in enumerate(pieces):
        begun, deltas = _block(piece)
        said.append({"type": "content_block_start", "index": index, "content_block": begun})
        said += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        said.append({"type": "content_block_stop", "index": index})
    calls = any(isinstance(piece, Called) for piece in pieces)
    refused = any(isinstance(piece, Said) and piece.refusal for piece in pieces)
    reason = "tool_use" if calls else "refusal" if refused else "end_turn"
    told = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 3}}
    said.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": told})
    return [*said, {"type": "message_stop"}]


def _block(piece: Piece) -> tuple[JsonObject, list[JsonObject]]:
    match piece:
        case Thought():
            thoughts: list[JsonObject] = [
                {"type": "thinking_delta", "thinking": half} for half in _halves(piece.text)
            ]
            signature = {"type": "signature_delta", "signature": piece.signature}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signature]
        case Said():
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": half} for half in _halves(piece.text)
            ]
        case Called():
            return {"type": "tool_use", "id": piece.id, "name": piece.name, "input": {}}, [
                {"type": "input_json_delta", "partial_json": half} for half in _halves(piece.arguments)
            ]


def written(value: Json) -> str:
    """Arguments as vendors write them."""
    return json.encode(value).decode()
