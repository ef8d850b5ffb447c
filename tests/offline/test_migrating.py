"""Messages of an older format: read as the newest, and written so by the command, however often it is interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import psycopg
import pytest
from hypothesis import given, settings
from msgspec import structs

from rejoinder.convert.formats import FIRST, FORMAT, upgraded
from rejoinder.convert.rows import from_rows, to_rows
from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.convert.ui_4 import from_ui_4, to_ui_4
from rejoinder.messages import File, JsonObject, Message, Opaque, Text, ToolCall
from rejoinder.offline.migrating import Migrated, migrate
from rejoinder.ports.formats import START
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.engine.stage import asynchronous
from tests.laws.messages import exactly, messages
from tests.offline.test_replay import rejoinder
from tests.scale import scale
from tests.stores.databases import Databases

LOOKS_MAX = 6000

OLD = ["opaque", "opaque", "text"]
NEW = ["text", "file", "reasoning", "tool-call", "text"]

SAID_IN_4: JsonObject = {
    "id": "a",
    "role": "assistant",
    "content": "It rains.",
    "parts": [
        {"type": "reasoning", "reasoning": "Look out.", "details": [{"type": "text", "text": "Look out."}]},
        {
            "type": "tool-invocation",
            "toolInvocation": {
                "state": "result",
                "toolCallId": "c",
                "toolName": "weather",
                "args": {"city": "Rome"},
                "result": {"rain": True},
            },
        },
        {"type": "text", "text": "It rains."},
    ],
}
ASKED_IN_4: JsonObject = {
    "id": "u",
    "role": "user",
    "content": "Rain?",
    "parts": [],
    "experimental_attachments": [{"url": "data:image/png;base64,AAAA", "contentType": "image/png"}],
}


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[PostgresConversationStore]:
    store = PostgresConversationStore(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def old_store(url: str, store: PostgresConversationStore, conversations: int = 1) -> None:
    """What a release before formats had numbers has left: messages of the AI SDK 4 as it kept them."""
    for number in range(conversations):
        await store.create_conversation(id=f"chat-{number}")
        await store.append_messages(f"chat-{number}", [from_ui(ASKED_IN_4), from_ui(SAID_IN_4)])
    unnumber(url)


def unnumber(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE rejoinder.message SET extra = nullif(extra - 'rejoinder', '{}')")


def kinds(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute('SELECT type FROM rejoinder.part ORDER BY conversation, message, "order"')
        return [kind for (kind,) in rows]


@pytest.mark.parametrize("dry_run", [True, False])
@asynchronous
async def test_what_is_read_as_the_newest_format_is_written_so(postgres: Databases, *, dry_run: bool) -> None:
    url = postgres.fresh()
    async with opened(url) as store:
        await old_store(url, store)
        before = await store.list_messages("chat-0")
        assert kinds(url) == OLD
        assert [type(part) for part in before[0].message.parts] == [Text, File]
        call = before[1].message.parts[1]
        assert isinstance(call, ToolCall)
        assert (call.name, call.input, call.output) == ("weather", {"city": "Rome"}, {"rain": True})

        done = await migrate(store, so_far=Migrated(), dry_run=dry_run)
        assert (done.looked_at, done.older, done.written) == (2, 2, 0 if dry_run else 2)
        assert await store.list_messages("chat-0") == before
        assert kinds(url) == (OLD if dry_run else NEW)
        assert (await migrate(store, so_far=Migrated())).older == (2 if dry_run else 0)


@asynchronous
async def test_what_is_stored_now_is_given_back_as_it_came(postgres: Databases) -> None:
    url = postgres.fresh()
    given = [from_ui(ASKED_IN_4), structs.replace(from_ui(SAID_IN_4), extra={"rejoinder": {"format": 1}})]
    async with opened(url) as store:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", given)
        stored = await store.list_messages("chat")
        assert [structs.replace(each.message, created_at=None) for each in stored] == given
        assert (await migrate(store, so_far=Migrated())).older == 0
        assert kinds(url) == OLD


@asynchronous
async def test_an_interrupted_run_goes_on_where_it_was(postgres: Databases) -> None:
    url = postgres.fresh()
    async with opened(url) as store:
        await old_store(url, store, conversations=3)

        def interrupt(done: int, _: int) -> None:
            if done:
                raise KeyboardInterrupt

        so_far = Migrated()
        with pytest.raises(KeyboardInterrupt):
            await migrate(store, so_far=so_far, batch=2, told=interrupt)
        assert (so_far.written, kinds(url)) == (2, NEW + OLD + OLD)
        assert (await migrate(store, so_far=Migrated(), batch=2)).written == 4
        assert kinds(url) == NEW * 3


@asynchronous
async def test_who_writes_a_message_meanwhile_wins(postgres: Databases) -> None:
    url = postgres.fresh()
    async with opened(url) as store:
        await old_store(url, store)
        async with await psycopg.AsyncConnection.connect(url) as other:
            await other.execute("UPDATE rejoinder.message SET metadata = '7' WHERE id = 'a'")
            upgrading = asyncio.create_task(store.upgrade_messages(after=START, limit=10))
            await waits_for_a_lock(url)
        batch = await upgrading
        assert batch is not None
        assert (batch.older, batch.written) == (2, 1)
        stored = await store.get_message("chat-0", "a")
        assert stored is not None
        assert stored.message.metadata == 7
        assert kinds(url) == [*NEW[:2], *OLD]


async def waits_for_a_lock(url: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as looking:
        for _ in range(LOOKS_MAX):
            if await (await looking.execute("SELECT 1 FROM pg_locks WHERE NOT granted")).fetchone():
                return
            await asyncio.sleep(0.01)
    raise AssertionError("nobody waits")


@asynchronous
async def test_the_command_says_what_it_would_do_and_does_it(database: str) -> None:
    async with opened(database) as store:
        await old_store(database, store)
    tried = rejoinder("migrate", "--dry-run", database=database)
    assert (tried.returncode, tried.stderr) == (0, "")
    assert tried.stdout.endswith(" messages looked at, 2 of them are of an older format\n")
    done = rejoinder("migrate", "--batch", "3", database=database)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == tried.stdout.replace("are of an older format", "upgraded")
    assert rejoinder("migrate", database=database).stdout.endswith(", 0 of them upgraded\n")
    checked = rejoinder("replay", "--check", database=database)
    assert checked.returncode == 0, checked.stderr


def test_a_database_that_cannot_be_reached_is_one_line() -> None:
    lost = rejoinder("migrate", database="postgresql://nobody@127.0.0.1:1/nothing")
    assert (lost.returncode, len(lost.stderr.splitlines())) == (1, 1)


many = settings(max_examples=scale(100, 2_000), deadline=None)


@many
@given(messages(stored=True))
def test_what_is_written_today_is_read_as_it_was_given(message: Message) -> None:
    assert exactly(from_rows(to_rows(message))) == exactly(message)
    assert exactly(upgraded(message, FORMAT + 1)) == exactly(message)


@many
@given(messages(stored=True))
def test_what_was_kept_of_ai_sdk_4_is_read_as_what_it_said(message: Message) -> None:
    said = to_ui_4(message)
    meant = from_ui_4(said)
    kept = structs.replace(
        from_ui({"parts": [], **said}), created_at=message.created_at, status=message.status
    )
    now = upgraded(kept, FIRST)
    if any(isinstance(part, Opaque) for part in kept.parts) or (kept.extra or {}).keys() & {"content"}:
        assert exactly(now.parts) == exactly(meant.parts)
    else:
        assert now == kept
    assert (now.id, now.role, now.created_at, now.status) == (
        kept.id,
        kept.role,
        kept.created_at,
        kept.status,
    )
    assert exactly(upgraded(now, FIRST)) == exactly(now)


def test_a_part_whose_type_is_no_text_is_kept() -> None:
    odd = Message(
        id="a", role="assistant", parts=(Opaque(body={"type": ["text"]}), Opaque(body={"type": {}}))
    )
    assert upgraded(odd, FIRST) is odd
    assert from_rows(to_rows(odd)) == odd


@many
@given(messages(stored=True))
def test_what_no_ai_sdk_4_wrote_is_left_alone(message: Message) -> None:
    if all(not isinstance(part, Opaque) for part in message.parts) and not message.extra:
        assert upgraded(message, FIRST) == message
        assert from_ui(to_ui(upgraded(message, FIRST))).parts == from_ui(to_ui(message)).parts
