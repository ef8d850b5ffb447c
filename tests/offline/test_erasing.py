"""What a subject has said, and what was said to it, is gone from every table; what others have said is as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx
import psycopg
import pytest
from msgspec import structs
from psycopg import sql

from rejoinder import Chat
from rejoinder.chat.wishes import Principal
from rejoinder.messages import AgentContext, Message, Text, TurnError
from rejoinder.offline.reprojecting import reproject
from rejoinder.ports.journal import SUBJECT, Checkpoint, NewTurn, Seal, StoreError, TurnBegun
from rejoinder.ports.transcripts import TranscriptEntry, TranscriptKey
from rejoinder.server.principals import api_keys
from rejoinder.stores.postgres.packing import unpacked
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.testing.store_contract.samples import PARTS, call
from tests.offline.improved import AGENT as IMPROVED
from tests.offline.test_replay import rejoinder
from tests.server.agents import AGENT
from tests.stores.databases import Databases

CANARY = "zq-canary-ada"
KEYS = {
    "ada": Principal(tenant="acme", subject="ada@example.com"),
    "bob": Principal(tenant="acme", subject="bob@example.com"),
    "other": Principal(tenant="elsewhere", subject="ada@example.com"),
}


class People:
    """Clients of a chat in this process, by their keys."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._said = 0

    async def say(self, who: str, conversation: str, text: str) -> None:
        """Say something; the message's metadata hold it, too."""
        self._said += 1
        message = {
            "id": f"{who}-{self._said}",
            "role": "user",
            "parts": [{"type": "text", "text": text}],
            "metadata": {"draft": text},
        }
        sent = {"id": conversation, "trigger": "submit-message", "messages": [message]}
        answer = await self._http.post("/api/chat", json=sent, headers={"x-api-key": who})
        assert answer.status_code == 200, answer.text

    async def fork(self, who: str, conversation: str, copy: str) -> None:
        answer = await self._http.post(
            f"/api/chat/{conversation}/fork", json={"id": copy}, headers={"x-api-key": who}
        )
        assert answer.status_code == 201, answer.text


@asynccontextmanager
async def talking(store: PostgresConversationStore) -> AsyncGenerator[People]:
    chat = Chat(AGENT, store=store, authenticate=api_keys(KEYS))
    async with (
        chat.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(chat.app), base_url="http://chat") as http,
    ):
        yield People(http)


async def fill(store: PostgresConversationStore) -> None:
    async with talking(store) as people:
        await people.say("ada", "hers", f"{CANARY} one")
        await people.say("ada", "hers", f"tools {CANARY}")
        await people.say("ada", f"{CANARY}-named", f"{CANARY} two")
        await people.say("ada", "shared", f"{CANARY} first")
        await people.say("bob", "shared", "bob behind")
        await people.say("ada", "shared", f"{CANARY} again")
        await people.say("bob", "his", "bob alone")
        await people.say("other", "hers", "somebody of the same name elsewhere")
        # Copies: by herself, untouched, and gone on with by somebody else.
        await people.fork("ada", "hers", "copy")
        await people.fork("bob", "hers", "taken-over")
        await people.say("bob", "taken-over", "bob goes on")
        await people.fork("bob", "taken-over", "taken-over-again")
    await store.open()
    try:
        await fill_beside(store)
        await fill_around(store)
    finally:
        await store.close()


async def fill_beside(store: PostgresConversationStore) -> None:
    """Turns with all their columns, which do not come from talking."""
    for words, subject in ((CANARY, "ada@example.com"), ("bob", "bob@example.com")):
        begun = await store.begin_turn(
            NewTurn(
                id=f"full-{len(words)}",
                conversation_id="shared",
                assistant_message_id=f"answer-{len(words)}",
                owner="worker",
                lease_seconds=10,
                tenant="acme",
                messages=(Message(id=f"question-{len(words)}", role="user", parts=tuple(PARTS.values())),),
                agent_context=AgentContext(agent=words),
                metadata={SUBJECT: subject, "note": words},
                idempotency_key=words,
                fingerprint=words,
            )
        )
        assert isinstance(begun, TurnBegun)
        seal = Seal(
            claim=begun.claim,
            status="failed",
            provider_calls=(structs.replace(call("c"), raw={"said": words}, extensions={"x": words}),),
            error=TurnError(message=words, code=words, raw={"said": words}),
            agent_memory={"knows": words},
        )
        await store.end_turn(seal)


