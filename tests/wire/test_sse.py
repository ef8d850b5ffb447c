"""Event streams are read as browsers read them, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.wire.sse import EventReader

BODY = (
    b"\xef\xbb\xbf: a comment\r\n\r\n"
    b"data: one\r\n\r\n"
    b"data:two\rdata: lines\r\r"
    b"id: 4\nevent: message\nretry: 10\ndata: three\n\n"
    b"\n\n: keep-alive\n\n"
    b"data\n\n"
    b"data:  spaced\n\n"
    b"data: [DONE]\n\n"
)
EVENTS = [b"one", b"two\nlines", b"three", b"", b" spaced", b"[DONE]"]


@given(cuts=st.lists(st.integers(0, len(BODY))))
def test_where_the_bytes_are_cut_does_not_matter(cuts: list[int]) -> None:
    reader = EventReader()
    places = [0, *sorted(cuts), len(BODY)]
    pieces = [BODY[begin:end] for begin, end in pairwise(places)]
    assert [event for piece in pieces for event in reader.feed(piece)] == EVENTS
    assert not reader.pending


def test_letter_by_letter() -> None:
    reader = EventReader()
    assert [event for byte in BODY for event in reader.feed(bytes([byte]))] == EVENTS


@pytest.mark.parametrize("rest", [b"data: lost", b"data: lost\n", b"data: a\ndata", b"dat"])
def test_an_event_without_its_blank_line_has_not_come(rest: bytes) -> None:
    reader = EventReader()
    assert list(reader.feed(b"data: one\n\n" + rest)) == [b"one"]
    assert reader.pending
