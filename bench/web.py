"""The pages in a real Chromium: bytes of the first load, scripting until a long conversation is there, smoothness.

    .venv/bin/python bench/web.py [--messages 10000] [--words 2000]

Scripting is what the browser itself counts (`ScriptDuration`), in time of a processor, so what else the machine does
matters little. Every round is a browser that has kept nothing.

Smoothness is what somebody notices who types and scrolls in the long conversation while an answer of so many words
comes in, 200 a second: keys that are shown late, stretches without an answer, frames that are not drawn. What the
browser spent on script and layout meanwhile says why, and depends least on what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Iterable
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright  # noqa: E402  # the path comes first

from bench.rows import OURS, Row, tell  # noqa: E402
from rejoinder import Agent, Call, Chat, Emitter  # noqa: E402
from rejoinder.messages import Json  # noqa: E402
from rejoinder.server.pages import FOLDER  # noqa: E402
from rejoinder.stores.memory import InMemoryConversationStore  # noqa: E402
from rejoinder.wire.chunks import Chunk  # noqa: E402
from scripts import chromium  # noqa: E402
from tests.server.serving import serving  # noqa: E402
from tests.web.actor import ANSWER  # noqa: E402
from tests.web.seeding import long_conversation  # noqa: E402

ROUNDS: Final = 5
SCRIPT_BYTES_MAX: Final = 250 * 1024
SCRIPTING_MS_MAX: Final = 300.0

WORDS_PER_SECOND: Final = 200
"""Faster than any model that people wait for."""

FRAME_MS: Final = 1000 / 60

WATCH: Final = """
() => {
  const seen = (window.seen = { blocked: [], keys: [], frames: [] });
  const every = (type, options, keep) =>
    new PerformanceObserver((list) => list.getEntries().forEach(keep)).observe({ type, ...options });
  every('longtask', {}, (entry) => seen.blocked.push(entry.duration));
  // From the press of a key until it is shown.
  every('event', { durationThreshold: 16 }, (entry) => entry.name === 'keydown' && seen.keys.push(entry.duration));
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""

CODE: Final = "\n".join(
    f"    total += weights[{line}] * measure(samples[{line}], unit='ms')" for line in range(400)
)

KINDS: Final = {"prose": ANSWER * 100, "code": f"```python\ndef score(samples, weights):\n{CODE}\n```\n" * 20}
"""What streams: much of everything, and a block of code that does not end."""


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
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{address}/?chat={conversation}")
    page.get_by_role("article", name="Answer").last.wait_for()
    told: dict[str, Any] = session.send("Performance.getMetrics")
    context.close()
    found = {str(metric["name"]): float(metric["value"]) for metric in told["metrics"]}
    return found["ScriptDuration"] * 1000


async def _run(call: Call) -> AsyncIterator[str]:
    """The asked kind of text, word by word, as fast as the clock says."""
    kind, count = call.prompt.split()
    words = re.findall(r"\S+\s*", KINDS[kind])[: int(count)]
    began = time.monotonic()
    for number, word in enumerate(words):
        await asyncio.sleep(max(0.0, began + number / WORDS_PER_SECOND - time.monotonic()))
        yield word


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    yield from say.text(str(event))


class Smoothness(NamedTuple):
    """Keys pressed, those that were shown late, the gaps between frames, long stretches, and what the time went to."""

    pressed: int
    keys: list[float]
    frames: list[float]
    blocked: list[float]
    spent: dict[str, float]


def smoothness(browser: Browser, address: str, conversation: str, kind: str, words: int) -> Smoothness:
    """What somebody noticed who typed and scrolled while an answer streamed."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    session: Any = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{address}/?chat={conversation}")
    page.get_by_role("article", name="Answer").last.wait_for()
    field = page.get_by_label("Message", exact=True)
    field.fill(f"{kind} {words}")
    field.press("Enter")
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_role("region", name="Messages").hover()
    page.evaluate(WATCH)
    before, began = _spent(session), time.monotonic()
    number = 0
    for number in count(1):
        # Someone who answers while reading: a key, a little up or down, a key. Every tenth time to the end again.
        field.press("abcdefghij"[number % 10])
        page.mouse.wheel(0, 9_000 if number % 10 == 9 else (-240 if number % 4 < 2 else 200))
        if page.get_by_role("log").get_attribute("aria-busy") == "false":
            break
    took, after = time.monotonic() - began, _spent(session)
    seen: dict[str, list[float]] = page.evaluate("window.seen")
    context.close()
    return Smoothness(
        number,
        sorted(seen["keys"]),
        seen["frames"],
        seen["blocked"],
        {name: (after[name] - before[name]) / took for name in before},
    )


def tell_of(kind: str, told: Smoothness) -> None:
    """Print it, and hand on what can be compared."""
    late = sum(max(0, round(each / FRAME_MS) - 1) for each in told.frames)
    slowest = told.keys[int(len(told.keys) * 0.95)] if told.keys else 0.0
    print(
        f"{kind}: {told.pressed} keys, of which {len(told.keys)} took 16 ms or longer"
        f" (95 % of these at most {slowest:.0f} ms, the longest {max(told.keys, default=0):.0f});"
        f" {late / (late + len(told.frames)):.1%} of frames not drawn, the longest gap {max(told.frames):.0f} ms;"
        f" {len(told.blocked)} stretches of over 50 ms, the longest {max(told.blocked, default=0):.0f};"
        f" {told.spent['ScriptDuration']:.0%} of the time in script, {told.spent['LayoutDuration']:.0%} in layout,"
        f" {told.spent['RecalcStyleDuration']:.0%} in styles, {told.spent['TaskDuration']:.0%} busy"
    )
    line = f"somebody types and scrolls while {WORDS_PER_SECOND} words a second of {kind} come in: "
    longest, script = max(told.blocked, default=0.0), 100 * told.spent["ScriptDuration"]
    tell(
        Row(
            table="The page",
            line=line + "longest stretch without an answer",
            who=OURS,
            value=longest,
            unit="ms",
        ),
        Row(table="The page", line=line + "a processor's time in script", who=OURS, value=script, unit="%"),
    )


def _spent(session: Any) -> dict[str, float]:
    told: dict[str, Any] = session.send("Performance.getMetrics")
    names = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")
    return {
        str(metric["name"]): float(metric["value"]) for metric in told["metrics"] if metric["name"] in names
    }


def main() -> None:
    """Measure, and say how far from the bounds it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=2_000)
    asked = parser.parse_args()
    messages: int = asked.messages
    store = InMemoryConversationStore()
    for length in (10, messages):
        asyncio.run(long_conversation(store, f"of-{length}", length))
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        serving(Chat(Agent("paced", _run, _translate), store=store).app) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.install(), args=arguments)
        print(
            f"first load    {first_load() / 1024:6.1f} KiB of script, packed (at most {SCRIPT_BYTES_MAX // 1024})"
        )
        tell(Row(table="The page", line="script, packed", who=OURS, value=first_load() / 1024, unit="KiB"))
        for length in (10, messages):
            took = sorted(opening(browser, address, f"of-{length}") for _ in range(ROUNDS))
            line = f"scripting until the newest of {length:,} messages is there"
            tell(Row(table="The page", line=line, who=OURS, value=took[0], unit="ms"))
            print(
                f"{length:6} messages {took[0]:5.0f} ms of scripting until the newest is there "
                f"(median {median(took):.0f} of {ROUNDS} rounds; at most {SCRIPTING_MS_MAX:.0f})"
            )
        for kind in KINDS:
            tell_of(kind, smoothness(browser, address, f"of-{messages}", kind, asked.words))
        browser.close()


if __name__ == "__main__":
    main()
