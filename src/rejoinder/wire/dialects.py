"""Which client generation understands what: one table of chunk types, one of fields, one of habits.

A number in a table is a patch number: the three columns are the first release of 5.0, of 6.0 and of 7.0 that
has the thing, and `None` says that no release of that generation has it. A request does not reveal its client's
version, so an application says it (`ai-sdk/5`), or the server's setting does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct

from rejoinder.errors import UnknownDialect
from rejoinder.wire.chunks import CHUNK_TYPES, Chunk, DataChunk, Finish, KnownChunk, UnknownChunk, type_of
from rejoinder.wire.json import Json, JsonObject, has_key, pollutes

Release: TypeAlias = tuple[int, int, int]
Since: TypeAlias = tuple[int | None, int | None, int | None]

NEWEST: Final[dict[int, Release]] = {5: (5, 0, 277), 6: (6, 0, 326), 7: (7, 0, 173)}
"""The newest releases that were read and asked. A newer one is treated like these."""

ALWAYS: Final[Since] = (0, 0, 0)

TYPE_SINCE: Final[Mapping[str, Since]] = dict.fromkeys(CHUNK_TYPES, ALWAYS) | {
    "tool-input-error": (7, 0, 0),
    "tool-approval-request": (None, 0, 0),
    "tool-output-denied": (None, 0, 0),
    "tool-approval-response": (None, None, 0),
    "custom": (None, None, 0),
    "reasoning-file": (None, None, 0),
    "reset-step": (None, None, 70),
    "steering-message": (None, None, 163),
}
"""Every client rejects a chunk of a type that it does not know, and its chat fails."""

FIELD_SINCE: Final[dict[tuple[str, str], Since]] = {
    ("finish", "finishReason"): (92, 0, 0),
    ("abort", "reason"): (None, 15, 0),
    ("text-end", "citations"): (None, None, 138),
    ("tool-input-start", "title"): (None, 0, 0),
    ("tool-input-start", "providerMetadata"): (None, 39, 0),
    ("tool-input-start", "toolMetadata"): (None, 176, 0),
    ("tool-input-start", "inputEncoding"): (None, 308, 142),
    ("tool-input-available", "title"): (None, 0, 0),
    ("tool-input-available", "toolMetadata"): (None, 176, 0),
    ("tool-input-error", "title"): (None, 0, 0),
    ("tool-input-error", "toolMetadata"): (None, 176, 0),
    ("tool-output-available", "preliminary"): (11, 0, 0),
    ("tool-output-available", "providerMetadata"): (None, 120, 0),
    ("tool-output-available", "toolMetadata"): (None, 176, 0),
    ("tool-output-error", "providerMetadata"): (None, 120, 0),
    ("tool-output-error", "toolMetadata"): (None, 176, 0),
    ("tool-approval-request", "signature"): (None, 202, 0),
    ("tool-approval-request", "isAutomatic"): (None, None, 0),
    ("tool-approval-request", "approvalDescriptor"): (None, 274, 87),
    ("tool-approval-request", "reason"): (None, None, 82),
    ("tool-approval-request", "inputSchemaInput"): (None, 290, 113),
}
"""Fields that came later than their chunk type. A field that is not here is as old as its type."""

FINISH_REASON_SINCE: Final[dict[str, Since]] = {
    "stop": (92, 0, 0),
    "length": (92, 0, 0),
    "content-filter": (92, 0, 0),
    "tool-calls": (92, 0, 0),
    "error": (92, 0, 0),
    "other": (92, 0, 0),
    "unknown": (92, None, None),
    "interrupted": (None, None, 149),
}
"""Every client rejects a reason that it does not know."""

UNKNOWN_FIELDS_PASS: Final[Since] = (217, 231, 32)
"""Until then, one field too many in a chunk kills the stream."""

PARTS_OUTLIVE_STEPS: Final[Since] = (None, None, 79)
"""Until then, `finish-step` forgets open texts and the next delta kills the stream."""

CALLS_BELONG_TO_STEPS: Final[Since] = (218, 233, 33)
"""Until then, a tool call id that comes again in a later step overwrites the earlier call."""

OUTPUTS_FIND_THEIR_KIND: Final[Since] = (None, 0, 0)
"""Until then, an output must repeat whether its call is dynamic, or it kills the stream."""

INPUT_ERRORS_FIND_THEIR_KIND: Final[Since] = (None, 101, 0)
"""Until then, an input error makes a second part if it does not repeat whether its call is dynamic."""

NULL_CONSTRUCTORS_PASS: Final[Since] = (146, 115, 0)
"""Until then, a key `constructor` that is null, anywhere in a chunk, kills the stream."""

INPUTS_ARE_TAKEN_UP: Final[Since] = (270, 297, 122)
"""Until then, a continued message's half-arrived tool input cannot be continued by a delta alone."""

PAYLOADS: Final[dict[str, str]] = {
    "tool-input-available": "input",
    "tool-input-error": "input",
    "tool-output-available": "output",
    "message-metadata": "message_metadata",
}
"""The key that must be there, whatever it holds. Data chunks have theirs as well."""

_NAME: Final = re.compile(r"(?:ai-sdk/)?(\d{1,3})(?:\.(\d{1,9})\.(\d{1,9}))?", re.ASCII)


class Dialect(Struct, frozen=True):
    """What one release of the AI SDK's client understands."""

    sdk: Literal[5, 6, 7]
    release: Release

    @property
    def name(self) -> str:
        """The generation's name, such as `ai-sdk/5`."""
        return f"ai-sdk/{self.sdk}"

    def has(self, since: Since) -> bool:
        """Whether this release has something that came with these releases."""
        patch = since[self.sdk - 5]
        return patch is not None and self.release >= (self.sdk, 0, patch)


