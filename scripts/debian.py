"""Programs that tests need and no wheel brings: find them, or install Debian's where we may."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

REASON_LINES_MAX: Final = 6


class NotThere(Exception):
    """The program is not there and could not be installed; the message says why and what would help."""


def install(package: str, find: Callable[[], Path | None]) -> Path:
    """Give the program of this machine, or install the package as root or with a sudo that asks for no password."""
    there = find()
    if there is not None:
        return there
    apt = shutil.which("apt-get")
    if apt is None:
        raise NotThere(f"there is no {package} on PATH, and no apt-get: install it")
    command = [apt, "install", "-y", "-q", "--no-install-recommends", package]
    if os.geteuid() != 0:
        sudo = shutil.which("sudo")
        if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode:
            raise NotThere(
                f"there is no {package} on PATH, and we may not install it: sudo apt-get install {package}"
            )
        command = [sudo, "-n", *command]
    print(f"apt-get install {package}", flush=True)
    problem = _tried(command)
    if problem is not None:
        # The lists of packages may be missing or old.
        update = [*command[: command.index(apt) + 1], "update", "-q"]
        problem = _tried(update) or _tried(command)
    found = find()
    if problem is not None or found is None:
        raise NotThere(f"`apt-get install {package}` failed:\n{problem or 'it did not bring the program'}")
    return found


def nginx() -> Path:
    """The nginx of this machine. Debian puts it where only root looks."""
    return install("nginx-light", lambda: _path(shutil.which("nginx") or shutil.which("/usr/sbin/nginx")))


def _path(found: str | None) -> Path | None:
    return None if found is None else Path(found)


def _tried(command: list[str]) -> str | None:
    """The last words of a command that failed."""
    around = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
    if done.returncode == 0:
        return None
    return "\n".join((done.stdout + done.stderr).strip().splitlines()[-REASON_LINES_MAX:])
