"""The first tables."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import run_file

revision = "rejoinder_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    run_file(__file__, "0001_pre_tables.sql")
