"""The tables of the documentation say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import docs_grammar
from scripts.docs import PAGES, PLACE, TABLES, code, rendered, table
from scripts.docs_source import ROOT, error_classes

REMEDY = "write the tables anew with: python -m scripts.docs"


@pytest.mark.parametrize("path", PAGES, ids=[page.stem for page in PAGES])
def test_the_tables_of_a_page_are_what_the_code_has(path: Path) -> None:
    text = path.read_text("utf-8")
    assert rendered(text) == text, f"{path.relative_to(ROOT)} is behind the code: {REMEDY}"


def test_the_picture_of_the_grammar_is_what_the_code_has() -> None:
    assert docs_grammar.PICTURE.read_text("utf-8") == docs_grammar.drawing(), REMEDY


def test_every_table_has_its_place_on_some_page() -> None:
    placed = {match["name"] for page in PAGES for match in PLACE.finditer(page.read_text("utf-8"))}
    assert not set(TABLES) - placed


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    linked = set(re.findall(r"\]\(([^)#]+\.md)", index.read_text("utf-8")))
    assert {page.name for page in PAGES if page.parent == index.parent} - {index.name} - linked == set()


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for name in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / name).exists(), f"{page.relative_to(ROOT)} links to {name}"


def test_a_table_that_is_behind_is_replaced_and_nothing_else() -> None:
    page = "before\n<!-- table: finish reasons -->\nold\n<!-- end of table -->\nbehind\n"
    now = rendered(page)
    assert "`stop`" in now
    assert "old" not in now
    assert now.startswith("before\n")
    assert now.endswith("\nbehind\n")
    assert rendered(now) == now


def test_a_bar_does_not_end_a_cell() -> None:
    assert table(("a",), [[code("x|y")]]).splitlines()[-1] == r"| `x\|y` |"


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in error_classes()]
    assert sorted(set(codes)) == sorted(codes)


def test_every_error_says_what_it_means() -> None:
    assert [error.name for error in error_classes() if not error.meaning] == []
