"""The manners that no linter knows, each with what to do instead; the tests apply them to every file."""

import ast
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.house.sources import PURE

FILE_LINES_MAX: Final = 400
FUNCTION_LINES_MAX: Final = 60

TIMELESS: Final = frozenset({*PURE, "ports", "engine", "live", "offline"})
"""Rooms in which the time, fresh ids and chance are arguments."""

CLOCK: Final = "src/rejoinder/ports/clock.py"
"""The one file in which they are had: what it defines stands for them where nobody passes in others."""

PASS_IT_IN: Final = "take it as an argument: time and chance enter at the top of the house"
BANNED_CALLS: Final = (
    (re.compile(r"(.*\.)?(datetime|date)\.(now|utcnow|today)"), TIMELESS, PASS_IT_IN),
    (re.compile(r"time\.\w+|perf_counter|monotonic"), TIMELESS, PASS_IT_IN),
    (re.compile(r"(uuid\.)?uuid\d"), TIMELESS, PASS_IT_IN),
    (re.compile(r"(random|secrets)\.\w+"), TIMELESS, PASS_IT_IN),
    (re.compile(r"open|input|breakpoint"), frozenset(PURE), "let the caller read and give you the value"),
    (
        re.compile(r"(importlib\.)?(import_module|__import__)"),
        frozenset(PURE),
        "write an import that tools can see",
    ),
)
"""A call as it is written, the rooms that must not contain it, and the remedy."""

BANNED_TEXT: Final = (
    (re.compile(r"#\s*type:\s*ignore(?!\[)"), "name the error and say why: `# type: ignore[code]  # reason`"),
    (
        re.compile(r"#\s*pyright:\s*ignore(?!\[)"),
        "name the rule and say why: `# pyright: ignore[rule]  # reason`",
    ),
    (re.compile(r"\b(TO[D]O|FIXM[E])\b"), "do it now, or write it down where work is planned"),
    (re.compile(r"\braise NotImplemente[d]"), "a stub is a lie: write it, or leave the name out"),
    (
        re.compile(r"pytest\.(mark\.)?(ski[p]|xfai[l])|unittest\.moc[k]"),
        "a test runs, with real things, or it goes",
    ),
)
"""Text that no Python file of ours contains, and the remedy."""

NOT_FOR_OTHERS: Final = (
    (
        re.compile(r"(?<![\w.~-])/(t[m]p|wor[k]|roo[t]|hom[e])/[\w.]"),
        "a path of one machine: use a relative one",
    ),
    (
        re.compile(r"registr[y]\.npmjs|pyp[i]\.org|pythonhoste[d]|\"resolve[d]\":|index-ur[l][ =]+\w+:"),
        "an address of a package index: the machine knows where its packages come from",
    ),
)
"""Text that no committed file contains, and the remedy."""


class Problem(NamedTuple):
    """One line of one file that breaks a rule, and what to do about it."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def missing_docstring(where: str, text: str) -> Iterator[Problem]:
    """The first line of a file says what the file is for."""
    tree = ast.parse(text)
    first = 2 if text.startswith("#!") else 1
    if not ast.get_docstring(tree) or tree.body[0].lineno != first:
        yield Problem(f"{where}:1", "say in the first line, as a docstring, what this file is for")


def too_long(where: str, text: str) -> Iterator[Problem]:
    """A file or a function over its tripwire has a seam that is worth looking for."""
    lines = len(text.splitlines())
    if lines > FILE_LINES_MAX:
        yield Problem(where, f"{lines} lines (at most {FILE_LINES_MAX}): look for the seam")
    if not where.endswith(".py"):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield Problem(
                    f"{where}:{node.name}", f"{lines} lines (at most {FUNCTION_LINES_MAX}): look for the seam"
                )


def banned_calls(where: str, text: str, room: str | None) -> Iterator[Problem]:
    """Calls that a room must not make; printing is for the command line, in the package."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        call = ast.unparse(node.func)
        for pattern, rooms, remedy in BANNED_CALLS:
            had_here = where == CLOCK and remedy is PASS_IT_IN
            if room in rooms and pattern.fullmatch(call) and not had_here:
                yield Problem(f"{where}:{node.lineno}", f"`{call}(…)` in {room}: {remedy}")
        if call == "print" and room not in {None, "cli"}:
            yield Problem(
                f"{where}:{node.lineno}", f"`print(…)` in {room}: return the value, or log above the line"
            )


def banned_text(where: str, text: str) -> Iterator[Problem]:
    """Excuses: suppressions without a reason, leftovers, stubs, skipped tests, mocks."""
    yield from _matches(where, text, BANNED_TEXT)


def not_for_others(where: str, text: str) -> Iterator[Problem]:
    """What holds on one machine only."""
    yield from _matches(where, text, NOT_FOR_OTHERS)


def _matches(where: str, text: str, rules: tuple[tuple[re.Pattern[str], str], ...]) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, remedy in rules:
            found = pattern.search(line)
            if found:
                yield Problem(f"{where}:{number}", f"{found[0]!r}: {remedy}")
