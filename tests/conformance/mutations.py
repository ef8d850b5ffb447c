"""What lost packets and wrong merges do to a stream."""

from __future__ import annotations

from tests.conformance.values import Chance, JsonObject


def mutate(chance: Chance, chunks: list[JsonObject]) -> None:
    """Drop, double, move or swap a chunk or two."""
    for _ in range(chance.whole(1, 2)):
        if not chunks:
            return
        at, to = chance.whole(0, len(chunks) - 1), chance.whole(0, len(chunks) - 1)
        match chance.pick(("drop", "double", "move", "swap")):
            case "drop":
                del chunks[at]
            case "double":
                # A copy of its own: in JSON two chunks are never one object.
                chunks.insert(to, dict(chunks[at]))
            case "move":
                chunks.insert(to, chunks.pop(at))
            case _:
                chunks[at], chunks[to] = chunks[to], chunks[at]
