"""What is exported as session messages, and imported again, is the same conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs

from rejoinder.messages import File, Json, Message, Text
from rejoinder.offline.importing import import_session_messages, open_source
from rejoinder.offline.session_messages import export_session_messages
from rejoinder.ports.agents import Agent, Call
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.translate.registry import translator_of
from rejoinder.wire.session_messages import SessionMessageContent, write_session_message
from tests.engine.stage import asynchronous, stage
from tests.translate.recorded import FOLDER


@pytest.mark.parametrize(
    ("run", "vendor"),
    [
        ("claude_sdk_bash", "claude-code"),
        ("claude_sdk_subagent", "claude-code"),
        ("openai_agents_responses", "openai-agents"),
    ],
)
@asynchronous
async def test_a_conversation_comes_back_as_it_was(run: str, vendor: str, tmp_path: Path) -> None:
    lines = (FOLDER / "events" / f"{run}.jsonl").read_bytes().splitlines()

    async def replay(call: Call) -> AsyncIterator[Json]:
        for line in lines:
            yield line

    async with stage() as on:
        question = Message(
            id="u",
            role="user",
            parts=(Text(text="Look:", state="done"), File(url="data:,x", media_type="text/plain")),
        )
        begun = await on.begin(messages=(question,), agent=vendor)
        await on.run(Agent(vendor, replay, translator_of(vendor)), begun)
        rows = [row async for row in export_session_messages(on.store, "chat")]
        (tmp_path / "session_messages.jsonl").write_bytes(b"\n".join(map(write_session_message, rows)))
        answer = rows[-1].content
        assert isinstance(answer, SessionMessageContent)
        assert [bytes(raw) for raw in answer.raw_agent_messages] == lines
        assert answer.agent_type == vendor

        copy = InMemoryConversationStore()
        with open_source(str(tmp_path)) as source:
            report = await import_session_messages(source, copy)
        assert report.turns == 1
        before, after = await on.store.list_messages("chat"), await copy.list_messages("chat")
        assert [_content(stored.message) for stored in after] == [
            _content(stored.message) for stored in before
        ]
        (turn,) = await copy.list_turns("chat")
        pages = [page async for page in copy.follow(turn.id, events=True)]
        assert [event.body for page in pages for event in page.events] == lines


def _content(message: Message) -> Message:
    return structs.replace(message, id="", created_at=None)
