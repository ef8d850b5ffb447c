"""A turn that is over, told again: as it was sent, and as another translator would tell it.

python replaying.py
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from starlette.testclient import TestClient

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Message, Text
from rejoinder.offline.journals import read_journal
from rejoinder.offline.rebuilding import refold
from rejoinder.offline.retelling import retell
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.wire.chunks import Chunk


async def run(call: Call) -> AsyncIterator[Any]:
    """Say what was said, a word an event."""
    for word in call.prompt.split():
        yield {"word": word}


def softly(say: Emitter, event: Any) -> Iterable[Chunk]:
    """How it was told."""
    yield from say.text(event["word"] + " ")


def loudly(say: Emitter, event: Any) -> Iterable[Chunk]:
    """How it might have been told."""
    yield from say.text(event["word"].upper() + "! ")


def text_of(message: Message) -> str:
    """What the message says."""
    return "".join(part.text for part in message.parts if isinstance(part, Text))


async def tell(store: InMemoryConversationStore) -> None:
    """Make the answer again, twice. The agent is not asked."""
    (turn,) = await store.list_turns("c1")
    journal = await read_journal(store, turn.id, tenant="default")
    print("sent:", text_of(refold(journal.chunks, onto=None, message_id="again").message))
    print("anew:", text_of(retell(journal.telling(turn), loudly, continues=None).message))


def main() -> None:
    """Answer, then replay."""
    store, parts = InMemoryConversationStore(), [{"type": "text", "text": "well met"}]
    with TestClient(Chat(Agent("echo", run, softly), store=store).app) as client:
        said = {"id": "c1", "message": {"id": "m1", "role": "user", "parts": parts}}
        client.post("/api/chat", json=said).raise_for_status()
    asyncio.run(tell(store))


if __name__ == "__main__":
    main()
