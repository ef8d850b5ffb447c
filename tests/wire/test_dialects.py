"""Which client understands what."""

from __future__ import annotations

import pytest

from rejoinder.errors import UnknownDialect
from rejoinder.wire.chunks import (
    CHUNK_TYPES,
    Abort,
    Chunk,
    DataChunk,
    Finish,
    ToolInputStart,
    ToolOutputAvailable,
    UnknownChunk,
    type_of,
)
from rejoinder.wire.dialects import (
    FIELD_SINCE,
    NEWEST,
    PARTS_OUTLIVE_STEPS,
    TYPE_SINCE,
    Dialect,
    dialect,
    problems,
    speaks,
)
from tests.wire.acceptance import ACCEPTED, RELEASES, accepted_by


@pytest.mark.parametrize(
    ("chunk", "marks"), ACCEPTED, ids=lambda value: value if isinstance(value, str) else type_of(value)
)
def test_the_table_says_what_every_release_said(chunk: Chunk, marks: str) -> None:
    said = {release: speaks(dialect(release), chunk) for release in RELEASES}
    assert said == accepted_by(marks)


def test_a_name_stands_for_the_newest_release_of_its_generation() -> None:
    assert dialect() == dialect("7") == dialect("ai-sdk/7") == Dialect(7, NEWEST[7])
    assert dialect("ai-sdk/5").name == "ai-sdk/5"
    assert dialect("6").release == (6, 0, 326)


def test_a_release_may_be_said_in_the_name_or_beside_it() -> None:
    assert (
        dialect("5", release="5.0.0") == dialect("5.0.0") == dialect("ai-sdk/5.0.0") == Dialect(5, (5, 0, 0))
    )
    assert dialect("5", release="ai-sdk/5.0.92").release == (5, 0, 92)


@pytest.mark.parametrize("release", ["7.0.999", "7.1.0", "7.4.2"])
def test_a_release_newer_than_those_we_know_speaks_like_the_newest(release: str) -> None:
    for chunk, _ in ACCEPTED:
        assert speaks(dialect(release), chunk) == speaks(dialect("7"), chunk)


@pytest.mark.parametrize(
    "name", ["", "4", "8", "ai-sdk/8", "v5", "5.0", "5.0.0-beta.1", "ai-sdk/", "5 ", "٥", "ai-sdk/7.x.1"]
)
def test_an_unknown_dialect_is_told_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownDialect, match=r"ai-sdk/5, ai-sdk/6 or ai-sdk/7"):
        dialect(name)


@pytest.mark.parametrize("release", ["6.0.0", "5", "7.0.0"])
def test_a_release_belongs_to_its_generation(release: str) -> None:
    with pytest.raises(UnknownDialect, match="no release of ai-sdk/5"):
        dialect("5", release=release)


def test_a_problem_names_the_release_and_what_it_does_not_know() -> None:
    titled = ToolInputStart(tool_call_id="c", tool_name="t", title="x", tool_metadata={})
    assert problems(dialect("5.0.0"), titled) == (
        "5.0.0 does not know the field 'toolMetadata' of 'tool-input-start'",
        "5.0.0 does not know the field 'title' of 'tool-input-start'",
    )
    assert problems(dialect("7.0.0"), Finish(finish_reason="interrupted")) == (
        "7.0.0 does not know the finish reason 'interrupted'",
    )
    assert problems(dialect("6"), CHUNK_TYPES["reset-step"]()) == (
        "6.0.326 does not know the chunk type 'reset-step'",
    )
    assert problems(dialect("7"), UnknownChunk(body={"type": "ping"})) == (
        "no release knows the chunk type 'ping': use a 'data-…' chunk",
    )
    assert problems(dialect("6.0.0"), DataChunk(name="x", extra={"a": 1})) == (
        "'data-x' lacks its 'data': send null if there is nothing to say",
        "6.0.0 does not know the field 'a' of 'data-x'",
    )
    assert problems(dialect("7"), ToolOutputAvailable(tool_call_id="c")) == (
        "'tool-output-available' lacks its 'output': send null if there is nothing to say",
    )
    assert (
        problems(dialect("5.0.216"), Abort(reason="x"))
        != problems(dialect("5.0.217"), Abort(reason="x"))
        == ()
    )


def test_the_tables_name_only_types_and_fields_that_there_are() -> None:
    assert set(TYPE_SINCE) == set(CHUNK_TYPES)
    for kind, field in FIELD_SINCE:
        assert field in CHUNK_TYPES[kind].__struct_encode_fields__


def test_a_habit_of_one_generation_says_nothing_of_another() -> None:
    assert not dialect("6.0.99").has(PARTS_OUTLIVE_STEPS)
    assert not dialect("7.0.78").has(PARTS_OUTLIVE_STEPS)
    assert dialect("7.0.79").has(PARTS_OUTLIVE_STEPS)
