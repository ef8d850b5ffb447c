"""Everything of a store as rows of JSON, table by table, to be carried elsewhere.

Rows name what they belong to by ids (`tenant`, `conversation_id`, `turn_id`), never by keys of one database. Columns
that are empty are left out. JSON payloads are strings that hold JSON, so that nothing can be told from null; bytes
are base64, but frames and events are texts where they can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Final, Literal, Protocol, TypeAlias

ColumnKind: TypeAlias = Literal["text", "integer", "number", "boolean", "time", "json", "bytes"]

TABLES: Final = (
    "conversation",
    "message",
    "part",
    "turn",
    "provider_call",
    "event",
    "page",
    "blob",
    "checkpoint",
    "transcript",
    "transcript_entry",
)
"""In the order in which they are put back: what a row belongs to comes before it."""


class ArchiveReader(Protocol):
    """One moment of a store."""

    def rows(self, table: str) -> Iterator[bytes]:
        """The rows of a table, each a JSON text, in an order that does not depend on the database."""
        ...

    def count(self, table: str) -> int:
        """How many there will be, or about how many: for those who wait."""
        ...


class ArchiveWriter(Protocol):
    """A store into which rows are put."""

    def put(self, table: str, rows: Iterator[bytes], *, events: Iterator[bytes] | None = None) -> int:
        """Put the rows of a table. Answers how many. Pages take in the events, which come in the same order."""
        ...


class Archive(Protocol):
    """A store that can be carried elsewhere."""

    def columns(self, table: str) -> dict[str, ColumnKind]:
        """The columns of a table's rows."""
        ...

    def reading(self, *, tenant: str | None) -> AbstractContextManager[ArchiveReader]:
        """Read all of one tenant, or of all, as it is at this moment."""
        ...

    def writing(self, *, tenant: str | None) -> AbstractContextManager[ArchiveWriter]:
        """Put rows in, as this tenant's if one is named. All of it is written when this ends, or nothing."""
        ...
