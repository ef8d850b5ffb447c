"""Who the server runs as.

PostgreSQL refuses to run as root, and `initdb` refuses a user without an entry in the password file
(common in containers). No user is ever added to the system. In order of preference:

1. as ourselves, when we are an ordinary user;
2. in a user namespace in which our own id has another name: files stay ours, capabilities are gone;
3. as `nobody`, who is then given the folder, where namespaces are forbidden (most containers);
4. as `nobody` who may pass any folder, where folder or programs lie in a place that only root enters.

What works is found by trying: the candidate runs the real server program and looks at the real folder.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.binaries import ServerBinaries
from rejoinder.stores.postgres.embedded.errors import ServerAccountMissing, ServerFolderUnusable
from rejoinder.stores.postgres.embedded.folder import ServerFolder

ENVIRONMENT_KEPT: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
RUN_SECONDS_MAX: Final = 300
"""For initdb on the slowest disk; it takes half a second on an ordinary one."""

PROBE: Final = '"$0" --version >/dev/null && test -r "$1" && test -w "$1" && test -x "$1"'


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """An identity to run the server's programs under."""

    owner: int
    group: int
    """Who the files belong to, seen from outside."""
    prefix: tuple[str, ...] = ()
    """Goes before every command."""
    becomes: bool = False
    """Whether a child has to change its user before it runs the command."""

    def command(self, *words: str) -> list[str]:
        """The command line that runs these words under this identity."""
        return [*self.prefix, *words]

    def run(self, words: Sequence[str], *, inherited: Sequence[int] = ()) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, as the leader of a session of its own: no Ctrl-C reaches it."""
        return subprocess.run(  # noqa: S603  (a list of our own words)
            self.command(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment(),
            cwd="/",
            pass_fds=inherited,
            start_new_session=True,
            user=self.user_to_become,
            group=self.group_to_become,
            extra_groups=self.groups_to_become,
            timeout=RUN_SECONDS_MAX,
            check=False,
        )

    @property
    def user_to_become(self) -> int | None:
        """The user that a child turns into, if it has to."""
        return self.owner if self.becomes else None

    @property
    def group_to_become(self) -> int | None:
        """The group that goes with it."""
        return self.group if self.becomes else None

    @property
    def groups_to_become(self) -> tuple[int, ...] | None:
        """No further groups: the starter's would open doors that this user has no key to."""
        return () if self.becomes else None


def environment() -> dict[str, str]:
    """The server's environment: it outlives its starter and must not keep the starter's keys."""
    kept = {name: os.environ[name] for name in ENVIRONMENT_KEPT if name in os.environ}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def choose_account(folder: ServerFolder, binaries: ServerBinaries) -> ServerAccount:
    """The first identity that can run these programs on this folder; may give the folder to `nobody`."""
    ourselves = os.geteuid()
    owner = _owner(folder)
    if ourselves != 0:
        if folder.data.exists() and owner != ourselves:
            raise ServerFolderUnusable(
                f"the data belong to user {owner} and we are user {ourselves}",
                where=str(folder.root),
                way_out="Run as their owner, or set REJOINDER_HOME to a folder of your own.",
            )
        if _is_known(ourselves):
            return ServerAccount(ourselves, os.getegid())
    others = ourselves == 0 and owner != 0
    candidates = _dropped(owner, folder.root.stat().st_gid) if others else _namespaced()
    for account in candidates:
        if _works(account, folder, binaries):
            return account
    if ourselves == 0 and owner == 0:
        return _given_to_nobody(folder, binaries)
    raise ServerAccountMissing(
        "PostgreSQL needs an ordinary user that has an entry in the password file, and none could be taken",
        where=f"user {ourselves}, folder {folder.root}",
        way_out="Run as an ordinary user with an entry in /etc/passwd, or set DATABASE_URL to a server.",
    )


def _namespaced() -> Iterator[ServerAccount]:
    unshare, somebody = shutil.which("unshare"), _somebody()
    if unshare and somebody:
        user, group = somebody
        words = (unshare, "--user", f"--map-user={user}", f"--map-group={group}", "--")
        yield ServerAccount(os.geteuid(), os.getegid(), words)


def _dropped(user: int, group: int) -> Iterator[ServerAccount]:
    yield ServerAccount(user, group, becomes=True)
    setpriv = shutil.which("setpriv")
    if setpriv:
        identity = (f"--reuid={user}", f"--regid={group}", "--clear-groups")
        capability = ("--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override")
        words = (setpriv, *identity, *capability, "--")
        yield ServerAccount(user, group, words)


def _given_to_nobody(folder: ServerFolder, binaries: ServerBinaries) -> ServerAccount:
    """Hand the folder over. Only ever done to a folder that is root's, where nobody else can plant links."""
    somebody = _somebody()
    for account in _dropped(*somebody) if somebody else ():
        with contextlib.suppress(OSError):  # Root without the right to give: a stricter container.
            _give(folder.root, account.owner, account.group)
            if _works(account, folder, binaries):
                return account
    with contextlib.suppress(OSError):
        _give(folder.root, 0, 0)
    raise ServerAccountMissing(
        "PostgreSQL refuses to run as root; a user namespace is not allowed here, "
        "and user 'nobody' cannot run its programs or reach the folder",
        where=f"programs {binaries.folder}, folder {folder.root}",
        way_out="Run as an ordinary user, set REJOINDER_HOME to a folder that every user can reach "
        "(such as /var/lib/rejoinder), or set DATABASE_URL to a server of yours.",
    )


def _give(root: Path, owner: int, group: int) -> None:
    # From the leaves to the root: a walk that is cut short leaves the data folder, whose owner decides,
    # as it was, and the next start walks again.
    for parent, folders, files in os.walk(root, topdown=False):
        for name in (*folders, *files):
            os.chown(Path(parent) / name, owner, group, follow_symlinks=False)
    os.chown(root, owner, group)


def _works(account: ServerAccount, folder: ServerFolder, binaries: ServerBinaries) -> bool:
    try:
        return account.run(["/bin/sh", "-c", PROBE, binaries.postgres, str(folder.root)]).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _owner(folder: ServerFolder) -> int:
    """Who owns the data, or the folder where there are none: a folder's owner runs its server."""
    return (folder.data if folder.data.exists() else folder.root).stat().st_uid


def _is_known(user: int) -> bool:
    import pwd  # Not on Windows, where `start` refuses before it comes here.

    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _somebody() -> tuple[int, int] | None:
    """An existing user that is not root, `nobody` before others."""
    import pwd  # Not on Windows, where `start` refuses before it comes here.

    users = sorted(
        (user for user in pwd.getpwall() if user.pw_uid != 0), key=lambda user: user.pw_name != "nobody"
    )
    return (users[0].pw_uid, users[0].pw_gid) if users else None
