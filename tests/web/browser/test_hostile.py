"""What a model says is text: nothing of it runs, nothing is fetched, nothing leads anywhere bad."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.cookies import SimpleCookie

import pytest
from playwright.sync_api import Browser, FilePayload, expect
from starlette.requests import HTTPConnection

from rejoinder import Chat
from rejoinder.chat.wishes import Principal
from tests.server.serving import serving
from tests.web.actor import ACTOR, INJECTION
from tests.web.browser.visitor import Visitor

ATTACKS = """
() => ({
  hacked: window.hacked ?? null,
  scripts: [...document.querySelectorAll('#root script, #root iframe, #root object, #root embed, #root style')].length,
  handlers: [...document.querySelectorAll('#root *')]
    .flatMap((node) => node.getAttributeNames()).filter((name) => name.startsWith('on')),
  links: [...document.querySelectorAll('#root a[href]')].map((link) => link.getAttribute('href'))
    .filter((href) => /^\\s*(javascript|vbscript|data:text|file)/i.test(href)),
})
"""

HARMLESS: dict[str, object] = {"hacked": None, "scripts": 0, "handlers": [], "links": []}


def unfold(visitor: Visitor) -> None:
    folded = visitor.page.locator(".fold-head[aria-expanded=false]")
    while folded.count():
        folded.first.click()


def test_nothing_that_a_model_says_runs_in_the_chat(visitor: Visitor) -> None:
    visitor.open()
    answer = visitor.ask("inject")
    unfold(visitor)
    assert visitor.page.evaluate(ATTACKS) == HARMLESS
    expect(answer.get_by_role("link", name="fine")).to_have_attribute("href", "https://example.com/fine")
    # It is shown as what it is.
    assert "onerror='window.hacked=1'" in answer.inner_text()
    assert visitor.parts("reasoning")[0]["text"] == INJECTION
    # A document or a picture that could hold a script is offered for saving, and never shown.
    for link in answer.locator(".attachment a[href^='data:']").all():
        assert link.get_attribute("download")
    assert answer.locator("img").count() == 0
    answer.get_by_role("button", name=INJECTION, exact=True).click()
    visitor.settled()
    assert visitor.page.evaluate(ATTACKS) == HARMLESS


def test_nothing_that_a_user_says_runs_either(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask(INJECTION)
    expect(visitor.questions.first).to_contain_text(INJECTION)
    entry = visitor.page.get_by_role("navigation", name="Conversations").get_by_role("listitem").first
    entry.hover()
    entry.locator("button").first.click()
    visitor.page.get_by_label("Name of the conversation").fill(INJECTION)
    visitor.page.keyboard.press("Enter")
    expect(entry).to_contain_text("window.hacked")
    entry.hover()
    entry.locator("button").last.click()
    expect(visitor.page.get_by_role("dialog")).to_contain_text("window.hacked")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert visitor.page.evaluate(ATTACKS) == HARMLESS


def test_nothing_runs_in_the_inspector(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("inject")
    visitor.page.get_by_role("link", name="Inspect this answer").click()
    for tab in visitor.page.get_by_role("tab").all():
        tab.click()
        expect(visitor.page.get_by_role("tabpanel")).to_be_visible()
        unfold(visitor)
        for row in visitor.page.get_by_role("option").all()[:60]:
            row.click()
        assert visitor.page.evaluate(ATTACKS) == HARMLESS


def test_nothing_runs_in_the_analytics(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("inject")
    for by in ("day", "model", "agent"):
        visitor.open(f"/analytics?by={by}")
        expect(visitor.page.get_by_role("region", name="By tool")).to_contain_text("window.hacked")
        for table in visitor.page.get_by_text("As a table").all():
            table.click()
        assert visitor.page.evaluate(ATTACKS) == HARMLESS


def test_the_name_and_kind_of_a_file_are_text(visitor: Visitor) -> None:
    visitor.open()
    with visitor.page.expect_file_chooser() as chooser:
        visitor.button("Attach files").click()
    chooser.value.set_files(
        [FilePayload(name=f"{INJECTION[:60]}.html", mimeType="text/html", buffer=b"<script>")]
    )
    expect(visitor.page.locator(".composer .attachment")).to_contain_text("window.hacked")
    visitor.ask("look at this")
    link = visitor.questions.first.locator(".attachment a")
    expect(link).to_have_attribute("href", re.compile("^data:application/octet-stream;base64,"))
    assert visitor.page.evaluate(ATTACKS) == HARMLESS


def whoever_the_cookie_names(connection: HTTPConnection) -> Principal | None:
    name = SimpleCookie(connection.headers.get("cookie", "")).get("tenant")
    return None if name is None else Principal(tenant=name.value)


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    with serving(Chat(ACTOR, store="memory", authenticate=whoever_the_cookie_names).app) as address:
        yield address


def visitor_of(browser: Browser, address: str, tenant: str | None) -> Visitor:
    context = browser.new_context()
    if tenant is not None:
        context.add_cookies([{"name": "tenant", "value": tenant, "url": address}])
    return Visitor(context, address)


def test_a_tenant_sees_nothing_of_another_on_any_page(browser: Browser, guarded: str) -> None:
    ada, bob = (visitor_of(browser, guarded, name) for name in ("ada", "bob"))
    ada.open()
    ada.ask("the secret of ada")
    conversation = ada.conversation
    for path in ("/", f"/?chat={conversation}", "/inspect", f"/inspect?chat={conversation}", "/analytics"):
        bob.forgive("status of 404")
        bob.open(path)
        expect(bob.page.get_by_role("main")).to_be_visible()
        bob.page.wait_for_load_state("networkidle")
        assert "secret of ada" not in bob.page.content()
    expect(bob.page.get_by_role("definition").first).to_have_text("0")
    assert ada.complaints() == bob.complaints() == []
    ada.page.context.close()
    bob.page.context.close()


def test_somebody_unknown_is_told_so_in_words(browser: Browser, guarded: str) -> None:
    nobody = visitor_of(browser, guarded, None)
    nobody.forgive("status of 401")
    nobody.open("/?chat=whatever")
    expect(nobody.page.get_by_text("Say who you are.")).to_be_visible()
    nobody.open()
    nobody.say("hello")
    expect(nobody.page.get_by_role("alert")).to_contain_text("Say who you are.")
    assert nobody.complaints() == []
    nobody.page.context.close()
