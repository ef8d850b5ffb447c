"""By keys alone, on a phone, and in the colours one likes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.visitor import Visitor

FOCUSED = """
() => [
  document.activeElement.getAttribute('aria-label') || document.activeElement.textContent,
  getComputedStyle(document.activeElement).outlineStyle,
]
"""


def test_everything_is_reached_by_keys_in_the_order_in_which_it_stands(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("Good morning")
    first = visitor.page.locator("a, button, input, textarea, [tabindex]").first
    expect(first).to_have_text("Skip to the content")
    first.focus()
    expect(first).to_be_in_viewport()
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_role("main")).to_be_focused()
    reached: list[str] = []
    for _ in range(9):
        visitor.page.keyboard.press("Tab")
        name, outline = visitor.page.evaluate(FOCUSED)
        reached.append(name)
        # Whatever has the focus shows that it has; the field where one writes does so by the frame around it.
        assert outline != "none" or name == "Message"
    assert reached == [
        "Messages",
        "Copy message",
        "Edit",
        "Delete from here",
        "Copy message",
        "Answer again",
        "Delete from here",
        "Inspect this answer",
        "Message",
    ]


def test_a_dialog_keeps_the_focus_and_gives_it_back(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("Good morning")
    delete = visitor.answers.last.get_by_role("button", name="Delete from here")
    # It is known where the answer is stored a moment after its last word.
    expect(delete).to_be_enabled()
    delete.focus()
    visitor.page.keyboard.press("Enter")
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    visitor.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(delete).to_be_focused()
    assert len(visitor.stored()) == 2


def test_who_uses_keys_never_falls_back_to_the_beginning_of_the_page(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("Good morning")
    edit = visitor.questions.last.get_by_role("button", name="Edit")
    for way_in, key in ((visitor.field, "ArrowUp"), (edit, "Enter")):
        way_in.press(key)
        visitor.page.get_by_label("Edit message").press("Escape")
        expect(visitor.field).to_be_focused()
    visitor.answers.last.get_by_role("button", name="Answer again").press("Enter")
    expect(visitor.page.get_by_text("2 / 2")).to_be_visible()
    visitor.settled()
    expect(visitor.field).to_be_focused()
    visitor.button("Previous branch").press("Enter")
    expect(visitor.page.get_by_text("1 / 2")).to_be_visible()
    # The first branch has none before it: the way back is what is left.
    expect(visitor.button("Next branch")).to_be_focused()
    visitor.ask("delete it")
    visitor.button("Approve").press("Enter")
    expect(visitor.answers.last).to_contain_text("It is gone.")
    visitor.settled()
    expect(visitor.field).to_be_focused()
    entry = visitor.page.get_by_role("navigation", name="Conversations").get_by_role("listitem").first
    entry.get_by_role("button", name="Rename").press("Enter")
    visitor.page.keyboard.press("Escape")
    expect(entry.get_by_role("link")).to_be_focused()


def test_what_happens_is_told_to_those_who_listen(visitor: Visitor) -> None:
    visitor.open()
    visitor.say("wait")
    expect(visitor.page.get_by_role("status").filter(has_text="An answer is being written.")).to_be_attached()
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.get_by_role("status").filter(has_text="The answer is complete.")).to_be_attached()


@pytest.fixture
def phone(browser: Browser, site: str) -> Iterator[Visitor]:
    context = browser.new_context(viewport={"width": 360, "height": 720}, has_touch=True, is_mobile=True)
    somebody = Visitor(context, site)
    yield somebody
    assert somebody.complaints() == []
    context.close()


def test_a_phone_shows_one_thing_at_a_time_and_nothing_sticks_out(phone: Visitor) -> None:
    phone.open()
    # A keyboard would cover what one came to read.
    expect(phone.field).not_to_be_focused()
    phone.ask("show everything")
    conversation = phone.conversation
    for path in ("", "/inspect", "/analytics"):
        if path:
            phone.open(f"{path}?chat={conversation}")
        expect(phone.page.get_by_role("main")).to_be_visible()
        phone.page.wait_for_load_state("networkidle")
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 360
    phone.open(f"/?chat={conversation}")
    side = phone.page.get_by_role("complementary", name="Side")
    expect(side).not_to_be_visible()
    phone.button("Menu").tap()
    expect(side).to_be_visible()
    side.get_by_role("link", name="show everything").first.tap()
    expect(side).not_to_be_visible()
    phone.button("Menu").tap()
    phone.page.keyboard.press("Escape")
    expect(side).not_to_be_visible()


def test_above_the_keyboard_of_a_phone_all_that_is_offered_can_be_reached(phone: Visitor) -> None:
    phone.page.set_viewport_size({"width": 360, "height": 340})
    phone.open()
    expect(phone.button("Send")).to_be_in_viewport()
    heading = phone.page.get_by_role("heading", name="What shall we talk about?")
    expect(heading).to_be_in_viewport()
    phone.page.locator(".idea").last.scroll_into_view_if_needed()
    expect(phone.page.locator(".idea").last).to_be_in_viewport()
    phone.field.fill("\n".join(f"line {number}" for number in range(40)))
    expect(phone.button("Send")).to_be_in_viewport()
    phone.button("Send").tap()
    expect(phone.answers.last).to_contain_text("line 39")
    expect(phone.field).to_be_in_viewport()


def test_a_colour_scheme_is_chosen_and_kept(visitor: Visitor) -> None:
    visitor.open()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = visitor.page.evaluate(paper)
    visitor.button("Dark").click()
    expect(visitor.button("Dark")).to_have_attribute("aria-pressed", "true")
    assert visitor.page.evaluate(paper) != light
    visitor.page.reload()
    assert visitor.page.evaluate(paper) != light
    visitor.button("As the system").click()
    assert visitor.page.evaluate(paper) == light
    visitor.page.emulate_media(color_scheme="dark")
    assert visitor.page.evaluate(paper) != light
