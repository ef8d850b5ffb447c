"""Somebody at a browser: what he does, what he sees, and what must never happen to him."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

import httpx
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

MESSAGES: Final = re.compile(r"[?&]chat=([^&]+)")

WATCH: Final = """
() => {
  // What the newest answer says, each time it changes: a reader must never see it become shorter.
  window.seen = [];
  const look = () => {
    const answers = document.querySelectorAll('.of-assistant .markdown');
    const text = answers.length ? answers[answers.length - 1].textContent : '';
    if (text !== window.seen.at(-1)) window.seen.push(text);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  look();
}
"""


class Visitor:
    """A page, and a list of everything that went wrong in it."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.page: Page = context.new_page()
        self.wrong: list[str] = []
        self.forgiven: tuple[str, ...] = ()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.wrong.append(f"exception: {error}"))
        self.page.on("request", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"an address outside was asked: {request.url[:200]}")

    def forgive(self, *texts: str) -> None:
        """What the browser reports of a network that we cut, or of an answer that is meant to be a refusal."""
        self.forgiven += texts

    def complaints(self) -> list[str]:
        """What went wrong, without what was to be expected."""
        return [each for each in self.wrong if not any(text in each for text in self.forgiven)]

    def open(self, path: str = "/") -> None:
        """Go to a page of ours."""
        self.page.goto(self.address + path)

    @property
    def conversation(self) -> str:
        """The id of the conversation that is open."""
        found = MESSAGES.search(self.page.url)
        assert found, self.page.url
        return found[1]

    @property
    def field(self) -> Locator:
        """Where one writes."""
        return self.page.get_by_label("Message", exact=True)

    @property
    def answers(self) -> Locator:
        """The answers."""
        return self.page.get_by_role("article", name="Answer")

    @property
    def questions(self) -> Locator:
        """What the visitor said."""
        return self.page.get_by_role("article", name="You")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def say(self, text: str) -> None:
        """Write and send, by keys."""
        self.field.fill(text)
        self.field.press("Enter")

    def ask(self, text: str) -> Locator:
        """Write, send, and wait until the answer is complete."""
        before = self.answers.count()
        self.say(text)
        expect(self.answers).to_have_count(before + 1)
        self.settled()
        return self.answers.last

    def settled(self) -> None:
        """Wait until no answer is being made."""
        expect(self.page.get_by_role("log")).to_have_attribute("aria-busy", "false")
        expect(self.button("Send")).to_be_attached()

    def watch(self) -> None:
        """Write down what the newest answer says from now on."""
        self.page.evaluate(WATCH)

    def never_shrank(self) -> None:
        """What was seen only ever grew."""
        seen: list[str] = self.page.evaluate("window.seen")
        for earlier, later in pairwise(seen):
            assert later.startswith(earlier), (earlier, later)

    def stored(self, conversation: str | None = None) -> list[dict[str, Any]]:
        """The messages as the server has them."""
        answer = httpx.get(f"{self.address}/api/chat/{conversation or self.conversation}?limit=500")
        messages: list[dict[str, Any]] = answer.raise_for_status().json()["messages"]
        return messages

    def texts(self, conversation: str | None = None) -> list[str]:
        """The texts of those messages, one for each."""
        return [
            "".join(part["text"] for part in message["parts"] if part["type"] == "text")
            for message in self.stored(conversation)
        ]

    def parts(self, kind: str) -> list[dict[str, Any]]:
        """The parts of a kind in the newest stored message."""
        return [part for part in self.stored()[-1]["parts"] if part["type"] == kind]
