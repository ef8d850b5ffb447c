"""The shapes of messages and parts as AI SDK 5, 6 and 7 validate them: tables, one column of names a shape.

Names stand in the order in which the SDK writes the fields. `?` is optional, `!` must be left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from rejoinder.convert.validate_checks import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    STRING,
    STRINGS,
    Check,
    Mismatch,
    Shape,
    by,
    exactly,
    listed,
    one_of,
    record,
    shape_by,
)
from rejoinder.messages import Json
from rejoinder.wire.json import JsonArray, is_object

UNKNOWN_PART: Final = (
    "Invalid UI message part type. Expected a known part type (for example "
    '"text" or "dynamic-tool") or a type starting with "data-" or "tool-".'
)

_METADATA: Final = record(2)

_FIELDS: Final[Mapping[str, Check]] = {
    "type": STRING,
    "id": STRING,
    "text": STRING,
    "state": one_of("streaming", "done"),
    "providerMetadata": _METADATA,
    "kind": STRING,
    "sourceId": STRING,
    "url": STRING,
    "title": STRING,
    "mediaType": STRING,
    "filename": STRING,
    "providerReference": STRINGS,
    "data": ANYTHING,
}
_SOURCE_FIELDS: Final = {**_FIELDS, "type": one_of("source"), "sourceType": STRING}
_CITATION: Final = Shape(
    "source startIndex? endIndex? citedText?",
    {
        "source": by(
            "sourceType",
            {
                "url": Shape("type sourceType id url title? providerMetadata?", _SOURCE_FIELDS),
                "document": Shape(
                    "type sourceType id mediaType title filename? providerMetadata?", _SOURCE_FIELDS
                ),
            },
        ),
        "startIndex": COUNT,
        "endIndex": COUNT,
        "citedText": STRING,
    },
)
_STEERING_PART: Final = by(
    "type",
    {
        "text": Shape("type text providerMetadata?", _FIELDS),
        "file": Shape("type mediaType filename? url providerReference? providerMetadata?", _FIELDS),
    },
)

_PARTS_OF_5: Final = {
    "text": "type text state? providerMetadata?",
    "reasoning": "type id? text state? providerMetadata?",
    "source-url": "type sourceId url title? providerMetadata?",
    "source-document": "type sourceId mediaType title filename? providerMetadata?",
    "file": "type mediaType filename? url providerMetadata?",
    "step-start": "type",
}
_PARTS: Final[Mapping[int, Mapping[str, str]]] = {
    5: _PARTS_OF_5,
    6: _PARTS_OF_5,
    7: {
        **_PARTS_OF_5,
        "text": "type text citations? state? providerMetadata?",
        "file": "type mediaType filename? url providerReference? providerMetadata?",
        "custom": "type kind providerMetadata?",
        "reasoning-file": "type mediaType url providerMetadata?",
        "steering-message": "type id parts",
    },
}

_DYNAMIC_HEAD: Final = "type dynamic? toolName toolCallId title? toolMetadata? state "
_STATIC_HEAD: Final = "type toolCallId title? toolMetadata? state "
_ASKED: Final = "input providerExecuted? output! errorText! callProviderMetadata? approval"
_DYNAMIC_STATES: Final = {
    "input-streaming": (
        "input? rawInput? inputEncoding? providerExecuted? callProviderMetadata? output! errorText! approval!"
    ),
    "input-available": "input providerExecuted? output! errorText! callProviderMetadata? approval!",
    "approval-requested": _ASKED,
    "approval-responded": _ASKED,
    "output-available": (
        "input providerExecuted? output errorText! callProviderMetadata? resultProviderMetadata? "
        "preliminary? approval?"
    ),
    "output-error": (
        "input? rawInput? providerExecuted? output! errorText "
        "callProviderMetadata? resultProviderMetadata? approval?"
    ),
    "output-denied": _ASKED,
}
_STATIC_STATES: Final = {
    "input-streaming": (
        "providerExecuted? callProviderMetadata? input? rawInput? inputEncoding? output! errorText! approval!"
    ),
    "input-available": "providerExecuted? input output! errorText! callProviderMetadata? approval!",
    "approval-requested": _ASKED,
    "approval-responded": _ASKED,
    "output-available": (
        "providerExecuted? input output errorText! callProviderMetadata? resultProviderMetadata? "
        "preliminary? approval?"
    ),
    "output-error": (
        "providerExecuted? input? rawInput? output! errorText "
        "callProviderMetadata? resultProviderMetadata? approval?"
    ),
    "output-denied": _ASKED,
}
"""As version 7 has them. Older versions have less, and what they lack they leave out of what they read."""

_UNKNOWN_TO: Final[Mapping[int, frozenset[str]]] = {
    5: frozenset({"title", "toolMetadata", "inputEncoding", "resultProviderMetadata"}),
    6: frozenset({"title"}),
    7: frozenset(),
}
_STATES_OF_DYNAMIC_5: Final = ("input-streaming", "input-available", "output-available", "output-error")

_APPROVAL: Final[Mapping[int, str]] = {
    5: "id approved reason",
    6: "id approved descriptor? reason signature? inputSchemaInput?",
    7: "id approved descriptor? requestReason? reason isAutomatic? signature? inputSchemaInput?",
}
_APPROVED: Final[Mapping[str, Check]] = {
    "approval-responded": BOOLEAN,
    "output-available": exactly(True),
    "output-error": exactly(True),
    "output-denied": exactly(False),
}
_APPROVAL_FIELDS: Final[Mapping[str, Check]] = {
    "id": STRING,
    "descriptor": ANYTHING,
    "requestReason": STRING,
    "reason": STRING,
    "isAutomatic": BOOLEAN,
    "signature": STRING,
    "inputSchemaInput": ANYTHING,
}

MESSAGE: Final = Shape(
    "id role metadata? parts",
    {
        "id": STRING,
        "role": one_of("system", "user", "assistant"),
        "metadata": ANYTHING,
        "parts": Check(lambda value: value, list),
    },
)
"""A message; its parts are read by `Shapes.of`, one by one."""

_DATA: Final = Shape("type id? data", _FIELDS)


class Shapes(NamedTuple):
    """The shapes of all parts, for one version."""

    parts: Mapping[str, Shape]
    static_tools: Mapping[str, Shape]
    dynamic_tools: Mapping[str, Shape]

    def of(self, part: Json) -> Shape:
        """The shape that a part must have. Raises `Mismatch` if there is none."""
        kind = part.get("type") if is_object(part) else None
        if not isinstance(kind, str):
            raise Mismatch(UNKNOWN_PART)
        shape = self.parts.get(kind)
        if shape is not None:
            return shape
        if kind.startswith("tool-"):
            return shape_by("state", self.static_tools, part)
        if kind.startswith("data-"):
            return _DATA
        if kind == "dynamic-tool":
            return shape_by("state", self.dynamic_tools, part)
        raise Mismatch(UNKNOWN_PART)

    def all_fit(self, kind: Json, parts: JsonArray) -> bool:
        """Whether all these parts, which call themselves by one type, fit as they are."""
        if not isinstance(kind, str):
            return False
        shape = self.parts.get(kind)
        if shape is not None:
            return shape.fits_all(parts)
        if kind.startswith("data-"):
            return _DATA.fits_all(parts)
        shapes = self.static_tools if kind.startswith("tool-") else self.dynamic_tools
        if shapes is self.dynamic_tools and kind != "dynamic-tool":
            return False
        by_state: defaultdict[str, JsonArray] = defaultdict(list)
        try:
            for part in parts:
                by_state[part["state"]].append(part)
            return all(shapes[state].fits_all(same) for state, same in by_state.items())
        except (KeyError, TypeError):
            return False  # A state that nobody knows, or none: reading it exactly tells which.


@cache
def shapes_of(sdk: int) -> Shapes:
    """The shapes that a version validates by."""
    further = {"citations": listed(_CITATION), "parts": listed(_STEERING_PART)}
    return Shapes(
        parts={kind: Shape(names, {**_FIELDS, **further}) for kind, names in _PARTS[sdk].items()},
        static_tools={
            state: _tool(sdk, state, _STATIC_HEAD + names) for state, names in _STATIC_STATES.items()
        },
        dynamic_tools={
            state: _tool(sdk, state, _DYNAMIC_HEAD + names, approvals=sdk > 5)
            for state, names in _DYNAMIC_STATES.items()
            if sdk > 5 or state in _STATES_OF_DYNAMIC_5
        },
    )


def _tool(sdk: int, state: str, names: str, *, approvals: bool = True) -> Shape:
    unknown = set(_UNKNOWN_TO[sdk])
    if not approvals:
        unknown.add("approval")
    if sdk == 5 and state == "input-streaming":
        unknown.add("callProviderMetadata")
    known = [name for name in names.split() if name.rstrip("?!") not in unknown]
    streaming = state == "input-streaming"
    return Shape(
        " ".join(known),
        {
            "type": STRING,
            "dynamic": exactly(False),
            "toolName": STRING,
            "toolCallId": STRING,
            "title": STRING,
            "toolMetadata": record(1),
            "state": STRING,
            "input": ANYTHING,
            "rawInput": STRING if streaming else ANYTHING,
            "inputEncoding": one_of("json", "text"),
            "output": ANYTHING,
            "errorText": STRING,
            "providerExecuted": BOOLEAN,
            "preliminary": BOOLEAN,
            "callProviderMetadata": _METADATA,
            "resultProviderMetadata": _METADATA,
            "approval": _approval(sdk, state),
        },
    )


def _approval(sdk: int, state: str) -> Check:
    answered = state in _APPROVED
    names = _APPROVAL[sdk].replace(" approved", " approved" if answered else " approved!")
    names = names.replace(" reason", " reason?" if answered else " reason!")
    return Shape(names, {**_APPROVAL_FIELDS, "approved": _APPROVED.get(state, BOOLEAN)})
