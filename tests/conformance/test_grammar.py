"""A stream that our grammar allows kills no client, not even unadapted where the client knows all its chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from rejoinder.testing.oracle import Oracle
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_to_json
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import downlevel
from tests.laws.streams import STREAMS, legal_only
from tests.scale import scale
from tests.wire.acceptance import INSTALLED


@pytest.mark.parametrize("release", tuple(INSTALLED))
def test_every_client_reads_a_legal_stream_to_its_end(oracle: Oracle, release: str) -> None:
    sdk = INSTALLED[release]

    @settings(max_examples=scale(60, 2_000), deadline=None)
    @given(STREAMS)
    def read(chunks: list[Chunk]) -> None:
        said = [chunk_to_json(chunk) for chunk in downlevel(legal_only(chunks), dialect(release))]
        answers = oracle.ask_many(
            [
                {"do": "fold", "sdk": sdk, "chunks": said, "onto": None},
                {"do": "schema", "sdk": sdk, "chunks": said},
            ]
        )
        assert "error" not in answers[0]
        assert set(answers[1]["results"]) <= {None}

    read()


def test_version_7_reads_a_legal_stream_as_it_is(oracle: Oracle) -> None:
    @settings(max_examples=scale(100, 2_000), deadline=None)
    @given(STREAMS)
    def read(chunks: list[Chunk]) -> None:
        said = [chunk_to_json(chunk) for chunk in legal_only(chunks)]
        assert "error" not in oracle.ask({"do": "fold", "sdk": "7", "chunks": said, "onto": None})

    read()
