"""What each table's rows are called by elsewhere: ids in the place of keys, and an order that ids give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, LiteralString, TypeAlias

from psycopg import sql
from sqlalchemy import Column, Table

Said: TypeAlias = Callable[[Column[Any], sql.Composable], sql.Composable]
"""How a column is read or written."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A table. `joins` lead to what its rows belong to, `references` are the names of those.

    `keys` are columns that hold keys of this database: they are left out, and `{column}` of them is found again by
    the references when a row is put back. `lookup` is where.
    """

    order: LiteralString
    references: Mapping[str, LiteralString] = field(default_factory=dict[str, LiteralString])
    joins: LiteralString = ""
    keys: Mapping[str, LiteralString] = field(default_factory=dict[str, LiteralString])
    lookup: LiteralString = ""

    def own_columns(self, table: Table) -> list[Column[Any]]:
        """The columns that mean the same everywhere. What a user had promoted is made anew from the others."""
        left_out = {*self.keys, "key", "codec"} | ({"events"} if table.name == "page" else set[str]())
        return [column for column in table.columns if column.name not in left_out]

    def selecting(self, table: Table, schema: str, read: Said) -> sql.Composed:
        """The query that reads all of it, or what is `%(tenant)s`'s."""
        fields: list[sql.Composable] = [
            sql.SQL("{} AS {}").format(sql.SQL(said), sql.Identifier(name))
            for name, said in self.references.items()
        ]
        fields += [
            sql.SQL("{} AS {}").format(
                read(column, sql.Identifier("t", column.name)), sql.Identifier(column.name)
            )
            for column in self.own_columns(table)
        ]
        return sql.SQL(
            "SELECT row_to_json(r)::text FROM (SELECT {} FROM {} AS t {}"
            " WHERE %(tenant)s::text IS NULL OR {} = %(tenant)s::text ORDER BY {}) AS r"
        ).format(
            sql.SQL(", ").join(fields),
            sql.Identifier(schema, table.name),
            _in(schema, self.joins),
            sql.SQL(self.references.get("tenant", "t.tenant")),
            sql.SQL(self.order),
        )

    def inserting(self, table: Table, schema: str, written: Said) -> sql.Composed:
        """The statement that puts rows back, which it takes as one array of JSON."""
        columns = [
            *self.own_columns(table),
            *(column for column in table.columns if column.name == "codec"),
            *(column for column in table.columns if table.name == "page" and column.name == "events"),
        ]
        names: list[sql.Composable] = [
            *(sql.Identifier(name) for name in self.keys),
            *(sql.Identifier(each.name) for each in columns),
        ]
        values: list[sql.Composable] = [sql.SQL(found) for found in self.keys.values()]
        values += [
            written(column, sql.SQL("(e.row ->> {})").format(sql.Literal(column.name))) for column in columns
        ]
        return sql.SQL(
            "INSERT INTO {} ({}) SELECT {} FROM json_array_elements(%s::json) WITH ORDINALITY AS e (row, place) {}"
            " ORDER BY e.place"
        ).format(
            sql.Identifier(schema, table.name),
            sql.SQL(", ").join(names),
            sql.SQL(", ").join(values),
            _in(schema, self.lookup),
        )


def _in(schema: str, text: LiteralString) -> sql.Composed:
    names = ("conversation", "turn", "transcript")
    return sql.SQL(text).format(**{name: sql.Identifier(schema, name) for name in names})


_CONVERSATION: Final[Mapping[str, LiteralString]] = MappingProxyType(
    {"tenant": "c.tenant", "conversation_id": "c.id"}
)
_OF_CONVERSATION: Final = "JOIN {conversation} AS c ON c.key = t.conversation"
_FIND_CONVERSATION: Final = (
    "JOIN {conversation} AS c ON c.tenant = e.row ->> 'tenant' AND c.id = e.row ->> 'conversation_id'"
)
_OF_TURN: Final = "JOIN {turn} AS u ON u.key = t.turn JOIN {conversation} AS c ON c.key = u.conversation"
_TURN: Final[Mapping[str, LiteralString]] = MappingProxyType(
    {"tenant": "u.tenant", "conversation_id": "c.id", "turn_id": "u.id"}
)
_FIND_TURN: Final = "JOIN {turn} AS u ON u.tenant = e.row ->> 'tenant' AND u.id = e.row ->> 'turn_id'"
_IN: Final[Mapping[str, LiteralString]] = MappingProxyType({"conversation": "c.key"})
_IN_TURN: Final[Mapping[str, LiteralString]] = MappingProxyType({"turn": "u.key"})

KEPT: Final[Mapping[str, Kept]] = MappingProxyType(
    {
        "conversation": Kept(order="t.key"),
        "message": Kept(
            references=_CONVERSATION,
            joins=_OF_CONVERSATION,
            keys=_IN,
            lookup=_FIND_CONVERSATION,
            order="t.conversation, t.seq",
        ),
        "part": Kept(
            references=_CONVERSATION,
            joins=_OF_CONVERSATION,
            keys=_IN,
            lookup=_FIND_CONVERSATION,
            order='t.conversation, t.message, t."order"',
        ),
        "turn": Kept(
            references=MappingProxyType({"conversation_id": "c.id"}),
            joins=_OF_CONVERSATION,
            keys=_IN,
            lookup=_FIND_CONVERSATION,
            order="t.key",
        ),
        "provider_call": Kept(
            references=_TURN, joins=_OF_TURN, keys=_IN_TURN, lookup=_FIND_TURN, order='t.turn, t."order"'
        ),
        "page": Kept(
            references=_TURN, joins=_OF_TURN, keys=_IN_TURN, lookup=_FIND_TURN, order="t.turn, t.number"
        ),
        "blob": Kept(order="t.tenant, t.digest"),
        "checkpoint": Kept(
            references=_CONVERSATION,
            joins=_OF_CONVERSATION,
            keys=_IN,
            lookup=_FIND_CONVERSATION,
            order="t.key",
        ),
        "transcript": Kept(
            references=MappingProxyType({"conversation_id": "c.id"}),
            joins="LEFT JOIN {conversation} AS c ON c.key = t.conversation",
            keys=_IN,
            lookup=f"LEFT {_FIND_CONVERSATION}",
            order="t.key",
        ),
        "transcript_entry": Kept(
            references=MappingProxyType(
                {
                    "tenant": "s.tenant",
                    "project": "s.project",
                    "session": "s.session",
                    "transcript_part": "s.part",
                }
            ),
            joins="JOIN {transcript} AS s ON s.key = t.transcript",
            keys=MappingProxyType({"transcript": "s.key"}),
            lookup="JOIN {transcript} AS s ON s.tenant = e.row ->> 'tenant' AND s.project = e.row ->> 'project'"
            " AND s.session = e.row ->> 'session' AND s.part IS NOT DISTINCT FROM e.row ->> 'transcript_part'",
            order="t.key",
        ),
    }
)
