"""The tables of what was said: conversations, messages, parts."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from rejoinder.stores.postgres.columns import (
    ID_BYTES_MAX,
    TENANT_BYTES_MAX,
    belongs_to,
    flags,
    identifier,
    key,
    length,
    number,
    one_of,
    payloads,
    texts,
    time,
    to,
)
from rejoinder.stores.postgres.searched import searched

SEARCH_INDEX: Final = {"gin_pending_list_limit": 512}
"""Some write in the end pays for sorting in what was put off: let it be little, often."""

CALL_ID_CHARACTERS_INDEXED: Final = 128
"""Some gateways pack kilobytes into the id of a call. It is kept whole, and found by its beginning."""


def conversation_table(metadata: MetaData) -> Table:
    """Conversations. Whoever changes one raises `version`, and takes `next_seq` for a new message."""
    return Table(
        "conversation",
        metadata,
        key(),
        identifier("tenant"),
        identifier("id"),
        number("version", default=0),
        number("next_seq", default=0),
        # The seq of the message in which the active branch ends. NULL: there are no messages.
        number("active_leaf", needed=False),
        time("created_at"),
        time("updated_at"),
        # An id and no key: the conversation that this one was forked from may be deleted.
        identifier("parent_id", needed=False),
        Column("status", Text, nullable=False, server_default="active"),
        Column("title", Text),
        Column("metadata", JSONB),
        PrimaryKeyConstraint("key"),
        UniqueConstraint("tenant", "id"),
        UniqueConstraint("tenant", "key"),
        ForeignKeyConstraint(
            ["key", "active_leaf"],
            [to(metadata, "message.conversation"), to(metadata, "message.seq")],
            use_alter=True,
        ),
        length("tenant", TENANT_BYTES_MAX),
        length("id", ID_BYTES_MAX),
        one_of("status", "active", "archived"),
        Index("conversation_list", "tenant", "updated_at", "id"),
        Index(
            "conversation_search",
            text(searched("title")),
            postgresql_using="gin",
            postgresql_where=text("title IS NOT NULL"),
            postgresql_with=SEARCH_INDEX,
        ),
        postgresql_with={"fillfactor": 80},
    )


LASTING: Final = """role = 'system' OR metadata @> '{"pinned": true}'"""
"""What makes a message part of every history. The query of them says the same, or the index would not help it."""


def message_table(metadata: MetaData) -> Table:
    """Messages, a tree by `parent`, the seq of the message before.

    A *branch* is a stretch of the tree without a turning: a message that answers the last one of a branch belongs
    to that branch, any other begins one, named by its own seq. A path through the tree is therefore a few
    branches, each up to some seq, and a page of it is a range of the primary key, however long it is.
    """
    return Table(
        "message",
        metadata,
        number("conversation"),
        number("seq"),
        number("branch"),
        number("parent", needed=False),
        time("created_at"),
        number("token_count", needed=False),
        identifier("id"),
        # An id and no key: messages may be stored before the record of their turn.
        identifier("turn_id", needed=False),
        Column("role", Text, nullable=False),
        Column("status", Text),
        Column("model", Text),
        Column("metadata", JSONB),
        Column("extra", JSONB),
        PrimaryKeyConstraint("conversation", "seq"),
        UniqueConstraint("conversation", "id"),
        belongs_to(metadata, "conversation", "conversation.key"),
        ForeignKeyConstraint(
            ["conversation", "parent"], [to(metadata, "message.conversation"), to(metadata, "message.seq")]
        ),
        CheckConstraint("seq >= 0 AND parent < seq", "place"),
        CheckConstraint("branch <= seq AND (parent IS NOT NULL OR branch = seq)", "branch"),
        length("id", ID_BYTES_MAX),
        one_of("role", "system", "user", "assistant", "tool"),
        one_of("status", "streaming", "complete", "interrupted", "failed", "cancelled"),
        Index("message_children", "conversation", "parent"),
        Index("message_created", "created_at"),
        Index("message_lasting", "conversation", "branch", "seq", postgresql_where=text(LASTING)),
    )


def part_table(metadata: MetaData) -> Table:
    """Parts, one row each; the columns are those of `rejoinder.convert.rows.PartRow`, a family by its prefix."""
    return Table(
        "part",
        metadata,
        *_part_columns(),
        # Two calls of one message may share their id (in two steps), so what is unique is the place.
        PrimaryKeyConstraint("conversation", "message", "order"),
        ForeignKeyConstraint(
            ["conversation", "message"],
            [to(metadata, "message.conversation"), to(metadata, "message.seq")],
            ondelete="CASCADE",
        ),
        *(
            CheckConstraint(f"({family}) = ({column} IS NOT NULL)", f"{column}_is_there")
            for family, columns in FAMILIES
            for column in columns
        ),
        one_of(
            "type",
            *("text", "reasoning", "tool-call", "file", "reasoning-file", "source-url", "source-document"),
            *("step-start", "data", "custom", "steering-message", "opaque"),
        ),
        one_of(
            "tool_state",
            *("input-streaming", "input-available", "approval-requested", "approval-responded"),
            *("output-available", "output-error", "output-denied"),
        ),
        CheckConstraint('"order" >= 0', "place"),
        CheckConstraint("tool_approval_id IS NULL OR type = 'tool-call'", "approval_of_a_call"),
        Index(
            "part_tool_call",
            text(f"left(tool_call_id, {CALL_ID_CHARACTERS_INDEXED})"),
            "conversation",
            postgresql_where=text("tool_call_id IS NOT NULL"),
        ),
        Index(
            "part_search",
            text(searched("text_text")),
            postgresql_using="gin",
            postgresql_where=text("text_text IS NOT NULL"),
            postgresql_with=SEARCH_INDEX,
        ),
    )


def _part_columns() -> tuple[Column[Any], ...]:
    return (
        number("conversation"),
        number("message"),
        number("order"),
        Column("type", Text, nullable=False),
        *texts("text_text", "text_state"),
        *payloads("text_citations"),
        *texts("reasoning_text", "reasoning_id", "reasoning_state"),
        *texts("tool_call_id", "tool_name", "tool_state"),
        *flags("tool_dynamic", "tool_withdrawn", "tool_preliminary", "tool_provider_executed"),
        *payloads("tool_input", "tool_raw_input", "tool_output"),
        *texts("tool_input_encoding", "tool_error_text", "tool_title"),
        *payloads("tool_metadata", "tool_result_provider_metadata"),
        *texts(
            "tool_approval_id",
            "tool_approval_reason",
            "tool_approval_request_reason",
            "tool_approval_signature",
        ),
        *flags("tool_approval_approved", "tool_approval_is_automatic"),
        *payloads("tool_approval_descriptor", "tool_approval_input_schema_input", "tool_approval_extra"),
        *texts("file_media_type", "file_url", "file_filename"),
        *payloads("file_provider_reference"),
        *texts("source_url_source_id", "source_url_url", "source_url_title"),
        *texts("source_document_source_id", "source_document_media_type"),
        *texts("source_document_title", "source_document_filename"),
        *texts("data_name", "data_id"),
        *payloads("data_content"),
        *texts("custom_kind", "steering_id"),
        *payloads("steering_parts", "opaque_body"),
        *payloads("provider_metadata", "extra"),
    )


FAMILIES: Final = (
    ("type = 'text'", ("text_text",)),
    ("type = 'reasoning'", ("reasoning_text",)),
    ("type = 'tool-call'", ("tool_call_id", "tool_name", "tool_state")),
    ("type IN ('file', 'reasoning-file')", ("file_media_type", "file_url")),
    ("type = 'source-url'", ("source_url_source_id", "source_url_url")),
    (
        "type = 'source-document'",
        ("source_document_source_id", "source_document_media_type", "source_document_title"),
    ),
    ("type = 'data'", ("data_name",)),
    ("type = 'custom'", ("custom_kind",)),
    ("type = 'steering-message'", ("steering_id", "steering_parts")),
    ("type = 'opaque'", ("opaque_body",)),
)
"""What a part of a family must have, and no other part may have."""
