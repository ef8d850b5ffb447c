"""What axe finds: nothing serious, on any page, light or dark, wide or narrow."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from scripts import web
from tests.web.actor import PACE
from tests.web.browser.visitor import Visitor

AXE = web.FOLDER / "node_modules" / "axe-core" / "axe.min.js"

SHAPES = {
    "light-wide": ("light", 1280, 860),
    "dark-wide": ("dark", 1280, 860),
    "light-narrow": ("light", 390, 780),
    "dark-narrow": ("dark", 390, 780),
}


def findings(visitor: Visitor) -> list[str]:
    """What is serious or worse. It is evaluated by the debugger, since the page's policy lets no script in."""
    if not AXE.exists():
        pytest.fail("axe is not installed: python -m scripts.web", pytrace=False)
    # What fades in is looked at when it is there.
    visitor.page.emulate_media(reduced_motion="reduce")
    visitor.page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = visitor.page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_page_has_a_serious_finding(browser: Browser, site: str, shape: str) -> None:
    scheme, width, height = SHAPES[shape]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    visitor = Visitor(context, site)
    visitor.open()
    assert findings(visitor) == []
    visitor.ask("show everything")
    folded = visitor.answers.last.locator(".fold-head[aria-expanded=false]")
    while folded.count():
        folded.first.click()
    expect(visitor.answers.last.locator(".hljs-keyword").first).to_be_attached()
    assert findings(visitor) == []
    visitor.ask("tools please")
    visitor.ask("delete it")
    assert findings(visitor) == []
    visitor.ask("ask me")
    visitor.say("fail now")
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    assert findings(visitor) == []
    conversation = visitor.conversation
    visitor.say("paced 2")
    PACE.let(conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    assert findings(visitor) == []
    PACE.let(conversation, 2)
    visitor.open(f"/inspect?chat={conversation}")
    visitor.page.get_by_role("navigation", name="Turns").get_by_role("link").first.click()
    for tab in visitor.page.get_by_role("tab").all():
        tab.click()
        expect(visitor.page.get_by_role("tabpanel")).to_be_visible()
        assert findings(visitor) == []
    visitor.open("/analytics")
    expect(visitor.page.get_by_role("heading", name="By tool")).to_be_visible()
    visitor.page.get_by_text("As a table").first.click()
    assert findings(visitor) == []
    assert visitor.complaints() == []
    context.close()
