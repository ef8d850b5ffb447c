"""The inspector: a turn from all sides, replayed, told again, taken home, and watched while it runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, expect

from rejoinder import Chat
from rejoinder.core import RecentNTurnsHistoryBuilder
from tests.server.serving import serving
from tests.web.actor import ACTOR, PACE
from tests.web.browser.conftest import Seed
from tests.web.browser.visitor import Visitor
from tests.web.seeding import many_turns


def inspected(visitor: Visitor, prompt: str) -> str:
    """Have something answered, and go from the answer to the inspector."""
    visitor.open()
    visitor.ask(prompt)
    conversation = visitor.conversation
    visitor.answers.last.get_by_role("link", name="Inspect this answer").click()
    expect(visitor.page.get_by_role("article", name="Turn")).to_be_visible()
    return conversation


def tab(visitor: Visitor, name: str) -> Locator:
    visitor.page.get_by_role("tab", name=name, exact=True).click()
    return visitor.page.get_by_role("tabpanel")


def figure(visitor: Visitor, name: str) -> Locator:
    return (
        visitor.page.locator(".figures")
        .first.locator("div")
        .filter(has_text=re.compile(f"^{name}"))
        .locator("dd")
    )


def test_a_conversation_and_a_turn_are_picked(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("pick me")
    visitor.ask("tools please")
    visitor.page.get_by_role("link", name="Inspector").click()
    expect(visitor.page.get_by_role("heading", name="Why is an answer what it is?")).to_be_visible()
    visitor.page.get_by_label("Search conversations").fill("pick me")
    conversations = visitor.page.get_by_role("navigation", name="Conversations")
    expect(conversations.get_by_role("link")).to_have_count(1)
    conversations.get_by_role("link").click()
    turns = visitor.page.get_by_role("navigation", name="Turns").get_by_role("link")
    expect(turns).to_have_count(2)
    expect(turns.last).to_have_attribute("aria-current", "page")
    expect(visitor.page.get_by_role("group", name="Timeline")).to_contain_text("divide")
    turns.first.click()
    expect(visitor.page.get_by_role("group", name="Timeline")).not_to_contain_text("divide")


def test_an_event_leads_to_its_chunks_and_a_chunk_to_its_part(visitor: Visitor) -> None:
    conversation = inspected(visitor, "show everything")
    panel = tab(visitor, "Trace")
    told = visitor.page.request.get(f"{visitor.address}/api/chat/{conversation}/turns").json()["turns"][0]
    frames = visitor.page.request.get(
        f"{visitor.address}/api/chat/{conversation}/turns/{told['id']}/frames"
    ).json()["frames"]
    expect(figure(visitor, "Frames")).to_have_text(str(len(frames)))
    expect(figure(visitor, "Tokens")).to_have_text("1,540")
    expect(figure(visitor, "Cost")).to_contain_text("$0.00098")
    expect(figure(visitor, "First token")).to_have_text(re.compile(r"\d+ ms|\d.* s"))
    panel.get_by_role("button", name=re.compile("^get_weather, ")).click()
    chunks = panel.get_by_role("listbox", name="Chunks")
    expect(chunks.get_by_role("option", selected=True)).to_contain_text(re.compile("^\\d+tool-"))
    parts = panel.get_by_role("listbox", name="Parts")
    parts.get_by_role("option").filter(has_text="get_weather").click()
    events = panel.get_by_role("listbox", name="Events")
    expect(events.locator(".related").filter(has_text="Blindern").first).to_be_visible()
    expect(chunks.locator(".related").filter(has_text="tool-output-available").first).to_be_visible()
    events.get_by_role("option").filter(has_text='"type":"tool"').click()
    expect(panel.get_by_role("region", name="What is chosen")).to_contain_text('"city": "Oslo"')
    expect(parts.locator(".related").filter(has_text="get_weather")).to_be_visible()
    # By keys, too.
    chunks.press("Home")
    expect(chunks.get_by_role("option", selected=True)).to_contain_text("start")
    chunks.press("ArrowDown")
    expect(chunks.get_by_role("option", selected=True)).to_contain_text("start-step")
    expect(panel.get_by_role("region", name="What is chosen")).to_contain_text("start-step")


def test_a_turn_is_replayed_step_by_step_and_at_speed(visitor: Visitor) -> None:
    inspected(visitor, "show everything")
    panel = tab(visitor, "Replay")
    replayed = panel.get_by_role("region", name="Replayed message")
    stored = panel.get_by_role("region", name="Stored message")
    expect(replayed).to_contain_text("A reverse proxy, briefly")
    slider = panel.get_by_label("Frames shown")
    slider.press("Home")
    expect(replayed).to_contain_text("Nothing yet.")
    for _ in range(5):
        panel.get_by_role("button", name="One frame on").click()
    expect(replayed.get_by_role("button", name=re.compile("^Thinking"))).to_be_visible()
    expect(replayed).to_contain_text("The user")
    panel.get_by_role("button", name="One frame back").click()
    expect(replayed).not_to_contain_text("user")
    panel.get_by_label("Speed").select_option("64")
    panel.get_by_role("button", name="Play").click()
    expect(replayed).to_contain_text("measure p99 before and after")
    expect(panel.get_by_role("button", name="Play")).to_be_visible()
    for side in (".markdown", ".fold-title", ".sources"):
        expect(replayed.locator(side)).to_have_text(stored.locator(side).all_text_contents())


def test_a_turn_that_went_on_is_replayed_from_where_it_went_on(visitor: Visitor) -> None:
    visitor.open()
    visitor.ask("delete it")
    visitor.button("Approve").click()
    expect(visitor.answers.last).to_contain_text("It is gone.")
    visitor.settled()
    visitor.answers.last.get_by_role("link", name="Inspect this answer").click()
    panel = tab(visitor, "Replay")
    replayed = panel.get_by_role("region", name="Replayed message")
    expect(replayed).to_contain_text("I need your word for this.")
    expect(replayed).to_contain_text("It is gone.")


def test_what_is_stored_is_laid_beside_what_is_told_today(visitor: Visitor) -> None:
    inspected(visitor, "tools please")
    panel = tab(visitor, "Diff")
    expect(panel.get_by_role("status")).to_contain_text("the turn says the same, chunk by chunk")
    expect(panel.get_by_label("message told again", exact=True)).to_contain_text("Nobody can divide by zero.")


def test_calls_history_and_rows_are_shown(visitor: Visitor) -> None:
    inspected(visitor, "Good morning")
    panel = tab(visitor, "Calls and usage")
    row = panel.get_by_role("row").filter(has_text="gpt-5-mini")
    expect(row).to_contain_text("succeeded")
    expect(row.get_by_role("cell").nth(5)).to_contain_text(re.compile("^1,200800 from the cache$"))
    expect(row.get_by_role("cell").nth(6)).to_contain_text("60 of reasoning")
    expect(row).to_contain_text("$0.00098")
    panel = tab(visitor, "History")
    sent = panel.get_by_role("region", name="Sent to the model").get_by_role("listitem")
    expect(sent).to_have_text(["userGood morning"])
    expect(panel).to_contain_text("Nothing was left out.")
    panel = tab(visitor, "Stored")
    expect(panel.get_by_label("turn", exact=True)).to_contain_text('"status": "succeeded"')
    expect(panel.get_by_label("messages", exact=True)).to_contain_text("You said: Good morning")
    visitor.page.get_by_role("tab", name="Stored").press("ArrowRight")
    expect(visitor.page.get_by_role("tab", name="Trace")).to_be_focused()
    expect(visitor.page.get_by_role("tab", name="Trace")).to_have_attribute("aria-selected", "true")


def test_what_was_left_out_is_shown_with_the_reason(context: BrowserContext) -> None:
    chat = Chat(ACTOR, store="memory", history=RecentNTurnsHistoryBuilder(max_turns=1))
    with serving(chat.app) as address:
        visitor = Visitor(context, address)
        visitor.open()
        for prompt in ("one", "two", "three"):
            visitor.ask(prompt)
        visitor.answers.last.get_by_role("link", name="Inspect this answer").click()
        panel = tab(visitor, "History")
        expect(panel.get_by_role("region", name="Sent to the model").get_by_role("listitem")).to_have_count(3)
        left_out = panel.get_by_role("region", name="Left out, and why")
        expect(left_out).to_contain_text("no room for more turns")
        expect(left_out).to_contain_text("2 messages")
        assert visitor.complaints() == []


def test_a_turn_is_taken_home_as_json_lines(visitor: Visitor, tmp_path: Path) -> None:
    conversation = inspected(visitor, "tools please")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="JSON lines", exact=True).click()
    download.value.save_as(kept := tmp_path / "turn.jsonl")
    lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    kinds = {line["kind"] for line in lines}
    assert kinds == {"turn", "provider-call", "event", "frame", "message"}
    api = f"{visitor.address}/api/chat/{conversation}/turns/{lines[0]['id']}"
    frames = visitor.page.request.get(f"{api}/frames").json()["frames"]
    assert [line["chunk"] for line in lines if line["kind"] == "frame"] == [
        frame["chunk"] for frame in frames
    ]
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Download all turns as JSON lines").click()
    download.value.save_as(kept)
    assert kept.read_text("utf-8").count('"kind":"turn"') == 1


def test_earlier_turns_are_asked_for_and_all_are_taken_home(
    visitor: Visitor, seed: Seed, tmp_path: Path
) -> None:
    seed(lambda store: many_turns(store, "talkative", 130))
    visitor.open("/inspect?chat=talkative")
    turns = visitor.page.get_by_role("navigation", name="Turns").get_by_role("link")
    expect(turns).to_have_count(100)
    visitor.button("Earlier turns").click()
    expect(turns).to_have_count(130)
    expect(turns.first).to_contain_text("1. ")
    expect(turns.last).to_contain_text("130. ")
    expect(visitor.button("Earlier turns")).to_have_count(0)
    visitor.page.reload()
    expect(turns).to_have_count(100)
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Download all turns as JSON lines").click()
    download.value.save_as(kept := tmp_path / "all.jsonl")
    assert kept.read_text("utf-8").count('"kind":"turn"') == 130


def test_a_turn_is_watched_while_it_runs(context: BrowserContext, visitor: Visitor) -> None:
    visitor.open()
    visitor.say("paced 4")
    PACE.let(visitor.conversation, 1)
    expect(visitor.answers.last).to_contain_text("w0")
    watcher = Visitor(context, visitor.address)
    watcher.open(f"/inspect?chat={visitor.conversation}")
    expect(watcher.page.get_by_text("watching")).to_be_visible()
    chunks = watcher.page.get_by_role("listbox", name="Chunks")
    expect(chunks).to_contain_text("w0")
    PACE.let(visitor.conversation, 3)
    expect(chunks).to_contain_text("w2")
    expect(watcher.page.locator(".status")).to_have_text("running")
    PACE.let(visitor.conversation, 4)
    expect(watcher.page.locator(".status")).to_have_text("succeeded")
    expect(watcher.page.get_by_text("watching")).to_have_count(0)
    expect(chunks).to_contain_text("finish")
    assert watcher.complaints() == []
