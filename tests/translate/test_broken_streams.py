"""Whatever happens to a recorded stream on its way, what is said for it is legal and comes to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.messages import Json, JsonObject
from rejoinder.wire.codec import decode_chunk, encode_chunk
from rejoinder.wire.json import is_array, is_object
from tests.scale import scale
from tests.translate.recorded import FOLDER, events_of, told

VENDORS: Final = {
    "anthropic": "anthropic",
    "claude": "claude-code",
    "langgraph": "langgraph",
    "open_harness": "open-harness",
    "openai_agents": "openai-agents",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "pydantic_ai": "pydantic-ai",
    "ag_ui": "ag-ui",
    "ai_sdk_stream": "ai-sdk-stream",
    "ai_sdk_ui": "ai-sdk-ui",
}
"""How the files of a vendor begin."""

OTHERS: Final = {"pydantic_ai_agui": "ag-ui", "pydantic_ai_vercel": "ai-sdk-ui"}
"""Files that hold somebody else's words."""

RUNS: Final = sorted(path.stem for path in (FOLDER / "events").glob("*.jsonl"))

JUNK: Final[st.SearchStrategy[Json]] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        "",
        "x",
        "\ud83d",
        [],
        {},
        [None],
        {"type": None},
        {"x": {"y": [1]}},
        "__proto__",
    ]
)

KINDS: Final = ("type", "event_kind", "mode", "event", "object")
"""Where vendors say what an event is."""

STRANGER: Final[JsonObject] = {"type": "kind.of.tomorrow", "event_kind": "tomorrow", "said": "secret-canary"}

Spoiler = Callable[[list[Json]], list[Json]]


def vendor_of(run: str) -> str:
    """Whose words a recording holds."""
    if run in OTHERS:
        return OTHERS[run]
    return next(vendor for prefix, vendor in VENDORS.items() if run.startswith(prefix))


def _place(draw: st.DrawFn, events: list[Json]) -> int:
    return draw(st.integers(0, max(0, len(events) - 1)))


def cut(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    return events[: _place(draw, events)]


def late(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    return events[_place(draw, events) :]


def repeated(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    place = _place(draw, events)
    return events[: place + 1] + events[place : place + draw(st.integers(1, 4))] + events[place + 1 :]


def swapped(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    place = _place(draw, events)
    return events[:place] + events[place : place + 2][::-1] + events[place + 2 :]


def lost(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    place = _place(draw, events)
    return events[:place] + events[place + 1 :]


def injected(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    place = _place(draw, events)
    stranger = draw(
        st.one_of(
            JUNK,
            st.fixed_dictionaries(
                {name: st.text(max_size=5) for name in ("type", "event_kind", "mode", "subtype")}
            ),
        )
    )
    return [*events[:place], stranger, *events[place:]]


def mistyped(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    if not events:
        return events
    place = _place(draw, events)
    return [*events[:place], _spoiled(draw, events[place]), *events[place + 1 :]]


def _spoiled(draw: st.DrawFn, value: Json) -> Json:
    """The value with one thing in it, anywhere, missing or of another type."""
    if is_object(value) and value and draw(st.integers(0, 9)):
        name = draw(st.sampled_from(sorted(value)))
        if draw(st.booleans()):
            return {**value, name: _spoiled(draw, value[name])}
        return {key: item for key, item in value.items() if key != name}
    if is_array(value) and value and draw(st.integers(0, 9)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _spoiled(draw, value[place]), *value[place + 1 :]]
    return draw(JUNK)


def renamed(draw: st.DrawFn, events: list[Json]) -> list[Json]:
    """An event of a kind that its vendor has yet to think of."""
    place = _place(draw, events)
    if not events or not is_object(events[place]):
        return events
    named = {name: "tomorrow" for name in KINDS if name in events[place]}
    return [*events[:place], {**events[place], **named}, *events[place + 1 :]]


SPOILERS: Final = (cut, late, repeated, swapped, lost, injected, mistyped, renamed)


@st.composite
def spoiled_runs(draw: st.DrawFn) -> tuple[str, list[Json]]:
    run = draw(st.sampled_from(RUNS))
    events = events_of(run)
    for spoil in draw(st.lists(st.sampled_from(SPOILERS), min_size=1, max_size=4)):
        events = spoil(draw, events)
    return run, events


@settings(max_examples=scale(400, 20_000), deadline=None)
@given(spoiled_runs())
def test_what_is_said_for_a_spoiled_stream_is_legal_and_ends(spoiled: tuple[str, list[Json]]) -> None:
    run, events = spoiled
    came = told(vendor_of(run), events)
    assert came.message.role == "assistant"
    for chunk in came.chunks:
        assert encode_chunk(decode_chunk(encode_chunk(chunk))) == encode_chunk(chunk)


@pytest.mark.parametrize("run", RUNS)
def test_what_is_said_for_a_stream_is_legal_wherever_it_is_cut(run: str) -> None:
    events = events_of(run)
    for length in range(0, len(events), max(1, len(events) // scale(12, 1000))):
        told(vendor_of(run), events[:length])


@pytest.mark.parametrize("run", RUNS)
def test_a_stream_of_somebody_else_is_no_reason_to_break(run: str) -> None:
    for vendor in VENDORS.values():
        told(vendor, events_of(run))


@pytest.mark.parametrize("run", RUNS)
def test_kinds_that_nobody_knows_are_noted_and_change_nothing_else(run: str) -> None:
    events = events_of(run)
    told_plainly = told(vendor_of(run), events)
    told_between = told(vendor_of(run), [told_of for event in events for told_of in (STRANGER, event)])
    assert told_between.chunks == told_plainly.chunks
    assert "secret-canary" not in str(told_between.chunks)
    assert len(told_between.problems) == len(told_plainly.problems) + len(events)
