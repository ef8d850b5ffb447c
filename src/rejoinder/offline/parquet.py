"""An export as Parquet files, for programs that ask questions of tables: DuckDB, pandas, Spark. Extra: `parquet`."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from rejoinder.messages import Json, JsonObject
from rejoinder.offline.exporting import PARTIAL, Told, counted, nobody
from rejoinder.ports.archive import TABLES, Archive, ColumnKind

pa: Any = import_module("pyarrow")  # it says nothing of its types
pq: Any = import_module("pyarrow.parquet")

ROWS_AT_ONCE: Final = 2_000
"""One group of rows: large enough to be compressed well, small enough for any memory."""

BYTES_AT_ONCE: Final = 4 << 20
"""Or as many rows as have so many bytes of JSON: a part may hold megabytes."""

_TYPES: Final[dict[ColumnKind, Any]] = {
    "text": pa.string(),
    "json": pa.string(),
    "integer": pa.int64(),
    "number": pa.decimal128(38, 12),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "bytes": pa.binary(),
}


def export_parquet(
    archive: Archive, folder: Path, *, tenant: str | None, told: Told = nobody
) -> dict[str, int]:
    """Write everything, or all of one tenant. Answers how many rows each table has."""
    folder.mkdir(parents=True, exist_ok=True)
    with archive.reading(tenant=tenant) as reader:
        counts: dict[str, int] = {}
        for table in TABLES:
            rows = counted(reader, table, told)
            counts[table] = _write(folder / f"{table}.parquet", archive.columns(table), rows)
    return counts


def _write(file: Path, columns: dict[str, ColumnKind], rows: Iterator[bytes]) -> int:
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in columns.items()])
    partial = file.with_name(file.name + PARTIAL)
    done = 0
    with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
        for batch in _groups(rows):
            arrays = [
                pa.array([_value(row.get(name), kind) for row in batch], type=_TYPES[kind])
                for name, kind in columns.items()
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            done += len(batch)
    partial.replace(file)
    return done


def _groups(rows: Iterator[bytes]) -> Iterator[list[JsonObject]]:
    group: list[JsonObject] = []
    size = 0
    for row in rows:
        group.append(msgspec.json.decode(row))
        size += len(row)
        if len(group) == ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _value(value: Json, kind: ColumnKind) -> Json:
    if value is None:
        return None
    match kind:
        case "time":
            return datetime.fromisoformat(value)
        case "number":
            return Decimal(value)
        case "bytes":
            return base64.b64decode(value)
        case _:
            return value
