"""The tables of a schema as text, a line for each thing, so that two schemas can be compared to the last default."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, text

from rejoinder.stores.postgres.schema import tables
from rejoinder.stores.postgres.tally_tables import DOUBTING
from rejoinder.stores.postgres.views import VIEWS

SCRATCH: Final = "rejoinder_as_it_should_be"
"""A schema that exists within a transaction and nowhere else."""

_LINES: Final = text("""
WITH ours AS (
    SELECT pg_class.oid, relname, reloptions
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = :schema AND relkind = 'r' AND relname = ANY(:tables)
)
SELECT format('table %s %s', relname, reloptions) FROM ours
UNION ALL
SELECT format(
    'column %s.%s %s%s%s%s%s storage %s',
    relname,
    attname,
    format_type(atttypid, atttypmod),
    CASE WHEN collname <> 'default' THEN format(' collate %s', collname) END,
    CASE WHEN attnotnull THEN ' not null' END,
    ' default ' || pg_get_expr(adbin, adrelid),
    CASE WHEN attidentity <> '' THEN format(' identity %s', attidentity) END,
    attstorage
)
FROM ours
JOIN pg_attribute ON attrelid = ours.oid AND attnum > 0 AND NOT attisdropped
LEFT JOIN pg_attrdef ON adrelid = ours.oid AND adnum = attnum
LEFT JOIN pg_collation ON pg_collation.oid = attcollation
UNION ALL
-- Since PostgreSQL 18 NOT NULL is a constraint, too; the columns have said it.
SELECT format('constraint %s.%s %s', relname, conname, replace(pg_get_constraintdef(pg_constraint.oid), :prefix, ''))
FROM ours JOIN pg_constraint ON conrelid = ours.oid AND contype <> 'n'
UNION ALL
SELECT format(
    'index %s%s',
    replace(pg_get_indexdef(indexrelid), :prefix, ''),
    CASE WHEN NOT indisvalid THEN ' (broken)' END
)
FROM ours JOIN pg_index ON indrelid = ours.oid
UNION ALL
SELECT format('view %s %s', relname, replace(pg_get_viewdef(pg_class.oid), :prefix, ''))
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = :schema AND relkind = 'v' AND relname = ANY(:views)
UNION ALL
SELECT format('trigger %s', replace(pg_get_triggerdef(pg_trigger.oid), :prefix, ''))
FROM ours JOIN pg_trigger ON tgrelid = ours.oid AND NOT tgisinternal
UNION ALL
-- The text of a function stays as it was written, with the schema in quotes.
SELECT format('function %s %s', proname, md5(replace(prosrc, format('"%s".', :schema), '')))
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
WHERE nspname = :schema AND proname = :function
""")


def structure(connection: Connection, schema: str) -> set[str]:
    """The tables of this schema that are ours, with all that belongs to them, by names without the schema's."""
    names = [table.name for table in tables(schema).metadata.tables.values()]
    prefix = connection.scalar(text("SELECT quote_ident(:schema) || '.'"), {"schema": schema})
    return set(
        connection.execute(
            _LINES,
            {
                "schema": schema,
                "tables": names,
                "views": list(VIEWS),
                "prefix": prefix,
                "function": DOUBTING,
            },
        )
        .scalars()
        .all()
    )


def missing(connection: Connection, schema: str) -> list[str]:
    """What the schema lacks of the tables as they are defined. What somebody has added is theirs.

    The definition is made real beside the schema, and rolled back.
    """
    with connection.begin() as transaction:
        connection.execute(text(f"CREATE SCHEMA {SCRATCH}"))
        tables(SCRATCH).metadata.create_all(connection, checkfirst=False)
        lacking = structure(connection, SCRATCH) - structure(connection, schema)
        transaction.rollback()
    return sorted(lacking)
