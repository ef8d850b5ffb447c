"""The tables of turns: the turns themselves, provider calls, pages; and blobs, checkpoints, promotions."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from rejoinder.stores.postgres.columns import (
    EXACT,
    ID_BYTES_MAX,
    TENANT_BYTES_MAX,
    belongs_to,
    cost,
    identifier,
    key,
    length,
    number,
    one_of,
    payloads,
    store_as_is,
    texts,
    time,
    to,
    usage,
)

LIVE: Final = "status IN ('queued', 'running')"
"""A turn that holds its conversation. One that waits for the user does not."""


def turn_table(metadata: MetaData) -> Table:
    """Turns, with the claim on them and the ends of their journals; a turn's `key` grows, so it orders them."""
    return Table(
        "turn",
        metadata,
        # What changes with every page stands first and has a fixed width, and no index holds it: such an update
        # stays on its page and logs a few bytes.
        key(),
        number("conversation"),
        number("epoch", default=0),
        number("next_seq", default=0),
        number("next_page", default=0),
        time("lease_until", needed=False),
        time("stop_requested_at", needed=False),
        time("created_at"),
        time("started_at", needed=False),
        time("finished_at", needed=False),
        *usage(),
        Column("status", Text, nullable=False),
        Column("owner", Text),
        identifier("tenant"),
        identifier("id"),
        # The seq of the message that the turn answers, and no reference: that message may be deleted, and a seq is
        # never given to another.
        number("answers", needed=False),
        # The id of the message that the turn writes, which is not there until it is written.
        identifier("message_id", needed=False),
        identifier("idempotency_key", needed=False),
        *texts("fingerprint", "agent", "error_message", "error_code", "error_provider"),
        Column("trigger", Text, nullable=False, server_default="submit-message"),
        *cost(),
        *payloads("agent_context", "agent_memory", "error_raw", "metadata"),
        # What is left of the journal as it came: retention takes the events first, then joins the frames.
        Column("journal", Text, nullable=False, server_default="whole"),
        PrimaryKeyConstraint("key"),
        UniqueConstraint("tenant", "id"),
        ForeignKeyConstraint(
            ["tenant", "conversation"],
            [to(metadata, "conversation.tenant"), to(metadata, "conversation.key")],
            ondelete="CASCADE",
        ),
        length("tenant", TENANT_BYTES_MAX),
        length("id", ID_BYTES_MAX),
        length("idempotency_key", ID_BYTES_MAX),
        one_of("status", "queued", "running", "waiting", "succeeded", "failed", "cancelled", "interrupted"),
        one_of("journal", "whole", "frames", "none"),
        CheckConstraint("epoch >= 0 AND next_seq >= 0 AND next_page >= 0", "counters"),
        Index("turn_list", "conversation", "key"),
        Index("turn_day", "tenant", "created_at"),
        Index("turn_created", "created_at"),
        Index("turn_live", "conversation", unique=True, postgresql_where=text(LIVE)),
        Index(
            "turn_idempotency_key",
            *("conversation", "idempotency_key"),
            unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("turn_retention", "journal", "finished_at", postgresql_where=text("journal <> 'none'")),
        postgresql_with={"fillfactor": 70},
    )


def provider_call_table(metadata: MetaData) -> Table:
    """The model calls of a turn, in their order."""
    return Table(
        "provider_call",
        metadata,
        number("turn"),
        number("order"),
        time("started_at"),
        time("first_token_at", needed=False),
        time("finished_at", needed=False),
        *usage(),
        Column("id", Text, nullable=False),
        Column("provider", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("operation", Text, nullable=False),
        Column("status", Text, nullable=False),
        *cost(),
        *payloads("extensions", "raw"),
        PrimaryKeyConstraint("turn", "order"),
        belongs_to(metadata, "turn", "turn.key"),
        one_of("operation", "chat", "embedding", "other"),
        one_of("status", "running", "succeeded", "failed", "cancelled", "interrupted"),
    )


def page_table(metadata: MetaData) -> Table:
    """Pages, in the order of their key. `codec` says how `frames` and `events` are packed."""
    page = Table(
        "page",
        metadata,
        number("turn"),
        number("number"),
        number("first_seq"),
        number("last_seq"),
        number("epoch"),
        Column("written_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
        Column("codec", SmallInteger, nullable=False),
        Column("frames", LargeBinary, nullable=False),
        Column("events", LargeBinary),
        PrimaryKeyConstraint("turn", "number"),
        belongs_to(metadata, "turn", "turn.key"),
        CheckConstraint("number >= 0 AND first_seq >= 0 AND last_seq >= first_seq - 1", "place"),
    )
    store_as_is(page, "events")
    return page


def blob_table(metadata: MetaData) -> Table:
    """Large contents by their digest, a tenant's own; compressed, where that helps, before they come here."""
    blob = Table(
        "blob",
        metadata,
        identifier("tenant"),
        Column("digest", Text(collation=EXACT), nullable=False),
        time("created_at"),
        Column("media_type", Text, nullable=False),
        Column("content", LargeBinary, nullable=False),
        PrimaryKeyConstraint("tenant", "digest"),
        length("tenant", TENANT_BYTES_MAX),
        length("digest", ID_BYTES_MAX),
    )
    store_as_is(blob, "content")
    return blob


def checkpoint_table(metadata: MetaData) -> Table:
    """Summaries, each for the messages up to `through_seq`, which need not be there any more."""
    return Table(
        "checkpoint",
        metadata,
        key(),
        number("conversation"),
        number("through_seq"),
        time("created_at"),
        time("undone_at", needed=False),
        identifier("id"),
        Column("strategy", Text, nullable=False),
        Column("summary", JSONB, nullable=False),
        Column("metadata", JSONB),
        PrimaryKeyConstraint("key"),
        UniqueConstraint("conversation", "id"),
        belongs_to(metadata, "conversation", "conversation.key"),
        length("id", ID_BYTES_MAX),
    )


def promotion_table(metadata: MetaData) -> Table:
    """Fields of tools and data parts that the user has promoted to columns: see `promote`."""
    return Table(
        "promotion",
        metadata,
        time("created_at"),
        identifier("column_name"),
        Column("kind", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("field", Text, nullable=False),
        Column("type", Text, nullable=False),
        identifier("index_name"),
        PrimaryKeyConstraint("column_name"),
        UniqueConstraint("index_name"),
        one_of("kind", "tool", "data"),
        one_of("type", "text", "integer", "number", "boolean", "json"),
    )
