"""Build the web pages into the package: `python -m scripts.web`. Nobody needs this who does not change them."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts import node, npm

FOLDER: Final = Path(__file__).resolve().parent.parent / "web"
TARGET_VARIABLE: Final = "REJOINDER_PAGES"
"""Where the pages go, if not into the package; `web/vite.config.js` reads it."""


def install() -> node.Node:
    """Have the packages that build the pages."""
    return npm.install(FOLDER)


def build(found: node.Node, target: Path | None = None) -> None:
    """Check the types and build, into the package or another folder. Raises CalledProcessError."""
    around = found.environment() | ({} if target is None else {TARGET_VARIABLE: str(target)})
    for script in (("typescript/bin/tsc", "--noEmit"), ("vite/bin/vite.js", "build", "--logLevel", "warn")):
        _run(found, script, around)


def build_clients(found: node.Node, target: Path) -> None:
    """Build the small clients that the tests drive, one for each version of the AI SDK."""
    _run(
        found,
        ("vite/bin/vite.js", "build", "--config", "clients/vite.config.js", "--logLevel", "warn"),
        found.environment() | {TARGET_VARIABLE: str(target)},
    )


def _run(found: node.Node, script: tuple[str, ...], around: dict[str, str]) -> None:
    command = [str(found.program), f"node_modules/{script[0]}", *script[1:]]
    subprocess.run(command, cwd=FOLDER, env=around, check=True)


def main() -> None:
    """Install and build."""
    try:
        found = install()
        build(found)
    except (npm.NotInstalled, subprocess.CalledProcessError) as problem:
        sys.exit(str(problem))
    print(f"The pages are built, with {found.origin}.")


if __name__ == "__main__":
    main()