async def fill_around(store: PostgresConversationStore) -> None:
    """What goes with conversations: summaries, copies of sessions, blobs."""
    for conversation_id in ("hers", "shared", "his"):
        words = "bob" if conversation_id == "his" else CANARY
        await store.add_checkpoint(
            Checkpoint(
                id="k",
                conversation_id=conversation_id,
                through_seq=1,
                summary=Message(id="s", role="system", parts=(Text(text=f"It was about {words}"),)),
                strategy="test",
                created_at=datetime.now(UTC),
            ),
            tenant="acme",
        )
        await store.append_transcript(
            TranscriptKey(project=words, session=conversation_id, part=""),
            [TranscriptEntry(id="1", body=words.encode())],
            conversation_id=conversation_id,
            tenant="acme",
        )
    # Answers made anew: the old ones are blobs.
    translators = {IMPROVED.name: IMPROVED.translate}
    now = datetime.now(UTC)
    changes = [
        change
        async for change in reproject(
            store, tenant="acme", agent=IMPROVED.name, translators=translators, now=now
        )
    ]
    assert changes
    # One that both of them name, and one that only she does.
    for name, whose in (("both", ("hers", "his")), (f"{CANARY} content", ("hers",))):
        digest = await store.put_blob(name.encode(), media_type="text/plain", tenant="acme")
        for conversation_id in whose:
            await store.update_conversation(
                conversation_id,
                metadata={"attached": {name: digest} if name == "both" else digest},
                tenant="acme",
            )
            if conversation_id == "hers":
                await store.append_messages(
                    "hers",
                    [Message(id=f"m-{digest}", role="user", parts=(Text(text=f"see {digest}"),))],
                    tenant="acme",
                )


class Place(NamedTuple):
    table: str
    row: tuple[Any, ...]


def everything(url: str) -> set[Place]:
    """Every row of every table of ours, each with what is packed in it."""
    found: set[Place] = set()
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table in names:
            rows = connection.execute(
                sql.SQL("SELECT t.*, t::text FROM {} AS t").format(sql.Identifier(schema, table))
            )
            assert rows.description is not None
            columns = [column.name for column in rows.description]
            for row in rows.fetchall():
                values = [value if isinstance(value, bytes) else str(value) for value in row]
                if table == "page":
                    named = dict(zip(columns, row, strict=True))
                    with suppress(StoreError):  # cut by a test of faults
                        values.append(str(unpacked(named["codec"], named["events"])))
                found.add(Place(table, tuple(values)))
    return found


def holding(rows: set[Place], word: str) -> list[Place]:
    """The rows that hold a word, in whatever column, in whatever case."""
    return [
        place
        for place in rows
        if any(
            word.lower()
            in (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).lower()
            for value in place.row
        )
    ]


@pytest.fixture
def filled(postgres: Databases) -> str:
    url = postgres.fresh()
    asyncio.run(fill(PostgresConversationStore(url)))
    return url


