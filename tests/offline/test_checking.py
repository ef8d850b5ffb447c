"""What is stored is held against what was streamed; whatever differs is found, in that turn and no other."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from msgspec import structs

from rejoinder.messages import Text
from rejoinder.offline.checking import Check, Translators, check_all, every_turn
from rejoinder.offline.differences import differences
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.stores.postgres.packing import CODEC, pack_events, unpacked
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.offline.conftest import Filled
from tests.server.agents import AGENT

TRANSLATORS: Translators = {AGENT.name: AGENT.translate}
TURNS = 13
ZSTD = b"\x28\xb5\x2f\xfd"
"""How what zstd has compressed begins."""


async def checked(store: ConversationStore, translators: Translators = TRANSLATORS) -> list[Check]:
    tenants = await store.list_tenants()
    return [check async for check in check_all(store, tenants=tenants, translators=translators)]


def test_nothing_differs_in_turns_of_every_kind(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        checks = await checked(store)
        assert len(checks) == TURNS
        assert [str(check) for check in checks if check.differences] == []
        left_out = [check.left_out for check in checks if check.left_out]
        assert left_out == ["another turn went on with its message"] * 3

    asyncio.run(filled(walk))


def test_a_message_that_was_changed_is_found_and_no_other(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        turn = (await store.list_turns("tools"))[0]
        assert turn.message_id is not None
        stored = await store.get_message("tools", turn.message_id)
        assert stored is not None
        parts = (*stored.message.parts[:-1], Text(text="Cold there, warn here. "))
        await store.upsert_message("tools", structs.replace(stored.message, parts=parts), turn_id=turn.id)
        (found,) = [check for check in await checked(store) if check.differences]
        assert found.turn_id == turn.id
        assert "from its frames" in str(found)
        assert "from its events" in str(found)
        assert "warm" in str(found)

    asyncio.run(filled(walk))


def test_an_agent_that_nobody_here_translates_for_is_checked_by_its_frames(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        checks = await checked(store, {})
        assert not any(check.differences for check in checks)
        assert sum("nobody here translates" in (check.left_out or "") for check in checks) == TURNS - 3

    asyncio.run(filled(walk))


@pytest.mark.parametrize("fault", ["a frame", "an event", "cut frames", "cut events", "a page"])
def test_a_journal_that_was_changed_is_found_in_its_turn(fault: str, database: str) -> None:
    async def walk() -> None:
        store = PostgresConversationStore(database)
        await store.open()
        try:
            turns = [turn async for turn in every_turn(store, tenant=DEFAULT_TENANT)]
            victim = next(turn for turn in turns if turn.conversation_id == "tools")
            plant(database, victim.id, fault)
            found = [check for check in await checked(store) if check.differences]
            assert [check.turn_id for check in found] == [victim.id]
        finally:
            await store.close()

    asyncio.run(walk())


def plant(database: str, turn_id: str, fault: str) -> None:
    """Change a page by hand."""
    with psycopg.connect(database) as connection:
        of_turn = "turn = (SELECT key FROM rejoinder.turn WHERE id = %s)"
        if fault == "a page":
            connection.execute(f"DELETE FROM rejoinder.page WHERE number = 1 AND {of_turn}", (turn_id,))
        query = f"SELECT number, frames, events FROM rejoinder.page WHERE {of_turn}"
        for number, frames, events in connection.execute(query, (turn_id,)).fetchall():
            packed = events if events is None else changed(events, fault)
            connection.execute(
                f"UPDATE rejoinder.page SET frames = %s, events = %s WHERE number = %s AND {of_turn}",
                (changed(frames, fault), packed, number, turn_id),
            )


def changed(content: bytes, fault: str) -> bytes:
    """Frames (text) or events (zstd), with a fault in them if it is theirs."""
    packed = content.startswith(ZSTD)
    match fault:
        case "a frame" if not packed:
            return content.replace(b"warm", b"worm")
        case "an event" if packed:
            return pack_events(
                [
                    structs.replace(event, body=event.body.replace(b"warm", b"worm"))
                    for event in unpacked(CODEC, content)
                ]
            )
        case "cut frames" if not packed:
            return content[: len(content) // 2]
        case "cut events" if packed:
            return content[: len(content) // 2]
        case _:
            return content


@pytest.mark.parametrize(
    ("kept", "made", "told"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["a: kept 1; made 2"]),
        ({"a": 1}, {}, ["a: kept 1; made nothing"]),
        ([1, {"b": None}], [1, {"b": None}, 3], ["[2]: kept nothing; made 3"]),
        ({"t": "abcd"}, {"t": "abxd"}, ['t from character 2: kept "abcd"; made "abxd"']),
        (1, True, ["all of it: kept 1; made true"]),
        ({"a": [1]}, {"a": {"0": 1}}, ['a: kept [1]; made {"0":1}']),
    ],
)
def test_differences_are_named_by_their_place(kept: object, made: object, told: list[str]) -> None:
    assert [str(each) for each in differences(kept, made)] == told
