"""A turn's chunks in fewer: what was said word by word, said at once. Pure.

The fold of it is the same, because a delta is a piece of a text and a text is its pieces one behind the other. What
goes is where a piece ended.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, structs

from rejoinder.wire.chunks import Abort, Chunk, Finish, ReasoningDelta, Start, TextDelta, ToolInputDelta


def joined(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """The same, with deltas of one part that follow one another made one."""
    found: list[Chunk] = []
    waiting: TextDelta | ReasoningDelta | ToolInputDelta | None = None
    pieces: list[str] = []
    for chunk in chunks:
        if waiting is not None and (piece := _more(waiting, chunk)) is not None:
            pieces.append(piece)
            continue
        if waiting is not None:
            found.append(_whole(waiting, pieces))
            waiting = None
        if isinstance(chunk, TextDelta | ReasoningDelta | ToolInputDelta):
            waiting, pieces = chunk, [_text(chunk)]
        else:
            found.append(chunk)
    if waiting is not None:
        found.append(_whole(waiting, pieces))
    return tuple(found)


def silenced(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """What is left of a turn whose message was deleted: that it began, and how it ended."""
    found: list[Chunk] = []
    for chunk in chunks:
        match chunk:
            case Start() | Finish():
                found.append(structs.replace(chunk, message_metadata=UNSET))
            case Abort():
                found.append(structs.replace(chunk, reason=UNSET))
            case _:
                pass  # it was in the message, or about what was in it
    return tuple(found)


def _more(waiting: TextDelta | ReasoningDelta | ToolInputDelta, chunk: Chunk) -> str | None:
    """The next piece of what is waiting, if the chunk is one and nothing else besides."""
    if isinstance(chunk, ToolInputDelta):
        ours = isinstance(waiting, ToolInputDelta) and chunk.tool_call_id == waiting.tool_call_id
        return chunk.input_text_delta if ours else None
    if type(chunk) is not type(waiting) or not isinstance(chunk, TextDelta | ReasoningDelta):
        return None
    ours = not isinstance(waiting, ToolInputDelta) and chunk.id == waiting.id
    return chunk.delta if ours and chunk.provider_metadata is UNSET else None


def _text(chunk: TextDelta | ReasoningDelta | ToolInputDelta) -> str:
    return chunk.input_text_delta if isinstance(chunk, ToolInputDelta) else chunk.delta


def _whole(waiting: TextDelta | ReasoningDelta | ToolInputDelta, pieces: list[str]) -> Chunk:
    text = "".join(pieces)
    if isinstance(waiting, ToolInputDelta):
        return structs.replace(waiting, input_text_delta=text)
    return structs.replace(waiting, delta=text)
