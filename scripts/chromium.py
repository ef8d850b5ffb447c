"""Find a Chromium for the tests of the pages; install Debian's where we may."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

VARIABLE: Final = "REJOINDER_CHROMIUM"
"""The environment variable that names another browser of the family."""

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
REASON_LINES_MAX: Final = 6


class NoChromium(Exception):
    """There is none, and it could not be installed; the message says why and what would help."""


def find() -> Path | None:
    """Give the browser of this machine, if it has one."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return None if found is None else Path(found)


def install() -> Path:
    """Give the browser of this machine, or install Debian's as root or with a sudo that asks for no password."""
    there = find()
    if there is not None:
        return there
    apt = shutil.which("apt-get")
    if apt is None:
        raise NoChromium(
            f"there is no Chromium on PATH, and no apt-get: install one, or name it in {VARIABLE}"
        )
    command = [apt, "install", "-y", "-q", "--no-install-recommends", "chromium"]
    if os.geteuid() != 0:
        sudo = shutil.which("sudo")
        if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode:
            raise NoChromium(
                "there is no Chromium on PATH, and we may not install one: sudo apt-get install chromium"
            )
        command = [sudo, "-n", *command]
    print("apt-get install chromium", flush=True)
    problem = _tried(command)
    if problem is not None:
        # The lists of packages may be missing or old.
        update = [*command[: command.index(apt) + 1], "update", "-q"]
        problem = _tried(update) or _tried(command)
    found = find()
    if problem is not None or found is None:
        raise NoChromium(f"`apt-get install chromium` failed:\n{problem or 'it brought no program chromium'}")
    return found


def _tried(command: list[str]) -> str | None:
    """The last words of a command that failed."""
    around = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
    if done.returncode == 0:
        return None
    return "\n".join((done.stdout + done.stderr).strip().splitlines()[-REASON_LINES_MAX:])


def main() -> None:
    """Install it, and say which one it is."""
    try:
        print(f"The tests of the pages use {install()}.")
    except NoChromium as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
