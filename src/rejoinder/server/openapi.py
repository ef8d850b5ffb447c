"""The OpenAPI document, made of the same table as the routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.server.doors import Door

VERSION: Final = "3.1.0"

PROBLEM: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "What a program goes by; it stays the same for ever."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string", "description": "What finds the fault in the server's log."},
    },
    "required": ["type", "title", "status"],
}

_REFUSAL: Final[JsonObject] = {
    "description": "A problem: it says what, and what to do.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}

_REFUSALS: Final = ("400", "401", "403", "404", "429", "503")
_REFUSALS_OF_BODIES: Final = ("408", "409", "413", "415", "422")

_NAME_IN_PATH: Final = re.compile(r"\{(\w+)\}")


def document(doors: Sequence[Door], *, prefix: str, ids: JsonObject) -> JsonObject:
    """The document of these doors. `ids` is the schema of the ids in paths."""
    paths: dict[str, JsonObject] = {}
    for door in doors:
        paths.setdefault(prefix + door.path, {})[door.method.lower()] = _operation(door, ids)
    return {
        "openapi": VERSION,
        "info": {"title": "Rejoinder", "version": "1"},
        "paths": dict(paths),
        "components": {
            "schemas": {"Problem": PROBLEM},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
        "security": [{}, {"bearer": []}, {"key": []}],
    }


def _operation(door: Door, ids: JsonObject) -> JsonObject:
    in_path: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": ids}
        for name in _NAME_IN_PATH.findall(door.path)
    ]
    others: list[Json] = [
        {
            "name": parameter.name,
            "in": parameter.place,
            "required": False,
            "schema": parameter.schema,
            "description": parameter.description,
        }
        for parameter in door.parameters
    ]
    operation: JsonObject = {
        "operationId": door.handler.__name__,
        "summary": door.summary,
        "parameters": [*in_path, *others],
        "responses": _responses(door),
    }
    if door.open_to_all:
        operation["security"] = []
    if door.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": door.body}},
        }
    return operation


def _responses(door: Door) -> JsonObject:
    answers: JsonObject = {}
    for status, description in door.answers:
        answers[str(status)] = {"description": description}
        if status != 204:
            answers[str(status)]["content"] = {door.media_type: {"schema": {}}}
    refusals = [*_REFUSALS]
    if door.method != "GET":
        refusals += _REFUSALS_OF_BODIES
    if door.media_type == "text/event-stream":
        refusals += ("406", "409", "422")
    return dict.fromkeys(sorted(set(refusals)), _REFUSAL) | answers
