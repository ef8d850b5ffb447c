"""What must be true of a turn that a client has followed to its end, whatever happened on the way."""

from __future__ import annotations

from typing import Any

import httpx

from rejoinder.convert.ui import to_ui
from rejoinder.fold import accumulate
from rejoinder.messages import JsonObject
from rejoinder.wire import json
from rejoinder.wire.chunks import Abort, Chunk, Error, Finish
from rejoinder.wire.codec import decode_chunk
from rejoinder.wire.grammar import Grammar
from tests.reliability.readers import Reader, get

STREAMING = ("input-streaming", "input-available", "streaming")


async def check(reader: Reader, http: httpx.AsyncClient, url: str) -> JsonObject:
    """Hold what one client was told against what is kept. Answers the turn's record."""
    assert reader.seqs == [*range(len(reader.events))], f"gaps or repeats: {reader.seqs}"
    chunks = [decode_chunk(data.encode()) for _, data in reader.events]
    _check_grammar(chunks)
    turn = f"{url}/chat/{reader.conversation}/turns/{reader.turn}"
    journal = (await get(http, f"{turn}/frames?limit=1000"))["frames"]
    told = [{"seq": seq, "chunk": json.decode(data.encode())} for seq, data in reader.events]
    assert told == [{"seq": frame["seq"], "chunk": frame["chunk"]} for frame in journal]
    page = await get(http, f"{url}/chat/{reader.conversation}")
    assert page["live"] is None
    answers = [message for message in page["messages"] if message["role"] == "assistant"]
    assert answers[-1] == to_ui(accumulate(chunks)), "the stored message is not what was streamed"
    assert _unbalanced(answers[-1]) == []
    record: JsonObject = (await get(http, turn))["turn"]
    return record


async def check_goes_on(reader: Reader, http: httpx.AsyncClient, url: str) -> None:
    """The conversation takes another message, and answers it."""
    again = Reader(reader.conversation, "2 0", f"{reader.message}-again")
    await again.read(http, lambda: url)
    assert (await check(again, http, url))["status"] == "succeeded"


def _check_grammar(chunks: list[Chunk]) -> None:
    grammar = Grammar()
    for chunk in chunks:
        grammar.check(chunk)
    endings = [chunk for chunk in chunks if isinstance(chunk, Finish | Abort)]
    assert endings == chunks[-1:] or isinstance(chunks[-1], Error), chunks[-3:]


def _unbalanced(message: Any) -> list[Any]:
    return [part for part in message["parts"] if part.get("state") in STREAMING]
