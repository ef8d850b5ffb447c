"""Calls of tools in an OpenAI response: functions, tools that OpenAI runs, and tools that it leaves to us."""

from __future__ import annotations

from collections.abc import Iterator

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import INTERRUPTED, Emitter
from rejoinder.translate.fields import text_of, text_or_none
from rejoinder.translate.model_calls import ModelCalls
from rejoinder.translate.openai_items import Item, rest_of
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.openai_tool_items import (
    TOOL_ITEMS,
    arguments_of,
    error_of,
    image_of,
    input_of,
    output_of,
    runs_here,
)


class Tools:
    """The calls of the response that is under way."""

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls
        self._ours: set[str] = set()
        self._unanswered: dict[str, str] = {}

    @property
    def called(self) -> bool:
        """Whether any call is for us to make."""
        return bool(self._ours)

    def begin(self, say: Emitter, item: Item, told: JsonObject) -> list[Chunk]:
        """An item of the output was announced; if it is a call, it begins."""
        if item.call_id:
            return []
        if item.type in ("function_call", "custom_tool_call"):
            return self._begin(say, item, told, text_of(told, "name"), by_us=True)
        if item.type == "mcp_call":
            known = text_of(told, "approval_request_id")
            if known and say.knows(known):
                item.call_id, item.name = known, f"mcp.{text_of(told, 'name')}"
                return []
            return self._begin(say, item, told, f"mcp.{text_of(told, 'name')}", by_us=False)
        tool = TOOL_ITEMS.get(item.type)
        if tool is None:
            return []
        return self._begin(say, item, told, tool.name, by_us=runs_here(told, tool))

    def delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of an input."""
        delta = text_of(event, "delta")
        item.pieces.append(delta)
        return say.tool_input_delta(item.call_id, delta) if item.call_id else []

    def code_delta(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """More of the code that OpenAI runs; shown as the JSON of the input that it becomes."""
        begin = "" if item.pieces else '{"code":"'
        inside = json.encode(text_of(event, "delta")).decode()[1:-1]
        return self.delta(say, item, {"delta": begin + inside})

    def function_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A call of a function, complete."""
        given = told.get("arguments")
        if text_of(told, "status") == "incomplete":
            yield from say.tool_input_error(item.call_id, item.name, given, INTERRUPTED)
            return
        if isinstance(given, str):
            rest = rest_of(item.pieces, given)
            yield from self.delta(say, item, {"delta": rest})
        about = item.about(namespace=told.get("namespace"), caller=told.get("caller"))
        if isinstance(given, str) and "".join(item.pieces) == given:
            yield from say.tool_input_end(item.call_id, provider_metadata=about)
        else:
            arguments = arguments_of("".join(item.pieces) if given is None else given)
            yield from say.tool_input(item.call_id, item.name, arguments, provider_metadata=about)

    def custom_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A call of a tool that takes a text."""
        given = text_of(told, "input") or "".join(item.pieces)
        yield from self.delta(say, item, {"delta": rest_of(item.pieces, given)})
        yield from say.tool_input(
            item.call_id, item.name, given, provider_metadata=item.about(type=item.type)
        )

    def mcp_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A call that OpenAI made of somebody's MCP server, with its result."""
        server, asked = text_of(told, "server_label"), text_of(told, "approval_request_id")
        about = item.about(type=item.type, serverLabel=server, approvalRequestId=asked)
        self._unanswered.pop(item.call_id, None)
        if item.call_id != asked:
            arguments = arguments_of(told.get("arguments") or "".join(item.pieces))
            yield from say.tool_input(item.call_id, item.name, arguments, provider_metadata=about)
        error = error_of(told, item.name)
        if error is not None:
            yield from say.tool_error(item.call_id, error, provider_metadata=about)
        else:
            yield from say.tool_output(item.call_id, told.get("output"), provider_metadata=about)

    def mcp_asks(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """OpenAI asks whether it may call somebody's MCP server."""
        item.call_id, item.name = item.id, f"mcp.{text_of(told, 'name')}"
        server = text_of(told, "server_label")
        yield from say.tool_input(
            item.call_id,
            item.name,
            arguments_of(told.get("arguments")),
            dynamic=True,
            provider_executed=True,
            title=server or None,
            provider_metadata=item.about(type=item.type, serverLabel=server),
        )
        yield from say.approval_request(item.id, item.call_id)

    def tool_done(self, say: Emitter, item: Item, told: JsonObject) -> Iterator[Chunk]:
        """A call of one of OpenAI's own tools; with its result, if OpenAI ran it."""
        tool, about = TOOL_ITEMS[item.type], item.about(type=item.type)
        hosted = self._unanswered.pop(item.call_id, None) is not None
        if not item.asked:
            yield from say.tool_input(item.call_id, item.name, input_of(told, tool), provider_metadata=about)
        if not hosted:
            return
        if item.type == "shell_call":
            # Its result is an item of its own.
            self._unanswered[item.call_id] = item.name
            return
        image = image_of(told) if item.type == "image_generation_call" else None
        error = error_of(told, item.name)
        if error is not None:
            yield from say.tool_error(item.call_id, error, provider_metadata=about)
        else:
            yield from say.tool_output(item.call_id, output_of(told, tool), provider_metadata=about)
        if image is not None:
            yield from say.file(*image, provider_metadata=about)

    def answered(self, say: Emitter, told: JsonObject) -> list[Chunk]:
        """The answer to a call, as an item of its own: of commands that OpenAI ran, or of whoever made the call."""
        call_id, output = text_of(told, "call_id"), told.get("output")
        self._unanswered.pop(call_id, None)
        self._ours.discard(call_id)
        if told["type"] == "shell_call_output":
            return say.tool_output(call_id, {"output": output}, name="shell")
        error = error_of(told, "The call")
        if error is not None:
            return say.tool_error(call_id, output if isinstance(output, str) and output else error)
        return say.tool_output(call_id, output)

    def partial_image(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        """An image as far as it is drawn."""
        data = text_of(event, "partial_image_b64")
        if not item.call_id or not data:
            return []
        item.asked = True
        ended = say.tool_input_end(item.call_id)
        return ended + say.tool_output(item.call_id, {"result": data}, preliminary=True)

    def settle(self, say: Emitter) -> Iterator[Chunk]:
        """The response is complete: what OpenAI ran and did not answer will not be answered."""
        for call_id, name in self._unanswered.items():
            yield from say.tool_error(call_id, f"{name} gave no result.")
        self._unanswered.clear()

    def _begin(self, say: Emitter, item: Item, told: JsonObject, name: str, *, by_us: bool) -> list[Chunk]:
        item.name = name or UNKNOWN_TOOL
        item.call_id = self._calls.call_id(say, text_of(told, "call_id") or item.id)
        if by_us:
            self._ours.add(item.call_id)
        else:
            self._unanswered[item.call_id] = item.name
        return say.tool_input_start(
            item.call_id,
            item.name,
            dynamic=item.type == "mcp_call",
            provider_executed=not by_us,
            text=item.type == "custom_tool_call",
            title=text_or_none(told, "server_label"),
            provider_metadata=item.about(),
        )
