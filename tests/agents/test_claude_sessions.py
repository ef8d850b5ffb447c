"""Sessions of Claude Code in our stores keep what the SDK expects of a session store, by its own published test."""

from __future__ import annotations

import asyncio
import uuid

from claude_agent_sdk.testing import run_session_store_conformance

from rejoinder.agents.claude_sessions import Sessions
from rejoinder.ports.store import ConversationStore
from rejoinder.ports.transcripts import TranscriptEntry, TranscriptKey, TranscriptStore
from tests.chat.conftest import Opened, stores

__all__ = ["stores"]

KEY = TranscriptKey(project="p", session="s")


def test_the_published_conformance_test_passes(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        assert isinstance(store, TranscriptStore)

        def fresh() -> Sessions:
            return Sessions(store, tenant=uuid.uuid4().hex)

        await run_session_store_conformance(fresh)

    asyncio.run(stores(walk))


def test_an_entry_that_comes_again_is_kept_once_and_another_under_its_id_beside_it(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        assert isinstance(store, TranscriptStore)
        first = TranscriptEntry(body=b'{"a":"\\u0000\\ud800"}', id="1")
        other = TranscriptEntry(body=b'{"a":2}', id="1")
        nameless = TranscriptEntry(body=b'{"a":3}')
        await store.append_transcript(KEY, [first, nameless])
        await store.append_transcript(KEY, [first, other, nameless, first])
        assert await store.read_transcript(KEY) == [first.body, nameless.body, other.body, nameless.body]
        assert await store.read_transcript(KEY, tenant="another") is None

    asyncio.run(stores(walk))


def test_a_transcript_goes_with_its_conversation(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        assert isinstance(store, TranscriptStore)
        await store.create_conversation(id="c")
        entry = TranscriptEntry(body=b"{}")
        for key, conversation in ((KEY, "c"), (TranscriptKey(project="p", session="free"), None)):
            await store.append_transcript(key, [entry], conversation_id=conversation)
        await store.append_transcript(
            TranscriptKey(project="p", session="s", part="subagents/a"), [entry], conversation_id="c"
        )
        await store.delete_conversation("c")
        assert [each.session for each in await store.list_transcripts("p")] == ["free"]
        assert await store.list_transcript_parts("p", "s") == []
        assert await store.read_transcript(KEY) is None

    asyncio.run(stores(walk))
