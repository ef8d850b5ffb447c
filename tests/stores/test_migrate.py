"""Bringing tables up to date: once, by one of many, beside the user's own migrations, without locking anybody out."""

from __future__ import annotations

import io
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from rejoinder.ports.journal import StoreError, StoreMisconfigured, StoreUnavailable
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.sessions import session
from rejoinder.stores.postgres.structure import structure
from tests.stores.databases import Databases

REVISIONS: Final = tuple(
    script.revision
    for script in reversed([*ScriptDirectory.from_config(migrate.configuration()).walk_revisions()])
)

MESSAGES: Final = 100_000

FILL: Final = """
INSERT INTO rejoinder.conversation (tenant, id, title, next_seq)
SELECT 'ada', 'chat-' || n, 'About ' || n, {messages} / 100 FROM generate_series(1, 100) AS n;
INSERT INTO rejoinder.message (conversation, seq, branch, parent, id, role)
SELECT c.key, n, 0, CASE WHEN n > 0 THEN n - 1 END, 'm' || n, CASE n % 2 WHEN 0 THEN 'user' ELSE 'assistant' END
FROM rejoinder.conversation AS c, generate_series(0, {messages} / 100 - 1) AS n;
INSERT INTO rejoinder.part (conversation, message, "order", type, text_text, extra)
SELECT m.conversation, m.seq, 0, 'text', 'the quick brown fox ' || md5(m.seq::text), '{{"k": 1}}'
FROM rejoinder.message AS m;
INSERT INTO rejoinder.turn (tenant, conversation, id, status)
SELECT 'ada', m.conversation, m.conversation || '-' || m.seq, 'succeeded'
FROM rejoinder.message AS m WHERE m.role = 'assistant';
INSERT INTO rejoinder.page (turn, number, first_seq, last_seq, epoch, codec, frames)
SELECT t.key, 0, 0, 0, 1, 1, convert_to(t.id, 'UTF8') FROM rejoinder.turn AS t;
"""

DIGEST: Final = (
    "SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) FROM rejoinder.{} AS t"
)

LARGE: Final = ("conversation", "message", "part", "turn", "page")

STRONG: Final = """
SELECT DISTINCT relname || ': ' || mode
FROM pg_locks JOIN pg_class ON pg_class.oid = relation JOIN pg_namespace ON pg_namespace.oid = relnamespace
JOIN pg_stat_activity USING (pid)
WHERE backend_type = 'client backend' AND locktype = 'relation' AND nspname = 'rejoinder' AND relname = ANY(%s)
    AND mode IN ('ShareLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""
"""Locks that keep others from writing, or even from reading, these tables. A reference from a new table takes a
weaker one for a moment; were it longer, whoever writes meanwhile would run into a lock_timeout."""


def digests(url: str) -> list[object]:
    with psycopg.connect(url) as connection:
        return [connection.execute(DIGEST.format(table).encode()).fetchone() for table in LARGE]


def test_an_upgrade_of_100_000_messages_keeps_every_byte_and_locks_nobody_out(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    assert migrate.upgrade(url, to=REVISIONS[0]) == REVISIONS[:1]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FILL.format(messages=MESSAGES).encode())
    before = digests(url)
    assert before[1] is not None
    over, strong, written = threading.Event(), set[str](), 0

    def watch() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not over.is_set():
                strong.update(row[0] for row in connection.execute(STRONG, [list(LARGE)]))

    def write() -> int:
        """A user who goes on: nothing of it stays, so that what was there can be compared."""
        rounds = 0
        with psycopg.connect(url) as connection:
            connection.execute("SET lock_timeout = '1s'")
            while not over.is_set():
                connection.execute(
                    "UPDATE rejoinder.conversation SET title = title || '.' WHERE id = 'chat-1'"
                )
                connection.execute("UPDATE rejoinder.part SET text_state = 'done' WHERE message = 1")
                connection.rollback()
                rounds += 1
        return rounds

    with ThreadPoolExecutor(2) as pool:
        watching, writing = pool.submit(watch), pool.submit(write)
        try:
            assert migrate.upgrade(url) == REVISIONS[1:]
        finally:
            over.set()
        watching.result()
        written = writing.result()
    assert strong == set()
    assert written > 0
    assert digests(url) == before
    migrate.check(url)


def test_an_upgrade_is_done_once_and_is_nothing_the_second_time(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    assert migrate.upgrade(url) == REVISIONS
    assert migrate.upgrade(url) == ()
    assert migrate.check(url) == migrate.Version(REVISIONS[-1], ())


def test_of_many_who_upgrade_at_once_one_does(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    with ThreadPoolExecutor(6) as pool:
        ran = list(pool.map(migrate.upgrade, [url] * 6))
    assert sorted(ran) == [()] * 5 + [REVISIONS]
    migrate.check(url)


def test_whoever_waits_too_long_for_another_who_upgrades_is_told(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('rejoinder migrates rejoinder', 0))")
        with pytest.raises(StoreUnavailable, match="pg_terminate_backend"):
            migrate.upgrade(url, turn_seconds_max=0.2)
    assert migrate.upgrade(url) == REVISIONS


def test_a_table_that_somebody_holds_is_waited_for_without_holding_up_others(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The migration lets go and tries again: nobody queues behind it for longer than its lock_timeout."""
    monkeypatch.setattr(migrate, "ATTEMPT_PAUSE_SECONDS", 0.1)
    url = postgres.fresh(with_tables=False)
    migrate.upgrade(url, to=REVISIONS[1])
    with psycopg.connect(url) as holder:
        holder.execute("LOCK TABLE rejoinder.turn IN ACCESS EXCLUSIVE MODE")
        let_go = threading.Timer(2.5, holder.rollback)  # longer than the migration waits in one attempt
        let_go.start()
        assert migrate.upgrade(url) == REVISIONS[2:]
        let_go.join()
    migrate.check(url)


