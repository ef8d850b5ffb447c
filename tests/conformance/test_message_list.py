"""The aggregator over model streams against the real packages: their chunks, folded by them, are our message."""

from __future__ import annotations

import json
from random import Random

import pytest

from rejoinder.convert.ui import to_ui
from rejoinder.errors import RejoinderError
from rejoinder.fold import MessageList
from rejoinder.messages import Json, JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.json import as_javascript
from tests.conformance.test_stream_parts import PARTS, SEVEN_ONLY
from tests.scale import scale

STREAMS = scale(300, 3_000)

OPENING: tuple[JsonObject, ...] = (
    {"type": "start"},
    {"type": "start-step", "request": {}, "warnings": []},
    {"type": "text-start", "id": "t"},
    {"type": "reasoning-start", "id": "r"},
    {"type": "tool-input-start", "id": "c1", "toolName": "weather"},
    {"type": "tool-approval-request", "approvalId": "a", "toolCall": {"toolCallId": "c1", "toolName": "w"}},
)
"""What most of the other parts go on with."""


def model_stream(seed: int, sdk: int) -> list[JsonObject]:
    random = Random(f"model stream {seed}")
    parts = list(OPENING[: random.randint(3, len(OPENING))])
    while len(parts) < 20:
        part = random.choice(PARTS)(random)
        if sdk == 7 or part["type"] not in SEVEN_ONLY:
            parts.append(part)
    return parts


def our_answer(parts: list[JsonObject], sdk: int) -> JsonObject:
    answer = MessageList(message_id="generated", sdk=sdk)
    try:
        for part in parts:
            answer.update_from_stream_part(part)
    except RejoinderError as error:
        return {"error": str(error)}
    message = answer.flush_to_canonical()
    assert message is not None
    return {"message": as_javascript(to_ui(message))}


# Version 6 keeps its mapping of parts to chunks to itself; for what it knows, it is that of version 7.
@pytest.mark.parametrize("sdk", [6, 7])
def test_a_model_stream_makes_the_message_that_the_package_makes_of_it(oracle: Oracle, sdk: int) -> None:
    streams = [model_stream(seed, sdk) for seed in range(STREAMS)]
    asked = (
        {"do": "parts", "sdk": "7", "parts": parts, "options": {"sendSources": True}} for parts in streams
    )
    spoken = oracle.ask_many(asked)
    folded = oracle.ask_many(
        {"do": "fold", "sdk": str(sdk), "chunks": each["chunks"], "onto": None} for each in spoken
    )
    made = 0
    for seed, (parts, theirs) in enumerate(zip(streams, folded, strict=True)):
        ours = our_answer(parts, sdk)
        wanted: Json = {"error": theirs["error"]} if "error" in theirs else {"message": theirs["message"]}
        made += "message" in theirs
        assert ours == wanted, (
            f"seed {seed}, ai@{sdk}\nours   {json.dumps(ours)[:2000]}\ntheirs {json.dumps(wanted)[:2000]}"
        )
    assert made > 0.15 * STREAMS, "hardly any stream of the generator is legal"
