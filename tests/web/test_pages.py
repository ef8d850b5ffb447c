"""How the pages are served: to the letter, safely, and not twice."""

from __future__ import annotations

import gzip
import re

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from rejoinder import Chat
from rejoinder.server.pages import FOLDER
from tests.server.agents import AGENT

SCRIPT_BYTES_MAX = 250 * 1024
"""First load: what the browser must have before one can write."""


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Chat(AGENT, store="memory").app)


def first_load() -> list[str]:
    index = (FOLDER / "index.html").read_text()
    return [str(name) for name in re.findall(r'(?:src|href)="\./(assets/[^"]+\.js)"', index)]


@pytest.mark.parametrize("page", ["/", "/inspect", "/analytics"])
def test_every_page_is_the_same_document(client: TestClient, page: str) -> None:
    answer = client.get(page, headers={"accept-encoding": "identity"})
    assert answer.content == (FOLDER / "index.html").read_bytes()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_every_built_file_is_served_as_what_it_is(client: TestClient) -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()]
    assert len(names) > 5
    for name in names:
        plain = client.get(f"/{name}", headers={"accept-encoding": "identity"})
        if name == "index.html":
            assert plain.status_code == 404
            continue
        assert plain.content == (FOLDER / name).read_bytes()
        packed = client.get(f"/{name}", headers={"accept-encoding": "br, gzip;q=0.8"})
        assert packed.content == plain.content
        assert ("content-encoding" in packed.headers) == (not name.endswith(".woff2"))
        unpacked = client.get(f"/{name}", headers={"accept-encoding": "gzip;q=0, *"})
        assert "content-encoding" not in unpacked.headers


def test_what_has_its_digest_in_its_name_is_kept_for_ever(client: TestClient) -> None:
    for name in first_load():
        assert client.get(f"/{name}").headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get("/favicon.svg").headers["cache-control"] == "no-cache"


def test_what_the_browser_has_is_not_sent_again(client: TestClient) -> None:
    etag = client.get("/").headers["etag"]
    again = client.get("/", headers={"if-none-match": f'"other", W/{etag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200


def test_no_address_outside_is_allowed_and_nobody_may_frame_us(client: TestClient) -> None:
    for address in ("/", "/inspect", "/favicon.svg", f"/{first_load()[0]}"):
        answer = client.get(address)
        rules = [rule.split() for rule in answer.headers["content-security-policy"].split(";")]
        policy = {words[0]: words[1:] for words in rules}
        assert policy["default-src"] == ["'none'"]
        assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == ["'self'"]
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
        assert not [word for words in policy.values() for word in words if "unsafe" in word or "//" in word]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../index.html",
        "/assets/%2e%2e/%2e%2e/chat.py",
        "/../chat.py",
        "/assets/",
        "/assets",
        "/nothing",
    ],
)
def test_only_the_files_that_were_built_are_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_pages_may_stand_below_another_path() -> None:
    chat = Chat(AGENT, store="memory")
    app = Starlette(routes=[Mount("/talk", routes=[*chat.routes("/api"), *chat.pages()])])
    client = TestClient(app)
    assert client.get("/talk/inspect").status_code == 200
    assert client.get(f"/talk/{first_load()[0]}").status_code == 200
    assert client.get("/talk/api/nothing").status_code == 404


def test_nothing_in_the_pages_leads_to_another_host() -> None:
    index = (FOLDER / "index.html").read_text()
    assert "//" not in re.sub(r"<!--.*?-->", "", index)
    for sheet in FOLDER.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//", sheet.read_text())


def test_the_first_load_is_small() -> None:
    assert first_load()
    size = sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in first_load())
    assert size <= SCRIPT_BYTES_MAX, f"{size} bytes of gzipped script"