@pytest.mark.parametrize("schema", ["rejoinder", "Chat-2"])
def test_the_script_makes_what_an_upgrade_makes(postgres: Databases, schema: str, tmp_path: Path) -> None:
    by_script, by_upgrade = (postgres.fresh(with_tables=False) for _ in range(2))
    with psycopg.connect(by_script, autocommit=True) as connection:
        _run_script(connection, migrate.upgrade_sql(schema=schema))
    migrate.upgrade(by_upgrade, schema=schema)
    with session(by_script) as one, session(by_upgrade) as other:
        assert structure(one, schema) == structure(other, schema)
    migrate.check(by_script, schema=schema)
    assert migrate.upgrade(by_script, schema=schema) == ()


def test_a_script_can_begin_at_a_revision(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    migrate.upgrade(url, to=REVISIONS[0])
    with psycopg.connect(url, autocommit=True) as connection:
        _run_script(connection, migrate.upgrade_sql(start=REVISIONS[0]))
    migrate.check(url)


def _run_script(connection: psycopg.Connection[tuple[object, ...]], script: str) -> None:
    """As psql does: each statement by itself, and the body of a function as one text."""
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    for statement in re.split(r";\n(?=(?:[^$]*\$function\$[^$]*\$function\$)*[^$]*\Z)", "\n".join(lines)):
        if statement.strip():
            connection.execute(statement.strip().removesuffix(";").encode())


def test_an_index_that_an_interrupted_upgrade_left_broken_is_built_anew(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    migrate.upgrade(url, to=REVISIONS[0])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE INDEX part_search ON rejoinder.part (type)")
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rejoinder.part_search'::regclass"
        )
    assert migrate.upgrade(url) == REVISIONS[1:]
    migrate.check(url)


@pytest.mark.parametrize(
    "damage",
    [
        "ALTER TABLE rejoinder.part DROP CONSTRAINT part_text_text_is_there",
        "DROP INDEX rejoinder.turn_live",
        "ALTER TABLE rejoinder.message ALTER COLUMN role DROP NOT NULL",
        "DROP VIEW rejoinder.tool_days",
        "DROP TRIGGER turn_doubts_day ON rejoinder.turn",
        "ALTER TABLE rejoinder.message DROP COLUMN model",
    ],
)
def test_what_was_changed_by_hand_is_found(postgres: Databases, damage: str) -> None:
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(damage.encode())
    with pytest.raises(StoreMisconfigured, match="changed by hand"):
        migrate.check(url)
    migrate.check(url, thorough=False)


def test_what_users_add_is_theirs(postgres: Databases) -> None:
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE rejoinder.theirs (id int)")
        connection.execute("CREATE INDEX of_theirs ON rejoinder.message (model)")
        connection.execute("ALTER TABLE rejoinder.conversation ADD COLUMN theirs text")
    migrate.check(url)


def test_a_user_without_the_right_to_create_is_told(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE visitor LOGIN")
    try:
        with pytest.raises(StoreError) as told:
            migrate.upgrade(url.replace("rejoinder@", "visitor@", 1))
        assert isinstance(told.value, StoreMisconfigured)
        assert "Grant" in str(told.value)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP ROLE visitor")


ENV: Final = """
from alembic import context
from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine
from rejoinder.stores.postgres import migrate

theirs = MetaData()
Table("customer", theirs, Column("id", Integer, primary_key=True), Column("name", Text))

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
migrate.upgrade(engine)
with engine.connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=theirs,
        include_schemas=True,
        include_object=migrate.include_object(),
    )
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""


@pytest.fixture
def theirs(postgres: Databases, tmp_path: Path) -> tuple[Config, str]:
    """A user's own Alembic environment, as `docs/stores.md` says to write it."""
    url = postgres.fresh(with_tables=False)
    config = Config(str(tmp_path / "alembic.ini"), stdout=io.StringIO())
    folder = tmp_path / "alembic"
    command.init(config, str(folder))
    (folder / "env.py").write_text(ENV, "utf-8")
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", url.replace("postgresql:", "postgresql+psycopg:", 1))
    return config, url


def test_our_tables_live_in_the_users_alembic_environment_and_autogenerate_leaves_them_alone(
    theirs: tuple[Config, str],
) -> None:
    config, url = theirs
    made = command.revision(config, "theirs", autogenerate=True)
    assert made is not None
    assert not isinstance(made, list)
    said, _, _ = Path(made.path).read_text("utf-8").partition("def downgrade")
    assert "create_table('customer'" in said
    assert "drop_table" not in said
    assert "index" not in said
    command.upgrade(config, "head")
    command.check(config)
    migrate.check(url)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO customer (name) VALUES ('ada')")
        # Two records, each of its own migrations.
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM rejoinder.migration").fetchone() == (1,)


def test_an_engine_of_the_users_is_left_as_it_was(postgres: Databases) -> None:
    url = postgres.fresh(with_tables=False)
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1), pool_size=1, max_overflow=0)
    try:
        with engine.connect() as connection:
            before = connection.exec_driver_sql("SHOW search_path").scalar()
        assert before != "pg_catalog"
        migrate.upgrade(engine)
        with engine.connect() as connection:
            path = connection.exec_driver_sql("SHOW search_path").scalar()
            timeout = connection.exec_driver_sql("SHOW lock_timeout").scalar()
        assert (path, timeout) == (before, "0")
    finally:
        engine.dispose()
