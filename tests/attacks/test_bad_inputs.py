"""Everything odd that can stand in a request: the right refusal, and nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.inputs import CURSORS, EVENT_IDS, IDS, NOT_IDS, NOT_JSON, QUERIES, SHAPES, Bad, bad_bodies
from tests.attacks.world import ANN, JSON, World, body, is_problem

BODIES = bad_bodies()


@pytest.fixture(scope="module", autouse=True)
def unwritten(besieged: World) -> Any:
    """None of all this leaves a trace."""
    before = besieged.digest()
    yield
    assert besieged.digest() == before


def test_there_are_more_than_three_hundred() -> None:
    others = (QUERIES, CURSORS, EVENT_IDS)
    assert len(BODIES) + sum(map(len, others)) > 300
    assert len({bad.name for bad in BODIES}) == len(BODIES)


@pytest.mark.parametrize("bad", BODIES, ids=lambda bad: bad.name)
def test_a_bad_body_is_refused(bad: Bad, besieged: World) -> None:
    answer = besieged.http.post("/chat", content=bad.content, headers={**ANN, **JSON})
    is_problem(answer, *bad.statuses, kind=bad.kind)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:30])
@pytest.mark.parametrize("place", ["/chat/done", "/chat/done/turns", "/conversations"])
def test_a_bad_page_is_refused(place: str, query: str, besieged: World) -> None:
    if place != "/chat/done" and query.startswith("before=") and query != "before=1&before=2":
        return  # another kind of cursor there, which a test below knows
    is_problem(besieged.http.get(f"{place}?{query}", headers=ANN), 400)


@pytest.mark.parametrize("cursor", ["x", "MA", "%00", "bm93", "=" * 9, "a" * 5000, "MjAyNi0wMS0wMSBhIGI"])
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str, besieged: World) -> None:
    is_problem(besieged.http.get(f"/conversations?before={cursor}", headers=ANN), 400)


@pytest.mark.parametrize("query", CURSORS, ids=lambda query: query[:30])
def test_a_bad_place_in_a_stream_is_refused(query: str, besieged: World) -> None:
    is_problem(besieged.http.get(f"/chat/done/stream?{query}", headers=ANN), 400)


@pytest.mark.parametrize("id", EVENT_IDS, ids=lambda sent: sent[:30])
def test_a_bad_event_id_is_refused(id: str, besieged: World) -> None:
    is_problem(besieged.http.get("/chat/done/stream", headers={**ANN, "last-event-id": id}), 400)


def test_a_place_that_is_not_there_is_refused(besieged: World) -> None:
    def stream(query: str, **headers: str) -> Any:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return besieged.http.get(f"/chat/done/stream{query}", headers={**ANN, **named})

    is_problem(stream(f"?turn={besieged.turn}&startIndex=9999"), 409, kind="cursor-ahead")
    is_problem(stream("", last_event_id=f"{besieged.turn}:9999"), 409, kind="cursor-ahead")
    is_problem(stream("?turn=nobody"), 404)
    is_problem(stream("", last_event_id="nobody:1"), 404)
    is_problem(stream(f"?startIndex=1&turn={besieged.turn}", last_event_id=f"{besieged.turn}:4"), 400)


@pytest.mark.parametrize("accept", ["application/json", "text/html, application/json;q=0.9", "image/*"])
def test_who_takes_no_event_stream_gets_none(accept: str, besieged: World) -> None:
    headers = {**ANN, "accept": accept}
    is_problem(besieged.http.post("/chat", json=body("new"), headers=headers), 406)
    is_problem(besieged.http.get("/chat/done/stream", headers=headers), 406)


@pytest.mark.parametrize("key", ["", "k" * 256, "a\tb", "\x7f"], ids=repr)
def test_a_bad_idempotency_key_is_refused(key: str, besieged: World) -> None:
    headers = {**ANN, "idempotency-key": key}
    is_problem(besieged.http.post("/chat", json=body("new"), headers=headers), 400)


@pytest.mark.parametrize("dialect", ["ai-sdk/4", "ai-sdk/8", "x", "ai-sdk", "ai-sdk/"])
def test_an_unknown_dialect_is_refused(dialect: str, besieged: World) -> None:
    headers = {**ANN, "x-rejoinder-dialect": dialect}
    is_problem(besieged.http.post("/chat", json=body("new"), headers=headers), 400, kind="unknown-dialect")


@pytest.mark.parametrize("raw", [*NOT_JSON, *SHAPES], ids=repr)
@pytest.mark.parametrize(("method", "path"), [("PATCH", "/chat/done"), ("POST", "/chat/done/fork")])
def test_other_bodies_are_read_as_strictly(method: str, path: str, raw: bytes, besieged: World) -> None:
    if (method, raw) == ("POST", b"{}"):
        return  # a copy of everything, which is fine
    answer = besieged.http.request(method, path, content=raw, headers={**ANN, **JSON})
    is_problem(answer, 400)


@pytest.mark.parametrize(
    "change",
    [
        {"title": 1},
        {"title": []},
        {"title": "t" * 201},
        {"title": "a\0b"},
        {"metadata": 1},
        {"metadata": []},
        {"metadata": "x"},
        {"unknown": 1},
        {"branch": "nobody"},
        *({"branch": id} for id in IDS[:8]),
        *({"branch": id} for id in NOT_IDS),
        {"title": "x", "tenant": "brick"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_bad_change_is_refused(change: dict[str, Any], besieged: World) -> None:
    is_problem(besieged.http.patch("/chat/done", json=change, headers=ANN), 400, 404, 422)


@pytest.mark.parametrize(
    "change",
    [{"id": "done"}, {"at": "nobody"}, *({"id": id} for id in IDS), *({"at": id} for id in NOT_IDS)],
    ids=lambda change: str(change)[:40],
)
def test_a_bad_fork_is_refused(change: dict[str, Any], besieged: World) -> None:
    is_problem(besieged.http.post("/chat/done/fork", json=change, headers=ANN), 400, 404, 409)


@pytest.mark.parametrize("measure", ["x", "turns;drop", "TURNS", "%00", "turns/x", "__proto__"])
def test_a_measure_that_is_none_is_not_found(measure: str, besieged: World) -> None:
    is_problem(besieged.http.get(f"/analytics/{measure}", headers=ANN), 400, 404)


@pytest.mark.parametrize(
    "query",
    [
        "by=x",
        "by=tenant",
        "by=day&by=day",
        "from=x",
        "from=2026-13-01",
        "from=2026-02-30",
        "from=9999-99-99",
        "from=%00",
        "to=yesterday",
        "from=2026-05-02&to=2026-05-01",
        "from=0001-01-01&to=9999-12-31",
    ],
)
def test_a_bad_span_is_refused(query: str, besieged: World) -> None:
    is_problem(besieged.http.get(f"/analytics/turns?{query}", headers=ANN), 400)


def test_what_a_search_means_elsewhere_means_nothing_here(besieged: World) -> None:
    for search in ("%", "_", "'", "' OR 1=1--", "a | b", "!", "(", ":*", "\\", "\u0000"[:0], "😀", "%25"):
        answer = besieged.http.get("/conversations", params={"search": search}, headers=ANN)
        assert answer.status_code == 200, search
    is_problem(besieged.http.get("/conversations?search=%00", headers=ANN), 400)
    is_problem(besieged.http.get("/conversations?search=" + "a" * 201, headers=ANN), 400)
