"""Start, join, find and stop the embedded PostgreSQL server.

Two locks carry the design. The *starting lock* is held by a process that changes whether the server runs:
of many starters one starts and the others, let in one by one, find it running. The *living lock* is
handed down to the server and all its children, and the kernel frees it when the last of them is gone. So
"nothing of the server lives" is a question to the kernel, not a guess from a pid file; it holds for a
server that was killed while a child of it still worked, for a pid that was given to a stranger, and for
two containers that share a folder and cannot see each other's processes.
"""

import enum
import os
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.account import choose_account
from rejoinder.stores.postgres.embedded.binaries import ServerBinaries, choose, places
from rejoinder.stores.postgres.embedded.cluster import DATABASE, SUPERUSER, make_data
from rejoinder.stores.postgres.embedded.errors import (
    EmbeddedServerError,
    ServerBinariesMissing,
    ServerBusy,
    ServerFolderUnusable,
    ServerNotStarted,
    ServerNotStopped,
)
from rejoinder.stores.postgres.embedded.folder import PORT, ServerFolder, home, newest_with_data
from rejoinder.stores.postgres.embedded.locks import Deadline, hold, is_held
from rejoinder.stores.postgres.embedded.postmaster import (
    PostmasterRecord,
    is_ours,
    read_record,
    remove_stale_files,
    spawn,
    tell_to_stop,
)

START_SECONDS_MAX: Final = 120.0
"""A start takes a fraction of a second; recovery after a crash may have 2 GB of log to read."""

STOP_SECONDS_MAX: Final = 60.0
"""A fast shutdown ends sessions at once and then writes a checkpoint."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running server."""

    url: str
    """For psycopg, SQLAlchemy (as `postgresql+psycopg`) and psql alike."""
    folder: Path
    pid: int
    started_by_us: bool
    """False where the server ran already or another process started it."""


class _Presence(enum.Enum):
    ABSENT = "absent"
    BUSY = "starting, stopping, or dying"
    READY = "ready"


def start(folder: Path | None = None, *, binaries: Path | None = None) -> Running:
    """Start the server of this folder, or join it where it runs; returns when it accepts connections.

    Without a folder it is the default one (see `default_folder`). `binaries` names the folder of the
    programs where they shall not be searched for. The server outlives this process; `stop` ends it.
    """
    _require_unix_system()
    candidates = places() if binaries is None else (binaries,)
    chosen: ServerBinaries | None = None
    place = _known_place(folder)
    if place is None:
        chosen = choose(candidates)
        place = ServerFolder((_default_parent() / str(chosen.major)).resolve())
    presence, record = _look(place)
    if presence is _Presence.READY and record is not None:
        return _running(place, record, started_by_us=False)
    place.prepare()
    deadline = Deadline(START_SECONDS_MAX)
    with hold(place.starting_lock, deadline) as starting_lock:
        record = _settled(place, deadline)
        if record is not None:
            return _running(place, record, started_by_us=False)
        if chosen is None:
            chosen = choose(candidates, major=place.major(), needed_by=place.root)
        record = _launch(place, chosen, starting_lock, deadline)
    return _running(place, record, started_by_us=True)


def stop(folder: Path | None = None) -> bool:
    """Stop the server of this folder and wait until its last process is gone; false when none ran."""
    _require_unix_system()
    place = _known_place(folder)
    if place is None:
        return False
    _look(place)  # Says so where the folder is somebody else's.
    if not place.root.is_dir():
        return False
    deadline = Deadline(STOP_SECONDS_MAX)
    with hold(place.starting_lock, deadline):
        presence, record = _look(place)
        ran = presence is not _Presence.ABSENT
        told: int | None = None
        while presence is not _Presence.ABSENT:
            if record is not None and record.pid != told and tell_to_stop(record.pid, place.data):
                told = record.pid
            if not deadline.pause():
                raise _not_stopped(place, told)
            presence, record = _look(place)
        place.remove_short_socket()
    return ran


def status(folder: Path | None = None) -> Running | None:
    """The server of this folder, where it accepts connections now."""
    _require_unix_system()
    place = _known_place(folder)
    if place is None:
        return None
    presence, record = _look(place)
    if presence is not _Presence.READY or record is None:
        return None
    return _running(place, record, started_by_us=False)


def url(folder: Path | None = None) -> str:
    """Where the server of this folder answers, or will answer once it is started; starts nothing."""
    running = status(folder)
    return running.url if running else _url((_known_place(folder) or ServerFolder(default_folder())).socket)


