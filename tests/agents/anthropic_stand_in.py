"""A stand-in for the Anthropic API on loopback: speaks its wire, and says what a script tells it to.

    with StandIn(script) as server:
        Anthropic(base_url=server.url, api_key="none")

A script is given the body of a request and answers with content blocks. What it yields is streamed as the API
streams it: events with a few words each.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

JsonObject = dict[str, Any]
Script = Callable[[JsonObject], Iterable[JsonObject]]

WORDS_A_DELTA: Final = 1
JSON_CHARS_A_DELTA: Final = 12


class StandIn:
    """Serves while it is entered. `requests` are the bodies that came."""

    def __init__(self, script: Script) -> None:
        self.requests: list[JsonObject] = []
        self.url = ""
        self._script = script
        self._count = 0

    @contextmanager
    def serving(self) -> Generator[StandIn]:
        """Listen on a free port of loopback."""
        app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
                Route("/{rest:path}", self._nothing, methods=["GET", "POST", "HEAD"]),
            ]
        )
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        socket = config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{socket.getsockname()[1]}"
        try:
            yield self
        finally:
            server.should_exit = True
            server.force_exit = True
            thread.join()

    async def _messages(self, request: Request) -> Response:
        body: JsonObject = await request.json()
        self.requests.append(body)
        self._count += 1
        message_id = f"msg_{self._count:024d}"
        blocks = [*self._script(body)]
        if blocks and blocks[0]["type"] == "error":
            return JSONResponse(
                {"type": "error", "error": blocks[0]["error"]}, status_code=blocks[0]["status"]
            )
        if not body.get("stream"):
            return JSONResponse(_message(message_id, body, blocks))
        return StreamingResponse(_streamed(message_id, body, blocks), media_type="text/event-stream")

    async def _count_tokens(self, request: Request) -> Response:
        return JSONResponse({"input_tokens": 120})

    async def _nothing(self, request: Request) -> Response:
        return JSONResponse({})


def _message(message_id: str, body: JsonObject, blocks: list[JsonObject]) -> JsonObject:
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "claude"),
        "content": blocks,
        "stop_reason": _reason(blocks),
        "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 12},
    }


def _reason(blocks: list[JsonObject]) -> str:
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"


async def _streamed(message_id: str, body: JsonObject, blocks: list[JsonObject]) -> AsyncIterator[str]:
    begun = _message(message_id, body, []) | {
        "stop_reason": None,
        "usage": {"input_tokens": 120, "output_tokens": 1},
    }
    yield _event({"type": "message_start", "message": begun})
    for index, block in enumerate(blocks):
        yield _event({"type": "content_block_start", "index": index, "content_block": _begun(block)})
        for delta in _deltas(block):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    reason = {"stop_reason": _reason(blocks), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": reason, "usage": {"output_tokens": 12}})
    yield _event({"type": "message_stop"})


def _event(data: JsonObject) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def _begun(block: JsonObject) -> JsonObject:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return block | {"input": {}}
        case _:
            return block


def _deltas(block: JsonObject) -> Iterator[JsonObject]:
    match block["type"]:
        case "text":
            for word in block["text"].split(" "):
                yield {"type": "text_delta", "text": word + " "}
        case "thinking":
            for word in block["thinking"].split(" "):
                yield {"type": "thinking_delta", "thinking": word + " "}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            written = json.dumps(block["input"])
            for start in range(0, len(written), JSON_CHARS_A_DELTA):
                piece = written[start : start + JSON_CHARS_A_DELTA]
                yield {"type": "input_json_delta", "partial_json": piece}
        case _:
            pass  # it comes whole, with its start


def last_user(body: JsonObject) -> tuple[str, list[JsonObject]]:
    """What the newest message of a request holds: its text, and the results of tools."""
    content = next(message for message in body["messages"][::-1] if message["role"] == "user")["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    return text, [block for block in blocks if block["type"] == "tool_result"]
