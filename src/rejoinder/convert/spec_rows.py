"""`Message` ⇄ the rows of the persistence specification, for tables that were made after it.

Its columns are `text_text`, `tool_toolCallId`, `tool_NAME_input`, `data_NAME_FIELD` and so on, and its types those of
a `UIMessage`. What they cannot say goes into one more column, `extra`. Reading refuses no row: one of an unknown
type, or without what its type needs, becomes a part that is kept whole, because a conversation must load.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple, get_args

from msgspec import structs

from rejoinder.convert.moments import moment_of
from rejoinder.convert.remainder import message_remainder, remainder, restored, restored_message
from rejoinder.convert.ui import part_from_ui, part_to_ui
from rejoinder.errors import InvalidMessage, UnconvertibleMessage
from rejoinder.messages import Json, JsonObject, Message, Part, Role
from rejoinder.wire.json import is_object

_ROLES: Final[Mapping[str, Role]] = {role: role for role in get_args(Role)}

_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "text": {"text": "text_text", "providerMetadata": "providerMetadata"},
    "reasoning": {"text": "reasoning_text", "providerMetadata": "providerMetadata"},
    "step-start": {},
    "file": {
        "mediaType": "file_mediaType",
        "filename": "file_filename",
        "url": "file_url",
        "providerMetadata": "providerMetadata",
    },
    "source-url": {
        "sourceId": "source_url_sourceId",
        "url": "source_url_url",
        "title": "source_url_title",
        "providerMetadata": "providerMetadata",
    },
    "source-document": {
        "sourceId": "source_document_sourceId",
        "mediaType": "source_document_mediaType",
        "title": "source_document_title",
        "filename": "source_document_filename",
        "providerMetadata": "providerMetadata",
    },
}
"""Which field of a part stands in which column, for the types that are the same for every application."""

_WITH_INPUT: Final = frozenset(
    {"input-available", "approval-requested", "approval-responded", "output-available", "output-denied"}
)
"""States whose call has an input: NULL in its column is the input null."""

_PART_KEEPING: Final = frozenset({"id", "messageId", "order", "createdAt", "type", "extra"})
_MESSAGE_KEEPING: Final = frozenset({"id", "agentId", "chatId", "createdAt", "role", "metadata", "extra"})
_FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class SpecRows(NamedTuple):
    """A message as the specification's tables hold it: columns by their names there."""

    message: JsonObject
    parts: tuple[JsonObject, ...]


def to_spec_rows(message: Message, *, agent_id: str, columns: Collection[str] | None = None) -> SpecRows:
    """Write the rows of one message. `columns` are those that the table of parts has, if it lacks some.

    Raises `UnconvertibleMessage` if something has to go into `extra` and the table has no such column.
    """
    row: JsonObject = {"id": message.id, "agentId": agent_id, "role": message.role}
    if message.created_at is not None:
        row["createdAt"] = message.created_at
    rest = message_remainder(message, Message(id=message.id, role=message.role))
    if rest:
        row["extra"] = rest
    parts = [
        {"id": f"{message.id}:{order}", "messageId": message.id, "order": order, **_write(part, columns)}
        for order, part in enumerate(message.parts)
    ]
    return SpecRows(row, tuple(parts))


def from_spec_rows(message_row: Mapping[str, Json], part_rows: Iterable[Mapping[str, Json]]) -> Message:
    """Read one message from its rows, in whatever order these came.

    Raises `InvalidMessage` for a message row without an id or a role, or an `extra` that somebody damaged.
    """
    id, role = message_row.get("id"), message_row.get("role")
    if not isinstance(id, str):
        raise InvalidMessage(f"message row: the id is a string, not {id!r}.")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidMessage(
            f"message row {id!r}: the role is system, user, assistant or tool, not {role!r}."
        )
    rows = sorted(part_rows, key=lambda row: row.get("order", 0))
    unknown = _others(message_row, _MESSAGE_KEEPING)
    read = Message(
        id=id,
        role=_ROLES[role],
        parts=tuple(_read(row, f"message {id!r}, part {row.get('order')}") for row in rows),
        created_at=moment_of(message_row.get("createdAt"), f"message row {id!r}: createdAt"),
        extra=unknown or None,
    )
    if message_row.get("metadata") is not None:
        read = structs.replace(read, metadata=message_row["metadata"])
    rest = message_row.get("extra")
    return read if rest is None else restored_message(read, rest, f"message row {id!r}: extra")


