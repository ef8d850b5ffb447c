"""UI messages against the schemas of an AI SDK version, and against the application's own.

`validate_ui_messages` decides as the SDK's `safeValidateUIMessages` does and gives the same messages.
`screen_ui_messages` looks at each message by itself, so that one bad message costs one message and not the chat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.schemas import JsonSchema
from rejoinder.convert.validate_checks import Mismatch, Path
from rejoinder.convert.validate_shapes import MESSAGE, Shapes, shapes_of
from rejoinder.convert.validate_tools import ToolSchemas, checked_tool_part, compiled_tools
from rejoinder.errors import InvalidMessage
from rejoinder.messages import ABSENT, Json, JsonObject
from rejoinder.wire.json import JsonArray, is_array, is_object

_REMEDY: Final = "Mend what is stored, or screen the messages one by one and keep the others."

_ON_EVERY_OBJECT: Final = frozenset({"constructor", "toString", "isPrototypeOf"})
"""Names under which JavaScript finds something on every object. The SDK takes it for a schema that refuses nothing."""


class Problem(Struct, frozen=True, kw_only=True):
    """A message that does not fit: which one, where in it, why; and the message, so that nothing is lost."""

    index: int
    id: str | None
    path: str
    reason: str
    message: Json


class Screening(Struct, frozen=True, kw_only=True):
    """The messages that fit, in order and as the SDK would keep them, and those that do not."""

    messages: list[JsonObject]
    problems: list[Problem]


def validate_ui_messages(
    messages: Json,
    *,
    sdk: int = 7,
    tools: Mapping[str, ToolSchemas] | None = None,
    data_schemas: Mapping[str, JsonObject] | None = None,
    metadata_schema: JsonObject | None = None,
) -> list[JsonObject]:
    """The messages as the SDK keeps them: unknown fields left out, calls of unknown tools marked as withdrawn.

    Messages that fit as they are come back as they are, not as copies. Raises `InvalidMessage` for the first that
    does not fit, and `InvalidSchema` for a schema that is none.
    """
    shapes = shapes_of(sdk)
    listed = _listed(messages)
    if not listed:
        raise InvalidMessage("Messages array must not be empty. Send at least the user's message.")
    judge = _Judge(sdk, tools, data_schemas, metadata_schema)
    try:
        kept: list[JsonObject] = list(listed)
        if not _fit_as_they_are(listed, shapes):
            kept = _each(listed, lambda message: _message(message, shapes))
        for look in judge.looks:
            kept = _each(kept, look)
    except Mismatch as mismatch:
        reason = mismatch.reason.removesuffix(".")
        raise InvalidMessage(f"{_rendered(mismatch.path)}: {reason}. {_REMEDY}") from None
    return kept


def screen_ui_messages(
    messages: Json,
    *,
    sdk: int = 7,
    tools: Mapping[str, ToolSchemas] | None = None,
    data_schemas: Mapping[str, JsonObject] | None = None,
    metadata_schema: JsonObject | None = None,
) -> Screening:
    """`validate_ui_messages` for each message by itself. An empty array is no problem here.

    Raises `InvalidMessage` if there is no array, and `InvalidSchema` for a schema that is none.
    """
    shapes = shapes_of(sdk)
    judge = _Judge(sdk, tools, data_schemas, metadata_schema)
    screening = Screening(messages=[], problems=[])
    for index, message in enumerate(_listed(messages)):
        try:
            kept = _message(message, shapes)
            for look in judge.looks:
                kept = look(kept)
            screening.messages.append(kept)
        except Mismatch as mismatch:
            id = message.get("id") if is_object(message) else None
            problem = Problem(
                index=index,
                id=id if isinstance(id, str) else None,
                path=_rendered(mismatch.path),
                reason=mismatch.reason,
                message=message,
            )
            screening.problems.append(problem)
    return screening


class _Judge:
    """Holds the application's schemas against messages whose shape is known to be good."""

    def __init__(
        self,
        sdk: int,
        tools: Mapping[str, ToolSchemas] | None,
        data_schemas: Mapping[str, JsonObject] | None,
        metadata_schema: JsonObject | None,
    ) -> None:
        self._sdk = sdk
        self._tools = None if tools is None else compiled_tools(tools)
        self._data = None
        if data_schemas is not None:
            self._data = {
                name: JsonSchema(schema, f"data part {name}") for name, schema in data_schemas.items()
            }
        self._metadata = None if metadata_schema is None else JsonSchema(metadata_schema, "metadata")
        of_parts = [
            look
            for look, schemas in ((self._good_data, data_schemas), (self._checked_call, tools))
            if schemas is not None
        ]
        # Version 5 looks at all data, then at all calls; 6 and 7 look at one part after the other.
        rounds = [[look] for look in of_parts] if sdk == 5 else [of_parts] if of_parts else []
        self.looks: list[Callable[[JsonObject], JsonObject]] = []
        """What is looked at, in the SDK's order. It takes one look at all messages before the next."""
        if metadata_schema is not None:
            self.looks.append(self._with_good_metadata)
        self.looks += [partial(_with_parts, looks=looks) for looks in rounds]

    def _with_good_metadata(self, message: JsonObject) -> JsonObject:
        """The message. Raises `Mismatch` if its metadata are not what the application says."""
        if self._metadata is not None:
            complaint = self._metadata.complaint(message.get("metadata", ABSENT))
            if complaint is not None:
                raise Mismatch(complaint).under("metadata")
        return message

    def _good_data(self, part: JsonObject) -> JsonObject:
        """The part. Raises `Mismatch` if it is data and not what the application says, or nobody knows it."""
        kind: str = part["type"]
        if self._data is not None and kind.startswith("data-"):
            _check_data(part, kind[5:], self._data)
        return part

    def _checked_call(self, part: JsonObject) -> JsonObject:
        """The part, which may have become a withdrawn call. Raises `Mismatch`."""
        kind: str = part["type"]
        if self._tools is not None and kind.startswith("tool-"):
            return checked_tool_part(part, kind[5:], self._tools, sdk=self._sdk)
        return part


