"""The example of FastAPI with a page of React, built by Vite and used in the browser."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from scripts import npm, web
from tests.server.serving import serving
from tests.web.browser.visitor import Visitor

EXAMPLE: Final = Path(__file__).resolve().parents[3] / "examples" / "fastapi_react"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[str]:
    """The example in a folder of its own, with the packages that our own pages are built with."""
    folder = tmp_path_factory.mktemp("example") / "fastapi_react"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    try:
        node = web.install()
    except npm.NotInstalled as problem:
        pytest.fail(str(problem), pytrace=False)
    (folder / "node_modules").symlink_to(web.FOLDER / "node_modules")
    vite = [str(node.program), "node_modules/vite/bin/vite.js", "build", "page", "--logLevel", "warn"]
    subprocess.run(vite, cwd=folder, env=node.environment(), check=True)
    app: Any = runpy.run_path(str(folder / "app.py"))["application"](database)
    with serving(app) as found:
        yield found


def test_an_answer_goes_on_after_a_reload(context: BrowserContext, address: str) -> None:
    visitor = Visitor(context, address)
    visitor.forgive("status of 404")
    visitor.open("/?chat=reload")
    visitor.say("one two three four five six seven eight nine ten")
    answer = visitor.page.locator("p[data-role=assistant]")
    expect(answer).to_contain_text("TWO")
    visitor.page.reload()
    expect(answer).to_contain_text("ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN")
    expect(visitor.page.locator("main")).to_have_attribute("data-status", "ready")
    assert visitor.complaints() == []


def test_the_page_stops_an_answer(context: BrowserContext, address: str) -> None:
    visitor = Visitor(context, address)
    visitor.forgive("status of 404")
    visitor.open("/?chat=stop")
    visitor.say("word " * 500)
    expect(visitor.page.locator("p[data-role=assistant]")).to_contain_text("WORD")
    visitor.page.get_by_role("button", name="Stop").click()
    expect(visitor.page.locator("main")).to_have_attribute("data-status", "ready")


def test_routes_of_the_application_stand_beside_ours(address: str) -> None:
    assert httpx.get(f"{address}/hello").json() == {"hello": "from a route of your own"}
    assert httpx.get(f"{address}/api/healthz").is_success
