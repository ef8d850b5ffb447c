"""The items of an OpenAI response: which one an event is about."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.fields import integer_of, object_of, text_of
from rejoinder.wire.chunks import ProviderMetadata


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


def rest_of(pieces: list[str], whole: str) -> str:
    """What of a whole text has not been said yet; nothing if it is not the one that was being said."""
    said = "".join(pieces)
    return whole[len(said) :] if whole.startswith(said) else ""