def _with_parts(message: JsonObject, *, looks: Sequence[Callable[[JsonObject], JsonObject]]) -> JsonObject:
    """The message with its parts as they are after some looks; the caller's own message stays as it was."""
    parts: JsonArray = message["parts"]
    seen: JsonArray = []
    for index, part in enumerate(parts):
        kept = part
        try:
            for look in looks:
                kept = look(kept)
        except Mismatch as mismatch:
            raise mismatch.under(index).under("parts") from None
        seen.append(kept)
    unchanged = all(one is other for one, other in zip(parts, seen, strict=True))
    return message if unchanged else {**message, "parts": seen}


def _check_data(part: JsonObject, name: str, schemas: Mapping[str, JsonSchema]) -> None:
    schema = schemas.get(name)
    if schema is None:
        if name in _ON_EVERY_OBJECT:
            return
        raise Mismatch(f"No data schema found for data part {name}").under("data")
    complaint = schema.complaint(part["data"])
    if complaint is not None:
        raise Mismatch(complaint).under("data")


def _each(messages: JsonArray, judge: Callable[[Json], JsonObject]) -> list[JsonObject]:
    """What the judge makes of each message. Its `Mismatch` then says which message it was."""
    kept: list[JsonObject] = []
    for index, message in enumerate(messages):
        try:
            kept.append(judge(message))
        except Mismatch as mismatch:
            raise mismatch.under(index).under("messages") from None
    return kept


def _listed(messages: Json) -> JsonArray:
    if messages is None:
        raise InvalidMessage(
            "Invalid argument for parameter messages: messages parameter must be provided. Send an array."
        )
    if not is_array(messages):
        raise InvalidMessage(
            f"messages: expected an array, got {kind_of(messages)}. Send an array of messages."
        )
    return messages


def _fit_as_they_are(messages: JsonArray, shapes: Shapes) -> bool:
    """Whether every message and part has its shape, with nothing to leave out."""
    if not MESSAGE.fits_all(messages):
        return False
    by_kind: defaultdict[Json, JsonArray] = defaultdict(list)
    try:
        for message in messages:
            parts: JsonArray = message["parts"]
            if not parts and message["role"] != "assistant":
                return False
            for part in parts:
                by_kind[part["type"]].append(part)
    except (TypeError, KeyError):
        return False  # Some part is no object, or names no type: reading it exactly tells which.
    return all(shapes.all_fit(kind, parts) for kind, parts in by_kind.items())


def _message(value: Json, shapes: Shapes) -> JsonObject:
    """One message as the SDK keeps it. Raises `Mismatch`."""
    try:
        message: JsonObject = MESSAGE.read(value)
        parts = message["parts"]
        if not is_array(parts):
            raise Mismatch(f"expected an array, got {kind_of(parts)}").under("parts")
        message["parts"] = [_part(part, index, shapes) for index, part in enumerate(parts)]
    except RecursionError:
        raise Mismatch("nested too deep to read") from None
    if not parts and message["role"] != "assistant":
        raise Mismatch("Message must contain at least one part").under("parts")
    return message


def _part(part: Json, index: int, shapes: Shapes) -> Json:
    try:
        return shapes.of(part).read(part)
    except Mismatch as mismatch:
        raise mismatch.under(index).under("parts") from None


def _rendered(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
