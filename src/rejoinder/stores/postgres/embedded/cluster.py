"""Making the data folder: once, and whole or not at all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.account import ServerAccount
from rejoinder.stores.postgres.embedded.binaries import ServerBinaries
from rejoinder.stores.postgres.embedded.errors import ServerNotStarted
from rejoinder.stores.postgres.embedded.folder import ServerFolder

SUPERUSER: Final = "rejoinder"
DATABASE: Final = "postgres"
"""The one that initdb makes: a database of our own would cost another 50 ms and separate nothing,
because tables live in a schema of their own."""

MAJOR_WITH_BUILTIN_LOCALES: Final = 17

LINES_SHOWN_MAX: Final = 5
"""The last lines of initdb are about what went wrong, the many before about what went right."""

SETTINGS: Final = """
# What follows was set by Rejoinder when the folder was made. It is yours to change.
listen_addresses = ''           # the Unix socket only
search_path = 'public'          # "$user" in front would be our own schema, and your tables would land in it
max_connections = 200           # a few worker processes with a pool each
wal_compression = on
max_wal_size = 2GB              # streams of answers write much and seldom wait for a checkpoint
checkpoint_timeout = 15min
random_page_cost = 1.1          # solid-state disks
jit = off                       # short queries: compiling costs more than it saves
log_checkpoints = off           # keeps the log short
log_min_messages = warning
log_line_prefix = '%m [%p] '
"""
"""`fsync` and `synchronous_commit` stay on: what a user has seen must survive a power cut."""


def make_data(
    folder: ServerFolder, binaries: ServerBinaries, account: ServerAccount, *, starting_lock: int
) -> None:
    """Run initdb beside the place and rename the result into it.

    initdb's own sync to disk stays (150 ms of 450 on an ordinary disk): the rename says "complete", and
    without the sync a power cut could make that a lie. The child inherits the starting lock, so that
    when its starter is killed the next one waits for it instead of working beside it in one folder.
    """
    making = folder.making
    shutil.rmtree(making, ignore_errors=True)
    words = [binaries.initdb, "--pgdata", str(making), "--username", SUPERUSER, "--encoding=UTF8"]
    words += ["--auth-local=trust", "--auth-host=reject", *_locale(binaries.major)]
    try:
        making.mkdir(mode=0o700)
        if account.owner != os.geteuid():
            os.chown(making, account.owner, account.group)
        done = account.run(words, inherited=(starting_lock,))
        if done.returncode != 0:
            raise _failed(folder, "\n".join(done.stdout.strip().splitlines()[-LINES_SHOWN_MAX:]))
        _append_durably(making / "postgresql.conf", SETTINGS)
        making.rename(folder.data)
        _sync(folder.root)
    except (OSError, subprocess.SubprocessError) as error:
        raise _failed(folder, str(error)) from error


def _locale(major: int) -> list[str]:
    """Order by code point, and the case rules of Unicode.

    Built in where PostgreSQL has it: the system's locales change with the system, and then indexes lie.
    """
    # macOS has no C.UTF-8.
    words = ["--locale=C", "--lc-ctype=en_US.UTF-8"] if sys.platform == "darwin" else ["--locale=C.UTF-8"]
    if major >= MAJOR_WITH_BUILTIN_LOCALES:
        words += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return words


def _append_durably(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(folder: ServerFolder, output: str) -> ServerNotStarted:
    return ServerNotStarted(
        f"the data folder could not be made: {output}",
        where=str(folder.making),
        way_out="Mend what is said there (disk space, rights), or set REJOINDER_HOME or DATABASE_URL.",
    )
