"""The shapes in which events and messages of LangGraph come as JSON, read as one.

`astream` yields tuples that depend on how it was called: `data`, `(mode, data)`, `(namespace, data)`,
`(namespace, mode, data)`; version 2 yields objects. Messages are objects with their fields, or LangChain's own
serialization with `lc` and `kwargs`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.fields import array_of, object_of, text_of
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

MODES: Final = frozenset(
    {
        "messages",
        "updates",
        "values",
        "custom",
        "tasks",
        "checkpoints",
        "debug",
        "messages-tuple",
        "error",
        "remember",
    }
)

_TYPES: Final = {
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "HumanMessage": "human",
    "SystemMessage": "system",
    "RemoveMessage": "remove",
}
_SAID_BY_MODELS: Final = frozenset({"ai", "AIMessageChunk"})


class Event(Struct, frozen=True, kw_only=True):
    """One event: its mode, what it says, and for which graph within the graph."""

    mode: str
    data: Json
    namespace: tuple[str, ...] = ()
    interrupts: Json = None


def event_of(event: Json) -> Event | None:
    """The event in one shape; None if it is of none that we know."""
    if is_array(event):
        return _of_array(event)
    if not is_object(event):
        return None
    for name in ("mode", "type", "event"):
        mode = text_of(event, name).partition("|")[0]
        if mode in MODES and "data" in event:
            namespace = tuple(item for item in array_of(event, "ns") if isinstance(item, str))
            return Event(
                mode=mode.removesuffix("-tuple"),
                data=event["data"],
                namespace=namespace or _namespace(event),
                interrupts=event.get("interrupts"),
            )
    return _of_bare(event)


def _namespace(event: JsonObject) -> tuple[str, ...]:
    """The platform's streams write it behind the mode: `messages|tools:1`."""
    return tuple(text_of(event, "event").split("|")[1:])


def _of_array(event: list[Json]) -> Event | None:
    match event:
        case [str(mode), data] if mode in MODES:
            return Event(mode=mode, data=data)
        case [namespace, str(mode), data] if is_array(namespace) and mode in MODES:
            return Event(mode=mode, data=data, namespace=tuple(map(str, namespace)))
        case [message, dict()] if is_message(message):
            return Event(mode="messages", data=event)
        case [namespace, data] if is_array(namespace):
            bare = event_of(data)
            mode, said = ("custom", data) if bare is None else (bare.mode, bare.data)
            return Event(mode=mode, data=said, namespace=tuple(map(str, namespace)))
        case _:
            return None


def _of_bare(event: JsonObject) -> Event | None:
    """What comes when a single mode was asked for, or when a chat model streams by itself."""
    kind = text_of(event, "event")
    if kind == "on_chat_model_stream":
        return Event(mode="messages", data=[object_of(event, "data").get("chunk"), event.get("metadata")])
    if kind == "on_tool_end":
        return Event(mode="messages", data=[object_of(event, "data").get("output"), event.get("metadata")])
    if kind:
        return Event(mode="debug", data=event)
    if is_message(event):
        return Event(mode="messages", data=[event, {}])
    if any(is_message(item) for item in array_of(event, "messages")):
        return Event(mode="values", data=event)
    if "__interrupt__" in event or (
        len(event) > 0 and all(item is None or is_object(item) or is_array(item) for item in event.values())
    ):
        return Event(mode="updates", data=event)
    return None


def is_message(value: Json) -> bool:
    """Whether this is a message of LangChain."""
    message = message_of(value)
    return "content" in message and bool(text_of(message, "type"))


def message_of(value: Json) -> JsonObject:
    """A message with its fields on the first level and its type in the words of `message.type`."""
    if not is_object(value):
        return {}
    if value.get("type") == "constructor" and is_object(value.get("kwargs")):
        path = [item for item in array_of(value, "id") if isinstance(item, str)]
        name = path[-1] if path else ""
        return {**value["kwargs"], "type": text_of(value, "kwargs", "type") or _TYPES.get(name, name)}
    if value.get("type") in _TYPES.values() and is_object(value.get("data")) and "content" not in value:
        # `message_to_dict`
        return {**value["data"], "type": value["type"]}
    return value


def said_by_model(message: JsonObject) -> bool:
    """Whether a model said this, in one piece or in pieces."""
    return text_of(message, "type") in _SAID_BY_MODELS


def is_piece(message: JsonObject) -> bool:
    """Whether more of this message follows."""
    return text_of(message, "type").endswith("Chunk")


def identity_of(message: JsonObject) -> str:
    """What tells one message from another: its id, or else what it says."""
    known = text_of(message, "id")
    if known:
        return known
    said = [
        message.get("type"),
        message.get("content"),
        message.get("tool_calls"),
        message.get("tool_call_id"),
    ]
    return json.encode(said).decode()
