"""`rejoinder db` as a shell drives it: the embedded server, one of one's own, and all that can be wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rejoinder.stores.postgres import embedded
from tests.cli.filters import Ran
from tests.stores.databases import Databases, server

WITHOUT = {"DATABASE_URL": "", "REJOINDER_HOME": "/dev/null/nowhere"}

NO_PROGRAMS = """
import sys
from pathlib import Path
from rejoinder import cli
from rejoinder.stores.postgres import embedded
start = embedded.start
embedded.start = lambda: start(Path({server!r}), binaries=Path({programs!r}))
sys.argv = ["rejoinder", "db", "start"]
cli.main()
"""


def db(*arguments: str, **environment: str) -> Ran:
    ran = subprocess.run(
        [sys.executable, "-m", "rejoinder", "db", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | WITHOUT | environment,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.fixture(scope="module")
def databases() -> Iterator[Databases]:
    """A server of our own, to spoil."""
    with server(None) as started:
        yield started


@pytest.fixture
def fresh(databases: Databases) -> Callable[[], str]:
    """Makes a database without tables."""
    return lambda: databases.fresh(with_tables=False)


def is_told(ran: Ran, *words: str) -> None:
    """One clear line, exit 1."""
    assert ran.code == 1, ran
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1, ran.err
    for word in words:
        assert word in ran.err, ran.err


def test_the_embedded_server_from_nothing_to_a_promoted_column_and_stopped(tmp_path: Path) -> None:
    home = {"REJOINDER_HOME": str(tmp_path)}
    told = db("url", **home)
    assert told.code == 0
    assert str(tmp_path) in told.out or "rejoinder-" in told.out
    try:
        is_told(db("check", **home), "no tables", "rejoinder db upgrade")
        made = db("upgrade", **home).out
        assert made.startswith("rejoinder: has now had rejoinder_0001, rejoinder_0002, rejoinder_0003")
        assert db("upgrade", **home).out == "rejoinder: up to date already\n"
        # `check` has started it, and `start` joins it.
        assert db("start", **home).out == told.out
        with psycopg.connect(told.out.strip()) as connection:
            assert connection.execute("SELECT count(*) FROM rejoinder.message").fetchall() == [(0,)]
    finally:
        stopped = db("stop", **home)
    assert stopped.out == "stopped\n"
    assert db("stop", **home).out == "it did not run\n"


def test_a_database_of_ones_own_by_option_or_by_variable(fresh: Callable[[], str]) -> None:
    place = fresh()
    assert db("url", DATABASE_URL=place).out == f"{place}\n"
    assert db("upgrade", "--database", place, "--schema", "Chat-2").code == 0
    assert db("check", "--schema", "Chat-2", DATABASE_URL=place).out.startswith("Chat-2: as it should be")
    is_told(db("check", DATABASE_URL=place), "'rejoinder' has no tables")


def test_promotions_are_made_listed_and_dropped(databases: Databases) -> None:
    place = databases.fresh()
    fields = ("--field", "input.action:text", "--field", "output:json")
    made = db("promote", "tool", "confirmAction", *fields, "--database", place)
    assert made.out == "tool_confirmAction_input_action: promoted\ntool_confirmAction_output: promoted\n"
    again = db("promote", "tool", "confirmAction", *fields[:2], "--database", place)
    assert again.out == "tool_confirmAction_input_action: was promoted already\n"
    assert db("promote", "data", "proposal", "--field", "status:text", "--database", place).code == 0
    dropped = db("promote", "drop", "tool_confirmAction_output", "--database", place)
    assert dropped.out == "tool_confirmAction_output: dropped\n"
    assert db("promote", "list", "--database", place).out.splitlines() == [
        "data_proposal_status\tdata\tproposal\tstatus\ttext",
        "tool_confirmAction_input_action\ttool\tconfirmAction\tinput.action\ttext",
    ]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("promote", "tool", "x", "--field", "input.a"), "a path and a type"),
        (("promote", "tool", "x", "--field", "input.a:varchar"), "text, integer, number, boolean, json"),
        (("promote", "tool", "x", "--field", "a:text"), "begins with one"),
        (("promote", "data", "a b", "--field", "x:text"), "--column"),
        (("sql", "--from", "nothing"), "nothing"),
        (("promote", "tool", "x"), "--field"),
    ],
)
def test_wrong_use_is_exit_2(arguments: tuple[str, ...], word: str) -> None:
    ran = db(*arguments)
    assert ran.code == 2, ran
    assert word in ran.err


def test_the_script_makes_the_same_tables(fresh: Callable[[], str]) -> None:
    place = fresh()
    script = db("sql")
    with psycopg.connect(place, autocommit=True) as connection:
        # psql runs statement by statement; so do we.
        for statement in script.out.split(";\n\n"):
            connection.execute(statement.encode())
    assert db("check", "--database", place).code == 0


def test_no_server_is_one_line() -> None:
    is_told(
        db("check", "--database", "postgresql://ada:secret@127.0.0.1:1/x"), "cannot be reached", "127.0.0.1:1"
    )
    assert "secret" not in db("check", "--database", "postgresql://ada:secret@127.0.0.1:1/x").err


def test_an_url_that_is_none_is_one_line() -> None:
    is_told(db("upgrade", "--database", "mysql://ada:secret@host/x"), "cannot be read")


def test_a_wrong_password_is_one_line(databases: Databases, fresh: Callable[[], str]) -> None:
    place = fresh()
    with psycopg.connect(databases.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        (rules,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        Path(rules).write_text("local all locked scram-sha-256\nlocal all all trust\n", "utf-8")
        connection.execute("SELECT pg_reload_conf()")
    wrong = place.replace("rejoinder@", "locked:wrong-secret@", 1)
    ran = db("upgrade", "--database", wrong)
    is_told(ran, "password")
    assert "wrong-secret" not in ran.err


def test_a_database_that_only_reads_is_one_line(databases: Databases, fresh: Callable[[], str]) -> None:
    place = fresh()
    name = place.rpartition("?")[0].rpartition("/")[2]
    with psycopg.connect(databases.url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    is_told(db("upgrade", "--database", place), "read-only", "allow this one to write")


def test_tables_of_a_newer_release_are_one_line(databases: Databases) -> None:
    place = databases.fresh()
    with psycopg.connect(place) as connection:
        connection.execute("UPDATE rejoinder.migration SET version_num = 'rejoinder_9999'")
    for command in ("upgrade", "check"):
        is_told(db(command, "--database", place), "too new", "Install a newer Rejoinder")


def test_a_home_that_cannot_be_is_one_line() -> None:
    for command in ("start", "upgrade"):
        is_told(db(command), "/dev/null/nowhere", "REJOINDER_HOME")


def test_a_platform_without_programs_is_one_line(tmp_path: Path) -> None:
    # The command's own error path: no folder here holds the programs.
    with pytest.raises(embedded.ServerBinariesMissing) as raised:
        embedded.start(tmp_path / "server", binaries=tmp_path)
    program = NO_PROGRAMS.format(server=str(tmp_path / "server"), programs=str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [str(raised.value)]
    assert "DATABASE_URL" in ran.stderr
