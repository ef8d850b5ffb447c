"""The site is built without a warning, and no link of it is dead."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.docs_site import build, dead_links


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build(folder) == 0
    return folder


def test_no_link_of_the_site_is_dead(site: Path) -> None:
    assert list(dead_links(site)) == []


def test_every_page_can_be_found_from_the_first(site: Path) -> None:
    first = (site / "docs" / "index.html").read_text("utf-8")
    menu = first[first.index("sidebar-tree") :]
    assert [caption for caption in ("Guides", "Reference") if caption not in menu] == []
    assert 'href="start.html"' in menu
    assert 'href="../CHANGELOG.html"' in menu


def test_pages_ask_nobody_else_for_anything(site: Path) -> None:
    for page in (site / "docs").glob("*.html"):
        loaded = [
            line for line in page.read_text("utf-8").splitlines() if "<script" in line or "<link" in line
        ]
        assert [line for line in loaded if "//" in line.split(">")[0]] == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x">b</a><a href="#y">y</a><img src="gone.png">', "utf-8"
    )
    (tmp_path / "b.html").write_text('<p id="z">b</p>', "utf-8")
    assert list(dead_links(tmp_path)) == ["a.html: b.html#x", "a.html: #y", "a.html: gone.png"]
