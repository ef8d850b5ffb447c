"""The tables of the page about HTTP: every route, and every problem that an answer may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rejoinder import Chat
from rejoinder.server.doors import Door
from rejoinder.server.problems import CATALOGUE, TYPE_PREFIX
from rejoinder.testing.scripted import scripted
from scripts.docs_source import ROOT


def doors() -> tuple[Door, ...]:
    """All doors of a chat, those included that are opened on request."""
    return Chat(scripted(), store="memory", metrics=True).doors


def route_rows() -> Iterator[tuple[str, str, str]]:
    """Method and path, what it does, and its parameters."""
    for door in doors():
        parameters = ", ".join(f"`{parameter.name}`" for parameter in door.parameters)
        yield f"`{door.method} {door.path}`", door.summary, parameters


def problem_rows() -> Iterator[tuple[str, str, str]]:
    """Status, kind and what it says, each kind once."""
    found: dict[tuple[int, str], str] = {}
    for entry in CATALOGUE.values():
        found.setdefault((entry.status, entry.kind), entry.title)
    for path in sorted((ROOT / "src" / "rejoinder" / "server").glob("*.py")):
        for status, kind, title in _raised(ast.parse(path.read_text("utf-8"))):
            found.setdefault((status, kind), title)
    found.setdefault((500, "internal"), "The server made a mistake.")
    for (status, kind), title in sorted(found.items()):
        yield str(status), f"`{TYPE_PREFIX}{kind}`", title


def _raised(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) > 2:
            status, kind, title = node.args[:3]
            named = isinstance(node.func, ast.Name) and node.func.id == "Problem"
            if named and isinstance(status, ast.Constant) and isinstance(kind, ast.Constant):
                yield int(str(status.value)), str(kind.value), _text(title)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "…"
