"""An illegal chunk raises and changes nothing, and what is legal can be said to everybody."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.errors import IllegalChunk
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.dialects import dialect, speaks
from rejoinder.wire.downlevel import downlevel
from rejoinder.wire.grammar import Grammar, ToolPhase
from tests.laws.streams import IDS, STREAMS, legal_only
from tests.scale import scale

many = settings(max_examples=scale(200, 5_000), deadline=None)

KNOWN: Final = st.dictionaries(IDS, st.sampled_from(ToolPhase))


@many
@given(STREAMS, KNOWN)
def test_a_refused_chunk_leaves_the_grammar_as_it_was(
    chunks: list[Chunk], known: dict[str, ToolPhase]
) -> None:
    grammar = Grammar(known)
    for chunk in chunks:
        before = deepcopy(grammar)
        try:
            grammar.check(chunk)
        except IllegalChunk:
            assert grammar == before


@many
@given(STREAMS)
def test_the_same_chunks_lead_to_the_same_place(chunks: list[Chunk]) -> None:
    passed = legal_only(chunks)
    ours, theirs = Grammar(), Grammar()
    for chunk in passed:
        ours.check(chunk)
        theirs.check(chunk)
        assert ours == theirs
    assert legal_only(passed) == passed


@many
@given(STREAMS)
def test_after_the_end_nothing_is_open_and_nothing_may_come(chunks: list[Chunk]) -> None:
    grammar = Grammar()
    for chunk in chunks:
        ended = grammar.ended
        try:
            grammar.check(chunk)
        except IllegalChunk:
            continue
        assert not ended
        if grammar.ended:
            assert grammar.open_parts == ()
            assert not grammar.in_step


@many
@given(STREAMS, st.sampled_from(["5.0.0", "5", "6.0.0", "6", "7.0.0", "7"]))
def test_what_is_legal_can_be_said_to_every_client(chunks: list[Chunk], release: str) -> None:
    spoken = list(downlevel(legal_only(chunks), dialect(release)))
    assert [chunk for chunk in spoken if not speaks(dialect(release), chunk)] == []
