"""An index that finds the messages that every history holds, however long the conversation is."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import build_index

revision = "rejoinder_0004"
down_revision = "rejoinder_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Build the index."""
    build_index(
        "message_lasting",
        "ON {schema}.message (conversation, branch, seq) "
        """WHERE role = 'system' OR metadata @> '{"pinned": true}'""",
    )
