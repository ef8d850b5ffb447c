"""The tables of the transcripts of vendors' own sessions."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from rejoinder.stores.postgres.columns import (
    TENANT_BYTES_MAX,
    belongs_to,
    identifier,
    key,
    length,
    number,
    time,
    to,
)

PROJECT_BYTES_MAX: Final = 1024
SESSION_BYTES_MAX: Final = 256
PART_BYTES_MAX: Final = 640
"""Together with the tenant they fit into one index row, which PostgreSQL limits to 2,704 bytes."""


def transcript_table(metadata: MetaData) -> Table:
    """Transcripts: a session's own, whose `part` is empty, and those of its parts."""
    return Table(
        "transcript",
        metadata,
        key(),
        number("conversation", needed=False),
        time("modified_at"),
        identifier("tenant"),
        identifier("project"),
        identifier("session"),
        identifier("part"),
        PrimaryKeyConstraint("key"),
        UniqueConstraint("tenant", "project", "session", "part"),
        ForeignKeyConstraint(
            ["tenant", "conversation"],
            [to(metadata, "conversation.tenant"), to(metadata, "conversation.key")],
            ondelete="CASCADE",
        ),
        length("tenant", TENANT_BYTES_MAX),
        length("project", PROJECT_BYTES_MAX),
        length("session", SESSION_BYTES_MAX),
        CheckConstraint(f"octet_length(part) <= {PART_BYTES_MAX}", "part_length"),
        Index(
            "transcript_conversation",
            "tenant",
            "conversation",
            postgresql_where=text("conversation IS NOT NULL"),
        ),
    )


def transcript_entry_table(metadata: MetaData) -> Table:
    """Their entries, in the order of their keys. One with an id is there once with the same content."""
    return Table(
        "transcript_entry",
        metadata,
        key(),
        number("transcript"),
        identifier("id", needed=False),
        Column("digest", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        PrimaryKeyConstraint("transcript", "key"),
        belongs_to(metadata, "transcript", "transcript.key"),
        length("id", SESSION_BYTES_MAX),
        Index(
            "transcript_entry_id",
            "transcript",
            "id",
            "digest",
            unique=True,
            postgresql_where=text("id IS NOT NULL"),
        ),
    )
