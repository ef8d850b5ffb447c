"""Model streams (`TextStreamPart`) against the real `toUIMessageStream`."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest

from rejoinder.errors import InvalidChunk
from rejoinder.messages import Json, JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.codec import chunk_to_json
from rejoinder.wire.stream_parts import StreamPartOptions, chunk_of
from tests.scale import scale

_METADATA: list[Json] = [None, {"openai": {"itemId": "x"}}, {}]
_VALUES: list[Json] = [None, "text", 1, {"a": [1, {"b": None}]}, []]


def _maybe(random: Random, part: JsonObject, **choices: list[Json]) -> JsonObject:
    for name, values in choices.items():
        if random.random() < 0.4:
            part[name] = random.choice(values)
    return part


def _call(random: Random, kind: str) -> JsonObject:
    part: JsonObject = {
        "type": kind,
        "toolCallId": "c1",
        "toolName": "weather",
        "input": random.choice(_VALUES),
    }
    return _maybe(
        random,
        part,
        providerExecuted=[True, False],
        dynamic=[True, False],
        toolMetadata=[{"k": 1}],
        providerMetadata=_METADATA,
    )


def _tool_call(random: Random) -> JsonObject:
    part = _maybe(random, _call(random, "tool-call"), title=["Title"])
    if random.random() < 0.4:
        part |= {"invalid": True, "error": random.choice(_VALUES)}
    return part


def _source(random: Random) -> JsonObject:
    if random.random() < 0.5:
        url: JsonObject = {"type": "source", "sourceType": "url", "id": "s", "url": "https://example.com/"}
        return _maybe(random, url, title=["T"], providerMetadata=_METADATA)
    document: JsonObject = {
        "type": "source",
        "sourceType": "document",
        "id": "s",
        "mediaType": "a/b",
        "title": "T",
    }
    return _maybe(random, document, filename=["f"])


def _steering(random: Random) -> JsonObject:
    content: Json = random.choice(
        ["go left", [{"type": "text", "text": "look"}, {"type": "file", "mediaType": "a/b", "data": "aGk="}]]
    )
    return {
        "type": "steering-message",
        "id": "m",
        "stepNumber": 1,
        "message": {"role": "user", "content": content},
    }


_FILE = {"mediaType": "image/png", "base64": "aGk="}

PARTS: list[Callable[[Random], JsonObject]] = [
    lambda r: _maybe(r, {"type": "text-start", "id": "t"}, providerMetadata=_METADATA),
    lambda r: _maybe(r, {"type": "text-delta", "id": "t", "text": "hé\u2028"}, providerMetadata=_METADATA),
    lambda r: _maybe(r, {"type": "text-end", "id": "t"}, providerMetadata=_METADATA),
    lambda r: _maybe(r, {"type": "reasoning-start", "id": "r"}, providerMetadata=_METADATA),
    lambda _: {"type": "reasoning-delta", "id": "r", "text": "hm"},
    lambda r: _maybe(r, {"type": "reasoning-end", "id": "r"}, providerMetadata=_METADATA),
    lambda r: _maybe(r, {"type": "custom", "kind": "openai.thing"}, providerMetadata=_METADATA),
    lambda r: _maybe(
        r,
        {"type": "tool-input-start", "id": "c1", "toolName": "weather"},
        inputEncoding=["json", "text"],
        providerExecuted=[True],
        dynamic=[True, False],
        title=["T"],
        toolMetadata=[{"k": 1}],
        providerMetadata=_METADATA,
    ),
    lambda _: {"type": "tool-input-delta", "id": "c1", "delta": '{"a"'},
    lambda _: {"type": "tool-input-end", "id": "c1"},
    _tool_call,
    lambda r: _maybe(r, _call(r, "tool-result"), output=_VALUES, preliminary=[True, False]),
    lambda r: _call(r, "tool-error") | {"error": r.choice(_VALUES)},
    lambda r: _maybe(
        r,
        {
            "type": "tool-approval-request",
            "approvalId": "a",
            "toolCall": {"toolCallId": "c1", "toolName": "w"},
        },
        reason=["why"],
        isAutomatic=[True, False],
        signature=["sig"],
    ),
    lambda r: _maybe(
        r,
        {
            "type": "tool-approval-response",
            "approvalId": "a",
            "approved": True,
            "toolCall": {"toolCallId": "c1"},
        },
        reason=["no"],
        providerExecuted=[True],
    ),
    lambda _: {"type": "tool-output-denied", "toolCallId": "c1", "toolName": "weather"},
    _source,
    lambda r: {"type": r.choice(["file", "reasoning-file"]), "file": _FILE},
    _steering,
    lambda r: {"type": "error", "error": r.choice(_VALUES)},
    lambda _: {"type": "start"},
    lambda _: {"type": "start-step", "request": {}, "warnings": []},
    lambda _: {"type": "finish-step", "finishReason": "stop", "usage": {}},
    lambda _: {"type": "finish", "finishReason": "stop", "totalUsage": {}},
    lambda r: _maybe(r, {"type": "abort"}, reason=["tired"]),
    lambda _: {"type": "raw", "rawValue": {"anything": 1}},
    lambda _: {"type": "ping"},
]

SEVEN_ONLY = frozenset({"custom", "reasoning-file", "tool-approval-response", "steering-message", "ping"})
"""Parts that version 6 does not have."""


def test_a_model_stream_says_what_the_package_says(oracle: Oracle) -> None:
    for seed in range(scale(200, 2_000)):
        random = Random(seed)
        reasoning, sources = random.random() < 0.8, random.random() < 0.7
        # The package silences the error that follows an invalid call, which is a matter of the whole stream.
        parts = [make(random) for make in random.choices(PARTS, k=12)]
        if any(part.get("invalid") for part in parts):
            parts = [part for part in parts if part["type"] != "tool-error"]
        theirs = oracle.ask(
            {
                "do": "parts",
                "sdk": "7",
                "parts": parts,
                "options": {"sendReasoning": reasoning, "sendSources": sources},
            }
        )
        options = StreamPartOptions(send_reasoning=reasoning, send_sources=sources)
        ours = [chunk_of(json.loads(json.dumps(part)), options) for part in parts]
        assert [chunk_to_json(chunk) for chunk in ours if chunk is not None] == theirs["chunks"], (
            f"seed {seed}"
        )


@pytest.mark.parametrize(
    "part", [None, [], "text", {}, {"type": 1}, {"type": "text-delta"}, {"type": "file", "file": None}]
)
def test_what_is_no_stream_part_is_refused_in_words(part: Json) -> None:
    with pytest.raises(InvalidChunk, match=r"stream part|chunk"):
        chunk_of(part)
