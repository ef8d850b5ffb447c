"""What is offered to a model: tools, functions and definitions, as definitions for its provider and tools for us."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from rejoinder.convert.model_parts import ModelTool
from rejoinder.engine.tool_functions import tool
from rejoinder.messages import Json, JsonObject, ToolCall, is_absent
from rejoinder.ports.providers import ProviderToolDefinition
from rejoinder.ports.tools import InvalidTool, Tool
from rejoinder.wire.json import is_object

AnyTool: TypeAlias = Tool | ProviderToolDefinition | Callable[..., Any]
"""A tool, the definition of one that the client or the vendor runs, or a typed function."""

_log: Final = logging.getLogger(__name__)


def offered(given: Sequence[AnyTool]) -> tuple[tuple[ProviderToolDefinition, ...], Mapping[str, Tool]]:
    """The definitions for the provider, and the tools by their names. Raises `InvalidTool`."""
    definitions: list[ProviderToolDefinition] = []
    tools: dict[str, Tool] = {}
    for each in given:
        found = _tool(each)
        if found.name in tools:
            raise InvalidTool(f"two tools are called {found.name!r}: give one of them another name")
        tools[found.name] = found
        definitions.append(each if isinstance(each, ProviderToolDefinition) else _definition(found))
    return tuple(definitions), tools


def said(tools: Mapping[str, Tool]) -> Mapping[str, ModelTool]:
    """How outputs are told to a model."""
    return {
        name: ModelTool(to_model_output=partial(_told, each))
        for name, each in tools.items()
        if each.to_model_output is not None
    }


def _tool(given: AnyTool) -> Tool:
    match given:
        case Tool():
            return given
        case ProviderToolDefinition():
            plain = Tool(name=given.name, description=given.description, provider_tool=given.provider_tool)
            return plain if given.schema is None else Tool(name=given.name, schema=given.schema)
        case _:
            return tool(given)


def _definition(tool: Tool) -> ProviderToolDefinition:
    return ProviderToolDefinition(
        name=tool.name,
        description=tool.description,
        schema=tool.schema,
        strict=tool.strict,
        provider_tool=tool.provider_tool,
    )


def _told(tool: Tool, call: ToolCall) -> JsonObject:
    """An output as the model is shown it: a text, JSON, or contents as the AI SDK has them."""
    output: Json = None if is_absent(call.output) else call.output
    if tool.to_model_output is not None:
        try:
            output = tool.to_model_output(output)
        except Exception:  # noqa: BLE001  # it is a user's: what the tool said is still there
            _log.exception("tool %s cannot say its output to a model: it is shown as it is", tool.name)
    if is_object(output) and output.get("type") == "content" and "value" in output:
        return output
    return {"type": "text" if isinstance(output, str) else "json", "value": output}
