"""The conversations at the side: found, named, deleted, and more of them as one scrolls."""

from __future__ import annotations

import httpx
from playwright.sync_api import Locator, expect

from tests.web.browser.conftest import Seed
from tests.web.browser.visitor import Visitor
from tests.web.seeding import many_conversations


def entries(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("navigation", name="Conversations").get_by_role("listitem")


def test_a_conversation_is_named_found_and_deleted(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("Zanzibar by ship")
    conversation = visitor.conversation
    entry = entries(visitor).filter(has_text="Zanzibar by ship")
    entry.hover()
    entry.get_by_role("button", name="Rename Zanzibar by ship").click()
    name = visitor.page.get_by_label("Name of the conversation")
    expect(name).to_be_focused()
    name.fill("Quetzal watching")
    name.press("Enter")
    expect(entries(visitor).filter(has_text="Quetzal watching")).to_be_visible()
    told = httpx.get(f"{visitor.address}/api/chat/{conversation}").json()
    assert told["title"] == "Quetzal watching"
    visitor.page.keyboard.press("Control+k")
    search = visitor.page.get_by_label("Search conversations")
    expect(search).to_be_focused()
    search.press_sequentially("quetzal")
    expect(entries(visitor)).to_have_count(1)
    search.fill("nothing like that at all")
    expect(visitor.page.get_by_text("Nothing found.")).to_be_visible()
    search.press("Escape")
    expect(search).to_have_value("")
    entry = entries(visitor).filter(has_text="Quetzal watching")
    entry.hover()
    entry.get_by_role("button", name="Delete Quetzal watching").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(entries(visitor).filter(has_text="Quetzal watching")).to_have_count(0)
    expect(visitor.page.get_by_role("heading", name="What shall we talk about?")).to_be_visible()
    assert httpx.get(f"{visitor.address}/api/chat/{conversation}").status_code == 404


def test_what_is_said_in_a_conversation_finds_it(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("xylophone lessons")
    visitor.page.get_by_label("Search conversations").fill("xylophone")
    expect(entries(visitor)).to_have_count(1)
    entries(visitor).get_by_role("link").click()
    expect(visitor.answers).to_contain_text("You said: xylophone lessons")


def test_earlier_conversations_come_as_one_scrolls(visitor: Visitor, seed: Seed) -> None:
    seed(lambda store: many_conversations(store, 130, name=lambda number: f"Old talk {number}"))
    visitor.open()
    expect(entries(visitor).filter(has_text="Old talk 129")).to_be_visible()
    assert entries(visitor).count() < 60
    oldest = entries(visitor).filter(has_text="Old talk 0")
    while oldest.count() == 0:
        before = entries(visitor).count()
        entries(visitor).last.scroll_into_view_if_needed()
        expect(entries(visitor)).not_to_have_count(before)
    titles = [text for text in entries(visitor).all_inner_texts() if text.startswith("Old talk")]
    assert len(titles) == len(set(titles)) == 130


def test_a_conversation_is_begun_with_keys_and_left_with_the_back_button(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("the first one")
    first = visitor.conversation
    visitor.page.keyboard.press("Control+Shift+O")
    expect(visitor.page.get_by_role("heading", name="What shall we talk about?")).to_be_visible()
    visitor.ask("the second one")
    assert visitor.conversation != first
    visitor.page.go_back()
    expect(visitor.answers).to_contain_text("You said: the first one")
    assert visitor.conversation == first


def test_an_address_of_nothing_says_so(visitor: Visitor) -> None:
    visitor.forgive("status of 404")
    visitor.open("/?chat=never-was")
    expect(visitor.page.get_by_role("heading", name="This conversation is not here")).to_be_visible()
