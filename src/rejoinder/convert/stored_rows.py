"""Rows as PostgreSQL holds them, and as JSON lines: what `rows` makes, with text and JSON escaped (see `escapes`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import structs

from rejoinder.convert.escapes import load_json, load_text, store_json, store_text
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.rows import PAYLOADS, MessageRow, PartRow, Rows
from rejoinder.errors import InvalidMessage
from rejoinder.messages import ABSENT, Json, JsonObject
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

Stored: TypeAlias = str | int | bool | datetime | None
"""What goes into a column; JSON as text, for a parameter that is cast to jsonb."""

JSON_COLUMNS: Final = frozenset(
    {
        "metadata",
        "extra",
        "provider_metadata",
        "text_citations",
        "tool_input",
        "tool_raw_input",
        "tool_output",
        "tool_metadata",
        "tool_result_provider_metadata",
        "tool_approval_descriptor",
        "tool_approval_input_schema_input",
        "tool_approval_extra",
        "file_provider_reference",
        "data_content",
        "steering_parts",
        "opaque_body",
    }
)
"""The columns of both tables that are jsonb."""

Row = TypeVar("Row", MessageRow, PartRow)


def stored_row(row: MessageRow | PartRow) -> dict[str, Stored]:
    """Every column of the row with what PostgreSQL is to keep in it; None is NULL."""
    # Most columns are empty: they are told apart here, without a call.
    return {
        name: None if value is ABSENT or (value is None and name not in PAYLOADS) else _stored(name, value)
        for name, value in structs.asdict(row).items()
    }


def loaded_row(kind: type[Row], columns: Mapping[str, Stored | bytes]) -> Row:
    """Undo `stored_row`. JSON columns are read as text; columns that the row does not know are left alone.

    Raises `InvalidMessage` for columns that hold what no row of ours holds.
    """
    values: JsonObject = {}
    for name in kind.__struct_fields__:
        value = columns.get(name)
        if value is None:
            continue
        if name in JSON_COLUMNS:
            if not isinstance(value, str | bytes):
                raise InvalidMessage(f"column {name}: read it as text, this is a {type(value).__name__}")
            values[name] = load_json(value)
        else:
            values[name] = load_text(value) if isinstance(value, str) else value
    return _row(kind, values)


def rows_to_json(rows: Rows) -> JsonObject:
    """One message as one JSON object, `{message, parts}`, each column as it is stored and empty ones left out."""
    return {"message": _dumped(rows.message), "parts": [_dumped(row) for row in rows.parts]}


def rows_from_json(value: Json) -> Rows:
    """Undo `rows_to_json`. Raises `InvalidMessage` for anything else."""
    if not is_object(value):
        raise InvalidMessage(f"$: rows are an object with message and parts, this is {kind_of(value)}")
    parts = value.get("parts")
    if not is_array(parts):
        raise InvalidMessage(f"$.parts: an array of rows, this is {kind_of(parts)}")
    message = _undumped(MessageRow, value.get("message"), "$.message")
    return Rows(message, tuple(_undumped(PartRow, row, f"$.parts[{n}]") for n, row in enumerate(parts)))


def _stored(name: str, value: Json) -> Stored:
    if name in JSON_COLUMNS:
        return store_json(value)
    return store_text(value) if isinstance(value, str) else value


def _dumped(row: MessageRow | PartRow) -> JsonObject:
    columns: JsonObject = {}
    for name, value in stored_row(row).items():
        if isinstance(value, datetime):
            columns[name] = value.isoformat()
        elif value is not None:
            columns[name] = json.decode(value) if name in JSON_COLUMNS and isinstance(value, str) else value
    return columns


def _undumped(kind: type[Row], value: Json, path: str) -> Row:
    if not is_object(value):
        raise InvalidMessage(f"{path}: a row is an object, this is {kind_of(value)}")
    unknown = value.keys() - set(kind.__struct_fields__)
    if unknown:
        raise InvalidMessage(f"{path}: there is no column {min(unknown)!r}")
    columns: dict[str, Stored | bytes] = {
        name: json.encode(column) if name in JSON_COLUMNS else column for name, column in value.items()
    }
    try:
        return loaded_row(kind, columns)
    except InvalidMessage as error:
        raise InvalidMessage(f"{path}: {error}") from None


def _row(kind: type[Row], values: JsonObject) -> Row:
    try:
        row: Row = json.read_as(values, kind)
    except msgspec.ValidationError as error:
        raise InvalidMessage(f"no row of ours: {error}") from None
    return row
