"""What is promised is on a page: names, commands, tables and views, settings, extras.

Routes, problems, errors and options are tables that the code writes: see `test_generated`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import tomllib
from typing import Final

import pytest

import rejoinder
from rejoinder import Chat, core
from rejoinder.cli.importing import KINDS
from rejoinder.stores.postgres.schema import tables
from scripts.docs_operation import figures
from scripts.docs_source import PACKAGE, ROOT, commands

PAGES: Final = {page.name: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
WORDS: Final = frozenset(re.findall(r"\w+", "\n".join(PAGES.values())))


@pytest.mark.parametrize("names", [rejoinder.__all__, core.__all__], ids=["rejoinder", "rejoinder.core"])
def test_every_name_that_a_package_offers_is_on_a_page(names: list[str]) -> None:
    assert sorted(name for name in names if name not in WORDS and not name.startswith("_")) == []


def test_every_agent_and_provider_is_on_a_page() -> None:
    agents = [
        statement.name
        for path in sorted((PACKAGE / "agents").glob("*.py"))
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.ClassDef)
        and {"name", "run", "translate"}
        <= {each.name for each in statement.body if isinstance(each, ast.FunctionDef)}
    ]
    assert agents
    assert [name for name in agents if name not in WORDS] == []


def test_every_command_has_a_section() -> None:
    page = PAGES["cli.md"]
    assert [
        name
        for name in commands()
        if f"\n### {name}\n" not in page and f"\n### `rejoinder {name}`\n" not in page
    ] == []


def test_every_table_and_view_is_on_the_page_of_stores() -> None:
    views = re.findall(r"CREATE (?:OR REPLACE )?VIEW (?:\S+\.)?(\w+)", sql())
    assert views
    known = [table.name for table in tables().conversation.metadata.sorted_tables]
    page = PAGES["stores.md"]
    missing = [name for name in {*known, *views} if f"`{name}`" not in page]
    assert [name for name in missing if not name.startswith("transcript")] == []


def sql() -> str:
    """The SQL of all migrations."""
    folder = PACKAGE / "stores" / "postgres" / "migrations" / "versions"
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.iterdir()) if path.is_file())


def test_every_setting_of_a_chat_is_on_a_page() -> None:
    settings = [name for name in inspect.signature(Chat).parameters if name not in ("self", "agent")]
    shown = "\n".join(PAGES.values())
    assert [name for name in settings if not re.search(rf"\b{name}\b[=`]", shown)] == []


def test_every_form_that_is_imported_is_on_the_page_for_those_who_come_from_elsewhere() -> None:
    assert [kind for kind in KINDS if f"`{kind}`" not in PAGES["migrate.md"]] == []


def test_every_extra_is_on_a_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    shown = "\n".join(PAGES.values())
    extras = project["optional-dependencies"]
    assert [name for name in extras if not re.search(rf"`{name}`|[\[,]{name}[\],]", shown)] == []


def test_every_file_that_the_page_about_how_it_is_made_names_is_there() -> None:
    named = set(re.findall(r"`(?:src/rejoinder/)?([\w/]+(?:\.py|/))`", PAGES["architecture.md"]))
    assert len(named) > 20
    assert [
        name for name in sorted(named) if not (PACKAGE / name).exists() and not (ROOT / name).exists()
    ] == []


def test_every_figure_of_the_dashboard_is_one_that_a_server_tells() -> None:
    dashboard = (ROOT / "deploy" / "grafana.json").read_text("utf-8")
    json.loads(dashboard)
    named = set(re.findall(r"\brejoinder_\w+", dashboard))
    told = set(re.findall(r"^(rejoinder_\w+)", figures(), re.MULTILINE))
    assert named
    assert named - told == set()
