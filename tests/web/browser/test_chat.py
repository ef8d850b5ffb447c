"""Talking: what is said, shown, stopped, made anew and kept."""

from __future__ import annotations

import re

import psycopg
from playwright.sync_api import expect

from tests.web.actor import ANSWER, PACE
from tests.web.browser.visitor import Visitor


def test_a_message_is_answered_shown_and_stored(visitor: Visitor, database: str) -> None:
    visitor.open()
    expect(visitor.page.get_by_role("heading", name="What shall we talk about?")).to_be_visible()
    expect(visitor.field).to_be_focused()
    answer = visitor.ask("Good morning")
    expect(answer).to_contain_text("You said: Good morning")
    assert visitor.texts() == ["Good morning", "You said: Good morning"]
    entry = visitor.page.get_by_role("navigation", name="Conversations").get_by_role("link")
    expect(entry.filter(has_text="Good morning").first).to_have_attribute("aria-current", "page")
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT m.role, m.status FROM rejoinder.message m "
            "JOIN rejoinder.conversation c ON m.conversation = c.key WHERE c.id = %s ORDER BY m.seq",
            [visitor.conversation],
        ).fetchall()
    assert rows == [("user", None), ("assistant", "complete")]


def test_an_idea_is_sent_with_one_click(visitor: Visitor) -> None:
    visitor.open()
    visitor.page.locator(".idea").nth(1).click()
    expect(visitor.answers).to_contain_text("You said: Write a haiku")
    visitor.settled()


def test_an_answer_with_everything_shows_everything(visitor: Visitor) -> None:
    visitor.open()
    answer = visitor.ask("show everything")
    expect(answer.locator("h4, h3").filter(has_text="A reverse proxy, briefly")).to_be_visible()
    expect(answer.locator("table td").filter(has_text="nginx")).to_be_visible()
    expect(answer.locator(".code-block .hljs-keyword").first).to_have_text("async")
    expect(answer.locator("li.task input").first).to_be_checked()
    expect(answer.locator("blockquote")).to_contain_text("Buffering")
    link = answer.get_by_role("link", name="manual")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    expect(link).to_have_attribute("target", "_blank")
    expect(answer.get_by_role("complementary", name="Sources").get_by_role("listitem")).to_have_count(3)
    expect(answer.locator(".attachment.picture img")).to_be_visible()
    expect(answer.locator(".rows")).to_contain_text("Oslo")
    thought = answer.get_by_role("button", name=re.compile("^Thought"))
    expect(thought).to_have_attribute("aria-expanded", "false")
    thought.click()
    expect(answer.locator(".reasoning")).to_contain_text("look up the weather first")
    thought.press("Enter")
    expect(answer.locator(".reasoning")).to_have_count(0)
    assert visitor.texts()[-1] == ANSWER
    kinds = [part["type"] for part in visitor.stored()[-1]["parts"]]
    assert {"reasoning", "tool-get_weather", "source-url", "source-document", "data-weather", "file"} <= set(
        kinds
    )


def test_a_tool_shows_its_input_its_progress_and_what_came_of_it(visitor: Visitor) -> None:
    visitor.open()
    answer = visitor.ask("tools please")
    good = answer.locator(".fold").filter(has_text="add")
    expect(good).to_contain_text("Done")
    good.get_by_role("button", name=re.compile("add")).click()
    expect(good.get_by_label("tool input", exact=True)).to_contain_text('"numbers"')
    expect(good.get_by_label("tool output", exact=True)).to_contain_text("5")
    bad = answer.locator(".fold").filter(has_text="divide")
    expect(bad).to_contain_text("Failed")
    expect(bad).to_contain_text("Nobody can divide by zero.")
    assert [
        part["state"] for part in visitor.stored()[-1]["parts"] if "state" in part and "toolCallId" in part
    ] == [
        "output-available",
        "output-error",
    ]


def test_data_parts_and_parts_that_nobody_knows_are_shown(visitor: Visitor) -> None:
    visitor.open()
    answer = visitor.ask("data please")
    expect(answer.locator(".rows")).to_contain_text("100")
    answer.get_by_role("button", name=re.compile("^tree")).click()
    expect(answer.get_by_label("data tree", exact=True)).to_contain_text('"er"')
    expect(answer.get_by_text("custom", exact=True)).to_be_visible()
    assert visitor.parts("data-progress")[0]["data"] == {"percent": 100}


