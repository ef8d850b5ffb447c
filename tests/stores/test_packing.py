"""Events come back from their pages as they were, whatever release packed them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bench.answers import VENDORS, Vendor, answer
from rejoinder.ports.journal import Event, StoreError
from rejoinder.stores.postgres.packing import CODEC, DICTIONARIES, encoded, pack_events, unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

EVENTS = some.lists(
    some.builds(Event, before=some.integers(0, 2**40), body=some.binary(max_size=200)), min_size=1, max_size=9
)

DIGESTS = {"events_1.zdict": "ae54ef6f60b877e8c8c3a809a96cef2adb4438555548706fa16306ade5268f0c"}
"""Pages that are kept somewhere need these very bytes."""


@given(EVENTS)
def test_events_come_back_byte_for_byte(events: Sequence[Event]) -> None:
    assert unpacked(CODEC, pack_events(events)) == tuple(events)


@given(EVENTS)
def test_pages_of_the_codec_without_a_dictionary_are_read(events: Sequence[Event]) -> None:
    assert unpacked(1, zstd.compress(encoded(events))) == tuple(events)


def test_dictionaries_are_those_that_pages_were_packed_with() -> None:
    for name in filter(None, DICTIONARIES.values()):
        content = files("rejoinder.stores.postgres").joinpath("dictionaries", name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == DIGESTS[name], name


def test_a_page_of_a_later_release_says_so() -> None:
    with pytest.raises(StoreError, match="came later"):
        unpacked(max(DICTIONARIES) + 1, b"")


def test_a_page_that_needs_another_dictionary_is_refused() -> None:
    foreign = zstd.train_dict([bytes([n % 7, n % 5, n % 11]) * 40 for n in range(500)], 1024)
    page = zstd.compress(encoded([Event(before=0, body=b"x" * 100)]), zstd_dict=foreign)
    for codec in DICTIONARIES:
        with pytest.raises(StoreError, match="cannot be read"):
            unpacked(codec, page)


@pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])
def test_pages_of_live_turns_take_less_with_the_dictionary(vendor: Vendor) -> None:
    events = [Event(before=0, body=body) for body in answer(vendor, 50)]
    ours = sum(len(pack_events([event])) for event in events)
    assert ours < 0.8 * sum(len(zstd.compress(encoded([event]))) for event in events)