def _write(part: Part, columns: Collection[str] | None) -> JsonObject:
    body = part_to_ui(part)
    kind = body.get("type")
    if not isinstance(kind, str):
        row: JsonObject = {"type": "opaque", "extra": {"whole": body}}
    else:
        row = {
            name: value for name, value in _columns(kind, body).items() if columns is None or name in columns
        }
        row["type"] = kind
        rest = remainder(body, _body(kind, row))
        if rest:
            row["extra"] = rest
    if columns is not None and "extra" in row and "extra" not in columns:
        raise UnconvertibleMessage(
            f"the part {kind!r} says more than the table has columns for: give it a column `extra jsonb`"
        )
    return row


def _read(row: Mapping[str, Json], path: str) -> Part:
    rest: Json = row.get("extra")
    if is_object(rest) and is_object(rest.get("whole")):
        return part_from_ui(rest["whole"])
    body = _body(str(row.get("type")), row)
    return part_from_ui(body if rest is None else restored(body, rest, f"{path}: extra"))


def _columns(kind: str, body: JsonObject) -> JsonObject:
    """The columns of this type with what they hold of the part; all of them, for NULL says something too."""
    if kind.startswith("tool-"):
        return {
            "tool_toolCallId": body.get("toolCallId"),
            "tool_state": body.get("state"),
            "tool_errorText": body.get("errorText"),
            f"tool_{kind[5:]}_input": body.get("input"),
            f"tool_{kind[5:]}_output": body.get("output"),
            "providerMetadata": body.get("callProviderMetadata"),
        }
    if kind.startswith("data-"):
        data = body.get("data")
        fields = data if is_object(data) else {}
        named = {key: value for key, value in fields.items() if _FIELD_NAME.match(key) and key != "id"}
        prefix = f"data_{kind[5:]}_"
        return {f"{prefix}id": body.get("id"), **{f"{prefix}{key}": value for key, value in named.items()}}
    return {column: body.get(name) for name, column in _COLUMNS.get(kind, {}).items()}


def _body(kind: str, row: Mapping[str, Json]) -> JsonObject:
    """What the row says by its columns, as a part of a `UIMessage`."""
    body: JsonObject = {"type": kind}
    if kind.startswith("tool-"):
        return body | _call(kind[5:], row)
    if kind.startswith("data-"):
        prefix = f"data_{kind[5:]}_"
        fields = {
            name.removeprefix(prefix): value
            for name, value in row.items()
            if name.startswith(prefix) and value is not None
        }
        id = fields.pop("id", None)
        return {**body, **({} if id is None else {"id": id}), "data": fields}
    if kind not in _COLUMNS:
        return body | _others(row, _PART_KEEPING)
    held = {name: row.get(column) for name, column in _COLUMNS[kind].items()}
    return body | {name: value for name, value in held.items() if value is not None}


def _call(name: str, row: Mapping[str, Json]) -> JsonObject:
    state = row.get("tool_state")
    fields = {
        "toolCallId": row.get("tool_toolCallId"),
        "state": state,
        # An older layout had a column of its own for each tool's errors.
        "errorText": row.get("tool_errorText") or row.get(f"tool_{name}_errorText"),
        "callProviderMetadata": row.get("providerMetadata"),
    }
    call = {key: value for key, value in fields.items() if value is not None}
    for key, told in (("input", state in _WITH_INPUT), ("output", state == "output-available")):
        column = f"tool_{name}_{key}"
        if row.get(column) is not None or (told and column in row):
            call[key] = row[column]
    return call


def _others(row: Mapping[str, Json], known: frozenset[str]) -> JsonObject:
    return {
        name: value
        for name, value in row.items()
        if name not in known and value is not None and not isinstance(value, datetime)
    }
