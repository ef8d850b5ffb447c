"""Every file keeps the manners of the house, and the rules themselves bite."""

from collections.abc import Iterable
from typing import Final

import pytest

from tests.house import rules
from tests.house.rules import Problem
from tests.house.sources import ROOT, committed_files, python_files, room_of

EXCEPTIONS: Final[dict[str, str]] = {}
"""Files (`path`) and functions (`path:name`) over their tripwire, and why there is no seam to cut at."""

WRITTEN: Final = (".py", ".mjs", ".js", ".ts", ".tsx", ".sql", ".css")
"""Endings of files whose length a person answers for."""


def complaint(problems: Iterable[Problem]) -> str:
    return "\n".join(map(str, problems))


def test_the_first_line_of_every_file_says_what_it_is_for() -> None:
    found = [
        problem
        for path in python_files()
        for problem in rules.missing_docstring(str(path.relative_to(ROOT)), path.read_text("utf-8"))
    ]
    assert not found, complaint(found)


def test_files_and_functions_are_short_or_say_why_not() -> None:
    found = [
        problem
        for path in committed_files()
        if path.suffix in WRITTEN
        for problem in rules.too_long(str(path.relative_to(ROOT)), path.read_text("utf-8"))
    ]
    unexcused = [problem for problem in found if problem.where not in EXCEPTIONS]
    assert not unexcused, complaint(unexcused)
    outlived = set(EXCEPTIONS) - {problem.where for problem in found}
    assert not outlived, f"no longer too long, strike them from the table: {sorted(outlived)}"
    assert all(EXCEPTIONS.values()), "an exception needs a reason"


def test_no_room_calls_what_it_must_not() -> None:
    found = [
        problem
        for path in python_files()
        for problem in rules.banned_calls(str(path.relative_to(ROOT)), path.read_text("utf-8"), room_of(path))
    ]
    assert not found, complaint(found)


def test_no_file_holds_an_excuse() -> None:
    found = [
        problem
        for path in python_files()
        for problem in rules.banned_text(str(path.relative_to(ROOT)), path.read_text("utf-8"))
    ]
    assert not found, complaint(found)


def test_no_committed_file_knows_a_machine_or_a_package_index() -> None:
    found: list[Problem] = []
    for path in committed_files():
        # Recorded bytes may be no text at all; what matters here is what a person could read in them.
        text = path.read_bytes().decode("utf-8", "replace")
        found.extend(rules.not_for_others(str(path.relative_to(ROOT)), text))
    assert not found, complaint(found)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("fold", "datetime.now(UTC)"),
        ("messages", "datetime.datetime.utcnow()"),
        ("engine", "time.time()"),
        ("wire", "uuid4()"),
        ("convert", "uuid.uuid4()"),
        ("translate", "random.random()"),
        ("history", "open('x')"),
        ("fold", "import_module('os')"),
        ("stores", "print(1)"),
    ],
)
def test_a_banned_call_is_found_and_its_remedy_named(room: str, line: str) -> None:
    (problem,) = rules.banned_calls("x.py", line, room)
    assert problem.where == "x.py:1"
    assert room in problem.what


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("cli", "print(1)"),
        (None, "print(1)"),
        ("stores", "time.monotonic()"),
        ("fold", "datetime(2026, 1, 1)"),
    ],
)
def test_a_call_that_is_right_where_it_stands_is_let_be(room: str | None, line: str) -> None:
    assert list(rules.banned_calls("x.py", line, room)) == []


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # type: " + "ignore",
        "x = 1  # pyright: " + "ignore",
        "# TO" + "DO: later",
        "raise Not" + "ImplementedError",
        "@pytest.mark." + "skip",
        "from unittest." + "mock import Mock",
    ],
)
def test_an_excuse_is_found(line: str) -> None:
    assert len(list(rules.banned_text("x.py", line))) == 1


def test_a_suppression_that_names_its_error_is_let_be() -> None:
    assert list(rules.banned_text("x.py", "x = 1  # type: ignore[misc]  # the stub is wrong")) == []


@pytest.mark.parametrize("path", ["/tm" + "p/x", "/wor" + "k/main", "/roo" + "t/.cache", "/hom" + "e/ada"])
def test_a_machine_path_is_found(path: str) -> None:
    assert len(list(rules.not_for_others("x.md", f"see {path} there"))) == 1


@pytest.mark.parametrize("path", ["x/tm" + "p/y", "https://example.com/wor" + "k/", "../hom" + "e/x"])
def test_a_path_within_something_is_no_machine_path(path: str) -> None:
    assert list(rules.not_for_others("x.md", path)) == []


@pytest.mark.parametrize(
    "text", ["https://regis" + "try.npmjs.example", '"resol' + 'ved": "…"', "https://py" + "pi.org"]
)
def test_an_address_of_a_package_index_is_found(text: str) -> None:
    assert len(list(rules.not_for_others("x.json", text))) == 1


def test_one_line_too_many_is_found() -> None:
    body = "    pass\n" * rules.FUNCTION_LINES_MAX
    assert [problem.where for problem in rules.too_long("x.py", f"def long():\n{body}")] == ["x.py:long"]
    assert [problem.where for problem in rules.too_long("x.sql", "\n" * 401)] == ["x.sql"]
    assert list(rules.too_long("x.py", "\n" * 400)) == []


def test_a_file_without_a_purpose_is_found() -> None:
    assert len(list(rules.missing_docstring("x.py", "import os\n"))) == 1
    assert len(list(rules.missing_docstring("x.py", ""))) == 1
    assert list(rules.missing_docstring("x.py", '#!/usr/bin/env python3\n"""For this."""\n')) == []
