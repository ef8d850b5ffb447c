"""The items of OpenAI Responses that are calls of its own tools: what each asks, answers, and how it fails.

A tool that OpenAI runs (a web search, code, MCP) brings its result in the same item; one that it leaves to us (a
shell, a patch, a computer) is a call like that of any function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from rejoinder.errors import InvalidJson
from rejoinder.wire import json
from rejoinder.wire.json import Json, JsonObject, is_object

FAILED: Final = frozenset({"failed", "incomplete"})


class ToolItem(Struct, frozen=True, kw_only=True):
    """How one type of item is a call of a tool.

    `asked` are the fields that are its input, by the names that the input gives them; `nested` says that the first
    of them is the whole input. `hidden` are fields that the output need not say again.
    """

    name: str
    asked: Mapping[str, str] = {}
    nested: bool = False
    hidden: tuple[str, ...] = ()
    by_us: bool = False


TOOL_ITEMS: Final[Mapping[str, ToolItem]] = {
    "web_search_call": ToolItem(name="web_search", asked={"action": "action"}, nested=True),
    "file_search_call": ToolItem(name="file_search", asked={"queries": "queries"}),
    "code_interpreter_call": ToolItem(
        name="code_interpreter",
        asked={"code": "code", "container_id": "containerId"},
        hidden=("code", "container_id"),
    ),
    "image_generation_call": ToolItem(name="image_generation"),
    "computer_call": ToolItem(
        name="computer",
        asked={
            "action": "action",
            "actions": "actions",
            "pending_safety_checks": "pendingSafetyChecks",
        },
        by_us=True,
    ),
    "local_shell_call": ToolItem(name="local_shell", asked={"action": "action"}, by_us=True),
    "shell_call": ToolItem(name="shell", asked={"action": "action"}, by_us=True),
    "apply_patch_call": ToolItem(name="apply_patch", asked={"operation": "operation"}, by_us=True),
}

IMAGE_TYPES: Final = {"jpeg": "image/jpeg", "jpg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}


def runs_here(item: JsonObject, tool: ToolItem) -> bool:
    """Whether the tool is left to us; a shell may also run in a container of OpenAI's."""
    environment = item.get("environment")
    place = _text(environment, "type") if is_object(environment) else ""
    return tool.by_us and place in ("", "local")


def input_of(item: JsonObject, tool: ToolItem) -> Json:
    """What the tool is asked."""
    if tool.nested:
        (field,) = tool.asked
        asked = item.get(field)
        return asked if is_object(asked) else {}
    return {name: item[field] for field, name in tool.asked.items() if item.get(field) is not None}


def output_of(item: JsonObject, tool: ToolItem) -> JsonObject:
    """What the tool answered, in OpenAI's words."""
    return {name: value for name, value in item.items() if name not in ("id", "type", *tool.hidden)}


def error_of(item: JsonObject, name: str) -> str | None:
    """How the tool failed, if it did."""
    error = item.get("error")
    if error:
        said = _text(error, "message") if is_object(error) else error
        return said if isinstance(said, str) and said else json.encode(error).decode()
    status = _text(item, "status")
    return f"{name} ended as {status}." if status in FAILED else None


def image_of(item: JsonObject) -> tuple[str, str] | None:
    """The image of an image generation as a `data:` URL, and its media type."""
    data = _text(item, "result")
    if not data:
        return None
    made = _text(item, "output_format")
    media_type = IMAGE_TYPES.get(made) or f"image/{'svg+xml' if made == 'svg' else 'png'}"
    return f"data:{media_type};base64,{data}", media_type


def arguments_of(given: Json) -> Json:
    """The arguments of a call: JSON in a text as a rule, an object from servers that mean well."""
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        return json.decode(given.encode("utf-8", "surrogatepass")) if given.strip() else {}
    except InvalidJson:
        return given


def _text(item: JsonObject, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""
