"""The generators keep their promises: else agreement with the package would mean little."""

from __future__ import annotations

import re

import pytest

from rejoinder.testing.oracle import Oracle
from tests.conformance.histories import history, validation
from tests.conformance.streams import legal_stream, stream

CASES = 500
TEXTS_OF_5 = (
    r"Cannot read properties of undefined \(reading 'text'\)",
    r"Cannot set properties of undefined \(setting 'state'\)",
    r"Cannot read properties of undefined \(reading 'providerMetadata'\)",
    "tool-output-error must be preceded by a tool-input-available",
    "Cannot use 'in' operator",
)
TEXTS_OF_6 = (
    *("text-delta for missing text part", "text-end for missing text part"),
    *("reasoning-delta for missing reasoning part", "reasoning-end for missing reasoning part"),
    *(
        "tool-input-delta for missing tool call",
        "No tool invocation found for tool call ID",
        "Cannot use 'in' operator",
    ),
)
TEXTS = {5: TEXTS_OF_5, 6: TEXTS_OF_6, 7: (*TEXTS_OF_6, "No tool invocation found for approval ID")}


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_streams_are_refused_where_they_are_meant_to_be(oracle: Oracle, sdk: int) -> None:
    cases = [stream(seed, sdk) for seed in range(CASES)]
    answers = oracle.ask_many(case.request for case in cases)
    outcomes = [(case, answer.get("error")) for case, answer in zip(cases, answers, strict=True)]
    assert [case.seed for case, error in outcomes if case.source == "legal" and error is not None] == []
    assert [case.seed for case, error in outcomes if case.source == "illegal" and error is None] == []
    errors = [error for _, error in outcomes if error is not None]
    assert 0.15 <= len(errors) / CASES <= 0.30
    assert [text for text in TEXTS[sdk] if not any(re.search(text, error) for error in errors)] == []


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_chunks_satisfy_the_schema_but_for_unknown_types(oracle: Oracle, sdk: int) -> None:
    chunks = [chunk for seed in range(100) for chunk in stream(seed, sdk).chunks]
    results = oracle.ask({"do": "schema", "sdk": str(sdk), "chunks": chunks})["results"]
    refused = {chunk["type"] for chunk, error in zip(chunks, results, strict=True) if error is not None}
    assert refused <= {"ping", "tool-weather", "datum", "text", "toString", ""}


def test_legal_streams_are_accepted_from_end_to_end(oracle: Oracle) -> None:
    cases = [legal_stream(seed) for seed in range(CASES)]
    answers = oracle.ask_many(case.request for case in cases)
    refused = [case.seed for case, answer in zip(cases, answers, strict=True) if "error" in answer]
    assert refused == []
    chunks = [chunk for case in cases[:100] for chunk in case.chunks]
    assert set(oracle.ask({"do": "schema", "sdk": "7", "chunks": chunks})["results"]) == {None}


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_histories_are_refused_now_and_then(oracle: Oracle, sdk: int) -> None:
    for make in (history, validation):
        answers = oracle.ask_many(make(seed, sdk).request for seed in range(CASES))
        assert 0.1 <= sum("error" in answer for answer in answers) / CASES <= 0.4


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_a_seed_reproduces_its_case(sdk: int) -> None:
    for make in (stream, history, validation):
        assert make(7, sdk) == make(7, sdk)
        assert make(7, sdk) != make(8, sdk)
