"""What other programs have kept comes in whole, once, however often an import is interrupted and repeated."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from rejoinder.offline.importing import (
    Report,
    Source,
    SourceUnreadable,
    import_persistence,
    import_session_messages,
    open_source,
)
from rejoinder.ports.journal import StoreUnavailable
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.stores.persistence import load_agent
from tests.stores.databases import Databases
from tests.stores.walks import opened, walk

TABLES: Final = """
CREATE TABLE agents (id varchar PRIMARY KEY, "createdAt" timestamp NOT NULL DEFAULT now());
CREATE TABLE messages (
    id varchar PRIMARY KEY, "agentId" varchar NOT NULL REFERENCES agents ON DELETE CASCADE,
    "createdAt" timestamp NOT NULL DEFAULT now(), role varchar NOT NULL
);
CREATE TABLE parts (
    id varchar PRIMARY KEY, "messageId" varchar NOT NULL REFERENCES messages ON DELETE CASCADE,
    type varchar NOT NULL, "order" integer NOT NULL DEFAULT 0, "createdAt" timestamp NOT NULL DEFAULT now(),
    text_text text, reasoning_text text,
    "tool_toolCallId" varchar, tool_state varchar, "tool_errorText" varchar,
    "tool_confirmAction_input" jsonb, "tool_confirmAction_output" jsonb,
    data_proposal_id varchar, data_proposal_status varchar, data_proposal_content jsonb,
    "providerMetadata" jsonb
);
"""
"""The specification's own tables, as Drizzle makes them."""

ROWS: Final[dict[str, list[dict[str, Any]]]] = {
    "agents": [{"id": "one"}, {"id": "two"}],
    "messages": [
        {"id": "u1", "agentId": "one", "role": "user", "createdAt": "2026-01-01 10:00:00"},
        {"id": "a1", "agentId": "one", "role": "assistant", "createdAt": "2026-01-01 10:00:01"},
        {"id": "u2", "agentId": "one", "role": "user", "createdAt": "2026-01-01 10:00:02"},
        {"id": "b1", "agentId": "two", "role": "user", "createdAt": "2026-01-01 10:00:00"},
    ],
    "parts": [
        {"id": "p1", "messageId": "u1", "type": "text", "order": 0, "text_text": "Go on"},
        {"id": "p2", "messageId": "a1", "type": "step-start", "order": 0},
        {
            "id": "p3",
            "messageId": "a1",
            "type": "reasoning",
            "order": 1,
            "reasoning_text": "Hm",
            "providerMetadata": {"v": {"signature": "s"}},
        },
        {
            "id": "p4",
            "messageId": "a1",
            "type": "tool-confirmAction",
            "order": 2,
            "tool_toolCallId": "c1",
            "tool_state": "output-available",
            "tool_confirmAction_input": {"action": "go"},
            "tool_confirmAction_output": {"done": [1, None]},
        },
        {
            "id": "p5",
            "messageId": "a1",
            "type": "tool-confirmAction",
            "order": 3,
            "tool_toolCallId": "c2",
            "tool_state": "output-error",
            "tool_confirmAction_input": {"action": "stop"},
            "tool_errorText": "no",
        },
        {
            "id": "p6",
            "messageId": "a1",
            "type": "data-proposal",
            "order": 4,
            "data_proposal_id": "d",
            "data_proposal_status": "complete",
            "data_proposal_content": {"a": 1},
        },
        {"id": "p7", "messageId": "u2", "type": "text", "order": 1, "text_text": "second"},
        {"id": "p8", "messageId": "u2", "type": "text", "order": 0, "text_text": "first"},
        {"id": "p9", "messageId": "b1", "type": "hologram", "order": 0},
    ],
}

CALL: Final = {"type": "tool-confirmAction", "toolCallId": "c1", "state": "output-available"}