def test_an_answer_is_stopped_by_the_button_and_by_escape(visitor: Visitor) -> None:
    visitor.open()
    for way in ("button", "escape"):
        visitor.say("wait")
        expect(visitor.answers.last).to_contain_text("Waiting")
        expect(visitor.answers.last).to_have_attribute("aria-busy", "true")
        if way == "button":
            visitor.button("Stop").click()
        else:
            visitor.page.keyboard.press("Escape")
        visitor.settled()
        expect(visitor.answers.last.get_by_text("Stopped.")).to_be_visible()
    assert visitor.texts() == ["wait", "Waiting", "wait", "Waiting"]
    turns = visitor.page.request.get(f"{visitor.address}/api/chat/{visitor.conversation}/turns").json()
    assert [turn["status"] for turn in turns["turns"]] == ["cancelled", "cancelled"]


def test_a_failure_says_no_secret_and_is_tried_again(visitor: Visitor) -> None:
    visitor.open()
    visitor.say("fail now")
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("An error occurred.")
    expect(visitor.answers.last).to_contain_text("So far so")
    assert "canary" not in visitor.page.content()
    visitor.page.reload()
    failed = "This answer failed before it was complete."
    expect(visitor.answers.last).to_contain_text(failed)
    visitor.button("Answer again").click()
    expect(alert).to_contain_text("An error occurred.")
    expect(visitor.answers.last).to_contain_text(failed)
    assert "canary" not in visitor.page.content()
    alert.get_by_role("button", name="Try again").click()
    expect(visitor.page.get_by_text("3 / 3")).to_be_visible()
    alert.get_by_role("button", name="Dismiss").click()
    expect(alert).to_have_count(0)
    visitor.ask("Good morning")
    assert visitor.texts()[-2:] == ["Good morning", "You said: Good morning"]


def test_an_answer_is_made_again_and_both_are_stepped_through(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("first")
    first = visitor.stored()[-1]["id"]
    visitor.button("Answer again").click()
    expect(visitor.page.get_by_text("2 / 2")).to_be_visible()
    visitor.settled()
    second = visitor.stored()[-1]["id"]
    assert first != second
    visitor.button("Previous branch").click()
    expect(visitor.page.get_by_text("1 / 2")).to_be_visible()
    expect(visitor.answers).to_have_attribute("data-message", first)
    assert visitor.stored()[-1]["id"] == first
    expect(visitor.button("Previous branch")).to_be_disabled()
    visitor.button("Next branch").click()
    expect(visitor.answers).to_have_attribute("data-message", second)
    assert visitor.stored()[-1]["id"] == second


def test_a_message_is_edited_and_the_old_branch_stays(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("one")
    visitor.ask("two")
    visitor.questions.first.hover()
    visitor.questions.first.get_by_role("button", name="Edit").click()
    editor = visitor.page.get_by_label("Edit message")
    expect(editor).to_be_focused()
    editor.press("Escape")
    expect(editor).to_have_count(0)
    visitor.questions.first.get_by_role("button", name="Edit").click()
    editor.fill("uno")
    editor.press("Enter")
    expect(visitor.answers).to_have_count(1)
    expect(visitor.answers).to_contain_text("You said: uno")
    visitor.settled()
    assert visitor.texts() == ["uno", "You said: uno"]
    visitor.questions.first.get_by_role("button", name="Previous branch").click()
    expect(visitor.answers).to_have_count(2)
    expect(visitor.answers.last).to_contain_text("You said: two")
    assert visitor.texts() == ["one", "You said: one", "two", "You said: two"]


def test_the_arrow_edits_what_was_said_last(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("one")
    visitor.field.press("ArrowUp")
    editor = visitor.page.get_by_label("Edit message")
    expect(editor).to_have_value("one")
    editor.fill("eins")
    visitor.page.locator(".editor").get_by_role("button", name="Send").click()
    expect(visitor.answers).to_contain_text("You said: eins")
    visitor.settled()
    assert visitor.texts() == ["eins", "You said: eins"]


def test_what_is_deleted_is_gone_here_and_there(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("one")
    visitor.ask("two")
    visitor.questions.last.hover()
    visitor.questions.last.get_by_role("button", name="Delete from here").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("everything after it")
    dialog.get_by_role("button", name="Cancel").click()
    expect(visitor.questions).to_have_count(2)
    visitor.questions.last.get_by_role("button", name="Delete from here").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(visitor.questions).to_have_count(1)
    assert visitor.texts() == ["one", "You said: one"]


def test_one_writes_on_while_an_answer_streams(visitor: Visitor) -> None:
    visitor.open()
    visitor.say("paced 3")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    visitor.field.type("my next question")
    visitor.field.press("Shift+Enter")
    visitor.field.type("second line")
    visitor.field.press("Enter")
    expect(visitor.field).to_have_value("my next question\nsecond line")
    PACE.let(visitor.conversation, 3)
    visitor.settled()
    expect(visitor.field).to_have_value("my next question\nsecond line")
    visitor.field.press("Enter")
    expect(visitor.questions).to_have_count(2)
    visitor.settled()
    assert visitor.texts()[2] == "my next question\nsecond line"
