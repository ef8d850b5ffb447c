"""While an answer streams, only what changes is drawn: counted, not timed, which is for `bench/web.py`."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.actor import PACE
from tests.web.browser.drawing import count_drawings, drawn
from tests.web.browser.visitor import Visitor


def test_what_is_settled_is_not_drawn_again_while_an_answer_streams(visitor: Visitor) -> None:
    count_drawings(visitor.page)
    visitor.open()
    visitor.ask("show everything")
    visitor.ask("tools please")
    visitor.say("paced 12")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    visitor.field.press_sequentially("while I write ")
    drawn(visitor.page, anew=True)
    for number in range(1, 11):
        PACE.let(visitor.conversation, number + 1)
        expect(visitor.answers.last).to_contain_text(f"w{number}")
    live = visitor.answers.last.get_attribute("data-message")
    counted = drawn(visitor.page)
    assert counted.pop(f"message {live}") >= 10
    assert {name for name in counted if not name.startswith(("block w0", "part text"))} == set()
    visitor.field.press_sequentially("more")
    assert drawn(visitor.page)["composer"] >= 4
    PACE.let(visitor.conversation, 12)
    visitor.settled()


def test_a_paragraph_that_is_complete_is_not_drawn_again_when_the_next_ones_come(visitor: Visitor) -> None:
    count_drawings(visitor.page)
    visitor.open()
    visitor.say("paragraphs 12")
    PACE.let(visitor.conversation, 3)
    expect(visitor.answers.last).to_contain_text("Paragraph 2.")
    drawn(visitor.page, anew=True)
    for number in range(3, 12):
        PACE.let(visitor.conversation, number + 1)
        expect(visitor.answers.last).to_contain_text(f"Paragraph {number}.")
    visitor.settled()
    counted = drawn(visitor.page)
    assert not {"block Paragraph 0.", "block Paragraph 1."} & counted.keys()
    assert all(counted[f"block Paragraph {number}."] <= 2 for number in range(3, 12))


def test_the_parts_before_the_one_that_streams_are_not_drawn_again(visitor: Visitor) -> None:
    count_drawings(visitor.page)
    visitor.open()
    visitor.say("tool and 10")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    tool = visitor.answers.last.locator(".fold").filter(has_text="add")
    expect(tool).to_contain_text("Done")
    drawn(visitor.page, anew=True)
    for number in range(1, 9):
        PACE.let(visitor.conversation, number + 1)
        expect(visitor.answers.last).to_contain_text(f"w{number}")
    counted = drawn(visitor.page)
    assert "part tool-add" not in counted
    assert counted["part text"] >= 8
    PACE.let(visitor.conversation, 10)
    visitor.settled()
