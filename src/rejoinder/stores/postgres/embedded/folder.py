"""What lies where in a server's folder, and which folder is meant when none is named.

<home>/postgres/18/          0700, one server
    data/                    PGDATA; appears at once, when it is complete
    making/                  a data folder in the making; left behind only by a killed start
    socket/                  0700, the only way in
    server.log, server.log.1
    starting.lock            held by whoever starts or stops the server
    living.lock              held by the server itself, see server.py
"""

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.errors import ServerFolderUnusable

PORT: Final = 5432
"""Part of the socket's name only: no TCP port is opened."""

SOCKET_NAME: Final = f".s.PGSQL.{PORT}"
SOCKET_PATH_BYTES_MAX: Final = 103 if sys.platform == "darwin" else 107
"""The kernel's `sun_path`, less the closing NUL."""

LOG_BYTES_MAX: Final = 5 * 1024 * 1024
"""A longer log is put aside at the next start: enough to see what happened, and one disk never fills."""

TAIL_BYTES_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """The paths of one server. The root is absolute and without symbolic links: processes compare it."""

    root: Path

    @property
    def data(self) -> Path:
        """PGDATA."""
        return self.root / "data"

    @property
    def making(self) -> Path:
        """A data folder that is not complete yet."""
        return self.root / "making"

    @property
    def log(self) -> Path:
        """What the server writes to its standard error."""
        return self.root / "server.log"

    @property
    def starting_lock(self) -> Path:
        """Held while somebody changes whether the server runs."""
        return self.root / "starting.lock"

    @property
    def living_lock(self) -> Path:
        """Held as long as one process of the server lives."""
        return self.root / "living.lock"

    @property
    def socket(self) -> Path:
        """The folder of the socket: in the root, or a short one where the name would be too long."""
        inside = self.root / "socket"
        # libpq takes a comma in a host for the border between two hosts.
        if len(os.fsencode(inside / SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX and "," not in str(inside):
            return inside
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path(tempfile.gettempdir()).resolve() / f"rejoinder-{name}"

    def major(self) -> int | None:
        """The major version that the data were made by; none where there are no data yet."""
        try:
            return int((self.data / "PG_VERSION").read_text().strip())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise self._unusable(f"the version of the data cannot be read: {error}") from error

    def prepare(self) -> None:
        """Make the root, for the owner only, and see that what is in it can be ours."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.root.stat().st_uid == os.geteuid():
                self.root.chmod(0o700)
            foreign = self.major() is None and self.data.exists() and any(self.data.iterdir())
        except OSError as error:
            raise self._unusable(f"the folder cannot be made or used: {error.strerror}") from error
        if foreign:
            raise self._unusable("the folder 'data' is not empty and holds no database")
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise self._unusable("the folder is not writable for this user")

    def prepare_socket(self, owner: int, group: int) -> None:
        """Make the socket's folder, and refuse one that somebody else put there to listen in."""
        socket = self.socket
        try:
            socket.mkdir(mode=0o700, exist_ok=True)
            found = socket.lstat()
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
            if not private or found.st_uid not in (owner, os.geteuid()):
                raise ServerFolderUnusable(
                    "the socket's folder is not a private folder of the server's user",
                    where=str(socket),
                    way_out="Remove it, or set REJOINDER_HOME to a shorter path.",
                )
            if found.st_uid != owner:
                os.chown(socket, owner, group)
        except OSError as error:
            raise self._unusable(f"the socket's folder cannot be made: {error.strerror}") from error

    def remove_short_socket(self) -> None:
        """Leave nothing behind outside of the root; the next start makes it again."""
        if not self.socket.is_relative_to(self.root):
            with contextlib.suppress(OSError):
                self.socket.rmdir()

    def open_log(self) -> int:
        """Open the log for the server to append to; a long one is put aside first."""
        try:
            if self.log.exists() and self.log.stat().st_size > LOG_BYTES_MAX:
                self.log.replace(self.log.with_name("server.log.1"))
            return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(f"the log cannot be opened: {error.strerror}") from error

    def log_tail(self, begin: int) -> str:
        """The end of what was logged from there on."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(begin, log.seek(0, os.SEEK_END) - TAIL_BYTES_MAX))
                return log.read(TAIL_BYTES_MAX).decode(errors="replace").strip() or "(nothing)"
        except OSError as error:
            return f"(log unreadable: {error.strerror})"

    def _unusable(self, what: str) -> ServerFolderUnusable:
        return ServerFolderUnusable(
            what,
            where=str(self.root),
            way_out="Set REJOINDER_HOME to a folder of your own, or DATABASE_URL to a server of yours.",
        )


def home(environment: Mapping[str, str]) -> Path:
    """The folder of everything that Rejoinder keeps: REJOINDER_HOME, else where XDG puts data."""
    chosen = environment.get("REJOINDER_HOME")
    if chosen:
        return Path(chosen).expanduser()
    xdg = Path(environment.get("XDG_DATA_HOME", ""))
    if xdg.is_absolute():  # The XDG specification says to ignore a relative one.
        return xdg / "rejoinder"
    try:
        return Path.home() / ".local" / "share" / "rejoinder"
    except RuntimeError as error:
        raise ServerFolderUnusable(
            "this user has no home folder",
            where="HOME",
            way_out="Set REJOINDER_HOME to a folder to keep data in.",
        ) from error


def newest_with_data(parent: Path) -> ServerFolder | None:
    """The folder of the newest version that has data: what was kept is found again after an upgrade."""
    try:
        majors = sorted(int(entry.name) for entry in parent.iterdir() if entry.name.isdecimal())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ServerFolderUnusable(
            f"the folder cannot be read: {error.strerror}",
            where=str(parent),
            way_out="Set REJOINDER_HOME to a folder of your own, or DATABASE_URL to a server of yours.",
        ) from error
    for major in reversed(majors):
        folder = ServerFolder((parent / str(major)).resolve())
        if folder.major() is not None:
            return folder
    return None