MEANT: Final = [
    {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Go on"}]},
    {
        "id": "a1",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "Hm", "providerMetadata": {"v": {"signature": "s"}}},
            {**CALL, "input": {"action": "go"}, "output": {"done": [1, None]}},
            {
                **CALL,
                "toolCallId": "c2",
                "state": "output-error",
                "input": {"action": "stop"},
                "errorText": "no",
            },
            {"type": "data-proposal", "id": "d", "data": {"status": "complete", "content": {"a": 1}}},
        ],
    },
    {
        "id": "u2",
        "role": "user",
        "parts": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}],
    },
]
"""What the conversation `one` says."""


def in_postgres(postgres: Databases) -> str:
    url = postgres.fresh(with_tables=False)
    with psycopg.connect(url) as connection:
        connection.execute(TABLES.encode())
        for table, rows in ROWS.items():
            for row in rows:
                names = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join(["%s"] * len(row))
                values = [json.dumps(value) if isinstance(value, dict) else value for value in row.values()]
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})".encode(), values)
    return url


def in_sqlite(folder: Path) -> str:
    place = folder / "shop.db"
    connection = sqlite3.connect(place)
    for table, rows in ROWS.items():
        names = list(dict.fromkeys(name for row in rows for name in row))
        connection.execute(f"CREATE TABLE {table} ({', '.join(chr(34) + name + chr(34) for name in names)})")
        for row in rows:
            values = [
                json.dumps(row[name]) if isinstance(row.get(name), dict) else row.get(name) for name in names
            ]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", values)
    connection.commit()
    connection.close()
    return str(place)


def in_files(folder: Path) -> str:
    for table, rows in ROWS.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{table}.jsonl").write_text(lines, "utf-8")
    return str(folder)


@pytest.fixture(params=["postgres", "sqlite", "files"])
def place(request: pytest.FixtureRequest, postgres: Databases, tmp_path: Path) -> str:
    """The same rows, in each place that they may be in."""
    if request.param == "postgres":
        return in_postgres(postgres)
    return in_sqlite(tmp_path) if request.param == "sqlite" else in_files(tmp_path)


def test_rows_of_the_original_schema_become_what_they_meant_and_once(place: str) -> None:
    async def steps() -> None:
        store, heard = InMemoryConversationStore(), list[tuple[int, int]]()
        with open_source(place) as source:
            first = await import_persistence(
                source, store, progress=lambda done, total: heard.append((done, total))
            )
        assert (first.conversations, first.messages, first.there) == (2, 4, 0)
        assert heard[-1] == (4, 4)
        assert await load_agent(store, "one") == MEANT
        (strange,) = await load_agent(store, "two")
        assert strange["parts"][0]["type"] == "hologram"
        assert any("hologram" in str(trouble) and trouble.kept for trouble in first.troubles)
        with open_source(place) as source:
            again = await import_persistence(source, store)
        assert (again.conversations, again.messages, again.there) == (0, 0, 4)
        assert await load_agent(store, "one") == MEANT

    walk(steps)


def test_rows_go_into_postgres_and_into_the_tenant_that_is_named(postgres: Databases) -> None:
    place, url = in_postgres(postgres), postgres.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            with open_source(place) as source:
                await import_persistence(source, store, tenant="ada")
            assert await load_agent(store, "one", tenant="ada") == MEANT
            assert await load_agent(store, "one") == []

    walk(steps)


SESSION: Final[list[dict[str, Any]]] = [
    {
        "id": 1,
        "session_id": "s",
        "role": "user",
        "content": "How warm?",
        "created_at": "2026-01-01T10:00:00Z",
    },
    {
        "id": 2,
        "session_id": "s",
        "role": "assistant",
        "created_at": "2026-01-01T10:00:01Z",
        "content": {
            "aiSDKChunks": [
                {"type": "start", "messageId": "m"},
                {"type": "text-start", "id": "t"},
                {"type": "text-delta", "id": "t", "delta": "Warm"},
                {"type": "text-end", "id": "t"},
                {"type": "finish"},
            ],
            "rawAgentMessages": [{"type": "assistant", "n": 1.10}, {"type": "result"}],
            "agentType": "claude-code",
        },
    },
    {
        "id": 3,
        "session_id": "s",
        "role": "user",
        "content": "And Bern?",
        "created_at": "2026-01-01T10:00:02Z",
    },
    {
        "id": 4,
        "session_id": "s",
        "role": "assistant",
        "created_at": "2026-01-01T10:00:03Z",
        "content": {
            "aiSDKChunks": [{"type": "text-delta", "id": "x", "delta": "no start"}],
            "agentType": "x",
        },
    },
]


