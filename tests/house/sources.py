"""The project's own text as values: which files there are, and which module imports which."""

import ast
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = ROOT / "src" / "rejoinder"
CODE: Final = ("src", "tests", "scripts", "bench", "examples")
"""Folders that hold Python we wrote."""

PURE: Final = ("errors", "messages", "wire", "fold", "convert", "translate", "history")
"""The rooms below the line: no I/O, no clock, no chance."""


def python_files() -> Iterator[Path]:
    """Every Python file of ours, installed packages left out."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield path


def committed_files() -> list[Path]:
    """Every file that git tracks or would take up."""
    # The checkout may belong to somebody else, as in many CI systems: reading its list is safe all the same.
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = (ROOT / name for name in listing.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def room_of(path: Path) -> str | None:
    """Name the room of the package that a file belongs to, or nothing for files elsewhere."""
    if not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules(package: Path) -> dict[str, Path]:
    """Every module of a package by its dotted name; a package's name stands for its `__init__.py`."""
    found: dict[str, Path] = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_names(tree: ast.Module, module: str, *, is_package: bool) -> Iterator[str]:
    """Every dotted name that a module's import statements mention, wherever in the file they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -(node.level - is_package) or None] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def import_graph(package: Path) -> Mapping[str, frozenset[str]]:
    """Each module and the modules of the same package it imports; imports for types alone count as well."""
    known = modules(package)
    graph: dict[str, frozenset[str]] = {}
    for module, path in known.items():
        tree = ast.parse(path.read_text("utf-8"), str(path))
        names = imported_names(tree, module, is_package=path.name == "__init__.py")
        # A name that is not a module is something that the module before the last dot holds.
        targets = (name if name in known else name.rpartition(".")[0] for name in names)
        graph[module] = frozenset(target for target in targets if target in known)
    return graph
