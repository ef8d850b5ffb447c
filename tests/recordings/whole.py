"""Answers of the stand-in that are not streamed: what an SDK asks for in the middle of a run."""

from __future__ import annotations

from rejoinder.messages import JsonObject
from rejoinder.wire import json
from tests.agents.vendor_server import Reply
from tests.agents.wires import Piece, Said, events


def whole(vendor: str, *pieces: Piece, id: str) -> Reply:
    """The answer in one piece."""
    if vendor == "openai-responses":
        return _json(events(vendor, pieces, id)[-1]["response"])
    said = "".join(piece.text for piece in pieces if isinstance(piece, Said))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    last = events(vendor, pieces, id)[-1]
    return _json({**last, "object": "chat.completion", "created": 1, "choices": [choice]})


def _json(body: JsonObject) -> Reply:
    return Reply((json.encode(body),), headers=(("content-type", "application/json"),))
