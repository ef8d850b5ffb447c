"""What is said to an older client is accepted by it, and means the same to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import msgspec
import pytest

from rejoinder.testing.oracle import Oracle
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json, chunk_to_json, encode_chunk
from rejoinder.wire.dialects import NULL_CONSTRUCTORS_PASS, PAYLOADS, dialect, problems
from rejoinder.wire.downlevel import Downlevel, downlevel
from rejoinder.wire.json import Json, JsonObject, bracketed, decode, encode_harmless
from tests.conformance.streams import Case, legal_stream, stream
from tests.scale import scale
from tests.wire.acceptance import ACCEPTED, INSTALLED, accepted_by

LEGAL: Final = scale(300, 3000)
LIVE: Final = scale(100, 1000)
CONTINUED: Final = scale(500, 5000)
"""About one in six of these is legal and continues an assistant's message."""

RELEASES: Final = tuple(INSTALLED)


@pytest.mark.parametrize("release", RELEASES)
def test_the_measure_of_the_table_is_what_the_package_says(oracle: Oracle, release: str) -> None:
    chunks = [_exactly(chunk) for chunk, _ in ACCEPTED]
    answer = oracle.ask({"do": "schema", "sdk": INSTALLED[release], "chunks": chunks})
    said = [result is None for result in answer["results"]]
    assert said == [accepted_by(marks)[release] for _, marks in ACCEPTED]


@pytest.mark.parametrize("release", RELEASES)
def test_a_legal_stream_means_the_same_to_every_client(oracle: Oracle, release: str) -> None:
    _agree(oracle, release, legal())


@pytest.mark.parametrize("release", RELEASES)
def test_a_continued_message_means_the_same_to_every_client(oracle: Oracle, release: str) -> None:
    _agree(oracle, release, continued())


@pytest.mark.parametrize("release", RELEASES)
def test_no_client_dies_of_a_live_stream(oracle: Oracle, release: str) -> None:
    cases = legal()[:LIVE]
    _survive(oracle, release, cases, [_live(case, release) for case in cases])


@cache
def legal() -> tuple[Case, ...]:
    """Streams that continue nothing."""
    return tuple(legal_stream(seed) for seed in range(LEGAL))


@cache
def continued() -> tuple[Case, ...]:
    """Streams that continue a message."""
    cases = (stream(seed, 7) for seed in range(CONTINUED))
    return tuple(
        case
        for case in cases
        if case.source == "legal" and case.onto is not None and _can_be_taken_back(case)
    )


def _agree(oracle: Oracle, release: str, cases: Sequence[Case]) -> None:
    spoken = [list(downlevel(_chunks(case), dialect(release), message=case.onto)) for case in cases]
    folded = _survive(oracle, release, cases, spoken)
    original = [
        _harmless(answer["message"], release) for answer in oracle.ask_many(case.request for case in cases)
    ]
    for case, ours, theirs in zip(cases, folded, original, strict=True):
        denied = _denied(case) if release.startswith("5") else frozenset[str]()
        assert _content(ours, denied) == _content(theirs, denied), f"seed {case.seed}"


def _harmless(message: JsonObject, release: str) -> JsonObject:
    """On the wire, keys that this client's parser refuses stand in brackets."""
    said = decode(encode_harmless(message))
    if not dialect(release).has(NULL_CONSTRUCTORS_PASS):
        said = bracketed(said, lambda key, value: key == "constructor" and value is None)
    return dict(said)


def _survive(
    oracle: Oracle, release: str, cases: Sequence[Case], spoken: Sequence[Sequence[Chunk]]
) -> list[JsonObject]:
    for case, chunks in zip(cases, spoken, strict=True):
        assert [
            problems(dialect(release), chunk) for chunk in chunks if problems(dialect(release), chunk)
        ] == [], f"seed {case.seed}"
    sdk = INSTALLED[release]
    said = [[decode(encode_chunk(chunk)) for chunk in chunks] for chunks in spoken]
    verdicts = oracle.ask_many({"do": "schema", "sdk": sdk, "chunks": chunks} for chunks in said)
    for case, verdict in zip(cases, verdicts, strict=True):
        assert set(verdict["results"]) <= {None}, f"seed {case.seed}"
    answers = oracle.ask_many(
        {"do": "fold", "sdk": sdk, "chunks": chunks, "onto": case.onto}
        for case, chunks in zip(cases, said, strict=True)
    )
    for case, answer in zip(cases, answers, strict=True):
        assert "error" not in answer, f"seed {case.seed}: {answer}"
    return [answer["message"] for answer in answers]


def _live(case: Case, release: str) -> list[Chunk]:
    speaker = Downlevel(dialect(release), message=case.onto)
    said = [said for chunk in _chunks(case) for said in speaker.feed(chunk)]
    return [*said, *speaker.close()]


def _chunks(case: Case) -> list[Chunk]:
    return [chunk_from_json(chunk) for chunk in case.chunks]


def _exactly(chunk: Chunk) -> JsonObject:
    """The chunk as JSON, without the payload that our codec would add."""
    said = chunk_to_json(chunk)
    payload = PAYLOADS.get(str(said["type"]), "data")
    if getattr(chunk, payload, None) is msgspec.UNSET:
        said = {
            name: value
            for name, value in said.items()
            if name not in {"input", "output", "data", "messageMetadata"}
        }
    return said


def _can_be_taken_back(case: Case) -> bool:
    """Not so where a reset reaches into what the client had before: of that nothing can be taken back."""
    kinds = [chunk["type"] for chunk in case.chunks]
    first_reset = kinds.index("reset-step") if "reset-step" in kinds else len(kinds)
    return "start-step" in kinds[:first_reset] or first_reset == len(kinds)


def _denied(case: Case) -> frozenset[str]:
    """Version 5 knows no denial and is told of a failure."""
    return frozenset(chunk["toolCallId"] for chunk in case.chunks if chunk["type"] == "tool-output-denied")


def _content(message: JsonObject, denied: frozenset[str]) -> list[Json]:
    """Text, reasoning, files and tool results, in order."""
    content: list[Json] = []
    for part in message["parts"]:
        match part["type"].partition("-")[0]:
            case "text":
                content.append(("text", part["text"]))
            case "reasoning" if part["type"] == "reasoning":
                content.append(("reasoning", part["text"]))
            case "file" | "reasoning":
                content.append(("file", part["url"], part["mediaType"]))
            case "tool" | "dynamic":
                call = part["toolCallId"].partition("#")[0]
                error = None if call in denied else part.get("errorText")
                content.append((call, "output" in part, part.get("output"), error))
            case _:
                pass  # an application's own, or of no weight
    return content


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("known", [7, "word", True])
def test_no_client_dies_of_metadata_that_newer_ones_merge(oracle: Oracle, release: str, known: Json) -> None:
    chunks: list[JsonObject] = [
        {"type": "start", "messageId": "m", "messageMetadata": known},
        {"type": "message-metadata", "messageMetadata": {"constructor": 1, "prototype": 2}},
        {"type": "finish", "messageMetadata": {"constructor": 1, "model": "m"}},
    ]
    _survive(
        oracle,
        release,
        [case := Case(0, 7, "legal", chunks, None)],
        [list(downlevel(_chunks(case), dialect(release)))],
    )