def default_folder() -> Path:
    """The folder that is meant when none is named.

    It is the newest with data under the home, else one for the version at hand. The home is
    REJOINDER_HOME, else `rejoinder` in the XDG data folder.
    """
    place = newest_with_data(_default_parent())
    return place.root if place else (_default_parent() / str(choose(places()).major)).resolve()


def _default_parent() -> Path:
    return home(os.environ) / "postgres"


def _known_place(folder: Path | None) -> ServerFolder | None:
    """The folder, as far as it can be told without looking for programs."""
    if folder is None:
        return newest_with_data(_default_parent())
    if "\n" in str(folder):  # The server writes its folder into a file of lines.
        raise ServerFolderUnusable(
            "the folder's name has a line break", where=repr(str(folder)), way_out="Choose another folder."
        )
    return ServerFolder(folder.expanduser().resolve())


def _look(place: ServerFolder) -> tuple[_Presence, PostmasterRecord | None]:
    try:
        record = read_record(place.data)
    except OSError as error:
        raise ServerFolderUnusable(
            f"the folder cannot be read: {error.strerror}",
            where=str(place.root),
            way_out="Run as its owner, or set REJOINDER_HOME to a folder of your own.",
        ) from error
    if record is not None and record.answers(place.data):
        return _Presence.READY, record
    if is_held(place.living_lock) or (record is not None and is_ours(record.pid, place.data)):
        return _Presence.BUSY, record
    return _Presence.ABSENT, record


def _settled(place: ServerFolder, deadline: Deadline) -> PostmasterRecord | None:
    """The running server, or nothing once nothing of a server lives."""
    while True:
        presence, record = _look(place)
        if presence is _Presence.READY:
            return record
        if presence is _Presence.ABSENT:
            return None
        if not deadline.pause():
            raise ServerBusy(
                f"a server holds this folder and has not become ready in {deadline.seconds:.0f} s",
                where=str(place.root),
                way_out=f"It may recover from a crash, or run in another container. Its log: {place.log}",
            )


def _launch(
    place: ServerFolder, binaries: ServerBinaries, starting_lock: int, deadline: Deadline
) -> PostmasterRecord:
    account = choose_account(place, binaries)
    if place.major() is None:
        make_data(place, binaries, account, starting_lock=starting_lock)
    place.prepare_socket(account.owner, account.group)
    log = place.open_log()
    try:
        begin = os.fstat(log).st_size
        with hold(place.living_lock, deadline) as living_lock:
            remove_stale_files(place)
            spawn(place, binaries, account, log=log, living_lock=living_lock)
    except (OSError, subprocess.SubprocessError) as error:
        raise _not_started(place, f"the server could not be run: {error}") from error
    finally:
        os.close(log)
    while True:
        presence, record = _look(place)
        if presence is _Presence.READY and record is not None:
            return record
        if presence is _Presence.ABSENT:
            raise _not_started(place, f"the server ended while it started: {place.log_tail(begin)}")
        if not deadline.pause():
            raise _not_started(
                place, f"the server was not ready after {deadline.seconds:.0f} s: {place.log_tail(begin)}"
            )


def _running(place: ServerFolder, record: PostmasterRecord, *, started_by_us: bool) -> Running:
    # The socket is read from the record, because a starter with another TMPDIR may have chosen another.
    return Running(_url(record.socket), place.root, record.pid, started_by_us)


def _url(socket: Path) -> str:
    return (
        f"postgresql://{SUPERUSER}@/{DATABASE}?host={urllib.parse.quote(str(socket), safe='/')}&port={PORT}"
    )


def _require_unix_system() -> None:
    if sys.platform == "win32":
        raise ServerBinariesMissing(
            "the embedded server needs Linux or macOS",
            where=sys.platform,
            way_out="Set DATABASE_URL to a PostgreSQL server of yours.",
        )


def _not_started(place: ServerFolder, what: str) -> EmbeddedServerError:
    return ServerNotStarted(
        what,
        where=str(place.root),
        way_out=f"Its log is {place.log}; or set DATABASE_URL to a server of yours.",
    )


def _not_stopped(place: ServerFolder, told: int | None) -> EmbeddedServerError:
    if told is None:
        return ServerNotStopped(
            "a server holds this folder, and its process cannot be seen from here",
            where=str(place.root),
            way_out="Stop it where it runs, perhaps in another container that shares the folder.",
        )
    return ServerNotStopped(
        f"the server (process {told}) was told to stop and still runs",
        where=str(place.root),
        way_out=f"Wait, look at its log {place.log}, or kill it: the next start recovers.",
    )
