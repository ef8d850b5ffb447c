"""Unmodified `useChat` pages of AI SDK 5, 6 and 7, built by Vite, in the browser, against the same server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from rejoinder import Chat
from scripts import node, npm, web
from tests.server.serving import serving
from tests.web.actor import ACTOR, PACE
from tests.web.browser.visitor import Visitor

SDKS = ("5", "6", "7")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients")
    try:
        found: node.Node = web.install()
    except npm.NotInstalled as problem:
        pytest.fail(str(problem), pytrace=False)
    web.build_clients(found, folder)
    return folder


@pytest.fixture(scope="module")
def host(built: Path, database: str) -> Iterator[str]:
    """Somebody's own application: his pages, and our routes beside them."""
    chat = Chat(ACTOR, store=database)
    files = Mount("/", StaticFiles(directory=built))
    with serving(Starlette(lifespan=chat.lifespan, routes=[*chat.routes("/api"), files])) as address:
        yield address
        PACE.finish()


class Client:
    """One of the pages."""

    def __init__(self, context: BrowserContext, address: str, sdk: str, conversation: str) -> None:
        self.visitor = Visitor(context, address)
        self.visitor.forgive("status of 404", "net::ERR_ABORTED")
        self.api = f"{address}/api/chat/{conversation}"
        self.page: Page = self.visitor.page
        self.visitor.open(f"/{sdk}.html?chat={conversation}")

    @property
    def answers(self) -> Locator:
        return self.page.locator("article[data-role=assistant]")

    def say(self, text: str) -> None:
        self.page.get_by_label("Message").fill(text)
        self.page.get_by_role("button", name="Send").click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def settled(self) -> None:
        expect(self.page.locator("main")).to_have_attribute("data-status", "ready")

    def stored(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = httpx.get(self.api).raise_for_status().json()["messages"]
        return messages

    def agrees(self) -> None:
        """The page shows the messages that are stored, under their ids."""
        self.settled()
        shown = self.page.locator("article").evaluate_all("all => all.map((one) => one.dataset.message)")
        assert shown == [message["id"] for message in self.stored()]
        assert self.visitor.complaints() == []


@pytest.fixture(params=SDKS)
def client(request: pytest.FixtureRequest, context: BrowserContext, host: str) -> Client:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    return Client(context, host, str(request.param), name)


def test_an_answer_streams_with_its_tool(client: Client) -> None:
    client.say("show everything")
    expect(client.answers.locator(".tool")).to_have_attribute("data-state", "output-available")
    expect(client.answers.locator(".text").last).to_contain_text("A reverse proxy, briefly")
    expect(client.answers.locator(".reasoning")).to_contain_text("look up the weather first")
    client.agrees()


def test_a_tool_of_the_client_is_answered_and_the_answer_goes_on(client: Client) -> None:
    client.say("where am i")
    client.press("Here")
    expect(client.answers.locator(".text").last).to_have_text("You answered Oslo.")
    client.agrees()
    assert len(client.stored()) == 2


@pytest.mark.parametrize(("word", "said"), [("Yes", "It is gone."), ("No", "Then I leave it alone.")])
@pytest.mark.parametrize("sdk", ["6", "7"])
def test_an_approval_is_given_or_not(
    context: BrowserContext, host: str, sdk: str, word: str, said: str
) -> None:
    client = Client(context, host, sdk, f"approval-{sdk}-{word}")
    client.say("delete it")
    client.press(word)
    expect(client.answers.locator(".text").last).to_have_text(said)
    client.agrees()
    (call,) = (part for part in client.stored()[-1]["parts"] if part["type"] == "tool-delete_file")
    assert call["state"] == ("output-available" if word == "Yes" else "output-denied")


def test_leaving_stops_nothing_and_a_page_that_is_loaded_again_resumes(client: Client) -> None:
    conversation = client.api.rpartition("/")[2]
    client.say("paced 6")
    PACE.let(conversation, 2)
    expect(client.answers).to_contain_text("w1")
    client.page.reload()
    expect(client.answers).to_contain_text("w1")
    PACE.let(conversation, 4)
    expect(client.answers).to_contain_text("w3")
    client.page.reload()
    PACE.let(conversation, 6)
    expect(client.answers).to_have_text("w0 w1 w2 w3 w4 w5 ")
    client.agrees()


def test_a_stop_stops_and_keeps_what_was_said(client: Client) -> None:
    client.say("wait")
    expect(client.answers).to_contain_text("Waiting")
    client.press("Stop")
    client.agrees()
    turn = httpx.get(f"{client.api}/turns").json()["turns"][0]
    assert turn["status"] == "cancelled"
    assert client.stored()[-1]["parts"][-1]["text"] == "Waiting"
