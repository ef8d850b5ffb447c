"""The tables of the page about the database: every table and view, its columns, and what is held of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from sqlalchemy import CheckConstraint, Dialect, Index, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql

from rejoinder.stores.postgres.schema import tables
from rejoinder.stores.postgres.views import VIEWS

DIALECT: Final[Dialect] = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy has not annotated it


def database_tables() -> Iterator[tuple[str, list[tuple[str, str, str, str]], list[str]]]:
    """The name of each table; of its columns name, type, whether they may be null, and where they lead; its rules."""
    for table in tables().metadata.sorted_tables:
        columns = [
            (
                f"`{column.name}`",
                column.type.compile(dialect=DIALECT).lower().removesuffix(' collate "c"'),
                "yes" if column.nullable else "",
                ", ".join(sorted(f"`{key.column.table.name}`" for key in column.foreign_keys)),
            )
            for column in table.columns
        ]
        yield table.name, columns, sorted(_rules(table))


def _rules(table: Table) -> Iterator[str]:
    key = ", ".join(f"`{column.name}`" for column in table.primary_key)
    yield f"The key is ({key})."
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint):
            yield f"Unique: ({', '.join(f'`{column.name}`' for column in constraint.columns)})."
        elif isinstance(constraint, CheckConstraint):
            said = " ".join(str(constraint.sqltext).split())
            yield f"Always: `{said}`."
    for index in table.indexes:
        yield _index(index)


def _index(index: Index) -> str:
    home = f"{index.table.name}." if index.table is not None else ""
    columns = ", ".join(f"`{' '.join(str(each).split()).removeprefix(home)}`" for each in index.expressions)
    where = index.dialect_options["postgresql"]["where"]
    only = "" if where is None else f", where `{' '.join(str(where).split())}`"
    return f"{'Unique' if index.unique else 'Index'}: ({columns}){only}."


def view_columns() -> Iterator[tuple[str, str]]:
    """The name of each view and its columns."""
    for name, query in VIEWS.items():
        yield name, ", ".join(f"`{column}`" for column in columns_of(query))


def columns_of(query: str) -> list[str]:
    """What the first SELECT of a query calls its columns."""
    text = " ".join(query.split()).removeprefix("SELECT ")
    depths = [*accumulate((sign == "(") - (sign == ")") for sign in text)]
    end = next(at.start() for at in re.finditer(r" FROM ", text) if depths[at.start()] == 0)
    commas = [at for at in range(end) if text[at] == "," and depths[at] == 0]
    items = [
        text[begin:stop] for begin, stop in zip([0, *(at + 1 for at in commas)], [*commas, end], strict=True)
    ]
    return [re.split(r" AS |\.", item)[-1].strip() for item in items]
