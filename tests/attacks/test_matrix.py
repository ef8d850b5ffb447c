"""Every door × everybody who should not come through it."""

from __future__ import annotations

from typing import Final

import httpx
import pytest

from rejoinder import Chat
from rejoinder.server.doors import Door
from tests.attacks.world import ANN, BOB, JSON, World, body, is_problem
from tests.server.agents import AGENT

DOORS: Final = Chat(AGENT, store="memory").doors
NAMED: Final = [door for door in DOORS if "{id}" in door.path]
WITH_BODY: Final = [door for door in DOORS if door.body is not None]
CLOSED: Final = [door for door in DOORS if not door.open_to_all]
NOWHERE: Final = "a-conversation-that-nobody-has"
WRONG_CREDENTIALS: Final = (
    {"authorization": "Bearer nobody"},
    {"authorization": "Bearer"},
    {"authorization": "Basic a2V5LW9mLWFubjo="},
    {"authorization": "key-of-ann"},
    {"x-api-key": ""},
    {"x-api-key": "key-of-an"},
    {"cookie": "key=key-of-ann"},
)


def name(door: Door) -> str:
    return f"{door.method} {door.path}"


def path(door: Door, world: World, *, id: str = "done", turn: str | None = None) -> str:
    message = world.read("done")[0]["id"]
    filled = door.path.replace("{id}", id).replace("{turn}", turn or world.turn)
    return filled.replace("{message}", message).replace("{measure}", "turns")


def ask(door: Door, world: World, path: str, headers: dict[str, str]) -> httpx.Response:
    """A request that its owner would be answered well."""
    content = b"{}"
    if door.path == "/chat":
        content = httpx.Request("POST", "http://x", json=body("done", "again")).content
    elif door.method == "PATCH":
        content = b'{"title":"Mine"}'
    typed = JSON if door.body is not None else {}
    return world.http.request(
        door.method, path, headers={**typed, **headers}, content=content if door.body is not None else None
    )


@pytest.mark.parametrize("door", CLOSED, ids=name)
def test_a_stranger_gets_no_further_than_the_door(door: Door, untouched: World) -> None:
    where = path(door, untouched)
    is_problem(ask(door, untouched, where, {}), 401, kind="unauthorized")
    for wrong in WRONG_CREDENTIALS:
        answer = ask(door, untouched, where, wrong)
        is_problem(answer, 401, kind="unauthorized")
        assert answer.headers["www-authenticate"]
    is_problem(
        ask(door, untouched, where, {**ANN, "x-api-key": "key-of-bob"}), 400, kind="ambiguous-credentials"
    )
    is_problem(ask(door, untouched, where, {"authorization": "Bearer " + "k" * 9000}), 431)
    is_problem(ask(door, untouched, f"{where}?api_key=key-of-ann&token=key-of-ann", {}), 401)


@pytest.mark.parametrize("door", NAMED, ids=name)
def test_what_is_anothers_is_answered_as_what_is_not_there(door: Door, untouched: World) -> None:
    foreign = ask(door, untouched, path(door, untouched), BOB)
    missing = ask(door, untouched, path(door, untouched, id=NOWHERE), BOB)
    if name(door) == "GET /chat/{id}/stream" or foreign.status_code == 404:
        is_problem(foreign, 404)
    assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
    kept = {"date", "x-request-id"}
    assert {key: value for key, value in foreign.headers.items() if key not in kept} == {
        key: value for key, value in missing.headers.items() if key not in kept
    }


@pytest.mark.parametrize("door", [door for door in NAMED if "{turn}" in door.path], ids=name)
def test_anothers_turn_is_not_found_in_a_conversation_of_ones_own(door: Door, besieged: World) -> None:
    besieged.say("bobs", "hello", BOB)
    foreign = ask(door, besieged, path(door, besieged, id="bobs"), BOB)
    is_problem(foreign, 404)
    missing = ask(door, besieged, path(door, besieged, id="bobs", turn="nobody"), BOB)
    assert foreign.content == missing.content


@pytest.mark.parametrize("door", NAMED, ids=name)
def test_an_unknown_id_is_not_found(door: Door, untouched: World) -> None:
    is_problem(ask(door, untouched, path(door, untouched, id=NOWHERE), ANN), 404)


@pytest.mark.parametrize("door", NAMED, ids=name)
@pytest.mark.parametrize(
    "id", ["%20", "a%00b", "..%2F..", "a%0D%0Ab", "%F0%9F%98%80", "a" * 129, "'%20OR%201=1--"]
)
def test_an_odd_id_is_refused(door: Door, id: str, untouched: World) -> None:
    is_problem(ask(door, untouched, path(door, untouched, id=id), ANN), 400, 404)


@pytest.mark.parametrize("door", WITH_BODY, ids=name)
def test_a_body_of_the_wrong_type_or_size_is_refused(door: Door, untouched: World) -> None:
    where = path(door, untouched)

    def send(content: bytes, **headers: str) -> httpx.Response:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return untouched.http.request(door.method, where, content=content, headers={**ANN, **named})

    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "",
    ):
        is_problem(send(b"{}", content_type=kind), 415)
    for encoding in ("gzip", "br", "deflate"):
        is_problem(send(b"{}", content_type="application/json", content_encoding=encoding), 415)
    is_problem(send(b" " * (4 * 1_048_576 + 1), content_type="application/json"), 413)


@pytest.mark.parametrize("door", DOORS, ids=name)
@pytest.mark.parametrize("method", ["PUT", "TRACE", "OPTIONS", "PROPFIND"])
def test_a_method_without_a_door_is_refused(door: Door, method: str, untouched: World) -> None:
    answer = untouched.http.request(method, path(door, untouched), headers=ANN)
    is_problem(answer, 405, kind="method-not-allowed")
    assert door.method in answer.headers["allow"]


@pytest.mark.parametrize("door", [door for door in DOORS if door.method != "GET"], ids=name)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "https://sub.good.example"},
    ],
    ids=str,
)
def test_a_page_of_another_origin_changes_nothing(
    door: Door, headers: dict[str, str], untouched: World
) -> None:
    answer = ask(door, untouched, path(door, untouched), {**ANN, **headers})
    is_problem(answer, 403, kind="cross-site")
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("door", [door for door in DOORS if door.method == "GET"], ids=name)
def test_reading_changes_nothing(door: Door, untouched: World) -> None:
    answer = ask(door, untouched, path(door, untouched), ANN)
    assert answer.status_code in (200, 204), answer.text


def test_the_lists_of_one_tenant_hold_nothing_of_another(besieged: World) -> None:
    ids = [each["id"] for each in besieged.http.get("/conversations", headers=BOB).json()["conversations"]]
    assert set(ids) <= {"bobs"}
    found = besieged.http.get("/conversations?search=hello", headers=BOB).json()["conversations"]
    assert {each["id"] for each in found} <= {"bobs"}


def test_the_same_id_in_another_tenant_is_another_conversation(besieged: World) -> None:
    before = besieged.read("done")
    besieged.say("done", "mine now", BOB)
    assert besieged.read("done") == before
    assert besieged.http.delete("/chat/done", headers=BOB).status_code == 204
    assert besieged.read("done") == before
