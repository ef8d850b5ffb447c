"""The built pages in the package are what their sources say, to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rejoinder.server.pages import FOLDER
from scripts import node, npm, web


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def found() -> node.Node:
    """The Node of the machine or of the wheel, with the packages of web/ installed."""
    try:
        return web.install()
    except npm.NotInstalled as problem:
        pytest.fail(str(problem), pytrace=False)


def test_building_again_makes_the_same_bytes(tmp_path: Path, found: node.Node) -> None:
    web.build(found, tmp_path)
    committed, built = files(FOLDER), files(tmp_path)
    assert sorted(committed) == sorted(built), "build the pages and commit them: python -m scripts.web"
    assert [name for name in built if built[name] != committed[name]] == []


def test_packages_are_pinned_and_the_lock_names_no_address() -> None:
    wanted = json.loads((web.FOLDER / "package.json").read_text())
    for version in (wanted["dependencies"] | wanted["devDependencies"]).values():
        assert version.rpartition("@")[2][0].isdigit(), version
    lock = json.loads((web.FOLDER / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
