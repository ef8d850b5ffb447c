"""`Message` ⇄ rows: one for the message, one a part, with the persistence specification's prefix columns.

The columns hold values here; what PostgreSQL can hold of them is for `stored_rows`. A JSON column that is `ABSENT`
is SQL's NULL, and one that holds None is JSON's null. One table says which field is which column, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct, structs

from rejoinder.convert import formats
from rejoinder.convert.ui import part_from_ui, part_to_ui
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    ABSENT,
    Approval,
    Custom,
    Data,
    File,
    InputEncoding,
    JsonObject,
    Maybe,
    Message,
    MessageStatus,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    Role,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    ToolState,
    is_absent,
)
from rejoinder.messages.parts import Progress


class MessageRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message without its parts. Its format, where it makes a difference, stands in `extra`: see `formats`."""

    id: str
    role: Role
    status: MessageStatus | None = None
    created_at: datetime | None = None
    metadata: Maybe = ABSENT
    extra: JsonObject | None = None


class PartRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One part: its place, its type, and the columns of its family. All others are empty."""

    order: int
    type: str

    text_text: str | None = None
    text_state: Progress | None = None
    text_citations: list[JsonObject] | None = None

    reasoning_text: str | None = None
    reasoning_id: str | None = None
    reasoning_state: Progress | None = None

    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_dynamic: bool | None = None
    tool_withdrawn: bool | None = None
    tool_state: ToolState | None = None
    tool_input: Maybe = ABSENT
    tool_raw_input: Maybe = ABSENT
    tool_input_encoding: InputEncoding | None = None
    tool_output: Maybe = ABSENT
    tool_error_text: str | None = None
    tool_preliminary: bool | None = None
    tool_provider_executed: bool | None = None
    tool_title: str | None = None
    tool_metadata: JsonObject | None = None
    tool_result_provider_metadata: JsonObject | None = None

    tool_approval_id: str | None = None
    tool_approval_approved: bool | None = None
    tool_approval_reason: str | None = None
    tool_approval_request_reason: str | None = None
    tool_approval_descriptor: Maybe = ABSENT
    tool_approval_input_schema_input: Maybe = ABSENT
    tool_approval_is_automatic: bool | None = None
    tool_approval_signature: str | None = None
    tool_approval_extra: JsonObject | None = None

    file_media_type: str | None = None
    file_url: str | None = None
    file_filename: str | None = None
    file_provider_reference: dict[str, str] | None = None

    source_url_source_id: str | None = None
    source_url_url: str | None = None
    source_url_title: str | None = None

    source_document_source_id: str | None = None
    source_document_media_type: str | None = None
    source_document_title: str | None = None
    source_document_filename: str | None = None

    data_name: str | None = None
    data_id: str | None = None
    data_content: Maybe = ABSENT

    custom_kind: str | None = None

    steering_id: str | None = None
    steering_parts: list[JsonObject] | None = None

    opaque_body: JsonObject | None = None

    provider_metadata: JsonObject | None = None
    extra: JsonObject | None = None


class Rows(NamedTuple):
    """A message as the tables hold it."""

    message: MessageRow
    parts: tuple[PartRow, ...]


def to_rows(message: Message) -> Rows:
    """Write a message as rows, its parts numbered from 0."""
    row = MessageRow(
        id=message.id,
        role=message.role,
        status=message.status,
        created_at=message.created_at,
        metadata=message.metadata,
        extra=formats.numbered(message),
    )
    return Rows(row, tuple(to_part_row(part, order) for order, part in enumerate(message.parts)))


def from_rows(rows: Rows) -> Message:
    """Read a message from its rows, in whatever order they came, and of whatever format."""
    row = rows.message
    message = Message(
        id=row.id,
        role=row.role,
        parts=from_part_rows(rows.parts),
        metadata=row.metadata,
        created_at=row.created_at,
        status=row.status,
        extra=row.extra,
    )
    return formats.read(message)


def from_part_rows(rows: Iterable[PartRow]) -> tuple[Part, ...]:
    """Read the parts of one message in their order."""
    return tuple(from_part_row(row) for row in sorted(rows, key=lambda row: row.order))


class Family(NamedTuple):
    """The parts of one type: what makes them, and which attribute stands in which column."""

    make: type[Part]
    columns: Mapping[str, str]


_COMMON: Final = {"provider_metadata": "provider_metadata", "extra": "extra"}

_APPROVAL: Final = {
    name: f"tool_approval_{name}"
    for name in (
        "id",
        "approved",
        "reason",
        "request_reason",
        "descriptor",
        "input_schema_input",
        "is_automatic",
        "signature",
        "extra",
    )
}

FAMILIES: Final[Mapping[str, Family]] = {
    "text": Family(
        Text, {"text": "text_text", "state": "text_state", "citations": "text_citations", **_COMMON}
    ),
    "reasoning": Family(
        Reasoning, {"text": "reasoning_text", "id": "reasoning_id", "state": "reasoning_state", **_COMMON}
    ),
    "tool-call": Family(
        ToolCall,
        {
            "name": "tool_name",
            "call_id": "tool_call_id",
            "state": "tool_state",
            "dynamic": "tool_dynamic",
            "withdrawn": "tool_withdrawn",
            "input": "tool_input",
            "raw_input": "tool_raw_input",
            "input_encoding": "tool_input_encoding",
            "output": "tool_output",
            "error_text": "tool_error_text",
            "preliminary": "tool_preliminary",
            "provider_executed": "tool_provider_executed",
            "title": "tool_title",
            "metadata": "tool_metadata",
            "call_provider_metadata": "provider_metadata",
            "result_provider_metadata": "tool_result_provider_metadata",
            "extra": "extra",
        },
    ),
    "file": Family(
        File,
        {
            "media_type": "file_media_type",
            "url": "file_url",
            "filename": "file_filename",
            "provider_reference": "file_provider_reference",
            **_COMMON,
        },
    ),
    "reasoning-file": Family(ReasoningFile, {"media_type": "file_media_type", "url": "file_url", **_COMMON}),
    "source-url": Family(
        SourceUrl,
        {
            "source_id": "source_url_source_id",
            "url": "source_url_url",
            "title": "source_url_title",
            **_COMMON,
        },
    ),
    "source-document": Family(
        SourceDocument,
        {
            "source_id": "source_document_source_id",
            "media_type": "source_document_media_type",
            "title": "source_document_title",
            "filename": "source_document_filename",
            **_COMMON,
        },
    ),
    "step-start": Family(StepStart, {"extra": "extra"}),
    "data": Family(Data, {"name": "data_name", "id": "data_id", "data": "data_content", "extra": "extra"}),
    "custom": Family(Custom, {"kind": "custom_kind", **_COMMON}),
    "steering-message": Family(Steering, {"id": "steering_id", "extra": "extra"}),
    "opaque": Family(Opaque, {"body": "opaque_body", "extra": "extra"}),
}
"""Every value of the column `type`, and its columns. An approval and steering parts are columns of their own making."""


def to_part_row(part: Part, order: int) -> PartRow:
    """Write one part as the row at this place."""
    type = str(part.__struct_config__.tag)
    columns = _columns(part, FAMILIES[type].columns)
    match part:
        case ToolCall(approval=Approval() as approval):
            columns |= _columns(approval, _APPROVAL)
        case Steering():
            columns["steering_parts"] = [part_to_ui(inner) for inner in part.parts]
        case _:
            pass  # the table has said everything
    return PartRow(order=order, type=type, **columns)


def from_part_row(row: PartRow) -> Part:
    """Read one part. Raises `InvalidMessage`, naming the column, for a row that breaks the rules of its type."""
    family = FAMILIES.get(row.type)
    if family is None:
        raise InvalidMessage(f"part row {row.order}: no part has the type {row.type!r}")
    attributes = _attributes(row, family.make, family.columns)
    if family.make is ToolCall and row.tool_approval_id is not None:
        attributes["approval"] = Approval(**_attributes(row, Approval, _APPROVAL))
    if family.make is Steering:
        attributes["parts"] = tuple(_steering_part(row, body) for body in row.steering_parts or ())
    return family.make(**attributes)


def _columns(value: Part | Approval, columns: Mapping[str, str]) -> dict[str, Any]:
    return {column: getattr(value, attribute) for attribute, column in columns.items()}


def _attributes(row: PartRow, make: type[Part | Approval], columns: Mapping[str, str]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for attribute, column in columns.items():
        value = getattr(row, column)
        if is_absent(value) or (value is None and column not in PAYLOADS):
            if attribute in _REQUIRED[make]:
                raise InvalidMessage(
                    f"part row {row.order}: {row.type} needs the column {column}, it is empty"
                )
        else:
            attributes[attribute] = value
    return attributes


def _steering_part(row: PartRow, body: JsonObject) -> Text | File:
    part = part_from_ui(body)
    if not isinstance(part, Text | File):
        raise InvalidMessage(
            f"part row {row.order}: steering_parts holds texts and files, not {body.get('type')!r}"
        )
    return part


PAYLOADS: Final = frozenset(
    field.name for kind in (MessageRow, PartRow) for field in structs.fields(kind) if field.default is ABSENT
)
"""Columns in which null is a value."""

_REQUIRED: Final[Mapping[type[Part | Approval], frozenset[str]]] = {
    make: frozenset(field.name for field in structs.fields(make) if field.required)
    for make in (Approval, *(family.make for family in FAMILIES.values()))
}
