"""The running server: what its pid file says, whether that is true, and how to signal it.

A pid in a file proves nothing: the process may be gone and its number may belong to a stranger. So a
server is *there* when its socket answers, *ours* when its command line names our data folder, and
*signalled* only through a handle that was taken before that was checked.
"""

import contextlib
import itertools
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.account import ServerAccount, environment
from rejoinder.stores.postgres.embedded.binaries import ServerBinaries
from rejoinder.stores.postgres.embedded.folder import PORT, SOCKET_NAME, ServerFolder

READY: Final = ("ready", "standby")
QUESTION: Final = struct.pack("!II", 8, 80877103)
"""PostgreSQL's SSLRequest: the one question that is answered (with a byte) before anybody logs in, and
after which a client may leave without a word in the server's log."""

ANSWER_SECONDS_MAX: Final = 5.0
"""A slower server counts as busy, and whoever waits for it asks again."""


@dataclass(frozen=True, slots=True)
class PostmasterRecord:
    """What a server wrote about itself into `postmaster.pid`."""

    pid: int
    data: Path
    socket: Path
    status: str

    def answers(self, data: Path) -> bool:
        """Whether this server serves these data and is ready, proved by its answer.

        A connection alone would prove less: the kernel accepts it for a server that is being killed.
        """
        if self.status not in READY or self.data.resolve() != data:
            return False
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(ANSWER_SECONDS_MAX)
            try:
                client.connect(str(self.socket / SOCKET_NAME))
                client.sendall(QUESTION)
                return bool(client.recv(1))
            except OSError:
                return False


def read_record(data: Path) -> PostmasterRecord | None:
    """The record, once it is complete enough to be of use."""
    try:
        lines = (data / "postmaster.pid").read_text(errors="surrogateescape").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(lines) < 5 or not lines[0].strip().isdecimal():
        return None
    status = lines[7].strip() if len(lines) > 7 else "starting"
    return PostmasterRecord(int(lines[0]), Path(lines[1]), Path(lines[4]), status)


def is_ours(pid: int, data: Path) -> bool:
    """Whether this process is the server of these data. A zombie has no command line and is nobody's."""
    words = _command_line(pid)
    if not words or Path(words[0]).name not in ("postgres", "postmaster"):
        return False
    return any(word == "-D" and Path(value) == data for word, value in itertools.pairwise(words))


def tell_to_stop(pid: int, data: Path) -> bool:
    """Ask for a fast shutdown; false, and no signal sent, when the process is not our server."""
    with contextlib.suppress(ProcessLookupError), _handle(pid) as handle:
        if is_ours(pid, data):
            if handle is not None and sys.platform == "linux":
                signal.pidfd_send_signal(handle, signal.SIGINT)
            else:
                os.kill(pid, signal.SIGINT)
            return True
    return False


def spawn(
    folder: ServerFolder, binaries: ServerBinaries, account: ServerAccount, *, log: int, living_lock: int
) -> None:
    """Start the server as a daemon: its own session, no parent, and the living lock in its hands.

    The shell in between ends at once, so the server is nobody's child: it leaves no zombie in a starter
    that lives on, and a starter that is killed takes nothing along.
    """
    # The server reads a list of folders here, in which only quotation marks protect.
    quoted = str(folder.socket).replace('"', '""')
    server = account.command(binaries.postgres, "-D", str(folder.data), "-c", f"port={PORT}")
    server += ["-c", f'unix_socket_directories="{quoted}"', "-c", "unix_socket_permissions=0700"]
    subprocess.run(  # noqa: S603  (the shell gets its words as arguments, not as text)
        ["/bin/sh", "-c", '"$@" &', "sh", *server],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment(),
        cwd="/",
        pass_fds=(living_lock,),
        start_new_session=True,
        user=account.user_to_become,
        group=account.group_to_become,
        extra_groups=account.groups_to_become,
        check=True,
    )


def remove_stale_files(folder: ServerFolder) -> None:
    """Remove what a killed server left. Only for a caller who holds the starting and the living lock.

    The server would refuse to start when the pid in one of these files belongs to any living process
    today. Its reason is a possible orphan of the killed server; the living lock has ruled that out.
    """
    for path in (folder.data / "postmaster.pid", folder.socket / f"{SOCKET_NAME}.lock"):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _handle(pid: int) -> Generator[int | None]:
    """A handle that stays with the process even when its number is given to another.

    None where the system has none; there the moment between looking and signalling stays open.
    """
    handle: int | None = None
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            raise
        except OSError:
            handle = None  # An old kernel or a sandbox without the call.
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _command_line(pid: int) -> Sequence[str]:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        if Path("/proc/self").exists():
            return ()
        return _command_line_from_ps(pid)
    return [os.fsdecode(word) for word in raw.split(b"\0")]


def _command_line_from_ps(pid: int) -> Sequence[str]:
    """Without /proc (macOS): words are split at blanks, so a folder with blanks is taken together again."""
    try:
        line = subprocess.run(  # noqa: S603  (a list of our own words)
            ["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ()
    program, _, rest = line.partition(" -D ")
    value, _, _ = rest.partition(" -c ")
    return (program, "-D", value) if rest else (program,)
