"""The numbers: what is drawn is what the server counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from rejoinder import Chat
from tests.server.serving import serving
from tests.stores.databases import Databases
from tests.web.actor import ACTOR
from tests.web.browser.visitor import Visitor

TODAY = datetime.now(UTC)


@pytest.fixture(scope="module")
def counted(postgres: Databases) -> Iterator[str]:
    """A server with a few turns: today's, and one that was ten days ago."""
    url = postgres.fresh()
    with serving(Chat(ACTOR, store=url).app) as address:
        for number, prompt in enumerate(["hello", "tools please", "fail now", "once upon a time"]):
            message = {"id": "question", "role": "user", "parts": [{"type": "text", "text": prompt}]}
            body = {"id": f"counted-{number}", "messages": [message]}
            httpx.post(f"{address}/api/chat", json=body).raise_for_status()
        with psycopg.connect(url, autocommit=True) as connection:
            moved = connection.execute(
                "UPDATE rejoinder.turn SET created_at = created_at - interval '10 days' WHERE conversation = "
                "(SELECT key FROM rejoinder.conversation WHERE id = 'counted-3')"
            )
            assert moved.rowcount == 1
        yield address


@pytest.fixture
def reader(context: BrowserContext, counted: str) -> Iterator[Visitor]:
    somebody = Visitor(context, counted)
    yield somebody
    assert somebody.complaints() == []


def total(reader: Visitor, name: str) -> Locator:
    return reader.page.locator(".figures div").filter(has_text=re.compile(f"^{name}")).locator("dd")


def card(reader: Visitor, name: str) -> Locator:
    return reader.page.get_by_role("region", name=name, exact=True)


def test_the_totals_and_the_tables_are_what_the_server_counts(reader: Visitor, counted: str) -> None:
    reader.open("/analytics")
    expect(total(reader, "Turns")).to_have_text("4")
    expect(total(reader, "Succeeded")).to_have_text("75.0 %")
    expect(total(reader, "Tool calls")).to_have_text("2")
    expect(total(reader, "Failed calls")).to_have_text("50.0 %")
    for name in (
        "Turns",
        "Tokens",
        "Cost",
        "Time to first token",
        "Duration",
        "Tool calls",
        "Why turns ended",
    ):
        expect(card(reader, name).locator("canvas")).to_be_visible()
    turns = card(reader, "Turns")
    turns.get_by_text("As a table").click()
    rows = turns.get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1).get_by_role("cell")).to_have_text(["1", "0"])
    expect(rows.nth(2).get_by_role("cell")).to_have_text(["2", "1"])
    tokens = httpx.get(f"{counted}/api/analytics/tokens?by=agent").json()["rows"][0]["total"]
    expect(total(reader, "Tokens")).to_have_text(f"{tokens:,}")
    tools = card(reader, "By tool").get_by_role("row")
    expect(tools.filter(has_text="divide").get_by_role("cell")).to_have_text(
        ["divide", "1", "0", "1", "0", "100 %"]
    )


def test_the_numbers_are_by_model_and_agent_and_over_a_range(reader: Visitor) -> None:
    reader.open("/analytics")
    reader.button("Model").click()
    cost = card(reader, "Cost")
    cost.get_by_text("As a table").click()
    expect(cost.get_by_role("row").nth(1)).to_contain_text("gpt-5-mini")
    reader.button("Agent").click()
    turns = card(reader, "Turns")
    turns.get_by_text("As a table").click()
    expect(turns.get_by_role("row").nth(1)).to_contain_text("actor")
    reader.button("7 days").click()
    expect(total(reader, "Turns")).to_have_text("3")
    assert "by=agent" in reader.page.url
    reader.page.get_by_label("From", exact=True).fill((TODAY - timedelta(days=12)).date().isoformat())
    expect(total(reader, "Turns")).to_have_text("4")
    reader.page.get_by_label("To", exact=True).fill((TODAY - timedelta(days=5)).date().isoformat())
    expect(total(reader, "Turns")).to_have_text("1")
    reader.page.reload()
    expect(total(reader, "Turns")).to_have_text("1")


def test_a_plot_says_what_is_under_the_pointer_and_takes_on_the_colours(reader: Visitor) -> None:
    reader.open("/analytics")
    turns = card(reader, "Turns")
    turns.locator(".u-over").hover(position={"x": 5, "y": 40})
    expect(turns.locator(".legend-key")).to_be_visible()
    canvas = turns.locator("canvas")
    light = canvas.evaluate("node => node.toDataURL()")
    reader.button("Dark").click()
    expect(reader.page.locator("html")).to_have_attribute("data-theme", "dark")
    reader.page.wait_for_function(
        "before => document.querySelector('#turns canvas').toDataURL() !== before", arg=light
    )
    reader.page.reload()
    expect(reader.page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_range_without_turns_says_so(reader: Visitor) -> None:
    reader.open("/analytics?from=2020-01-01&to=2020-01-31")
    expect(card(reader, "Turns").get_by_text("Nothing to show in this range.")).to_be_visible()
    expect(total(reader, "Turns")).to_have_text("0")