def dialect(name: str = "ai-sdk/7", *, release: str | None = None) -> Dialect:
    """The dialect of that name (`ai-sdk/5`, `5` or `5.0.92`), of its newest release if none is given.

    Raises `UnknownDialect`.
    """
    sdk, named = _parsed(name)
    if release is not None:
        owner, named = _parsed(release)
        if named is None or owner != sdk:
            raise UnknownDialect(f"{release!r} is no release of ai-sdk/{sdk}: give one such as {sdk}.0.0")
    return Dialect(sdk, NEWEST[sdk] if named is None else named)


def speaks(dialect: Dialect, chunk: Chunk) -> bool:
    """Whether that client accepts this chunk by itself."""
    return not problems(dialect, chunk)


def problems(dialect: Dialect, chunk: Chunk) -> tuple[str, ...]:
    """Why that client would refuse this chunk, one sentence a reason; empty if it accepts it."""
    said = ".".join(map(str, dialect.release))
    kind = type_of(chunk)
    if isinstance(chunk, UnknownChunk):
        return (f"no release knows the chunk type {kind!r}: use a 'data-…' chunk",)
    if isinstance(chunk, DataChunk):
        return tuple(_problems_of_data(dialect, chunk, said))
    vocabulary = vocabulary_of(dialect)
    if type(chunk) in vocabulary.unknown_types:
        return (f"{said} does not know the chunk type {kind!r}",)
    found: list[str] = []
    if not dialect.has(UNKNOWN_FIELDS_PASS):
        found += [
            f"{said} does not know the field {_wire_name(chunk, field)!r} of {kind!r}"
            for field in vocabulary.unknown_fields.get(type(chunk), ())
            if getattr(chunk, field) is not UNSET
        ]
    payload = PAYLOADS.get(kind)
    if payload is not None and getattr(chunk, payload) is UNSET:
        found.append(
            f"{kind!r} lacks its {_wire_name(chunk, payload)!r}: send null if there is nothing to say"
        )
    # A loose release that has no `finishReason` does not exist, so the reason matters only where the field is.
    if isinstance(chunk, Finish) and chunk.finish_reason is not UNSET and not found:
        reason = chunk.finish_reason
        if not dialect.has(FINISH_REASON_SINCE[reason]):
            found.append(f"{said} does not know the finish reason {reason!r}")
    return tuple(found)


def refused_keys(dialect: Dialect, chunk: Json) -> tuple[str, ...]:
    """The keys of which that client's parser dies, wherever in a chunk's JSON they stand, one sentence each.

    `encode_chunk` and `downlevel` never write them.
    """
    found: list[str] = []
    if has_key(chunk, pollutes):
        found.append("clients refuse a key '__proto__', and a 'constructor' with a 'prototype' in it")
    if not dialect.has(NULL_CONSTRUCTORS_PASS) and has_key(chunk, is_null_constructor):
        found.append(f"{'.'.join(map(str, dialect.release))} refuses a key 'constructor' that holds null")
    return tuple(found)


def is_null_constructor(key: str, value: Json) -> bool:
    """Whether the first releases refuse this key with this value."""
    return key == "constructor" and value is None


def known_fields(dialect: Dialect, chunk: JsonObject) -> JsonObject:
    """A chunk's JSON without the fields that came to its type after this release."""
    kind = chunk.get("type")
    return {
        name: value
        for name, value in chunk.items()
        if not isinstance(kind, str) or dialect.has(FIELD_SINCE.get((kind, name), ALWAYS))
    }


class Vocabulary(NamedTuple):
    """What of our chunks a release does not know."""

    unknown_types: frozenset[type]
    unknown_fields: dict[type, tuple[str, ...]]


@lru_cache(maxsize=64)
def vocabulary_of(dialect: Dialect) -> Vocabulary:
    """What of our chunks this release does not know, by class and attribute."""
    types: set[type] = set()
    fields: dict[type, tuple[str, ...]] = {}
    for kind in get_args(KnownChunk):
        name = str(kind.__struct_config__.tag)
        if not dialect.has(TYPE_SINCE[name]):
            types.add(kind)
            continue
        late = tuple(
            field.name
            for field in msgspec.structs.fields(kind)
            if not dialect.has(FIELD_SINCE.get((name, field.encode_name), ALWAYS))
        )
        if late:
            fields[kind] = late
    return Vocabulary(frozenset(types), fields)


def _parsed(name: str) -> tuple[Literal[5, 6, 7], Release | None]:
    match = _NAME.fullmatch(name)
    if match is not None:
        major, minor, patch = match.groups()
        release = None if minor is None else (int(major), int(minor), int(patch))
        match int(major):
            case 5 | 6 | 7 as sdk:
                return sdk, release
            case _:
                pass  # a generation that we have not read
    raise UnknownDialect(
        f"unknown dialect {name!r}: name ai-sdk/5, ai-sdk/6 or ai-sdk/7, or a release such as 6.0.12"
    )


def _problems_of_data(dialect: Dialect, chunk: DataChunk, said: str) -> list[str]:
    found: list[str] = []
    if chunk.data is UNSET:
        found.append(f"{chunk.type!r} lacks its 'data': send null if there is nothing to say")
    if chunk.extra and not dialect.has(UNKNOWN_FIELDS_PASS):
        found += [f"{said} does not know the field {field!r} of {chunk.type!r}" for field in chunk.extra]
    return found


def _wire_name(chunk: KnownChunk, attribute: str) -> str:
    fields = msgspec.structs.fields(chunk)
    return next(field.encode_name for field in fields if field.name == attribute)
