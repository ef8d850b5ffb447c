"""Find a Chromium for the tests of the pages; install Debian's where we may."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from scripts import debian

VARIABLE: Final = "REJOINDER_CHROMIUM"
"""The environment variable that names another browser of the family."""

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> Path | None:
    """Give the browser of this machine, if it has one."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return None if found is None else Path(found)


def install() -> Path:
    """Give the browser of this machine, or install Debian's."""
    return debian.install("chromium", find)


def main() -> None:
    """Install it, and say which one it is."""
    try:
        print(f"The tests of the pages use {install()}.")
    except debian.NotThere as problem:
        sys.exit(f"{problem}; or name one in {VARIABLE}")


if __name__ == "__main__":
    main()
