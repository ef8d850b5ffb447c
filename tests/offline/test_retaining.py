"""Journals are forgotten after a while; what was said can still be shown, and what cannot be proven stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as some

from rejoinder import Chat
from rejoinder.fold import Accumulator
from rejoinder.offline.joining import joined
from rejoinder.offline.reprojecting import reproject, undo
from rejoinder.offline.retaining import Policy, Refused, Retained, retain
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire.chunks import Chunk, TextDelta, TextEnd, TextStart, ToolInputDelta
from tests.engine.stage import asynchronous
from tests.offline.improved import AGENT as IMPROVED
from tests.offline.test_checking import TURNS, checked, plant
from tests.offline.test_replay import rejoinder

NOW = timedelta(0)
ALL = ("--events-after", "0d", "--frames-after", "0d")


async def forgotten(store: PostgresConversationStore, policy: Policy) -> tuple[Retained, list[Refused]]:
    refused: list[Refused] = []
    return await retain(store, policy, refused=refused.append), refused


async def messages(store: PostgresConversationStore) -> list[object]:
    conversations = sorted(each.id for each in await store.list_conversations())
    return [await store.list_messages(each) for each in conversations]


@asynchronous
async def test_after_everything_is_forgotten_messages_and_replays_are_the_same(database: str) -> None:
    store = PostgresConversationStore(database)
    await store.open()
    try:
        before = await messages(store)
        shown = rejoinder("replay", "tools", "--speed", "max", database=database).stdout
        retained, refused = await forgotten(store, Policy(events_after=NOW, frames_after=NOW))
        assert (retained.frames.turns, refused) == (TURNS, [])
        assert retained.frames.pages > 0
        assert retained.frames.bytes > 0
        assert await messages(store) == before
        assert rejoinder("replay", "tools", "--speed", "max", database=database).stdout == shown
        for each in ("words", "tools", "fails", "stopped", "denies"):
            for turn in await store.list_turns(each):
                pages = [page async for page in store.follow(turn.id, events=True)]
                assert len(pages) == 1
                assert b'"type":"finish"' in pages[0].frames or b'"type":"abort"' in pages[0].frames
                assert pages[0].events == ()
        again = await forgotten(store, Policy(events_after=NOW, frames_after=NOW))
        assert (again[0].frames.turns, again[0].events.turns) == (0, 0)
    finally:
        await store.close()


@asynchronous
async def test_a_check_says_what_it_can_still_compare(database: str) -> None:
    store = PostgresConversationStore(database)
    await store.open()
    try:
        await forgotten(store, Policy(events_after=NOW))
        checks = await checked(store)
        assert not any(check.differences for check in checks)
        assert [check.left_out for check in checks].count(
            "it has no events: only the frames were compared"
        ) == TURNS - 3
        await forgotten(store, Policy(frames_after=NOW))
        assert [check._replace(differences=()) for check in await checked(store)] == checks
    finally:
        await store.close()


@pytest.mark.parametrize("fault", ["a frame", "cut frames"])
def test_a_turn_whose_frames_make_something_else_is_kept_and_named(fault: str, database: str) -> None:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT id FROM rejoinder.turn WHERE message_id IN "
            "(SELECT m.id FROM rejoinder.message m JOIN rejoinder.conversation c ON c.key = m.conversation "
            "WHERE c.id = 'tools')"
        ).fetchone()
    assert row is not None
    plant(database, row[0], fault)
    told = rejoinder("retain", *ALL, database=database)
    assert told.returncode == 1
    (line,) = told.stderr.splitlines()
    assert line.startswith(
        f"turn {row[0]} of conversation tools (default): its frames are kept as they are: "
    )
    assert f"{TURNS - 1}  turns in one piece" in told.stdout
    again = rejoinder("retain", *ALL, database=database)
    assert (again.returncode, again.stderr) == (1, told.stderr)
    assert "0  turns in one piece" in again.stdout


@asynchronous
async def test_a_turn_goes_on_whose_beginning_is_forgotten(database: str) -> None:
    store = PostgresConversationStore(database)
    await store.open()
    await forgotten(store, Policy(frames_after=NOW))
    await store.close()

    from tests.offline.conftest import Talk
    from tests.server.agents import AGENT as OBEDIENT

    store = PostgresConversationStore(database)
    chat = Chat(OBEDIENT, store=store)
    async with (
        chat.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(chat.app), base_url="http://chat") as http,
    ):
        await Talk(http).answer(
            "waits", state="approval-responded", approval={"id": "approval-1", "approved": True}
        )
    await store.open()
    try:
        assert not any(check.differences for check in await checked(store))
        retained, refused = await forgotten(store, Policy(frames_after=NOW))
        assert (retained.frames.turns, refused) == (1, [])
        assert not any(check.differences for check in await checked(store))
    finally:
        await store.close()


@asynchronous
async def test_answers_made_anew_are_held_against_what_was_streamed_and_can_be_given_back(
    database: str,
) -> None:
    store = PostgresConversationStore(database)
    await store.open()
    try:
        before = await messages(store)
        made = reproject(
            store,
            tenant=DEFAULT_TENANT,
            agent=IMPROVED.name,
            translators={IMPROVED.name: IMPROVED.translate},
            now=datetime.now(UTC),
        )
        assert [change async for change in made]
        retained, refused = await forgotten(store, Policy(frames_after=NOW))
        assert (retained.frames.turns, refused) == (TURNS, [])
        assert [change async for change in undo(store, tenant=DEFAULT_TENANT)]
        assert await messages(store) == before
    finally:
        await store.close()


@asynchronous
async def test_of_a_message_that_was_deleted_nothing_stays_in_the_journal(database: str) -> None:
    store = PostgresConversationStore(database)
    await store.open()
    try:
        (turn,) = await store.list_turns("tools")
        assert turn.message_id is not None
        await store.delete_message("tools", turn.message_id)
        _, refused = await forgotten(store, Policy(frames_after=NOW))
        assert refused == []
        pages = [page async for page in store.follow(turn.id)]
        assert b"warm" not in b"".join(page.frames for page in pages)
        assert b'"type":"finish"' in pages[-1].frames
    finally:
        await store.close()


def test_the_command_says_what_it_would_free_and_what_is_no_policy(database: str) -> None:
    dry = rejoinder("retain", *ALL, "--dry-run", database=database)
    assert (dry.returncode, dry.stderr) == (0, "")
    assert f"{TURNS}  turns would be in one piece" in dry.stdout
    assert rejoinder("retain", *ALL, "--dry-run", database=database).stdout == dry.stdout
    nothing_old = rejoinder("retain", "--events-after", "30d", database=database)
    assert "0  turns without their events" in nothing_old.stdout
    for wrong in ((), ("--events-after", "soon"), ("--events-after", "9d", "--frames-after", "8d")):
        told = rejoinder("retain", *wrong, database=database)
        assert (told.returncode, len(told.stderr.splitlines())) == (2, 1), told.stderr


PIECES = some.lists(
    some.one_of(
        some.tuples(some.sampled_from("ab"), some.text(max_size=3)).map(
            lambda it: TextDelta(id=it[0], delta=it[1])
        ),
        some.tuples(some.sampled_from("cd"), some.text(max_size=3)).map(
            lambda it: ToolInputDelta(tool_call_id=it[0], input_text_delta=it[1])
        ),
        some.just(TextDelta(id="a", delta="x", provider_metadata={"v": {"n": 1}})),
    ),
    max_size=30,
)


@given(PIECES)
def test_joined_deltas_say_the_same_in_the_same_order(deltas: Sequence[Chunk]) -> None:
    def said(chunks: Sequence[Chunk]) -> str:
        accumulator = Accumulator()
        for chunk in (TextStart(id="a"), TextStart(id="b"), *chunks, TextEnd(id="a"), TextEnd(id="b")):
            if not isinstance(chunk, ToolInputDelta):
                accumulator.apply(chunk)
        return str(accumulator.message.parts)

    fewer = joined(deltas)
    assert said(fewer) == said(deltas)
    assert joined(fewer) == fewer
    assert len(fewer) <= len(deltas)
    for call in "cd":
        texts = [
            "".join(
                each.input_text_delta
                for each in chunks
                if isinstance(each, ToolInputDelta) and each.tool_call_id == call
            )
            for chunks in (deltas, fewer)
        ]
        assert texts[0] == texts[1]
