"""Find texts and titles by their words."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import build_index

revision = "rejoinder_0002"
down_revision = "rejoinder_0001"
branch_labels = None
depends_on = None

INDEXES = {
    "conversation_search": "ON {schema}.conversation USING gin ("
    "to_tsvector('simple', translate(left(title, 65536), '.:/@_-+~&<>', '           '))) "
    "WITH (gin_pending_list_limit = 512) WHERE title IS NOT NULL",
    "part_search": "ON {schema}.part USING gin ("
    "to_tsvector('simple', translate(left(text_text, 65536), '.:/@_-+~&<>', '           '))) "
    "WITH (gin_pending_list_limit = 512) WHERE text_text IS NOT NULL",
}


def upgrade() -> None:
    """Build the indexes, however large the tables are by now."""
    for name, definition in INDEXES.items():
        build_index(name, definition)
