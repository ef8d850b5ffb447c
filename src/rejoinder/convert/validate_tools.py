"""Calls of static tools against the schemas of the tools; what no longer fits becomes a withdrawn dynamic call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from rejoinder.convert.javascript import same_data
from rejoinder.convert.schemas import JsonSchema
from rejoinder.convert.validate_checks import Mismatch
from rejoinder.messages import ABSENT, Json, JsonObject, is_absent
from rejoinder.wire.json import is_object

_OUTCOMES: Final = ("output-available", "output-error", "output-denied")
_OUTCOMES_OF_5: Final = ("output-available", "output-error")
_KEPT_BY_5: Final = ("toolCallId", "providerExecuted", "callProviderMetadata", "state", "input")


class ToolSchemas(Struct, frozen=True, kw_only=True):
    """What a tool takes and gives, as JSON schemas; None takes everything."""

    input: JsonObject | None = None
    output: JsonObject | None = None


class _Tool(NamedTuple):
    input: JsonSchema | None
    output: JsonSchema | None


def compiled_tools(tools: Mapping[str, ToolSchemas]) -> Mapping[str, _Tool]:
    """The tools with their schemas ready to be used."""
    return {
        name: _Tool(
            None if tool.input is None else JsonSchema(tool.input, f"the input of tool {name}"),
            None if tool.output is None else JsonSchema(tool.output, f"the output of tool {name}"),
        )
        for name, tool in tools.items()
    }


def checked_tool_part(part: JsonObject, name: str, tools: Mapping[str, _Tool], *, sdk: int) -> JsonObject:
    """The part, or the dynamic call that it becomes. Raises `Mismatch` if the call is not one of its tool's."""
    tool = tools.get(name)
    state = part["state"]
    if tool is None:
        if state in (_OUTCOMES_OF_5 if sdk == 5 else _OUTCOMES):
            return _withdrawn(part, name, sdk)
        raise Mismatch(f"No tool schema found for tool part {name}").under("input")
    complaint = _input_complaint_of_5(part, tool) if sdk == 5 else _input_complaint(part, tool)
    becomes_dynamic = complaint is not None
    # A failed call, and one that lost its input, must stay readable.
    if (
        complaint is not None
        and state != "output-error"
        and not (state == "output-available" and part["input"] == {})
    ):
        raise Mismatch(f"{complaint} (tool {name})").under("input")
    if state == "output-available" and tool.output is not None:
        complaint = tool.output.complaint(part["output"])
        if complaint is not None:
            raise Mismatch(f"{complaint} (tool {name})").under("output")
    return _withdrawn(part, name, sdk) if becomes_dynamic else part


def _input_complaint_of_5(part: JsonObject, tool: _Tool) -> str | None:
    if tool.input is None or part["state"] not in ("input-available", *_OUTCOMES_OF_5) or "input" not in part:
        return None
    return tool.input.complaint(part["input"])


def _input_complaint(part: JsonObject, tool: _Tool) -> str | None:
    input: Json = part.get("input", ABSENT)
    approval = part.get("approval")
    asked = approval.get("inputSchemaInput", ABSENT) if is_object(approval) else ABSENT
    if part["state"] == "input-streaming" or (is_absent(asked) and is_absent(input)):
        return None
    shown = input if is_absent(asked) else asked
    complaint = None if tool.input is None else tool.input.complaint(shown)
    if complaint is None and not is_absent(asked) and not same_data(asked, input):
        return "Tool input does not match the output reconstructed from inputSchemaInput."
    return complaint


def _withdrawn(part: JsonObject, name: str, sdk: int) -> JsonObject:
    dynamic: JsonObject = {"type": "dynamic-tool", "toolName": name}
    if sdk == 5:
        wanted = (
            *_KEPT_BY_5,
            *(("output", "preliminary") if part["state"] == "output-available" else ("errorText",)),
        )
        dynamic.update((key, part[key]) for key in wanted if key in part)
    else:
        dynamic.update((key, value) for key, value in part.items() if key != "type")
    dynamic["dynamic"] = False
    return dynamic
