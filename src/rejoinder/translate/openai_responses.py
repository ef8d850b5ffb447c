"""OpenAI Responses, and servers that speak it, → chunks.

The deltas are said as they come; what an item holds in the end is compared with what was said of it, and what was
missing is said then. So a server that streams nothing but finished items is understood, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from rejoinder.messages import Json, JsonObject, Usage
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.failures import failed
from rejoinder.translate.fields import integer_of, kind_of, object_of, objects_of, text_of
from rejoinder.translate.model_calls import DONE, ModelCalls
from rejoinder.translate.notes import Problem
from rejoinder.translate.openai_items import Item, Items
from rejoinder.translate.openai_texts import Texts
from rejoinder.translate.openai_tools import Tools
from rejoinder.wire.chunks import Chunk, FinishReason

_REASONS: Final[Mapping[str, FinishReason]] = {
    "max_output_tokens": "length",
    "content_filter": "content-filter",
}
_BEGINNINGS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})
_ENDINGS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)
_ANSWERS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "apply_patch_call_output", "computer_call_output"}
)
"""Answers to calls that are ours as a rule: some servers make them themselves."""

_PROGRESS: Final = re.compile(
    r"response\.(\w+\.(in_progress|searching|interpreting|generating|completed|failed|calling|compacting)"
    r"|content_part\.added|audio\..+|\w+_(input|arguments|code|diff)\.done|\w+_diff\.delta|shell_call_\w+\.\w+|steer\.\w+)"
    r"|keepalive|ping"
)
"""What says that something goes on. What came of it is said when the item is done."""

_TEXTS: Final[Mapping[str, Callable[[Texts, Emitter, Item, Json], Iterable[Chunk]]]] = {
    "response.content_part.done": Texts.part_done,
    "response.output_text.annotation.added": Texts.annotation,
    "response.output_text.delta": Texts.delta,
    "response.output_text.done": Texts.done,
    "response.reasoning_summary_part.added": Texts.summary_began,
    "response.reasoning_summary_part.done": Texts.summary_done,
    "response.reasoning_summary_text.delta": Texts.summary_delta,
    "response.reasoning_summary_text.done": Texts.summary_done,
    "response.reasoning_text.delta": Texts.thought_delta,
    "response.reasoning_text.done": Texts.thought_done,
    "response.refusal.delta": Texts.refusal_delta,
    "response.refusal.done": Texts.done,
}
_TOOLS: Final[Mapping[str, Callable[[Tools, Emitter, Item, Json], Iterable[Chunk]]]] = {
    "response.code_interpreter_call_code.delta": Tools.code_delta,
    "response.custom_tool_call_input.delta": Tools.delta,
    "response.function_call_arguments.delta": Tools.delta,
    "response.image_generation_call.partial_image": Tools.partial_image,
    "response.mcp_call_arguments.delta": Tools.delta,
}


class OpenAIResponses:
    """Remembers what the call that is under way has said."""

    provider = "openai"

    def __init__(self) -> None:
        self._calls = ModelCalls(self.provider)
        self._items = Items("0", self.provider)
        self._texts = Texts(self._calls)
        self._tools = Tools(self._calls)
        self._heard: set[int] = set()

    def __call__(self, say: Emitter, event: Json, /) -> Iterator[Chunk]:
        """The next event."""
        kind = text_of(event, "type")
        if kind in _BEGINNINGS:
            if self._calls.count == 0 or kind == "response.created":
                yield from self._begin(say, object_of(event, "response"))
        elif kind in _ENDINGS:
            yield from self._end(say, object_of(event, "response"), kind)
        elif kind == "error" or (not kind and object_of(event, "error")):
            error = object_of(event, "error") or event
            yield from self._calls.fail(say, failed(error, provider=self.provider))
        elif kind in _TEXTS or kind in _TOOLS or kind in _ITEMS:
            yield from self._content(say, event, kind)
        elif event != DONE and not _PROGRESS.fullmatch(kind):
            say.note(Problem(text=f"an event {kind_of(event, 'type')}, which OpenAI Responses does not have"))

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more."""
        return self._calls.close(say)

    def _begin(self, say: Emitter, response: JsonObject) -> list[Chunk]:
        id = text_of(response, "id")
        if self._calls.open is not None and id == self._calls.given:
            return []
        self._texts, self._tools, self._heard = Texts(self._calls), Tools(self._calls), set()
        said = self._calls.begin(say, id, text_of(response, "model"))
        self._items = Items(str(self._calls.count), self.provider)
        return said

    def _content(self, say: Emitter, event: Json, kind: str) -> Iterator[Chunk]:
        if self._calls.count == 0:
            yield from self._begin(say, {})
        number = integer_of(event, "sequence_number")
        if self._calls.open is None:
            say.note(Problem(text=f"an event {kind!r} after the end of the answer"))
        elif number is not None and number in self._heard:
            say.note(Problem(text=f"event {number} comes a second time"))
        else:
            if number is not None:
                self._heard.add(number)
            yield from self._handled(say, self._items.of(event), event, kind)

    def _handled(self, say: Emitter, item: Item, event: Json, kind: str) -> Iterable[Chunk]:
        if kind in _TEXTS:
            return _TEXTS[kind](self._texts, say, item, event)
        if kind in _TOOLS:
            return _TOOLS[kind](self._tools, say, item, event)
        added = kind == "response.output_item.added"
        return self._item_added(say, item, event) if added else self._item_done(say, item, event)

    def _end(self, say: Emitter, response: JsonObject, kind: str) -> Iterator[Chunk]:
        if self._calls.count == 0:
            yield from self._begin(say, response)
        if self._calls.open is None:
            say.note(Problem(text=f"an event {kind!r} after the end of the answer"))
            return
        for place, item in enumerate(objects_of(response, "output")):
            event = {"item": item, "output_index": place}
            yield from self._item_done(say, self._items.of(event), event)
        self._calls.usage = usage_of(object_of(response, "usage"))
        if kind in ("response.completed", "response.incomplete"):
            yield from self._tools.settle(say)
            yield from self._calls.finish(say, self._reason(response, kind))
        else:
            error = object_of(response, "error") or {"message": f"OpenAI ended the call with {kind}"}
            yield from self._calls.fail(say, failed(error, provider=self.provider))

    def _reason(self, response: JsonObject, kind: str) -> FinishReason:
        if kind == "response.incomplete":
            return _REASONS.get(text_of(response, "incomplete_details", "reason"), "other")
        if self._tools.called:
            return "tool-calls"
        return "content-filter" if self._texts.refused else "stop"

    def _item_added(self, say: Emitter, item: Item, event: Json) -> list[Chunk]:
        told = object_of(event, "item")
        item.phase = item.phase or text_of(told, "phase")
        return [] if item.done else self._tools.begin(say, item, told)

    def _item_done(self, say: Emitter, item: Item, event: Json) -> Iterator[Chunk]:
        told = object_of(event, "item")
        if item.done:
            return
        yield from self._item_added(say, item, event)
        item.done = True
        match item.type:
            case "message":
                yield from self._texts.message_done(say, item, told)
            case "reasoning":
                yield from self._texts.reasoning_done(say, item, told)
            case "function_call":
                yield from self._tools.function_done(say, item, told)
            case "custom_tool_call":
                yield from self._tools.custom_done(say, item, told)
            case "mcp_call":
                yield from self._tools.mcp_done(say, item, told)
            case "mcp_approval_request":
                yield from self._tools.mcp_asks(say, item, told)
            case "shell_call_output":
                yield from self._tools.answered(say, told)
            case kind if kind in _ANSWERS and say.knows(text_of(told, "call_id")):
                yield from self._tools.answered(say, told)
            case _ if item.call_id:
                yield from self._tools.tool_done(say, item, told)
            case _:
                # Whatever it is: it is kept, and goes back as it came.
                about = {self.provider: {"itemId": item.id, "item": told}}
                yield from say.custom(f"{self.provider}.{item.type or 'item'}", provider_metadata=about)


def usage_of(told: JsonObject) -> Usage | None:
    """What OpenAI says that a response consumed."""
    if not told:
        return None
    return Usage(
        input_tokens=integer_of(told, "input_tokens"),
        output_tokens=integer_of(told, "output_tokens"),
        total_tokens=integer_of(told, "total_tokens"),
        cache_read_tokens=integer_of(told, "input_tokens_details", "cached_tokens"),
        cache_write_tokens=integer_of(told, "input_tokens_details", "cache_write_tokens"),
        reasoning_tokens=integer_of(told, "output_tokens_details", "reasoning_tokens"),
    )
