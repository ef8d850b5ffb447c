"""The tools, data parts and metadata that generated messages use: JSON schemas, what fits them, what does not.

The schemas say only what every validator of JSON Schema understands alike (no formats, no lengths of texts that
are not ASCII, no integers beyond 2^53), so that a disagreement is about messages and not about validators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.conformance.values import Json, JsonObject


@dataclass(frozen=True)
class Shape:
    """A JSON schema with examples of both sorts."""

    schema: JsonObject
    fits: tuple[Json, ...]
    misfits: tuple[Json, ...]


@dataclass(frozen=True)
class Tool:
    input: Shape
    output: Shape | None


WEATHER: Final = Shape(
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
        "required": ["city"],
    },
    fits=(
        {"city": "Oslo"},
        {"city": "", "days": 3},
        {"city": "東京", "extra": [1]},
        {"days": 14, "city": "\ud83d"},
    ),
    misfits=({}, {"city": 5}, {"city": "Oslo", "days": 0}, {"city": "Oslo", "days": 1.5}, "Oslo", None, []),
)
QUERY: Final = Shape(
    schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}}},
        "required": ["query"],
        "additionalProperties": False,
    },
    fits=({"query": "x"}, {"query": "x", "tags": []}, {"query": "x", "tags": ["a", "b", "a"]}),
    misfits=({}, {"query": "x", "more": 1}, {"query": "x", "tags": ["c"]}, {"query": None}, ["x"], 7),
)
DEGREES: Final = Shape(
    schema={"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]},
    fits=({"degrees": 21}, {"degrees": -0.5}, {"degrees": 1.0, "note": None}),
    misfits=({}, {"degrees": "21"}, None, "21"),
)
ANYTHING: Final = Shape(schema={}, fits=(None, 0, "", [], {}, {"a": {"b": [1, 2.5, None]}}), misfits=())
PROGRESS: Final = Shape(
    schema={
        "anyOf": [
            {"type": "number", "minimum": 0, "maximum": 1},
            {"type": "object", "properties": {"done": {"const": True}}, "required": ["done"]},
        ]
    },
    fits=(0, 0.5, 1, {"done": True}, {"done": True, "note": "x"}),
    misfits=(2, -0.5, "half", None, {"done": False}, {}),
)
METADATA: Final = Shape(
    schema={
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "usage": {"type": "object", "properties": {"total": {"type": "integer"}}},
        },
        "required": ["model"],
    },
    fits=({"model": "m"}, {"model": "m", "usage": {"total": 3}}, {"model": "", "usage": {}, "more": None}),
    misfits=({}, {"model": 1}, {"model": "m", "usage": {"total": "3"}}, {"model": "m", "usage": 4}, "m", []),
)

TOOLS: Final[dict[str, Tool]] = {
    "weather": Tool(WEATHER, DEGREES),
    "search-web": Tool(QUERY, None),
    "calc": Tool(ANYTHING, ANYTHING),
    "constructor": Tool(WEATHER, None),
    "tool-in-tool": Tool(QUERY, DEGREES),
    "": Tool(ANYTHING, None),
}
"""Names with dashes, without letters, and one that every JavaScript object has."""

DATA: Final[dict[str, Shape]] = {"progress": PROGRESS, "weather": WEATHER, "x-y": ANYTHING, "": ANYTHING}

UNKNOWN_TOOLS: Final = ("retired", "toString", "an old tool 🪦")
"""Tools that histories still name and nobody registers any more."""
