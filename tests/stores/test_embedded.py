"""The embedded PostgreSQL keeps its promises: real servers, real signals, as root and as somebody else."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from rejoinder.stores.postgres.embedded import (
    Running,
    ServerBinariesMissing,
    ServerFolderUnusable,
    ServerNotStarted,
    ServerVersionMismatch,
    default_folder,
    start,
    status,
    stop,
    url,
)
from tests.stores.embedded_processes import (
    NOBODY,
    answer_of,
    files_of,
    heard,
    memory,
    plant,
    processes_of,
    remember,
    starter,
    stranger,
    tell,
    wait_until,
)


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with a short name that every user can enter; at the end no process has anything in it open."""
    root = Path(tempfile.mkdtemp(prefix="rj-", dir="/tmp")).resolve()
    root.chmod(0o755)
    try:
        yield root
        for lock in root.rglob("living.lock"):
            stop(lock.parent)
        assert processes_of(root) == []
    finally:
        for pid in processes_of(root):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(root)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A folder whose data are made, its server stopped: the start after the first."""
    made = Path(tempfile.mkdtemp(prefix="rj-", dir="/tmp")).resolve()
    try:
        start(made)
        stop(made)
        yield made
        assert processes_of(made) == []
    finally:
        for pid in processes_of(made):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(made)


@pytest.fixture
def folder(made: Path, root: Path) -> Path:
    """A stopped server's folder of one's own, with data."""
    return Path(shutil.copytree(made, root / "server", ignore=shutil.ignore_patterns("*.lock")))


def test_a_first_start_makes_a_private_durable_server_and_a_stop_leaves_nothing(root: Path) -> None:
    place = root / "home" / "postgres"
    server = start(place)
    assert server.started_by_us
    assert server.folder == place
    with psycopg.connect(server.url) as connection:
        for setting, value in (("listen_addresses", ""), ("fsync", "on"), ("synchronous_commit", "on")):
            assert connection.execute("select current_setting(%s)", [setting]).fetchone() == (value,)
        assert connection.execute("show server_encoding").fetchone() == ("UTF8",)
    for private in (place, place / "data", place / "socket"):
        assert private.stat().st_mode & 0o777 == 0o700
    assert stop(place)
    assert processes_of(place) == []
    assert not stop(place)
    assert status(place) is None


def test_later_starters_join_and_find_the_same_server(folder: Path) -> None:
    first = start(folder)
    second = start(folder)
    third = heard(starter(folder))
    assert (second.started_by_us, third["started_by_us"]) == (False, False)
    assert {first.pid, second.pid, third["pid"]} == {first.pid}
    assert {first.url, second.url, third["url"], url(folder)} == {first.url}


def test_twenty_processes_that_start_at_once_get_one_server(root: Path) -> None:
    place = root / "server"
    answers = [heard(process) for process in [starter(place) for _ in range(20)]]
    assert len({answer["pid"] for answer in answers}) == 1
    assert sum(answer["started_by_us"] for answer in answers) == 1


def test_two_processes_that_start_at_once_get_one_server_in_every_round(folder: Path) -> None:
    with starter(folder) as one, starter(folder) as two:
        for _ in range(20):
            first, second = answer_of(one), answer_of(two)
            assert first["pid"] == second["pid"]
            assert first["started_by_us"] is not second["started_by_us"]
            assert stop(folder)
            tell(one, folder)
            tell(two, folder)
        # Told once more than asked: they leave a server for the end to stop.
        assert heard(one)["pid"] == heard(two)["pid"]


def test_a_server_survives_the_kill_of_its_starter(folder: Path) -> None:
    with starter(folder) as parent:
        said = answer_of(parent)
        assert os.getsid(said["pid"]) != os.getsid(parent.pid)
        parent.kill()
    with psycopg.connect(said["url"]) as connection:
        connection.execute("select 1")
    assert start(folder).pid == said["pid"]


def test_a_starter_killed_at_any_step_of_the_first_start_leaves_nothing_half_done(root: Path) -> None:
    for number, seen in enumerate(("starting.lock", "making/base", "data", "data/postmaster.pid")):
        place = root / str(number)
        with starter(place) as parent:
            wait_until((place / seen).exists)
            parent.kill()
        server = start(place)
        assert not (place / "making").exists()
        remember(server, "kept")
        assert memory(start(place).url) == ["kept"]
        assert stop(place)


def test_a_half_made_data_folder_is_made_again(root: Path) -> None:
    half = root / "making" / "base"
    half.mkdir(parents=True)
    (root / "making" / "PG_VERSION").write_text("18\n")
    remember(start(root), "kept")
    assert not (root / "making").exists()


def test_a_killed_server_recovers_at_the_next_start_with_its_data(folder: Path) -> None:
    server = start(folder)
    for word in ("first", "second"):
        remember(server, word)
        os.kill(server.pid, signal.SIGKILL)
        server = start(folder)
        assert server.started_by_us
    assert memory(server.url) == ["first", "second"]


def test_a_start_waits_for_the_last_orphan_of_a_killed_server(folder: Path) -> None:
    server = start(folder)
    with psycopg.connect(server.url, autocommit=True) as connection:
        orphan = connection.info.backend_pid
        os.kill(orphan, signal.SIGSTOP)  # Too busy to notice that its server is gone.
        os.kill(server.pid, signal.SIGKILL)
        with starter(folder) as waiting:
            wait_until(lambda: folder / "starting.lock" in files_of(waiting.pid))
            assert orphan in processes_of(folder)
            assert status(folder) is None
            assert waiting.poll() is None
            os.kill(orphan, signal.SIGCONT)
            said = heard(waiting)
    assert said["started_by_us"]
    assert orphan not in processes_of(folder)


def test_a_stranger_with_the_pid_of_a_dead_server_is_never_signalled(folder: Path) -> None:
    server = start(folder)
    remember(server, "kept")
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: processes_of(folder) == [])
    with stranger() as sleep:
        plant(folder, sleep.pid)
        assert status(folder) is None
        assert not stop(folder)
        server = start(folder)
        assert memory(server.url) == ["kept"]
        plant(folder, sleep.pid)
        assert sleep.poll() is None
        # Put right again, so that the server can be stopped at all.
        plant(folder, server.pid)
        assert stop(folder)
        assert sleep.poll() is None


def test_another_folders_server_with_the_pid_of_a_dead_one_is_never_signalled(
    folder: Path, root: Path
) -> None:
    other = start(Path(shutil.copytree(folder, root / "other")))
    plant(folder, other.pid)
    assert status(folder) is None
    assert not stop(folder)
    ours = start(folder)
    assert ours.pid != other.pid
    assert stop(folder)
    assert status(other.folder) == Running(other.url, other.folder, other.pid, started_by_us=False)


def test_a_damaged_pid_file_stops_nobody(folder: Path) -> None:
    for damage in (
        b"",
        b"\n\n",
        b"-1\n",
        b"\xff\xfe",
        b"999999999999999999999\n/x\n1\n5432\n/x\n\n\nready\n",
    ):
        (folder / "data" / "postmaster.pid").write_bytes(damage)
        assert status(folder) is None
        assert start(folder).started_by_us
        assert stop(folder)


def test_a_copied_folder_gets_a_server_of_its_own(folder: Path, root: Path) -> None:
    original = start(folder)
    ignored = shutil.ignore_patterns(".s.PGSQL*")
    copy = Path(shutil.copytree(folder, root / "copy", ignore=ignored))
    assert start(copy).pid != original.pid


def test_a_folder_whose_name_is_too_long_or_means_something_to_postgres_works(
    folder: Path, root: Path
) -> None:
    for name in ("x" * 120, "a, b", 'it\'s "50 %" & co; $(x) \\ é'):
        place = folder.rename(root / name)
        server = start(place)
        listens = Path(server.url.partition("host=")[2].partition("&")[0])
        remember(server, name)
        joined = heard(starter(place, XDG_RUNTIME_DIR="/nowhere", TMPDIR="/nowhere"))
        assert joined["url"] == server.url
        assert name in memory(server.url)
        assert stop(place)
        assert not listens.exists() or listens.is_relative_to(root)
        folder = place


def test_a_folder_that_cannot_be_one_says_so(root: Path) -> None:
    (root / "file").write_text("")
    (root / "full" / "data").mkdir(parents=True)
    (root / "full" / "data" / "thesis.txt").write_text("years of work")
    for place in (root / "file", root / "file" / "below", root / "full", root / "line\nbreak"):
        with pytest.raises(ServerFolderUnusable) as raised:
            start(place)
        assert raised.value.way_out
    assert (root / "full" / "data" / "thesis.txt").exists()


def test_missing_programs_are_named_with_the_way_out(root: Path) -> None:
    with pytest.raises(ServerBinariesMissing, match="DATABASE_URL") as raised:
        start(root / "server", binaries=root)
    assert raised.value.code == "embedded_server.binaries_missing"


def test_data_of_another_version_are_neither_touched_nor_passed_over(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REJOINDER_HOME", str(root))
    empty = default_folder()
    assert empty.parent == root / "postgres"
    assert not empty.exists()
    old = root / "postgres" / "9" / "data"
    old.mkdir(parents=True)
    (old / "PG_VERSION").write_text("9\n")
    with pytest.raises(ServerVersionMismatch, match="PostgreSQL 9"):
        start()
    assert [path.name for path in old.iterdir()] == ["PG_VERSION"]


def test_without_a_folder_everything_happens_under_the_home(
    folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("REJOINDER_HOME", root / "home"), ("XDG_DATA_HOME", root / "xdg")):
        monkeypatch.setenv(name, str(value))
        place = default_folder()
        assert place.is_relative_to(value)
        assert not stop()
        place.parent.mkdir(parents=True)
        folder = folder.rename(place)
        server = start()
        assert (server.folder, server.url) == (place, url())
        assert stop()
        monkeypatch.delenv(name)


def test_a_server_that_cannot_start_shows_what_it_logged(folder: Path) -> None:
    with (folder / "data" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(ServerNotStarted, match="no_such_setting"):
        start(folder)
    assert processes_of(folder) == []


def test_a_long_log_is_put_aside(folder: Path) -> None:
    with (folder / "server.log").open("wb") as log:
        log.truncate(6 * 1024 * 1024)
    start(folder)
    assert (folder / "server.log.1").stat().st_size == 6 * 1024 * 1024
    assert (folder / "server.log").stat().st_size < 100_000


def test_a_server_keeps_none_of_its_starters_secrets(folder: Path) -> None:
    said = heard(starter(folder, OPENAI_API_KEY="hush", PGPORT="1", PGOPTIONS="-c fsync=off"))
    kept = Path(f"/proc/{said['pid']}/environ").read_bytes()
    assert b"hush" not in kept
    assert b"PGPORT" not in kept


if (
    os.geteuid() == 0
):  # Only root can be somebody else; everybody else has run all of this as an ordinary user.

    def server_user(pid: int) -> int:
        return Path(f"/proc/{pid}").stat().st_uid

    def test_an_ordinary_user_has_a_server_and_cannot_have_one_in_anothers_folder(root: Path) -> None:
        mine = root / "mine"
        mine.mkdir()
        os.chown(mine, 65534, 65534)
        said = heard(starter(mine / "server", prefix=NOBODY))
        assert server_user(said["pid"]) == 65534
        assert heard(starter(mine / "server", prefix=NOBODY))["pid"] == said["pid"]
        for place in (root, root / "new"):
            refused = heard(starter(place, prefix=NOBODY))
            assert refused["code"] == "embedded_server.folder_unusable"
            assert "REJOINDER_HOME" in refused["text"]
        theirs = start(root / "theirs")
        assert heard(starter(theirs.folder, prefix=NOBODY))["code"] == "embedded_server.folder_unusable"
        # Root runs another's folder as that user, and takes nothing over.
        assert stop(mine / "server")
        assert server_user(start(mine / "server").pid) == 65534

    def test_a_user_whom_the_system_does_not_know_gets_a_server_or_the_way_out(root: Path) -> None:
        place = root / "server"
        place.mkdir()
        os.chown(place, 54321, 54321)
        unknown = tuple(word.replace("65534", "54321") for word in NOBODY)
        said = heard(starter(place, prefix=unknown))
        if "pid" in said:
            assert server_user(said["pid"]) == 54321
        else:  # Where user namespaces are forbidden.
            assert said["code"] == "embedded_server.account_missing"

    def test_root_without_namespaces_runs_the_server_as_nobody(folder: Path, root: Path) -> None:
        server = start(folder)
        remember(server, "kept")
        assert stop(folder)
        # What a container that forbids namespaces does, with its own words.
        programs = root / "programs"
        programs.mkdir()
        (programs / "unshare").write_text(
            "#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2; exit 1\n"
        )
        (programs / "unshare").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        said = heard(starter(folder, PATH=path))
        assert server_user(said["pid"]) == 65534
        assert memory(said["url"]) == ["kept"]
        assert stop(folder)
        # Namespaces are back: the folder stays with its owner.
        again = start(folder)
        assert server_user(again.pid) == 65534
        assert memory(again.url) == ["kept"]

    def test_root_without_namespaces_can_keep_its_data_where_only_root_enters(root: Path) -> None:
        hidden = root / "hidden"
        hidden.mkdir(mode=0o700)
        programs = root / "programs"
        programs.mkdir()
        for name in ("setpriv", "sleep"):
            (programs / name).symlink_to(shutil.which(name) or name)
        said = heard(starter(hidden / "server", PATH=str(programs)))
        assert server_user(said["pid"]) not in (0, os.geteuid())
        with psycopg.connect(said["url"]) as connection:
            connection.execute("create table memory (word text)")
        assert stop(hidden / "server")
        # Without setpriv there is no way in, and that is said.
        refused = heard(starter(hidden / "other", PATH="/nowhere"))
        assert refused["code"] == "embedded_server.account_missing"
        assert "REJOINDER_HOME" in refused["text"]
