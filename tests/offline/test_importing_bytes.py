"""What agents said comes out of session messages byte for byte, also where readers of JSON would change it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Final

import pytest

from rejoinder.offline.importing import import_session_messages, open_source
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.stores.persistence import load_agent
from tests.stores.walks import walk

CHUNKS: Final = [
    {"type": "start", "messageId": "m"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Warm"},
    {"type": "text-end", "id": "t"},
    {"type": "finish"},
]

ODD_RAW: Final = {
    "plain": b'{"type": "assistant",  "n": 1.10}',
    "nul": b'{"text": "\\u0000"}',
    "half a character": b'{"text": "\\ud83d"}',
    "duplicate keys": b'{"n": 1, "n": 2}',
    "numbers": b"[1e131071, 1E2, -0, 1.10, 12345678901234567890123]",
    "five thousand digits": b'{"n": ' + b"7" * 5000 + b"}",
}
"""What agents say and many readers of JSON do not give back."""


@pytest.mark.parametrize("in_a_file", [False, True], ids=["sqlite", "jsonl"])
@pytest.mark.parametrize("raw", ODD_RAW.values(), ids=ODD_RAW)
def test_chunks_become_frames_and_raw_messages_events_byte_for_byte(
    tmp_path: Path, raw: bytes, *, in_a_file: bool
) -> None:
    chunks = json.dumps(CHUNKS).encode()
    content = b'{"aiSDKChunks": %s, "rawAgentMessages": [%s], "agentType": "claude-code"}' % (chunks, raw)
    place = tmp_path / ("session_messages.jsonl" if in_a_file else "agents.db")
    if in_a_file:
        place.write_bytes(b'{"id": 2, "session_id": "s", "role": "assistant", "content": %s}\n' % content)
    else:
        connection = sqlite3.connect(place)
        connection.execute("CREATE TABLE session_messages (id, session_id, role, content)")
        values = ["assistant", content.decode("utf-8")]
        connection.execute("INSERT INTO session_messages VALUES (2, 's', ?, ?)", values)
        connection.commit()
        connection.close()

    async def steps() -> None:
        store = InMemoryConversationStore()
        with open_source(str(place)) as source:
            report = await import_session_messages(source, store)
        assert (report.turns, list(map(str, report.troubles))) == (1, [])
        (turn,) = await store.list_turns("s")
        pages = [page async for page in store.follow(turn.id, events=True)]
        assert [event.body for page in pages for event in page.events] == [raw]
        assert b'"delta":"Warm"' in b"".join(page.frames for page in pages)
        (message,) = await load_agent(store, "s")
        assert [part["text"] for part in message["parts"] if part["type"] == "text"] == ["Warm"]

    walk(steps)
