"""How a page lies in its row: frames as they are sent, events compressed.

The column `codec` says how the events are packed, so that what an old release wrote stays readable. All are zstd over
MessagePack, an array of `[before, body]`: 1 without a dictionary, 2 with `dictionaries/events_1.zdict`. A page of a
live turn often holds one event or two, and half of what it says it would say in any turn of that vendor; the dictionary
knows it already. Frames are left to PostgreSQL, which compresses what is long.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import msgspec

from rejoinder.ports.journal import Event, Page, StoreError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODEC: Final = 2
"""How pages are packed now."""

DICTIONARIES: Final[Mapping[int, str | None]] = MappingProxyType({1: None, 2: "events_1.zdict"})
"""The dictionary of each codec. One never changes, because pages that are packed with it need it as it was: a better
one is another file and another codec (`scripts/dictionary.py`)."""

LEVEL: Final = 3
"""Level 1 is no faster where there is a dictionary, and saves a twentieth less."""

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
    if codec not in DICTIONARIES:
        raise StoreError(
            f"the events of a page are packed in a way that came later ({codec}): install a newer release"
        )
    try:
        found = _EVENTS.decode(zstd.decompress(events, zstd_dict=_dictionary(codec)))
    except (zstd.ZstdError, msgspec.MsgspecError) as error:
        raise StoreError(f"the events of a page cannot be read, it was changed by hand: {error}") from error
    return tuple(Event(before=before, body=body) for before, body in found)


def pack_events(events: Sequence[Event]) -> bytes:
    """Events as they lie in a row."""
    known = _dictionary(CODEC)
    assert known is not None, "new pages are packed with a dictionary"
    # Digested: made ready once, and not for each page.
    return zstd.compress(encoded(events), LEVEL, zstd_dict=known.as_digested_dict)


def encoded(events: Sequence[Event]) -> bytes:
    """Events as they are before they are compressed."""
    return msgspec.msgpack.encode([(event.before, event.body) for event in events])


@lru_cache
def _dictionary(codec: int) -> zstd.ZstdDict | None:
    name = DICTIONARIES[codec]
    if name is None:
        return None
    file = files("rejoinder.stores.postgres").joinpath("dictionaries", name)
    return zstd.ZstdDict(file.read_bytes())


def _pack(pages: Iterable[Page]) -> list[bytes | None]:
    return [pack_events(page.events) if page.events else None for page in pages]
