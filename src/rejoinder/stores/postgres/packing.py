"""How a page lies in its row: frames as they are sent, events compressed.

The column `codec` says how the events are packed, so that what an old release wrote stays readable. 1: zstd over
MessagePack, an array of `[before, body]`. Frames are left to PostgreSQL, which compresses what is long.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from rejoinder.ports.journal import Event, Page, StoreError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODEC: Final = 1

LEVEL: Final = 1
"""Level 3, the usual one, takes half as long again and saves another 3 percent of a page."""

BYTES_AT_ONCE_MAX: Final = 1 << 20
"""More than this is packed in a thread: a megabyte takes 3 ms, in which the event loop does nothing else."""

_EVENTS: Final = msgspec.msgpack.Decoder(list[tuple[int, bytes]])


async def packed(pages: Sequence[Page]) -> list[bytes | None]:
    """The events of each page."""
    if sum(len(event.body) for page in pages for event in page.events) > BYTES_AT_ONCE_MAX:
        return await asyncio.to_thread(_pack, pages)
    return _pack(pages)


def unpacked(codec: int, events: bytes | None) -> tuple[Event, ...]:
    """The events of a page. Raises `StoreError` for a page of a later release, or one that was changed by hand."""
    if events is None:
        return ()
    if codec != CODEC:
        raise StoreError(
            f"the events of a page are packed in a way that came later ({codec}): install a newer release"
        )
    try:
        found = _EVENTS.decode(zstd.decompress(events))
    except (zstd.ZstdError, msgspec.MsgspecError) as error:
        raise StoreError(f"the events of a page cannot be read, it was changed by hand: {error}") from error
    return tuple(Event(before=before, body=body) for before, body in found)


def pack_events(events: Sequence[Event]) -> bytes:
    """Events as they lie in a row."""
    return zstd.compress(msgspec.msgpack.encode([(event.before, event.body) for event in events]), LEVEL)


def _pack(pages: Iterable[Page]) -> list[bytes | None]:
    return [pack_events(page.events) if page.events else None for page in pages]
