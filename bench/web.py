"""The pages in a real Chromium: bytes of the first load, scripting until a long conversation is there, smoothness.

    .venv/bin/python bench/web.py [--messages 10000]

Scripting is what the browser itself counts (`ScriptDuration`): time on the clock, so on a busy machine the least of
several rounds says most. Every round is a browser that has kept nothing.
Smoothness is the longest stretch in which the page did not answer while an answer streamed and somebody typed.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, expect, sync_playwright  # noqa: E402  # the path comes first

from bench.rows import OURS, Row, tell  # noqa: E402
from rejoinder import Chat  # noqa: E402
from rejoinder.server.pages import FOLDER  # noqa: E402
from rejoinder.stores.memory import InMemoryConversationStore  # noqa: E402
from scripts import chromium  # noqa: E402
from tests.server.serving import serving  # noqa: E402
from tests.web.actor import ACTOR  # noqa: E402
from tests.web.seeding import long_conversation  # noqa: E402

ROUNDS: Final = 5
SCRIPT_BYTES_MAX: Final = 250 * 1024
SCRIPTING_MS_MAX: Final = 300.0

BLOCKED = """
() => {
  window.blocked = [];
  new PerformanceObserver((list) => window.blocked.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask' });
}
"""


def first_load() -> int:
    """Bytes of script, packed, before one can write."""
    index = (FOLDER / "index.html").read_text("utf-8")
    names: list[str] = re.findall(r'(?:src|href)="\./(assets/[^"]+\.js)"', index)
    return sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in names)


def opening(browser: Browser, address: str, conversation: str) -> float:
    """Milliseconds of script until the newest message is there, in a browser that has seen nothing before."""
    context = browser.new_context()
    page = context.new_page()
    session: Any = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(f"{address}/?chat={conversation}")
    page.get_by_role("article", name="Answer").last.wait_for()
    told: dict[str, Any] = session.send("Performance.getMetrics")
    context.close()
    found = {str(metric["name"]): float(metric["value"]) for metric in told["metrics"]}
    return found["ScriptDuration"] * 1000


def typing(browser: Browser, address: str) -> tuple[float, int]:
    """The longest time without an answer while one streams, and how many of over 50 ms there were."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    field = page.get_by_label("Message", exact=True)
    field.fill("long 6000")
    field.press("Enter")
    page.get_by_role("article", name="Answer").wait_for()
    page.evaluate(BLOCKED)
    field.press_sequentially(
        "Somebody types while an answer comes in, and wants to see each letter at once.", delay=30
    )
    expect(page.get_by_role("log")).to_have_attribute("aria-busy", "false", timeout=120_000)
    blocked: list[float] = page.evaluate("window.blocked")
    context.close()
    return max(blocked, default=0.0), len(blocked)


def main() -> None:
    """Measure, and say how far from the bounds it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    messages: int = parser.parse_args().messages
    store = InMemoryConversationStore()
    for count in (10, messages):
        asyncio.run(long_conversation(store, f"of-{count}", count))
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with serving(Chat(ACTOR, store=store).app) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.install(), args=arguments)
        print(
            f"first load    {first_load() / 1024:6.1f} KiB of script, packed (at most {SCRIPT_BYTES_MAX // 1024})"
        )
        tell(Row(table="The page", line="script, packed", who=OURS, value=first_load() / 1024, unit="KiB"))
        for count in (10, messages):
            took = sorted(opening(browser, address, f"of-{count}") for _ in range(ROUNDS))
            line = f"scripting until the newest of {count:,} messages is there"
            tell(Row(table="The page", line=line, who=OURS, value=took[0], unit="ms"))
            print(
                f"{count:6} messages {took[0]:5.0f} ms of scripting until the newest is there "
                f"(median {median(took):.0f} of {ROUNDS} rounds; at most {SCRIPTING_MS_MAX:.0f})"
            )
        longest, many = typing(browser, address)
        line = "longest stretch without an answer while 6,000 chunks stream and somebody types"
        tell(Row(table="The page", line=line, who=OURS, value=longest, unit="ms"))
        print(
            f"typing while 6,000 chunks stream: {many} stretches of over 50 ms, the longest {longest:.0f} ms"
        )
        browser.close()


if __name__ == "__main__":
    main()
