"""Promoted fields: columns that fill themselves, whatever is written, on every PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from alembic import command
from psycopg.types.json import Jsonb

from rejoinder.ports.journal import AlreadyExists, StoreMisconfigured
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.promote import (
    BATCH_ROWS,
    Promotion,
    promote,
    promotion,
    promotions,
    withdraw,
)
from rejoinder.stores.postgres.sessions import session
from tests.stores.databases import Databases

CALL = (
    'INSERT INTO rejoinder.part (conversation, message, "order", type, tool_call_id, tool_name, '
    "tool_state, tool_input) VALUES (1, 0, %s, 'tool-call', 'c', %s, 'input-available', %s)"
)


class Place(psycopg.Connection[Any]):
    """A connection that knows its URL."""

    url: str

    def value_of(self, column: str, order: int) -> Any:
        found = self.execute(f'SELECT "{column}" FROM rejoinder.part WHERE "order" = {order}'.encode())
        return found.fetchall()[0][0]

    def call(self, order: int, value: Any, name: str = "look") -> None:
        self.execute(CALL, [order, name, Jsonb(value)])


@pytest.fixture
def place(fresh_database: Callable[[], str]) -> Iterator[Place]:
    """A database with one message in it."""
    url = fresh_database()
    with Place.connect(url, autocommit=True) as connection:
        connection.url = url
        connection.execute("INSERT INTO rejoinder.conversation (tenant, id) VALUES ('ada', 'chat')")
        connection.execute(
            "INSERT INTO rejoinder.message (conversation, seq, branch, id, role) VALUES (1, 0, 0, 'm', 'user')"
        )
        yield connection


def test_a_promoted_field_is_there_for_what_was_written_before_and_after(place: Place) -> None:
    place.call(0, {"where": "Rome"})
    place.call(1, {"where": "Rome"}, name="another tool")
    wanted = promotion("tool", "look", "input.where", "text")
    assert wanted.column == "tool_look_input_where"
    assert promote(place.url, wanted)
    place.call(2, {"where": "Oslo"})
    assert [place.value_of(wanted.column, order) for order in range(3)] == ["Rome", None, "Oslo"]
    place.execute('UPDATE rejoinder.part SET tool_input = \'{"where": "Bonn"}\' WHERE "order" = 2')
    place.execute("UPDATE rejoinder.part SET tool_name = 'look' WHERE \"order\" = 1")
    place.execute("UPDATE rejoinder.part SET tool_name = 'renamed' WHERE \"order\" = 0")
    assert [place.value_of(wanted.column, order) for order in range(3)] == [None, "Rome", "Bonn"]


def test_more_rows_than_one_batch_are_filled_and_found_by_the_index(place: Place) -> None:
    place.execute(
        'INSERT INTO rejoinder.part (conversation, message, "order", type, data_name, data_content) '
        "SELECT 1, 0, n, 'data', 'proposal', jsonb_build_object('price', n) FROM generate_series(0, %s) n",
        [2 * BATCH_ROWS + 1],
    )
    wanted = promotion("data", "proposal", "price", "integer")
    promote(place.url, wanted)
    place.execute("ANALYZE rejoinder.part")
    where = b'FROM rejoinder.part WHERE "data_proposal_price" >= 1000'
    assert place.execute(b"SELECT count(*) " + where).fetchall() == [(BATCH_ROWS + 2,)]
    place.execute("SET enable_seqscan = off")
    plan = str(place.execute(b'EXPLAIN SELECT "order" ' + where).fetchall())
    assert wanted.index_name in plan


@pytest.mark.parametrize(
    ("type", "given", "held"),
    [
        ("text", "x" * 3_000_000, "x" * 500),
        ("text", 7, "7"),
        ("text", None, None),
        ("integer", 7, 7),
        ("integer", "7", None),
        ("integer", 7.5, None),
        ("integer", 10**30, None),
        ("number", 7.5, 7.5),
        ("number", "NaN", None),
        ("boolean", True, True),
        ("boolean", "yes", None),
        ("json", {"a": [None]}, {"a": [None]}),
    ],
)
def test_no_value_makes_a_message_impossible_to_store(place: Place, type: str, given: Any, held: Any) -> None:
    wanted = promotion("tool", "look", "input.x", type)
    promote(place.url, wanted)
    place.call(0, {"x": given})
    place.call(1, "no object at all")
    assert place.value_of(wanted.column, 0) == held
    assert place.value_of(wanted.column, 1) is None


def test_a_number_that_no_index_row_could_hold_is_stored(place: Place) -> None:
    wanted = promotion("tool", "look", "input.x", "number")
    promote(place.url, wanted)
    place.execute(CALL, [0, "look", '{"x": 1' + "7" * 100_000 + "}"])
    assert place.value_of(wanted.column, 0) is None


def test_asking_twice_changes_nothing_and_an_interrupted_promotion_goes_on(place: Place) -> None:
    place.call(0, {"where": "Rome"})
    wanted = promotion("tool", "look", "input.where", "text")
    # What a promotion that was killed leaves behind: its declaration, a broken index, no column.
    place.execute(
        "INSERT INTO rejoinder.promotion (kind, name, field, type, column_name, index_name) "
        "VALUES (%s, %s, %s, %s, %s, %s)",
        [*wanted, wanted.index_name],
    )
    place.execute(f'CREATE INDEX "{wanted.index_name}" ON rejoinder.part (tool_name)'.encode())
    place.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
        [f'rejoinder."{wanted.index_name}"'],
    )
    assert promote(place.url, wanted)
    assert place.value_of(wanted.column, 0) == "Rome"
    assert not promote(place.url, wanted)
    assert promotions(place.url) == [wanted]


def test_names_are_data_and_never_sql(place: Place) -> None:
    odd = "O'Re\"il\\ly{},; DROP TABLE part --%s␛"
    wanted = promotion("tool", odd, f"input.{odd}", "text", column="odd")
    promote(place.url, wanted)
    place.call(0, {odd.replace("␛", "␛␛"): "found"}, name=odd.replace("␛", "␛␛"))
    assert place.value_of("odd", 0) == "found"
    assert promotions(place.url) == [wanted]


def test_the_tables_stay_as_they_should_be(place: Place) -> None:
    promote(place.url, promotion("tool", "look", "input.where", "text"))
    migrate.check(place.url)
    with session(place.url) as connection:
        command.check(migrate.configuration(connection=connection))


def test_a_withdrawn_column_leaves_nothing_behind(place: Place) -> None:
    place.call(0, {"where": "Rome"})
    before = place.execute("SELECT count(*) FROM pg_class, pg_proc, pg_trigger").fetchall()
    wanted = promotion("tool", "look", "input.where", "text")
    promote(place.url, wanted)
    assert withdraw(place.url, wanted.column)
    assert not withdraw(place.url, wanted.column)
    assert promotions(place.url) == []
    assert place.execute("SELECT count(*) FROM pg_class, pg_proc, pg_trigger").fetchall() == before
    place.call(1, {"where": "Rome"})


def test_a_column_stands_for_one_thing(place: Place) -> None:
    promote(place.url, promotion("tool", "look", "input.where", "text", column="where_to"))
    with pytest.raises(AlreadyExists, match=r"stands for 'input\.where' of tool 'look' as text"):
        promote(place.url, promotion("data", "look", "where", "text", column="where_to"))
    place.execute("ALTER TABLE rejoinder.part ADD COLUMN theirs int")
    with pytest.raises(AlreadyExists, match="somebody has added a column 'theirs'"):
        promote(place.url, promotion("data", "look", "where", "text", column="theirs"))


@pytest.mark.parametrize(
    ("kind", "name", "field", "type", "column"),
    [
        ("message", "look", "input.x", "text", None),
        ("tool", "look", "input.x", "varchar", None),
        ("tool", "look", "x", "text", None),
        ("tool", "", "input.x", "text", None),
        ("tool", "look", "input..x", "text", None),
        ("tool", "mcp-look", "input.x", "text", None),
        ("tool", "look", "input.x", "text", "1st"),
        ("tool", "look", "input.x", "text", "x" * 55),
        ("tool", "look", "input.x", "text", 'x" int; --'),
        ("tool", "look", "input.x", "text", "text_text"),
        ("tool", "approval", "input.schema.input", "text", None),
    ],
)
def test_what_cannot_be_declared_is_refused(
    kind: str, name: str, field: str, type: str, column: str | None
) -> None:
    with pytest.raises(ValueError, match=r"."):
        promotion(kind, name, field, type, column=column)


def test_without_our_tables_the_way_out_is_named(databases: Databases) -> None:
    with pytest.raises(StoreMisconfigured, match="rejoinder db upgrade"):
        promotions(databases.fresh(with_tables=False))


def test_many_may_promote_at_once(place: Place) -> None:
    place.call(0, {"where": "Rome"})
    wanted = promotion("tool", "look", "input.where", "text")
    answers: list[bool] = []
    crowd = [threading.Thread(target=lambda: answers.append(promote(place.url, wanted))) for _ in range(4)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    assert sorted(answers) == [False, False, False, True]


def test_a_promotion_does_not_lock_writers_out(place: Place) -> None:
    """Between its statements it holds no lock on the table: a writer comes through in each of them."""
    place.call(0, {"where": "Rome"})
    with psycopg.connect(place.url) as writer:
        # An open transaction that has written: ALTER TABLE has to wait for it, and gives up waiting.
        writer.execute(CALL, [1, "look", Jsonb({"where": "Oslo"})])
        promoting = threading.Thread(
            target=promote, args=(place.url, promotion("tool", "look", "input.where", "text"))
        )
        promoting.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ADD COLUMN%'"
        while place.execute(waiting.encode()).fetchall() == [(0,)]:
            pass
        # Whoever comes now stands behind it in the queue, for the time of one attempt at most.
        place.call(2, {"where": "Bonn"})
        writer.commit()
    promoting.join()
    assert [place.value_of("tool_look_input_where", order) for order in range(3)] == ["Rome", "Oslo", "Bonn"]


def test_a_promotion_says_which_it_is() -> None:
    assert promotion("data", "proposal", "status", "text") == Promotion(
        "data", "proposal", "status", "text", "data_proposal_status"
    )
