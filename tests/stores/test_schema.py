"""The tables: one definition, and what the database itself refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from alembic import command
from psycopg import errors
from sqlalchemy import create_engine, func, select

from rejoinder.ports.journal import StoreMisconfigured
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.migrations import versions
from rejoinder.stores.postgres.schema import tables
from rejoinder.stores.postgres.sessions import session
from rejoinder.stores.postgres.structure import structure
from tests.stores.databases import Databases

CONVERSATION = "INSERT INTO rejoinder.conversation (tenant, id) VALUES (%s, %s) RETURNING key"
MESSAGE = (
    "INSERT INTO rejoinder.message (conversation, seq, branch, parent, id, role) "
    "VALUES (%s, %s, %s, %s, %s, 'user')"
)
PART = 'INSERT INTO rejoinder.part (conversation, message, "order", type) VALUES (%s, %s, %s, %s)'
TURN = "INSERT INTO rejoinder.turn (tenant, conversation, id, status) VALUES (%s, %s, %s, %s) RETURNING key"


@pytest.fixture
def connection(fresh_database: Callable[[], str]) -> Iterator[psycopg.Connection[tuple[int]]]:
    """A database with our tables. Each statement is a transaction."""
    with psycopg.connect(fresh_database(), autocommit=True) as connection:
        yield connection


def key_of(connection: psycopg.Connection[tuple[int]], tenant: str, id: str) -> int:
    found = connection.execute(CONVERSATION, [tenant, id]).fetchone()
    assert found is not None
    return found[0]


def test_what_the_migrations_make_is_what_is_defined(databases: Databases) -> None:
    with session(databases.fresh()) as migrated, session(databases.fresh(with_tables=False)) as defined:
        defined.exec_driver_sql("CREATE SCHEMA rejoinder")
        tables().metadata.create_all(defined)
        made, meant = structure(migrated, "rejoinder"), structure(defined, "rejoinder")
    assert made == meant
    # Nothing is equal to nothing: a line for each column of each table, and for much else.
    assert len(made) > sum(len(table.columns) for table in tables().metadata.tables.values())


@pytest.mark.parametrize("schema", ["rejoinder", "Chat-2"])
def test_alembic_finds_no_difference_between_the_tables_and_their_definition(
    databases: Databases, schema: str
) -> None:
    url = databases.fresh(with_tables=False)
    migrate.upgrade(url, schema=schema)
    with session(url) as connection:
        connection.exec_driver_sql(f'CREATE TABLE "{schema}".theirs (id int)')
        command.check(migrate.configuration(schema, connection=connection))


@pytest.mark.parametrize("name", ["", "1st", "a.b", 'a"b', "a b", "x" * 51, "ö"])
def test_a_name_that_a_schema_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(StoreMisconfigured, match="cannot be called"):
        tables(name)


def test_two_tenants_may_use_the_same_ids(connection: psycopg.Connection[tuple[int]]) -> None:
    for tenant in ("ada", "bob"):
        key = key_of(connection, tenant, "chat")
        connection.execute(MESSAGE, [key, 0, 0, None, "message"])
        connection.execute(TURN, [tenant, key, "turn", "running"])
    with pytest.raises(errors.UniqueViolation):
        key_of(connection, "ada", "chat")


def test_a_turn_of_one_tenant_in_the_conversation_of_another_is_refused(
    connection: psycopg.Connection[tuple[int]],
) -> None:
    key = key_of(connection, "ada", "chat")
    with pytest.raises(errors.ForeignKeyViolation):
        connection.execute(TURN, ["bob", key, "turn", "running"])


def test_a_message_cannot_answer_one_of_another_conversation(
    connection: psycopg.Connection[tuple[int]],
) -> None:
    here, there = key_of(connection, "ada", "here"), key_of(connection, "ada", "there")
    connection.execute(MESSAGE, [there, 0, 0, None, "first"])
    with pytest.raises(errors.ForeignKeyViolation):
        connection.execute(MESSAGE, [here, 1, 0, 0, "second"])


def test_a_conversation_cannot_end_in_a_message_that_it_does_not_have(
    connection: psycopg.Connection[tuple[int]],
) -> None:
    key = key_of(connection, "ada", "chat")
    with pytest.raises(errors.ForeignKeyViolation):
        connection.execute("UPDATE rejoinder.conversation SET active_leaf = 0 WHERE key = %s", [key])


@pytest.mark.parametrize(("seq", "branch", "parent"), [(-1, -1, None), (1, 1, 1), (1, 2, 0), (1, 0, None)])
def test_a_message_in_an_impossible_place_is_refused(
    connection: psycopg.Connection[tuple[int]], seq: int, branch: int, parent: int | None
) -> None:
    key = key_of(connection, "ada", "chat")
    connection.execute(MESSAGE, [key, 0, 0, None, "first"])
    with pytest.raises(errors.CheckViolation):
        connection.execute(MESSAGE, [key, seq, branch, parent, "second"])


@pytest.mark.parametrize("column", ["tenant", "id"])
@pytest.mark.parametrize("length", [0, 1025])
def test_an_id_that_no_index_could_hold_is_refused(
    connection: psycopg.Connection[tuple[int]], column: str, length: int
) -> None:
    names = {"tenant": "ada", "id": "chat", column: "x" * length}
    with pytest.raises(errors.CheckViolation):
        key_of(connection, names["tenant"], names["id"])


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("text", ""),
        ("step-start", "text_text = 'said'"),
        ("tool-call", "tool_call_id = 'call', tool_name = 'look'"),
        ("text", "text_text = 'said', tool_approval_id = 'approval'"),
        ("data", "data_content = '1'"),
        ("of-tomorrow", ""),
        ("step-start", '"order" = -1'),
        ("tool-call", "tool_call_id = 'call', tool_name = 'look', tool_state = 'unheard-of'"),
    ],
)
def test_a_part_that_lacks_what_its_family_has_or_has_what_others_have_is_refused(
    connection: psycopg.Connection[tuple[int]], kind: str, columns: str
) -> None:
    key = key_of(connection, "ada", "chat")
    connection.execute(MESSAGE, [key, 0, 0, None, "message"])
    connection.execute(PART, [key, 0, 0, "step-start"])
    changed = f"type = '{kind}'" + (f", {columns}" if columns else "")
    with pytest.raises(errors.CheckViolation):
        connection.execute(f"UPDATE rejoinder.part SET {changed}".encode())


def test_a_conversation_has_one_live_turn_and_any_number_that_are_over_or_wait(
    connection: psycopg.Connection[tuple[int]],
) -> None:
    key = key_of(connection, "ada", "chat")
    for number, status in enumerate(("succeeded", "waiting", "waiting", "failed", "queued")):
        connection.execute(TURN, ["ada", key, str(number), status])
    with pytest.raises(errors.UniqueViolation):
        connection.execute(TURN, ["ada", key, "live", "running"])


def test_what_belongs_to_a_conversation_goes_with_it(connection: psycopg.Connection[tuple[int]]) -> None:
    key = key_of(connection, "ada", "chat")
    connection.execute(MESSAGE, [key, 0, 0, None, "message"])
    connection.execute(PART, [key, 0, 0, "step-start"])
    turn = connection.execute(TURN, ["ada", key, "turn", "running"]).fetchone()
    page = "INSERT INTO rejoinder.page (turn, number, first_seq, last_seq, epoch, codec, frames) "
    connection.execute((page + "VALUES (%s, 0, 0, 0, 1, 0, '')").encode(), turn)
    connection.execute("DELETE FROM rejoinder.conversation")
    for table in ("message", "part", "turn", "page"):
        left = connection.execute(f"SELECT count(*) FROM rejoinder.{table}".encode()).fetchone()
        assert left == (0,), table


def test_a_user_joins_our_tables_with_sqlalchemy(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    ours = tables()
    with psycopg.connect(url) as connection:
        for tenant, number in (("ada", 2), ("bob", 1)):
            found = connection.execute(CONVERSATION, [tenant, "chat"]).fetchone()
            assert found is not None
            for seq in range(number):
                place = [found[0], seq, 0, seq - 1 if seq else None, str(seq)]
                connection.execute(MESSAGE, place)
    query = (
        select(ours.conversation.c.tenant, func.count())
        .join(ours.message, ours.message.c.conversation == ours.conversation.c.key)
        .group_by(ours.conversation.c.tenant)
        .order_by(ours.conversation.c.tenant)
    )
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.connect() as connected:
        assert [tuple(row) for row in connected.execute(query)] == [("ada", 2), ("bob", 1)]
    engine.dispose()


def test_every_migration_has_a_number_of_its_own() -> None:
    numbers = [file.name[:4] for file in Path(versions.__path__[0]).glob("[0-9]*_*.py")]
    assert sorted(numbers) == sorted(set(numbers)), "two migrations share a number: renumber the newer one"
