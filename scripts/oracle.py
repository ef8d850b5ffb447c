"""Install the npm packages that the conformance tests ask; quick when the lock has not changed since."""

import sys
from pathlib import Path
from typing import Final

from scripts import node, npm
from scripts.npm import NotInstalled

FOLDER: Final = Path(__file__).resolve().parent.parent / "tests" / "oracle"

__all__ = ["FOLDER", "NotInstalled", "install"]


def install() -> node.Node:
    """Have node_modules match the lock and give the Node to run it with."""
    return npm.install(FOLDER)


def main() -> None:
    """Install, and say with what."""
    try:
        print(f"The npm packages are installed; tests run them with {install().origin}.")
    except NotInstalled as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
