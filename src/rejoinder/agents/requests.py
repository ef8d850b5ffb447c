"""What the vendors' requests have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderMessage,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import ProviderToolDefinition
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

NO_INPUT: Final[JsonObject] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing: vendors want one in any case."""

_REASONING_MODEL: Final = re.compile(r"(?:.*/)?(?:o\d+|gpt-(?:[5-9]|\d\d)(?!.*-?chat))(?:[-.].*)?$")


def reasons(model: str) -> bool:
    """Whether a model of OpenAI's thinks before it speaks; its requests differ in details."""
    return _REASONING_MODEL.fullmatch(model) is not None


def options_of(part: ProviderContentPart | ProviderMessage, provider: str) -> JsonObject:
    """What this vendor said of the part, and wants back."""
    options = (part.provider_options or {}).get(provider)
    return options if is_object(options) else {}


def object_text(arguments: Json) -> str:
    """The arguments of a call as the text of a JSON object, which is all that vendors take."""
    return json.encode(object_in(arguments)).decode()


def object_in(arguments: Json) -> JsonObject:
    """The arguments of a call as an object. What is none was no valid input, and was told as an error."""
    if is_object(arguments):
        return arguments
    return {} if arguments is None or arguments == "" else {"input": arguments}


def output_text(result: Json) -> str:
    """What a tool answered, as text."""
    return result if isinstance(result, str) else json.encode(result).decode()


def hosted_results(parts: Sequence[ProviderContentPart]) -> Mapping[str, ProviderToolResultPart]:
    """The results of calls that the vendor ran: they stand in the assistant's message, too."""
    return {part.call_id: part for part in parts if isinstance(part, ProviderToolResultPart)}


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
