"""Takes the pictures of docs/web.md: `python -m tests.web.screenshots`."""

from __future__ import annotations

import asyncio
import os
import struct
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, expect, sync_playwright

from rejoinder import Agent, Call, Chat
from rejoinder.messages import JsonObject
from scripts import chromium
from tests.server.serving import serving
from tests.web.actor import ACTOR, SCRIPTS
from tests.web.browser.visitor import Visitor
from tests.web.seeding import Calendar, month

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SIZES: Final = {"wide": (1240, 800), "narrow": (390, 780)}
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

QUESTION: Final = "What does a reverse proxy do? And is it cold in Oslo?"

WORD_SECONDS: Final = 0.012
"""As fast as a fast model, so that the time axis of the inspector has something to show."""

COLOURS_MAX: Final = 256


async def _paced(call: Call) -> AsyncIterator[JsonObject]:
    async for event in ACTOR.run(call):
        assert isinstance(event, dict)
        await asyncio.sleep(WORD_SECONDS * (12 if event["type"] in ("tool", "output") else 1))
        yield event


def main() -> None:
    """Every page, light and dark, wide and narrow."""
    program = chromium.install()
    FOLDER.mkdir(exist_ok=True)
    SCRIPTS[QUESTION.lower()] = SCRIPTS["show everything"]
    # The month lies behind us; what is said from now on is said now.
    calendar = Calendar(datetime.now(UTC))
    store = asyncio.run(month(30, calendar=calendar))
    calendar.follow()
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    app = Chat(Agent("assistant", _paced, ACTOR.translate), store=store).app
    with serving(app) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        expect.set_options(timeout=20_000)
        conversation = _talk(browser, address)
        for scheme in SCHEMES:
            for size in SIZES:
                _take(browser, address, conversation, scheme, size)
        browser.close()


def _talk(browser: Browser, address: str) -> str:
    visitor = Visitor(browser.new_context(), address)
    visitor.open()
    visitor.ask(QUESTION)
    visitor.ask("delete it")
    return visitor.conversation


def _take(
    browser: Browser, address: str, conversation: str, scheme: Literal["light", "dark"], size: str
) -> None:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    visitor = Visitor(context, address)

    def keep(page: str) -> None:
        visitor.page.wait_for_load_state("networkidle")
        picture = visitor.page.screenshot()
        (FOLDER / f"{page}-{scheme}-{size}.png").write_bytes(smaller(picture))

    visitor.open(f"/?chat={conversation}")
    expect(visitor.answers.first.locator(".hljs-keyword").first).to_be_attached()
    visitor.page.get_by_role("region", name="Messages").evaluate("node => { node.scrollTop = 0 }")
    visitor.page.mouse.move(width - 5, height // 2)
    keep("chat")
    visitor.open(f"/inspect?chat={conversation}")
    visitor.page.get_by_role("navigation", name="Turns").get_by_role("link").first.click()
    visitor.page.get_by_role("listbox", name="Parts").get_by_role("option").filter(
        has_text="get_weather"
    ).click()
    visitor.page.get_by_role("article", name="Turn").evaluate("node => { node.scrollTop = 0 }")
    keep("inspector")
    visitor.open("/analytics")
    expect(visitor.page.locator("#first canvas")).to_be_attached()
    keep("analytics")
    context.close()


def smaller(picture: bytes) -> bytes:
    """The same picture with a palette: a third of the bytes, and no eye sees the difference."""
    width, height, channels, rows = _pixels(picture)
    pixels = [bytes(row[at : at + 3]) for row in rows for at in range(0, len(row), channels)]
    counted = Counter(pixels)
    # Half for what is often, half for what is rare and far from it: a coloured word is as good as a background.
    palette = [colour for colour, _ in counted.most_common(COLOURS_MAX // 2)]
    rare: dict[tuple[int, ...], bytes] = {}
    for colour, _ in counted.most_common()[COLOURS_MAX // 2 :]:
        rare.setdefault(tuple(value >> 5 for value in colour), colour)
    palette += [*rare.values()][: COLOURS_MAX // 2]
    place = {colour: index for index, colour in enumerate(palette)}
    for colour in counted.keys() - place.keys():
        place[colour] = min(
            range(len(palette)),
            key=lambda index: sum(
                (one - other) ** 2 for one, other in zip(palette[index], colour, strict=True)
            ),
        )
    lines = b"".join(
        b"\0" + bytes(place[pixel] for pixel in pixels[row * width : (row + 1) * width])
        for row in range(height)
    )
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", b"".join(palette))
        + _chunk(b"IDAT", zlib.compress(lines, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _pixels(picture: bytes) -> tuple[int, int, int, list[bytearray]]:
    """Width, height, bytes of a pixel, and the rows of an eight-bit picture without interlacing."""
    at, data, header = 8, b"", b""
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        kind, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        header = body if kind == b"IHDR" else header
        data += body if kind == b"IDAT" else b""
        at += length + 12
    width, height, depth, colour = struct.unpack(">IIBB", header[:10])
    assert (depth, colour) in ((8, 2), (8, 6)), "Chromium writes true colours of eight bits"
    channels = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(data), width * channels
    rows: list[bytearray] = []
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        above = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, channels)
        rows.append(above)
    return width, height, channels, rows


def _unfiltered(kind: int, line: bytearray, above: bytearray, channels: int) -> bytearray:
    for at in range(len(line)):
        left = line[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        match kind:
            case 1:
                line[at] = (line[at] + left) & 255
            case 2:
                line[at] = (line[at] + above[at]) & 255
            case 3:
                line[at] = (line[at] + (left + above[at]) // 2) & 255
            case 4:
                line[at] = (line[at] + _paeth(left, above[at], corner)) & 255
            case _:
                break
    return line


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


if __name__ == "__main__":
    main()
