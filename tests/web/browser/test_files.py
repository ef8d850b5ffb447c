"""Files: chosen, pasted, dropped, shown, sent and stored."""

from __future__ import annotations

import base64

from playwright.sync_api import FilePayload, expect

from tests.web.actor import PICTURE
from tests.web.browser.visitor import Visitor

PNG = base64.b64decode(PICTURE.partition(",")[2])
NOTES = FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"milk, bread")
PICTURED = FilePayload(name="dot.png", mimeType="image/png", buffer=PNG)

PASTE = """
([base64, event]) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], `${event}.png`, { type: 'image/png' }));
  const init = { bubbles: true, cancelable: true };
  const field = document.querySelector('#message');
  field.dispatchEvent(event === 'paste'
    ? new ClipboardEvent('paste', { ...init, clipboardData: transfer })
    : new DragEvent('drop', { ...init, dataTransfer: transfer }));
}
"""


def test_files_are_chosen_taken_back_sent_and_shown(visitor: Visitor) -> None:
    visitor.open()
    with visitor.page.expect_file_chooser() as chooser:
        visitor.button("Attach files").click()
    chooser.value.set_files([NOTES, PICTURED])
    composer = visitor.page.get_by_role("form", name="New message")
    expect(composer.locator(".attachment")).to_have_count(2)
    composer.get_by_role("button", name="Remove notes.txt").click()
    expect(composer.locator(".attachment")).to_have_count(1)
    with visitor.page.expect_file_chooser() as chooser:
        visitor.button("Attach files").click()
    chooser.value.set_files([NOTES])
    visitor.ask("look at these")
    expect(composer.locator(".attachment")).to_have_count(0)
    question = visitor.questions.first
    expect(question.get_by_role("img", name="dot.png")).to_be_visible()
    expect(question.get_by_role("link", name="notes.txt")).to_have_attribute("download", "notes.txt")
    files = [part for part in visitor.stored()[0]["parts"] if part["type"] == "file"]
    assert [(file["filename"], file["mediaType"]) for file in files] == [
        ("dot.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert files[0]["url"] == PICTURE
    visitor.page.reload()
    expect(visitor.questions.first.get_by_role("img", name="dot.png")).to_be_visible()


def test_pictures_are_pasted_and_dropped(visitor: Visitor) -> None:
    visitor.open()
    encoded = PICTURE.partition(",")[2]
    for event in ("paste", "drop"):
        visitor.page.evaluate(PASTE, [encoded, event])
        expect(visitor.page.get_by_role("img", name=f"{event}.png")).to_be_visible()
    visitor.field.press("Enter")
    expect(visitor.answers).to_have_count(1)
    visitor.settled()
    assert [part["filename"] for part in visitor.stored()[0]["parts"]] == ["paste.png", "drop.png"]


def test_what_is_too_large_is_not_taken(visitor: Visitor) -> None:
    visitor.open()
    with visitor.page.expect_file_chooser() as chooser:
        visitor.button("Attach files").click()
    large = FilePayload(name="film.mp4", mimeType="video/mp4", buffer=bytes(8 * 1024 * 1024 + 1))
    chooser.value.set_files([large])
    expect(visitor.page.get_by_role("alert")).to_contain_text("film.mp4 is larger than 8 MB.")
    expect(visitor.button("Send")).to_be_disabled()
