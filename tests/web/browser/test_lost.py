"""Reloads, lost networks and second tabs: nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.web.actor import PACE
from tests.web.browser.visitor import Visitor
from tests.web.browser.wire import Wire

POINTS = 20
WHOLE = "".join(f"w{number} " for number in range(POINTS + 1))

CUT = ("net::ERR_", "Failed to fetch")


@pytest.fixture
def wire(site: str) -> Iterator[Wire]:
    laid = Wire(site)
    with laid.laid() as address:
        laid.address = address
        yield laid


@pytest.fixture
def traveller(context: BrowserContext, wire: Wire) -> Iterator[Visitor]:
    """A visitor whose network can be cut."""
    somebody = Visitor(context, wire.address)
    yield somebody
    assert somebody.complaints() == []


def test_a_page_that_is_reloaded_at_twenty_points_of_an_answer_shows_all_of_it_once(visitor: Visitor) -> None:
    visitor.forgive("net::ERR_ABORTED")
    visitor.open()
    visitor.say(f"paced {POINTS + 1}")
    conversation = visitor.conversation
    for point in range(POINTS):
        PACE.let(conversation, point + 1)
        expect(visitor.answers).to_contain_text(f"w{point}")
        visitor.page.reload()
        expect(visitor.answers).to_have_text(WHOLE[: WHOLE.index(f"w{point + 1} ")].strip())
        expect(visitor.questions).to_have_count(1)
    PACE.let(conversation, POINTS + 1)
    visitor.settled()
    expect(visitor.answers).to_have_count(1)
    assert visitor.texts() == [f"paced {POINTS + 1}", WHOLE]


def test_a_network_that_is_cut_at_twenty_points_of_an_answer_is_not_noticed(
    traveller: Visitor, wire: Wire
) -> None:
    traveller.forgive(*CUT)
    traveller.open()
    traveller.say(f"paced {POINTS + 1}")
    traveller.watch()
    conversation = traveller.conversation
    for point in range(POINTS):
        PACE.let(conversation, point + 1)
        expect(traveller.answers).to_contain_text(f"w{point}")
        wire.cut()
    PACE.let(conversation, POINTS + 1)
    expect(traveller.answers).to_contain_text(f"w{POINTS}")
    traveller.settled()
    traveller.never_shrank()
    expect(traveller.page.get_by_role("alert")).to_have_count(0)
    assert traveller.texts() == [f"paced {POINTS + 1}", WHOLE]
    assert traveller.page.evaluate("window.seen.at(-1)") == WHOLE


def test_an_answer_goes_on_while_there_is_no_network_and_is_rejoined(traveller: Visitor, wire: Wire) -> None:
    traveller.forgive(*CUT)
    traveller.open()
    traveller.say("paced 6")
    traveller.watch()
    conversation = traveller.conversation
    PACE.let(conversation, 2)
    expect(traveller.answers).to_contain_text("w1")
    wire.down()
    expect(traveller.page.get_by_text("The connection was lost.")).to_be_visible()
    PACE.let(conversation, 6)
    wire.up()
    expect(traveller.answers).to_contain_text("w5")
    traveller.settled()
    expect(traveller.page.get_by_text("The connection was lost.")).to_have_count(0)
    traveller.never_shrank()
    assert traveller.texts()[-1] == "w0 w1 w2 w3 w4 w5 "


def test_a_message_that_is_sent_without_a_network_arrives_once(traveller: Visitor, wire: Wire) -> None:
    traveller.forgive(*CUT)
    traveller.open()
    traveller.ask("Good morning")
    wire.down()
    traveller.say("are you there")
    expect(traveller.page.get_by_text("The connection was lost.")).to_be_visible()
    wire.up()
    expect(traveller.answers).to_have_count(2)
    traveller.settled()
    assert traveller.texts()[2:] == ["are you there", "You said: are you there"]


def test_an_answer_that_ended_while_the_page_was_gone_is_there(visitor: Visitor) -> None:
    visitor.open()
    visitor.say("paced 3")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers).to_contain_text("w0")
    conversation = visitor.conversation
    visitor.page.goto("about:blank")
    PACE.let(conversation, 3)
    visitor.open(f"/?chat={conversation}")
    expect(visitor.answers).to_have_text("w0 w1 w2")
    visitor.settled()


def test_two_tabs_show_the_same_and_one_stops_what_the_other_began(
    context: BrowserContext, visitor: Visitor
) -> None:
    other = Visitor(context, visitor.address)
    visitor.open()
    visitor.ask("Good morning")
    other.open(f"/?chat={visitor.conversation}")
    expect(other.answers).to_contain_text("You said: Good morning")
    visitor.page.bring_to_front()
    visitor.say("paced 9")
    PACE.let(visitor.conversation, 2)
    expect(visitor.answers.last).to_contain_text("w1")
    other.page.bring_to_front()
    expect(other.answers.last).to_contain_text("w1")
    PACE.let(visitor.conversation, 4)
    expect(other.answers.last).to_contain_text("w3")
    with other.page.expect_response("**/stop*"):
        other.button("Stop").click()
    PACE.let(visitor.conversation, 9)
    other.settled()
    expect(other.answers.last).to_contain_text("Stopped.")
    visitor.page.bring_to_front()
    visitor.settled()
    expect(visitor.answers.last).to_contain_text("Stopped.")
    assert visitor.answers.all_inner_texts() == other.answers.all_inner_texts()
    assert visitor.texts()[-1].startswith("w0 w1 w2 w3 ")
    assert other.complaints() == []


def test_two_tabs_that_speak_at_once_lose_nothing(context: BrowserContext, visitor: Visitor) -> None:
    other = Visitor(context, visitor.address)
    for each in (visitor, other):
        each.forgive("status of 409")
    visitor.open()
    visitor.ask("Good morning")
    other.open(f"/?chat={visitor.conversation}")
    expect(other.answers).to_have_count(1)
    visitor.say("paced 2")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    other.page.bring_to_front()
    expect(other.answers.last).to_contain_text("w0")
    expect(other.button("Stop")).to_be_visible()
    PACE.let(visitor.conversation, 2)
    other.settled()
    other.ask("and now I")
    assert visitor.texts() == [
        "Good morning",
        "You said: Good morning",
        "paced 2",
        "w0 w1 ",
        "and now I",
        "You said: and now I",
    ]
    visitor.page.bring_to_front()
    expect(visitor.answers).to_have_count(3)
    assert other.complaints() == []
