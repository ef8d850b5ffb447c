"""Facts for analytics: views, and an index that finds turns by their day."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import build_index, run_file

revision = "rejoinder_0003"
down_revision = "rejoinder_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the views, and build the indexes, however large the tables are by now."""
    run_file(__file__, "0003_post_facts.sql")
    build_index("turn_day", "ON {schema}.turn (tenant, created_at)")
