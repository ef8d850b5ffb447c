"""Days that are counted once, so that numbers of years are there at once."""

from __future__ import annotations

from rejoinder.stores.postgres.migrations.statements import build_index, run, run_file

revision = "rejoinder_0006"
down_revision = "rejoinder_0005"
branch_labels = None
depends_on = None

DOUBT = """
CREATE FUNCTION {schema}.doubt_day() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    changed date := (OLD.created_at AT TIME ZONE 'UTC')::date;
BEGIN
    FOR look IN 1..2 LOOP
        IF changed IS NOT NULL THEN
            -- Days long past share one lock: an import of years must not need a thousand.
            PERFORM pg_advisory_xact_lock_shared(
                5210041, CASE WHEN changed < today - 1 THEN 0 ELSE changed - date '2000-01-01' END
            );
            -- Nobody counts a day before it is over, and nobody can now until we have committed.
            IF changed < today THEN
                INSERT INTO {schema}.doubted_day (day)
                SELECT changed
                WHERE EXISTS (SELECT FROM {schema}.tallied_day AS t WHERE t.day = changed)
                    AND NOT EXISTS (SELECT FROM {schema}.doubted_day AS d WHERE d.day = changed);
            END IF;
        END IF;
        EXIT WHEN changed IS NOT DISTINCT FROM (NEW.created_at AT TIME ZONE 'UTC')::date;
        changed := (NEW.created_at AT TIME ZONE 'UTC')::date;
    END LOOP;
    RETURN NULL;
END
$function$
"""


def upgrade() -> None:
    """Build the indexes, however large the tables are by now; create the rest, which takes no time."""
    build_index("turn_created", "ON {schema}.turn (created_at)")
    build_index("message_created", "ON {schema}.message (created_at)")
    run_file(__file__, "0006_post_days.sql")
    run(DOUBT)
    run(
        "CREATE TRIGGER turn_doubts_day AFTER INSERT OR DELETE OR UPDATE OF created_at, finished_at, agent"
        " ON {schema}.turn FOR EACH ROW EXECUTE FUNCTION {schema}.doubt_day()"
    )
    run(
        "CREATE TRIGGER message_doubts_day AFTER INSERT OR DELETE OR UPDATE"
        " ON {schema}.message FOR EACH ROW EXECUTE FUNCTION {schema}.doubt_day()"
    )
