"""Histories of UIMessages by seed: what clients send and databases give back, most of it valid, some of it not.

`history(seed, sdk)` is for the conversion to model messages, `validation(seed, sdk)` for the validation against
schemas of tools, data parts and metadata.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from tests.conformance.catalogue import DATA, METADATA, TOOLS
from tests.conformance.parts import Parts
from tests.conformance.spoil import spoil
from tests.conformance.values import Chance, Json, JsonObject

SPOILED_SHARE: Final = 0.45
"""Of histories for conversion: it looks at little, so most of what is spoiled passes."""

SPOILED_SHARE_OF_VALIDATION: Final = 0.2
"""Of histories for validation: nearly all that is spoiled is found, and misfitting values come on top."""


@dataclass(frozen=True)
class HistoryCase:
    """Messages and how to convert them."""

    seed: int
    sdk: int
    messages: list[Json]
    options: JsonObject
    """`ignoreIncompleteToolCalls`, `convertDataPart` ("text" or None) and perhaps `tools`."""

    @property
    def request(self) -> JsonObject:
        """The question to the oracle."""
        return {"do": "convert", "sdk": str(self.sdk), "messages": self.messages, "options": self.options}


@dataclass(frozen=True)
class ValidationCase:
    """Messages (or what came instead of them) and the schemas to hold against them."""

    seed: int
    sdk: int
    messages: Json
    tools: dict[str, JsonObject] | None
    data_schemas: dict[str, JsonObject] | None
    metadata_schema: JsonObject | None

    @property
    def request(self) -> JsonObject:
        """The question to the oracle."""
        return {
            "do": "validate",
            "sdk": str(self.sdk),
            "messages": self.messages,
            "tools": self.tools,
            "dataSchemas": self.data_schemas,
            "metadataSchema": self.metadata_schema,
        }


def history(seed: int, sdk: int) -> HistoryCase:
    """A history for version 5, 6 or 7, to be converted to model messages."""
    chance = Chance(f"history {sdk} {seed}")
    messages = _messages(chance, sdk, fitting_metadata=False)
    if chance.maybe(SPOILED_SHARE):
        spoil(chance, messages)
    options: JsonObject = {
        "ignoreIncompleteToolCalls": chance.maybe(0.4),
        "convertDataPart": "text" if chance.maybe(0.6) else None,
    }
    if chance.maybe(0.5):
        options["tools"] = _tools(chance)
    return HistoryCase(seed, sdk, messages, options)


def validation(seed: int, sdk: int) -> ValidationCase:
    """A history for version 5, 6 or 7, to be validated; tools, data and metadata have schemas or not."""
    chance = Chance(f"validation {sdk} {seed}")
    checks_metadata = chance.maybe(0.25)
    messages: Json = _messages(chance, sdk, fitting_metadata=checks_metadata)
    if chance.maybe(SPOILED_SHARE_OF_VALIDATION):
        spoil(chance, messages)
    if chance.maybe(0.01):
        messages = chance.pick((None, {}, "messages", 7, {"messages": messages}))
    # Without the schemas of all that is used, hardly any history would pass.
    data = dict(DATA) if chance.maybe(0.6) else {name: DATA[name] for name in chance.some(tuple(DATA), 0.8)}
    return ValidationCase(
        seed,
        sdk,
        messages,
        tools=_tools(chance) if chance.maybe(0.5) else None,
        data_schemas={name: shape.schema for name, shape in data.items()} if chance.maybe(0.25) else None,
        metadata_schema=METADATA.schema if checks_metadata else None,
    )


def _tools(chance: Chance) -> dict[str, JsonObject]:
    tools: dict[str, JsonObject] = {}
    for name in chance.some(tuple(TOOLS), 0.9):
        tool = TOOLS[name]
        tools[name] = {"inputSchema": tool.input.schema}
        if tool.output is not None and chance.maybe(0.8):
            tools[name]["outputSchema"] = tool.output.schema
    return tools


def _messages(chance: Chance, sdk: int, *, fitting_metadata: bool) -> list[Json]:
    parts = Parts(chance, sdk)
    messages: list[Json] = []
    if chance.maybe(0.2):
        messages.append(_message("system", [parts.text() for _ in range(chance.whole(1, 2))], chance))
    for turn in range(chance.weighted(((4, 1), (4, 2), (2, 3)))):
        if turn or chance.maybe(0.9):
            messages.append(_message("user", [parts.of_user() for _ in range(chance.whole(1, 3))], chance))
        if chance.maybe(0.9):
            messages.append(_message("assistant", [parts.any() for _ in range(chance.whole(0, 6))], chance))
    if not messages or chance.maybe(0.03):
        # A system message has texts only, as a rule; the package passes over the rest.
        messages.append(_message("system", [parts.any() for _ in range(2)], chance))
    for message in messages:
        if fitting_metadata:
            fits = chance.maybe(0.95)
            message["metadata"] = deepcopy(chance.pick(METADATA.fits if fits else METADATA.misfits))
        elif chance.maybe(0.3):
            message["metadata"] = chance.json()
    return messages


def _message(role: str, parts: list[JsonObject], chance: Chance) -> JsonObject:
    message: JsonObject = {"id": chance.id() if chance.maybe(0.2) else f"message-{chance.whole(1, 99)}"}
    message["role"] = role
    message["parts"] = parts
    return message
