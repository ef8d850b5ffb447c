"""The door of the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection

from rejoinder import Chat
from rejoinder.chat.wishes import Principal
from rejoinder.ports.analytics import MEASURES
from tests.server.agents import AGENT
from tests.server.serving import chatting


def whoever_says(connection: HTTPConnection) -> Principal:
    return Principal(tenant=connection.headers["x-tenant"])


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    with chatting(Chat(AGENT, store="memory", authenticate=whoever_says)) as address:
        for tenant, prompt in (("ada", "tools please"), ("ada", "fail"), ("bob", "hello")):
            message = {"id": "message", "role": "user", "parts": [{"type": "text", "text": prompt}]}
            body = {"id": f"chat-{prompt[:4]}", "messages": [message]}
            httpx.post(f"{address}/chat", json=body, headers={"x-tenant": tenant}).raise_for_status()
        yield address


def asked(api: str, path: str, tenant: str = "ada") -> tuple[int, dict[str, Any]]:
    answer = httpx.get(f"{api}/analytics/{path}", headers={"x-tenant": tenant})
    body: dict[str, Any] = answer.json()
    return answer.status_code, body


def test_a_tenant_sees_what_its_own_turns_came_to_today(api: str) -> None:
    today = datetime.now(UTC).date().isoformat()
    status, body = asked(api, "turns")
    assert (status, body["measure"], body["by"], body["to"]) == (200, "turns", "day", today)
    (row,) = body["rows"]
    assert (row["key"], row["turns"], row["succeeded"], row["failed"]) == (today, 2, 1, 1)
    assert asked(api, "tools")[1]["rows"] == [
        {"key": today, "tool": "weather", "calls": 2, "succeeded": 2, "failed": 0, "denied": 0}
    ]
    assert asked(api, "tools", "bob")[1]["rows"] == []
    assert [row["reason"] for row in asked(api, "endings")[1]["rows"]] == ["failed: agent", "succeeded"]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("by", ["day", "model", "agent"])
def test_every_measure_is_there_by_everything(api: str, measure: str, by: str) -> None:
    status, body = asked(api, f"{measure}?by={by}&from=2020-01-01&to=9999-12-30")
    assert status == 200
    assert (body["measure"], body["by"], body["from"], body["to"]) == (
        measure,
        by,
        "2020-01-01",
        "9999-12-30",
    )


def test_days_outside_of_what_is_asked_are_not_counted(api: str) -> None:
    assert asked(api, "turns?from=2020-01-01&to=2020-12-31")[1]["rows"] == []
    assert asked(api, "turns?to=0001-01-05")[1]["from"] == "0001-01-01"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("likes", 404),
        ("turns?by=tenant", 400),
        ("turns?from=yesterday", 400),
        ("turns?from=20260101", 400),
        ("turns?from=2026-02-30", 400),
        ("turns?to=9999-12-31", 400),
        ("turns?from=2026-02-02&to=2026-02-01", 400),
        ("turns?by=day&by=day", 400),
    ],
)
def test_what_cannot_be_counted_is_refused(api: str, path: str, status: int) -> None:
    found, body = asked(api, path)
    assert (found, body["status"]) == (status, status)
