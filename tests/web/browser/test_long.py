"""Long conversations and long answers: only what is seen is loaded and drawn."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.browser.conftest import Seed
from tests.web.browser.visitor import Visitor
from tests.web.seeding import long_conversation

MESSAGES = 10_000

DRAWN_MAX = 150
"""So many messages are in the page at most, wherever one has scrolled."""

UP = """
(message) => {
  document.querySelector('.messages').scrollTop = 0;
  return document.querySelector(`[data-message=${message}]`) !== null;
}
"""
"""Scrolls up with every frame until the message is there."""


def test_ten_thousand_messages_are_loaded_and_drawn_as_they_are_seen(visitor: Visitor, seed: Seed) -> None:
    seed(lambda store: long_conversation(store, "endless", MESSAGES))
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.open("/?chat=endless")
    expect(visitor.answers.last).to_contain_text(f"Answer {MESSAGES - 1}:")
    expect(visitor.answers.last).to_be_in_viewport()
    assert visitor.page.locator(".message").count() <= 30
    assert len([url for url in asked if "/api/chat/endless" in url]) == 1
    for earliest in range(MESSAGES - 60, MESSAGES - 301, -60):
        visitor.page.wait_for_function(UP, arg=f"endless-{earliest}")
        assert visitor.page.locator(".message").count() <= DRAWN_MAX
    visitor.button("To the newest message").click()
    expect(visitor.answers.last).to_contain_text(f"Answer {MESSAGES - 1}:")
    expect(visitor.answers.last).to_be_in_viewport()
    visitor.say("one more")
    expect(visitor.answers.last).to_contain_text("You said: one more")
    visitor.settled()
    assert visitor.texts("endless")[-1] == "You said: one more"


def test_what_one_reads_stays_where_it_is_when_earlier_messages_come(visitor: Visitor, seed: Seed) -> None:
    seed(lambda store: long_conversation(store, "steady", 200))
    visitor.open("/?chat=steady")
    expect(visitor.answers.last).to_be_in_viewport()
    scroller = visitor.page.get_by_role("region", name="Messages")
    reading = visitor.page.locator("[data-message=steady-171]")
    for top, earlier in ((300, 141), (0, 111)):
        scroller.evaluate("(node, top) => { node.scrollTop = top }", top)
        place = reading.evaluate("node => node.getBoundingClientRect().top")
        expect(visitor.page.locator(f"[data-message=steady-{earlier}]")).to_be_attached()
        assert abs(reading.evaluate("node => node.getBoundingClientRect().top") - place) < 2


def test_the_view_follows_an_answer_until_one_scrolls_up(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("long 400")
    expect(visitor.answers.last.get_by_text("Word 399")).to_be_in_viewport()
    visitor.say("long 3000")
    scroller = visitor.page.get_by_role("region", name="Messages")
    scroller.hover()
    visitor.page.mouse.wheel(0, -2000)
    expect(visitor.button("To the newest message")).to_be_visible()
    visitor.settled()
    expect(visitor.button("To the newest message")).to_be_visible()
    visitor.button("To the newest message").click()
    expect(visitor.button("To the newest message")).to_have_count(0)
