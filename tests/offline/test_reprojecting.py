"""Answers are made anew when a translator has improved, and can be had back as they were."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from rejoinder import Emitter
from rejoinder.messages import Json, Text
from rejoinder.offline.checking import Translators
from rejoinder.offline.reprojecting import Change, reproject, undo
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.wire.chunks import Chunk
from tests.offline.conftest import Filled
from tests.offline.test_checking import TRANSLATORS, checked
from tests.server.agents import AGENT, translate

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def politely(say: Emitter, event: Json) -> Iterable[Chunk]:
    """The translator, improved: it no longer shouts."""
    match event:
        case {"say": text}:
            yield from say.text(text.capitalize())
        case _:
            yield from translate(say, event)


POLITE: Translators = {AGENT.name: politely}


async def made_anew(store: ConversationStore, translators: Translators, **more: Json) -> list[Change]:
    changes = reproject(
        store, tenant=DEFAULT_TENANT, agent=AGENT.name, translators=translators, now=NOW, **more
    )
    return [change async for change in changes]


async def texts(store: ConversationStore, conversation: str) -> list[str]:
    messages = await store.list_messages(conversation)
    return [part.text for stored in messages for part in stored.message.parts if isinstance(part, Text)]


def test_a_translator_that_is_as_it_was_changes_nothing(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        assert await made_anew(store, TRANSLATORS) == []

    asyncio.run(filled(walk))


def test_an_improved_one_changes_what_it_would_say_otherwise_and_nothing_else(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        before = {id: await store.list_messages(id) for id in ("words", "tools", "wants")}
        told = await made_anew(store, POLITE, dry_run=True)
        assert {id: await store.list_messages(id) for id in before} == before
        assert await made_anew(store, POLITE) == told
        assert "words" in {change.conversation_id for change in told}
        assert "Hello There " in await texts(store, "words")
        after = await store.list_messages("words")
        assert [(each.seq, each.message.id, each.message.created_at) for each in after] == [
            (each.seq, each.message.id, each.message.created_at) for each in before["words"]
        ]
        assert await made_anew(store, POLITE) == []
        assert not any(check.differences for check in await checked(store, POLITE))

    asyncio.run(filled(walk))


def test_what_was_changed_is_given_back_as_it_was_before_the_first_time(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        before = {id: await store.list_messages(id) for id in await ids(store)}
        turns = {id: await store.list_turns(id) for id in before}
        changed = await made_anew(store, POLITE)
        back = [change async for change in undo(store, tenant=DEFAULT_TENANT)]
        assert {change.turn_id for change in back} == {change.turn_id for change in changed}
        assert {id: await store.list_messages(id) for id in before} == before
        assert {id: await store.list_turns(id) for id in before} == turns
        assert [change async for change in undo(store, tenant=DEFAULT_TENANT)] == []
        assert not any(check.differences for check in await checked(store))

    asyncio.run(filled(walk))


def test_only_what_is_new_enough_is_made_anew(filled: Filled) -> None:
    async def walk(store: ConversationStore) -> None:
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        assert await made_anew(store, POLITE, since=tomorrow) == []

    asyncio.run(filled(walk))


async def ids(store: ConversationStore) -> list[str]:
    return [conversation.id for conversation in await store.list_conversations()]
