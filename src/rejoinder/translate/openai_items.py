"""The items of an OpenAI response: which one an event is about, and for tools what they are asked and answer.

A tool that OpenAI runs (a web search, code, MCP) brings its result in the same item; one that it leaves to us (a
shell, a patch, a computer) is a call like that of any function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from rejoinder.errors import InvalidJson
from rejoinder.messages import Json, JsonObject
from rejoinder.translate.fields import integer_of, object_of, text_of, without
from rejoinder.wire import json
from rejoinder.wire.chunks import ProviderMetadata

FAILED: Final = frozenset({"failed", "incomplete"})


class TextPart(Struct):
    """A text of an item, as far as it was said."""

    key: str
    refusal: bool = False
    pieces: list[str] = field(default_factory=list[str])
    annotations: list[JsonObject] = field(default_factory=list[JsonObject])
    citations: list[JsonObject] = field(default_factory=list[JsonObject])
    ended: bool = False


class Item(Struct):
    """One item of the output, as far as it was said. `about` is what every part of it tells of its vendor.

    `asked_as` is the id that its vendor gave to the call in it, `call_id` the one under which it is said.
    """

    id: str
    type: str
    key: str
    provider: str
    phase: str = ""
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    parts: dict[str, TextPart] = field(default_factory=dict[str, TextPart])
    asked: bool = False
    asked_as: str = ""
    done: bool = False

    def may_be(self, kind: str, call_id: str) -> bool:
        """Whether something of this type, about this call, can be the same item."""
        return (not kind or self.type in ("", kind)) and (not call_id or self.asked_as in ("", call_id))

    def about(self, **more: Json) -> ProviderMetadata:
        """The item's id, and what else is to be known when it goes back."""
        said = {name: value for name, value in more.items() if value not in (None, "", [])}
        return {self.provider: {"itemId": self.id, **said} if self.id else said}

    def part(self, event: Json, family: str, index: str) -> TextPart:
        """The text of that family that an event is about."""
        name = f"{family}{integer_of(event, index) or 0}"
        return self.parts.setdefault(name, TextPart(key=f"{self.key}:{name}"))


FAKE_IDS: Final = frozenset({"__fake_id__"})
"""What the Agents SDK calls every item of a model that gives none of its items an id."""


class Items:
    """The items of one response, by their ids, by the calls in them and by their places.

    None of the three can be relied on: some servers number every item 0, and some give every item the same id.
    """

    def __init__(self, prefix: str, provider: str) -> None:
        self._prefix = prefix
        self._provider = provider
        self._made = 0
        self._by_id: dict[str, Item] = {}
        self._by_call: dict[str, Item] = {}
        self._by_place: dict[int, Item] = {}
        self._worthless: set[str] = {*FAKE_IDS}

    def of(self, event: Json) -> Item:
        """The item that an event is about; one that was never announced is made now."""
        told = object_of(event, "item")
        kind, call_id = text_of(told, "type"), text_of(told, "call_id")
        id, place = text_of(told, "id") or text_of(event, "item_id"), integer_of(event, "output_index")
        if id in self._by_id and not self._by_id[id].may_be(kind, call_id):
            self._worthless.add(id)
        if id in self._worthless:
            id = ""
        item = self._known(kind, call_id, id, place)
        if item is None:
            self._made += 1
            key = f"{self._prefix}:{self._made}"
            item = Item(id=id, type=kind, key=key, provider=self._provider)
        if id:
            self._by_id[id] = item
        if call_id:
            self._by_call[call_id] = item
        if place is not None:
            self._by_place[place] = item
        item.id, item.type, item.asked_as = item.id or id, item.type or kind, item.asked_as or call_id
        return item

    def _known(self, kind: str, call_id: str, id: str, place: int | None) -> Item | None:
        item = self._by_call.get(call_id) or self._by_id.get(id)
        if item is not None and item.may_be(kind, call_id):
            return item
        item = None if place is None else self._by_place.get(place)
        if item is None or not item.may_be(kind, call_id):
            return None
        return None if id and item.id and id != item.id else item


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
    place = text_of(item, "environment", "type")
    return tool.by_us and place in ("", "local")


def input_of(item: JsonObject, tool: ToolItem) -> Json:
    """What the tool is asked."""
    if tool.nested:
        (field,) = tool.asked
        return object_of(item, field)
    return {name: item[field] for field, name in tool.asked.items() if item.get(field) is not None}


def output_of(item: JsonObject, tool: ToolItem) -> JsonObject:
    """What the tool answered, in OpenAI's words."""
    return without(item, "id", "type", *tool.hidden)


def error_of(item: JsonObject, name: str) -> str | None:
    """How the tool failed, if it did."""
    error = item.get("error")
    if error:
        return error if isinstance(error, str) else text_of(error, "message") or json.encode(error).decode()
    status = text_of(item, "status")
    return f"{name} ended as {status}." if status in FAILED else None


def image_of(item: JsonObject) -> tuple[str, str] | None:
    """The image of an image generation as a `data:` URL, and its media type."""
    data = text_of(item, "result")
    if not data:
        return None
    made = text_of(item, "output_format")
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


def rest_of(pieces: list[str], whole: str) -> str:
    """What of a whole text has not been said yet; nothing if it is not the one that was being said."""
    said = "".join(pieces)
    return whole[len(said) :] if whole.startswith(said) else ""
