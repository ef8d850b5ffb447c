"""`python -m scripts.dictionary`: train the dictionary that pages of events are compressed with, from our recordings.

Pages need the dictionary that they were packed with for as long as they are kept. So this never writes over one:
name the next (`rejoinder.stores.postgres.packing.DICTIONARIES`), and see what it wins with bench/compress.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from bench.answers import RECORDINGS, recorded
from rejoinder.ports.journal import Event
from rejoinder.stores.postgres import packing

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FOLDER: Final = Path(packing.__file__).parent / "dictionaries"

BYTES: Final = 64 * 1024
"""Twice as many win nothing any more."""

EVENTS_OF_A_SAMPLE: Final = (1, 2, 4)
"""As many as pages of live turns hold. What is in one page is told apart best where pages are small."""

SAMPLE_BYTES_MAX: Final = 16 * 1024
"""A page does not hold more."""


def train(recordings: Sequence[str]) -> bytes:
    """A dictionary of these recordings."""
    samples = [sample for name in recordings for sample in _samples(recorded(name))]
    return zstd.train_dict(samples, BYTES).dict_content


def all_recordings() -> list[str]:
    """Their names."""
    return sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


def _samples(events: Sequence[bytes]) -> Iterator[bytes]:
    for size in EVENTS_OF_A_SAMPLE:
        rest = iter(events)
        while page := list(islice(rest, size)):
            sample = packing.encoded([Event(before=place, body=body) for place, body in enumerate(page)])
            if len(sample) <= SAMPLE_BYTES_MAX:
                yield sample


def main() -> None:
    """Write the newest one, if it is not there."""
    name = packing.DICTIONARIES[packing.CODEC]
    assert name is not None, "the newest codec has a dictionary"
    file = FOLDER / name
    if file.exists():
        sys.exit(
            f"{file.name} is there, and pages need it: name another in packing.DICTIONARIES, with its own codec"
        )
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(train(all_recordings()))
    print(f"written: {file.name}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