def test_no_table_holds_a_word_of_hers_and_what_others_said_is_as_it_was(filled: str) -> None:
    before = everything(filled)
    tables = {place.table for place in holding(before, CANARY)}
    assert tables >= {
        "conversation",
        "message",
        "part",
        "turn",
        "page",
        "checkpoint",
        "transcript_entry",
        "blob",
    }
    dry = rejoinder("erase", "--subject", "ada@example.com", "--tenant", "acme", "--dry-run", database=filled)
    assert (dry.returncode, dry.stderr) == (0, "")
    assert everything(filled) == before
    done = rejoinder("erase", "--subject", "ada@example.com", "--tenant", "acme", database=filled)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == dry.stdout.replace("would be erased", "erased")
    assert done.stdout.startswith("3 conversations erased whole, 3 in part\n")
    after = everything(filled)
    assert holding(after, CANARY) == []
    assert [place for place in holding(after, "ada@example.com") if "elsewhere" not in place.row] == []
    # What is new says that something was erased, or belongs to a conversation from which it was.
    assert {place.table for place in after - before} == {"conversation", "message", "part"}
    assert all("erased" in str(place.row) or place.table == "conversation" for place in after - before)
    gone = before - after
    assert holding(gone, "bob@example.com") == []
    assert holding(gone, "bob ") == []
    assert len([place for place in after if place.table == "blob" and b"both" in place.row]) == 1


def test_whoever_answered_her_finds_places_that_say_so(filled: str) -> None:
    rejoinder("erase", "--subject", "ada@example.com", "--tenant", "acme", database=filled)

    async def walk() -> None:
        store = PostgresConversationStore(filled)
        await store.open()
        try:
            said = [
                "".join(part.text for part in stored.message.parts if isinstance(part, Text))
                for stored in await store.list_messages("shared", tenant="acme")
            ]
            assert said[:2] == ["[erased]", "[erased]"]
            assert said[2] == "bob behind"
            assert said[4:7] == ["[erased]", "[erased]", "[erased]"]
            assert await store.get_conversation("hers", tenant="acme") is None
            assert await store.get_conversation("hers", tenant="elsewhere") is not None
        finally:
            await store.close()
        async with talking(PostgresConversationStore(filled)) as people:
            await people.say("bob", "shared", "bob once more")

    asyncio.run(walk())


def test_erasing_that_was_interrupted_is_taken_up_again(filled: str) -> None:
    async def first(count: int) -> None:
        store = PostgresConversationStore(filled)
        await store.open()
        try:
            for each in (await store.list_erasures("ada@example.com", tenant="acme"))[:count]:
                assert await store.erase("ada@example.com", each, tenant="acme") is not None
        finally:
            await store.close()

    for _ in range(5):
        asyncio.run(first(1))
        assert holding(everything(filled), CANARY) != []
    done = rejoinder("erase", "--subject", "ada@example.com", "--tenant", "acme", database=filled)
    assert done.stdout.startswith("1 conversations erased")
    assert holding(everything(filled), CANARY) == []
    again = rejoinder("erase", "--subject", "ada@example.com", "--tenant", "acme", database=filled)
    assert again.stdout.startswith("0 conversations erased whole, 0 in part")


def test_a_conversation_that_somebody_else_has_joined_meanwhile_is_left_to_be_listed_again(
    filled: str,
) -> None:
    async def walk() -> None:
        store = PostgresConversationStore(filled)
        await store.open()
        found = await store.list_erasures("ada@example.com", tenant="acme")
        await store.close()
        hers = next(each for each in found if each.conversation_id == f"{CANARY}-named")
        assert hers.whole
        async with talking(PostgresConversationStore(filled)) as people:
            await people.say("bob", hers.conversation_id, "bob joins")
        await store.open()
        try:
            assert await store.erase("ada@example.com", hers, tenant="acme") is None
            assert len(await store.list_messages(hers.conversation_id, tenant="acme")) == 4
        finally:
            await store.close()

    asyncio.run(walk())


@pytest.mark.parametrize("words", [("--subject", "nobody"), ("--subject", "a\"b'c")])
def test_somebody_of_whom_there_is_nothing_is_erased_at_once(
    words: tuple[str, str], postgres_url: str
) -> None:
    done = rejoinder("erase", *words, database=postgres_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 conversations")


def test_a_database_that_cannot_be_used_is_one_line(postgres_empty_url: str) -> None:
    for url in (postgres_empty_url, "postgresql://127.0.0.1:1/x"):
        done = rejoinder("erase", "--subject", "ada", database=url)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