class Interrupted(InMemoryConversationStore):
    """A store that goes away at a call to write, until it is mended."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._left = at
        self.mended = False

    def _count(self) -> None:
        self._left -= 1
        if self._left <= 0 and not self.mended:
            raise StoreUnavailable("gone: try again")

    async def append_messages(self, *given: Any, **named: Any) -> Any:
        self._count()
        return await super().append_messages(*given, **named)

    async def begin_turn(self, new: Any) -> Any:
        self._count()
        return await super().begin_turn(new)

    async def append_pages(self, appends: Any, **named: Any) -> Any:
        answer = await super().append_pages(appends, **named)
        self._count()
        return answer

    async def end_turn(self, seal: Any) -> Any:
        ended = await super().end_turn(seal)
        self._count()
        return ended

    async def append_turn(self, *given: Any, **named: Any) -> None:
        self._count()
        await super().append_turn(*given, **named)


async def everything(store: InMemoryConversationStore, conversation: str) -> list[Any]:
    turns = await store.list_turns(conversation)
    return [
        await load_agent(store, conversation),
        [(turn.id, turn.status, turn.metadata, turn.created_at, turn.finished_at is None) for turn in turns],
        [[page async for page in store.follow(turn.id, events=True)] for turn in turns],
    ]


@pytest.mark.parametrize("kind", ["persistence", "session-messages"])
def test_an_import_that_is_interrupted_anywhere_goes_on_to_the_same_end(kind: str, tmp_path: Path) -> None:
    run: Callable[[Source, InMemoryConversationStore], Awaitable[Report]]
    if kind == "persistence":
        place, run, conversation = in_files(tmp_path), import_persistence, "one"
    else:
        lines = "".join(json.dumps(row) + "\n" for row in SESSION)
        (tmp_path / "session_messages.jsonl").write_text(lines, "utf-8")
        place, run, conversation = str(tmp_path), import_session_messages, "s"

    async def steps() -> None:
        whole = InMemoryConversationStore()
        with open_source(place) as source:
            await run(source, whole)
        meant = await everything(whole, conversation)
        assert meant[0]
        interruptions = 0
        for at in range(1, 30):
            store = Interrupted(at)
            try:
                with open_source(place) as source:
                    await run(source, store)
            except StoreUnavailable:
                interruptions += 1
                store.mended = True
                with open_source(place) as source:
                    await run(source, store)
            assert await everything(store, conversation) == meant, at
        assert interruptions >= 2

    walk(steps)


@pytest.mark.parametrize("place", ["nowhere.db", "empty"])
def test_a_source_that_is_none_says_so(place: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    async def steps() -> None:
        with pytest.raises(SourceUnreadable), open_source(str(tmp_path / place)) as source:
            await import_persistence(source, InMemoryConversationStore())

    walk(steps)


def test_the_command_imports_once_and_shows_how_far_it_is(postgres: Databases, tmp_path: Path) -> None:
    url, place = postgres.fresh(), in_files(tmp_path)
    command = [sys.executable, "-m", "rejoinder", "import", "--from", "persistence", place, "--database", url]
    said: list[str] = []
    for _ in range(2):
        master, slave = os.openpty()  # it shows a bar to people only
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=slave, check=False, env=os.environ | {"TERM": "xterm"}
        )
        os.close(slave)
        shown = os.read(master, 1 << 16)
        os.close(master)
        assert ran.returncode == 0, shown
        assert b"Importing" in shown
        said.append(ran.stdout.decode())
    assert said[0] == "2 conversations, 4 messages and 0 turns imported; 0 were there already\n"
    assert said[1] == "0 conversations, 0 messages and 0 turns imported; 4 were there already\n"

    async def steps() -> None:
        async with opened(url) as store:
            assert await load_agent(store, "one") == MEANT

    asyncio.run(steps())
