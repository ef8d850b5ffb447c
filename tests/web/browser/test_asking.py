"""What the agent asks of the person at the page: approvals, and tools that the person is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.browser.visitor import Visitor


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [("Approve", "output-available", "It is gone."), ("Deny", "output-denied", "Then I leave it alone.")],
)
def test_an_approval_is_asked_for_given_with_a_reason_and_followed(
    visitor: Visitor, answer: str, state: str, words: str
) -> None:
    visitor.open()
    visitor.ask("delete it")
    form = visitor.page.get_by_role("form", name="Approval of delete_file")
    expect(form).to_contain_text("May delete_file run")
    form.get_by_label("Reason (if you like)").fill("because I say so")
    form.get_by_role("button", name=answer).click()
    expect(visitor.answers.last).to_contain_text(words)
    visitor.settled()
    expect(form).to_have_count(0)
    (call,) = visitor.parts("tool-delete_file")
    assert call["state"] == state
    assert call["approval"]["approved"] is (answer == "Approve")
    assert call["approval"]["reason"] == "because I say so"
    assert len(visitor.stored()) == 2


def test_an_approval_waits_over_a_reload(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("delete it")
    visitor.page.reload()
    visitor.button("Approve").click()
    expect(visitor.answers.last).to_contain_text("It is gone.")
    visitor.settled()
    assert visitor.parts("tool-delete_file")[0]["state"] == "output-available"


def test_a_question_is_answered_with_one_of_its_choices(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("ask me")
    form = visitor.page.get_by_role("form", name="Answer for choose")
    expect(form).to_contain_text("Which city?")
    form.get_by_role("button", name="Rome").click()
    expect(visitor.answers.last).to_contain_text("You answered Rome.")
    visitor.settled()
    assert visitor.parts("tool-choose")[0]["output"] == "Rome"


def test_a_question_is_answered_in_words_as_json_or_not_at_all(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("where am i")
    form = visitor.page.get_by_role("form", name="Answer for locate")
    form.get_by_role("textbox").fill('{"city": ')
    form.get_by_label("as JSON").check()
    form.get_by_role("button", name="Send answer").click()
    expect(form.get_by_role("alert")).to_contain_text("This is not JSON.")
    form.get_by_role("textbox").fill('{"city": "Oslo"}')
    form.get_by_role("button", name="Send answer").click()
    expect(visitor.answers.last).to_contain_text("You answered")
    visitor.settled()
    assert visitor.parts("tool-locate")[0]["output"] == {"city": "Oslo"}
    visitor.ask("where am i")
    visitor.button("Decline").click()
    expect(visitor.answers.last).to_contain_text("Never mind.")
    visitor.settled()
    (call,) = visitor.parts("tool-locate")
    assert (call["state"], call["errorText"]) == ("output-error", "The user did not answer.")


def test_who_says_something_else_is_not_asked_any_more(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("delete it")
    visitor.ask("Good morning")
    expect(visitor.button("Approve")).to_have_count(0)
    expect(visitor.answers.first.get_by_role("button", name=re.compile("delete_file"))).to_contain_text(
        "Not answered"
    )
