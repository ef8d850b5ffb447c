"""One browser and one server for all tests of the folder; a fresh visitor for each."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from rejoinder import Chat
from rejoinder.ports.store import ConversationStore
from rejoinder.stores.postgres.store import PostgresConversationStore
from scripts import chromium
from tests.server.serving import serving
from tests.stores.databases import Databases
from tests.web.actor import ACTOR, PACE
from tests.web.browser.visitor import Visitor

PATIENCE_MS = 60_000
"""A machine that does much else at the same time is waited for; what is there earlier is seen earlier."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = chromium.find()
    if program is None:
        pytest.fail("There is no Chromium. Install it with: python -m scripts.chromium", pytrace=False)
    expect.set_options(timeout=PATIENCE_MS)
    # Root is not given a sandbox by Chromium; the pages it sees are our own.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        yield (opened := playwright.chromium.launch(executable_path=program, args=arguments))
        opened.close()


@pytest.fixture(scope="package")
def database(postgres: Databases) -> str:
    return postgres.fresh()


@pytest.fixture(scope="package")
def site(database: str) -> Iterator[str]:
    """The address of the server."""
    with serving(Chat(ACTOR, store=database).app) as address:
        yield address
        # A test that failed may have left answers that wait for it.
        PACE.finish()


Seed = Callable[[Callable[[ConversationStore], Coroutine[None, None, None]]], None]


@pytest.fixture(scope="package")
def seed(database: str) -> Seed:
    """Does something to the store. Playwright keeps a loop in this thread, so it is done in another."""

    def seeded(work: Callable[[ConversationStore], Coroutine[None, None, None]]) -> None:
        async def done() -> None:
            store = PostgresConversationStore(database)
            await store.open()
            try:
                await work(store)
            finally:
                await store.close()

        failures: list[BaseException] = []

        def apart() -> None:
            try:
                asyncio.run(done())
            except BaseException as error:  # noqa: BLE001  # it is raised again in the test
                failures.append(error)

        thread = threading.Thread(target=apart)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    return seeded


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860}, accept_downloads=True)
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture
def visitor(context: BrowserContext, site: str) -> Iterator[Visitor]:
    """Somebody to whom nothing may go wrong: no error in the console, no broken policy, no address outside."""
    somebody = Visitor(context, site)
    yield somebody
    assert somebody.complaints() == []
