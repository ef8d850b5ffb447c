"""Calls of tools in a chat completion, whose pieces servers number, name and repeat as they like."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, text_of
from rejoinder.translate.model_calls import ModelCalls
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, ProviderMetadata


class _Call(Struct):
    """One call, as far as it came. Without its name nothing can be said of it yet."""

    given: str
    name: str = ""
    id: str = ""
    text: bool = False
    pieces: list[str] = field(default_factory=list[str])
    about: ProviderMetadata | None = None


class ChatCalls:
    """The tool calls of one call of the model."""

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls
        self._known: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    @property
    def called(self) -> bool:
        """Whether the model called any tool."""
        return bool(self._known)

    def delta(self, say: Emitter, told: JsonObject) -> Iterator[Chunk]:
        """More of a call."""
        custom = object_of(told, "custom")
        function = object_of(told, "function") or custom
        call = self._found(told, text_of(function, "name"))
        call.name = call.name or text_of(function, "name")
        call.given = call.given or text_of(told, "id")
        call.text = call.text or bool(custom)
        more = told.get("extra_content")
        if more:
            # Signatures of thoughts travel in it, and have to go back with the call.
            call.about = {self._calls.provider: {"extraContent": more}}
        delta = _written(function.get("input" if custom else "arguments"))
        if delta:
            call.pieces.append(delta)
        if call.id:
            yield from say.tool_input_delta(call.id, delta)
        elif call.name:
            yield from self._start(say, call)

    def end(self, say: Emitter, interrupted: str | None) -> Iterator[Chunk]:
        """The model has said its last word: the inputs are complete, unless it was interrupted."""
        for call in self._known:
            if not call.id:
                yield from self._start(say, call)
            if interrupted is not None:
                continue
            if call.text:
                yield from say.tool_input(call.id, call.name, "".join(call.pieces))
            else:
                yield from say.tool_input_end(call.id, provider_metadata=call.about)
        if interrupted is not None:
            yield from say.close(interrupted)

    def _start(self, say: Emitter, call: _Call) -> list[Chunk]:
        call.name = call.name or UNKNOWN_TOOL
        call.id = self._calls.call_id(say, call.given)
        began = say.tool_input_start(call.id, call.name, text=call.text, provider_metadata=call.about)
        return began + say.tool_input_delta(call.id, "".join(call.pieces))

    def _found(self, told: JsonObject, name: str) -> _Call:
        """The call that this is a piece of: by its index, else by its id, else the one that is being said."""
        index, given = integer_of(told, "index"), text_of(told, "id")
        found: _Call | None = None
        if index is not None:
            found = self._by_index.get(index)
        elif given:
            found = next((call for call in self._known if call.given == given), None)
        elif not name and self._known:
            found = self._known[-1]
        if found is not None and given and found.given and given != found.given and name:
            found = None  # Some servers give every call the index 0.
        if found is None:
            found = _Call(given=given)
            self._known.append(found)
        if index is not None:
            self._by_index[index] = found
        return found


def _written(arguments: Json) -> str:
    """Arguments as JSON text, which they are as a rule; some servers send the object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.encode(arguments).decode()
