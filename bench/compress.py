"""Bytes of events, as agents say them and as they lie in pages, with a dictionary and without, for each vendor.

    .venv/bin/python bench/compress.py [--deltas 400] [--answers 5]

An answer is a recorded run with its text said in so many deltas. A page holds what came in 20 ms, at most 64 frames or
16 KiB: full pages where an agent speaks fast or the database is busy, one event or two where it speaks as fast as one
reads. `other` is a dictionary that was trained without the recording that is measured, as it would be for an agent
that nobody has recorded. Bytes are those of `page.events`; frames and what a row costs (some 130 bytes) come on top.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.answers import VENDORS, Vendor, answer
from rejoinder.engine.draft import PAGE_BYTES_MAX, PAGE_FRAMES_MAX
from rejoinder.ports.journal import Event
from rejoinder.stores.postgres import packing
from scripts.dictionary import all_recordings, train

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACES: Final = {"full": PAGE_FRAMES_MAX, "400/s": 8, "100/s": 2, "50/s": 1}
"""Events of a page, where so many come in a second."""

LEVEL_WITHOUT: Final = 1
"""The level of codec 1."""

Pack = Callable[[bytes], bytes]


def pages(events: Sequence[bytes], count: int) -> Iterator[bytes]:
    """The pages that so many events at a time make, not compressed yet."""
    page: list[Event] = []
    for place, body in enumerate(events):
        page.append(Event(before=place, body=body))
        if len(page) == count or sum(len(event.body) for event in page) >= PAGE_BYTES_MAX:
            yield packing.encoded(page)
            page = []
    if page:
        yield packing.encoded(page)


def packers(vendor: Vendor) -> dict[str, Pack]:
    """The ways to pack that are compared."""
    name = packing.DICTIONARIES[packing.CODEC]
    assert name is not None, "the newest codec has a dictionary"
    file = Path(packing.__file__).parent / "dictionaries" / name
    shipped = zstd.ZstdDict(file.read_bytes()).as_digested_dict
    others = [recording for recording in all_recordings() if recording != vendor.recording]
    held_out = zstd.ZstdDict(train(others)).as_digested_dict
    return {
        "without": lambda page: zstd.compress(page, LEVEL_WITHOUT),
        "with": lambda page: zstd.compress(page, packing.LEVEL, zstd_dict=shipped),
        "other": lambda page: zstd.compress(page, packing.LEVEL, zstd_dict=held_out),
    }


def ratios(vendor: Vendor, deltas: int, answers: int) -> str:
    """A line of the table."""
    said = [answer(vendor, deltas, seed=seed) for seed in range(answers)]
    raw = sum(len(event) for events in said for event in events)
    ways = packers(vendor)
    cells = [f"{vendor.name:<17}", f"{raw / answers / 1024:7.1f}"]
    for count in PACES.values():
        of_pace = [page for events in said for page in pages(events, count)]
        cells.append("".join(f"{raw / sum(map(len, map(pack, of_pace))):6.1f}" for pack in ways.values()))
    return "  ".join(cells)


def speeds(deltas: int) -> Iterator[str]:
    """How long a page takes."""
    ways = packers(VENDORS[0])
    for pace, count in PACES.items():
        of_pace = list(pages(answer(VENDORS[0], deltas * 10), count))
        cells: list[str] = []
        for name in ("without", "with"):
            start = time.perf_counter()
            for page in of_pace:
                ways[name](page)
            cells.append(f"{name} {(time.perf_counter() - start) / len(of_pace) * 1e6:5.0f} µs")
        yield f"  {pace:<6} {', '.join(cells)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deltas", type=int, default=400, help="deltas of text in an answer")
    parser.add_argument("--answers", type=int, default=5, help="answers of each vendor")
    given = parser.parse_args()
    print(f"Raw bytes of an answer's events over stored ones; {given.deltas} deltas, {given.answers} answers")
    print(f"{'':<17}  {'KiB raw':>7}  " + "  ".join(f"{pace:>18}" for pace in PACES))
    print(f"{'dictionary:':<17}  {'':>7}  " + "  ".join("  none  ours other" for _ in PACES))
    for vendor in VENDORS:
        print(ratios(vendor, given.deltas, given.answers), flush=True)
    print("Packing a page of Claude Code's:")
    for line in speeds(given.deltas):
        print(line)


if __name__ == "__main__":
    main()
