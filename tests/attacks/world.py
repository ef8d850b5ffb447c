"""A server with two tenants, of whom one has everything that somebody could want to get at."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from typing import Any, Final, TypeAlias

import httpx
import psycopg
from psycopg import sql

from rejoinder import Chat, Principal
from rejoinder.server.principals import api_keys
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire import json
from tests.server.agents import AGENT
from tests.server.serving import serving

ANN: Final = {"authorization": "Bearer key-of-ann"}
BOB: Final = {"authorization": "Bearer key-of-bob"}
JSON: Final = {"content-type": "application/json"}
KEYS: Final = {
    "key-of-ann": Principal(tenant="acme", subject="ann"),
    "key-of-bob": Principal(tenant="brick", subject="bob"),
}
SECRETS: Final = ("secret-canary", "/etc/passwd", "Traceback", "psycopg", "SELECT ", "key-of-")
"""What no answer contains."""

Headers: TypeAlias = Mapping[str, str]


class World:
    """The server's address, and how to look behind it."""

    def __init__(self, http: httpx.Client, database: str) -> None:
        self.http = http
        self._database = database
        self._count = 0
        self.turn = self.say("done", "hello there")
        self.say("asks", "approval please")
        self.say("wants", "client tool")
        self.say("calls", "tools please")

    def say(self, conversation: str, text: str, headers: Headers = ANN) -> str:
        """Say something, and hear the answer out. Gives the turn."""
        answer = self.http.post("/chat", json=body(conversation, text), headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.headers["x-rejoinder-turn"]

    def count(self) -> int:
        """A number that nobody had."""
        self._count += 1
        return self._count

    def read(self, conversation: str, headers: Headers = ANN) -> Any:
        """The messages."""
        answer = self.http.get(f"/chat/{conversation}", headers=headers)
        assert answer.status_code == 200
        return json.decode(answer.content)["messages"]

    def digest(self) -> dict[str, str | None]:
        """What is in every table, in short."""
        with psycopg.connect(self._database) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.tables"
                " WHERE table_schema = 'rejoinder' AND table_type = 'BASE TABLE' ORDER BY 1"
            ).fetchall()
            found: dict[str, str | None] = {}
            for (name,) in tables:
                query = sql.SQL("SELECT md5(string_agg(row::text, '|' ORDER BY row::text)) FROM {} AS row")
                row = connection.execute(query.format(sql.Identifier("rejoinder", name))).fetchone()
                found[name] = None if row is None else row[0]
            return found


def body(conversation: str, text: str = "hello", **changes: Any) -> dict[str, Any]:
    """What a client sends."""
    message = {
        "id": f"m-{conversation}-{abs(hash(text))}",
        "role": "user",
        "parts": [{"type": "text", "text": text}],
    }
    return {"id": conversation, "trigger": "submit-message", "messages": [message], **changes}


def is_problem(answer: httpx.Response, *statuses: int, kind: str | None = None) -> None:
    """See that an answer is a refusal as they all are."""
    told = f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:300]}"
    assert answer.status_code in statuses, told
    if answer.request.method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json", told
        problem = json.decode(answer.content)
        assert problem["type"].startswith("urn:rejoinder:problem:"), told
        assert problem["status"] == answer.status_code
        assert problem["title"]
        if kind is not None:
            assert problem["type"] == f"urn:rejoinder:problem:{kind}", told
    assert answer.headers["x-content-type-options"] == "nosniff"
    for secret in SECRETS:
        assert secret not in answer.text


@contextlib.contextmanager
def world(database: str) -> Generator[World]:
    """Such a server."""
    chat = Chat(AGENT, store=PostgresConversationStore(database), authenticate=api_keys(KEYS))
    with serving(chat.app) as address, httpx.Client(base_url=f"{address}/api", timeout=30) as http:
        yield World(http, database)
