"""What a chat completion thinks, under the names that servers have for it, and how it goes back to each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, objects_of, text_of, text_or_none
from rejoinder.wire.chunks import Chunk, ProviderMetadata

_FIELDS: Final = ("reasoning_content", "reasoning")
_DETAILS: Final = "reasoning_details"
_GROWING: Final = ("text", "summary", "data", "signature")


class Thoughts:
    """The reasoning of one call: `field` is where its server says it, `details` what it wants back as it was."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._field = ""
        self._open = False
        self._details: list[JsonObject] = []
        self._told = 0

    @staticmethod
    def speaks(delta: JsonObject) -> bool:
        """Whether there is a thought in it."""
        return any(delta.get(name) for name in (*_FIELDS, _DETAILS))

    def delta(self, say: Emitter, delta: JsonObject) -> Iterator[Chunk]:
        """More of what is thought."""
        details = objects_of(delta, _DETAILS)
        for detail in details:
            self._keep(detail)
        field, said = next(
            ((name, text_of(delta, name)) for name in _FIELDS if text_of(delta, name)), ("", "")
        )
        if not field and details:
            # Servers that say it twice have said it under a name above.
            said = "".join(text_of(detail, "text") or text_of(detail, "summary") for detail in details)
            field = _DETAILS
        yield from self._think(say, said, field)

    def thinking(self, say: Emitter, item: Json) -> Iterator[Chunk]:
        """A thought in a content that is a list."""
        inner = "".join(text_of(part, "text") for part in objects_of(item, "thinking"))
        yield from self._think(say, inner or text_of(item, "thinking") or text_of(item, "text"), "thinking")

    def end(self, say: Emitter) -> Iterator[Chunk]:
        """Something else is said: the thought is complete."""
        if self._open:
            self._open = False
            yield from say.reasoning_end(provider_metadata=self._about())
        elif len(self._details) > self._told:
            yield from say.reasoning_start()
            yield from say.reasoning_end(provider_metadata=self._about())

    def _think(self, say: Emitter, said: str, field: str) -> Iterator[Chunk]:
        if said:
            self._field, self._open = field, True
            yield from say.reasoning(said)

    def _about(self) -> ProviderMetadata:
        new, self._told = self._details[self._told :], len(self._details)
        return {self._provider: {"field": self._field or _DETAILS, **({"details": new} if new else {})}}

    def _keep(self, detail: JsonObject) -> None:
        """Pieces of one detail are put together again."""
        last = self._details[-1] if len(self._details) > self._told else None
        if (
            last is not None
            and last.get("type") == detail.get("type")
            and integer_of(last, "index") == integer_of(detail, "index")
            and text_or_none(detail, "type") != "reasoning.encrypted"
        ):
            for name, value in detail.items():
                grows = name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str)
                last[name] = last[name] + value if grows else (last.get(name) if value is None else value)
        else:
            self._details.append({**detail})
