"""Tables for the transcripts of vendors' own sessions."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import run_file

revision = "rejoinder_0005"
down_revision = "rejoinder_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    run_file(__file__, "0005_pre_transcripts.sql")
