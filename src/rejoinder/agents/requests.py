"""What the vendors' requests have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderMessage,
    ProviderToolCallPart,
)
from rejoinder.ports.providers import ProviderToolDefinition
from rejoinder.wire.json import is_array, is_object

NO_INPUT: Final[JsonObject] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing: vendors want one in any case."""

_REASONING_MODEL: Final = re.compile(r"(?:.*/)?(?:o\d+|gpt-(?:[5-9]|\d\d)(?!.*-?chat))(?:[-.].*)?$")


def reasons(model: str) -> bool:
    """Whether a model of OpenAI's thinks before it speaks; its requests differ in details."""
    return _REASONING_MODEL.fullmatch(model) is not None


def last_question(messages: Sequence[ProviderMessage]) -> int:
    """Where the user spoke last: what comes after it belongs to the answer that is being made."""
    return max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)


def chosen_tool(choice: Json, tools: Sequence[ProviderToolDefinition]) -> ProviderToolDefinition | None:
    """The tool that a choice `{"name": …}` means."""
    if not is_object(choice) or set(choice) != {"name"}:
        return None
    found = [tool for tool in tools if tool.name == choice["name"]]
    return found[0] if found else ProviderToolDefinition(name=choice["name"])


def is_strict(schema: Json) -> bool:
    """Whether a JSON Schema says everything that strict modes ask for: closed objects, all of it required."""
    if is_array(schema):
        return all(is_strict(item) for item in schema)
    if not is_object(schema):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or is_object(properties):
        named = properties if is_object(properties) else {}
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(named):
            return False
    return all(is_strict(item) for item in schema.values())


def closed(schema: Json) -> Json:
    """A JSON Schema whose objects allow nothing that they do not name."""
    if is_array(schema):
        return [closed(item) for item in schema]
    if not is_object(schema):
        return schema
    said = {name: closed(item) for name, item in schema.items()}
    if said.get("type") == "object":
        said.setdefault("additionalProperties", False)
    return said


def is_hosted(part: ProviderContentPart) -> bool:
    """Whether a part is a call that its vendor ran."""
    return isinstance(part, ProviderToolCallPart) and part.provider_executed
