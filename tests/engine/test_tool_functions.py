"""A typed function as a tool: what its signature says to a model, and what a model may give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pydantic
import pytest
from msgspec import Meta, Struct

from rejoinder import ToolContext, tool
from rejoinder.convert.schemas import JsonSchema
from rejoinder.messages import Conversation, Json, Turn
from rejoinder.ports.agents import Call, Stop
from rejoinder.ports.tools import InvalidTool, Tool


class Unit(Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    city: str
    country: str | None = None


class Inner(pydantic.BaseModel):
    day: date


class Outer(pydantic.BaseModel):
    inner: Inner
    tags: list[str] = []


class Knot(Struct):
    name: str
    below: list[Knot] = []


def context_of_nobody() -> ToolContext:
    when = datetime(2026, 5, 4, tzinfo=UTC)
    conversation = Conversation(id="chat", created_at=when, updated_at=when)
    turn = Turn(id="turn", conversation_id="chat", status="running", created_at=when)
    call = Call(conversation=conversation, turn=turn, history=(), stop=Stop())
    return ToolContext(call=call, call_id="c", tool="t")


@tool
def weather(
    place: Place,
    unit: Unit = Unit.CELSIUS,
    days: Annotated[int, Meta(ge=1, le=14, description="how many")] = 1,
    mood: Literal["kind", "curt"] = "kind",
    context: ToolContext | None = None,
) -> str:
    """What the weather will be.

    Asks the office next door.

    Args:
        place: where,
            as people say it
        days: not used, for its type says it
        mood (str): how to say it

    Returns:
        A sentence: with a colon.
    """
    return f"{place.city} {unit.value} {days} {mood}"


def test_the_schema_says_what_the_signature_says() -> None:
    @tool
    def forecast(city: str, days: int = 1, notes: dict[str, float] | None = None) -> str:
        """Foretell.

        :param city: the city
        :param int days: how far
            ahead
        """
        return f"{city} {days} {notes}"

    assert (forecast.name, forecast.description) == ("forecast", "Foretell.")
    assert forecast.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "the city"},
            "days": {"type": "integer", "description": "how far ahead", "default": 1},
            "notes": {
                "anyOf": [{"type": "object", "additionalProperties": {"type": "number"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert forecast("Ulm") == "Ulm 1 None"


def test_a_docstring_says_what_the_tool_and_its_parameters_are_for() -> None:
    assert weather.description == "What the weather will be.\n\nAsks the office next door."
    shown = weather.schema["properties"]
    assert set(shown) == {"place", "unit", "days", "mood"}
    assert shown["place"]["description"] == "where, as people say it"
    assert shown["days"]["description"] == "how many"
    assert shown["mood"]["description"] == "how to say it"
    assert weather(Place("Ulm")) == "Ulm c 1 kind"


def test_types_of_all_kinds_are_read_and_described() -> None:
    @tool
    def plan(place: Place, unit: Unit, outer: Outer, knot: Knot, on: date, who: ToolContext) -> Any:
        return place, unit, outer, knot, on, who

    assert JsonSchema(plan.schema, "plan").complaint({}) is not None
    given: Json = {
        "place": {"city": "Ulm"},
        "unit": "f",
        "outer": {"inner": {"day": "2026-05-04"}},
        "knot": {"name": "a", "below": [{"name": "b"}]},
        "on": "2026-05-04",
    }
    assert JsonSchema(plan.schema, "plan").complaint(given) is None
    assert plan.complaint(given) is None
    assert "who" not in plan.schema["properties"]
    assert set(plan.schema["$defs"]) == {"Inner", "Knot", "Place", "Unit"}
    assert plan.run is not None
    context = context_of_nobody()
    place, unit, outer, knot, on, who = plan.run(given, context)
    assert (place, unit) == (Place("Ulm"), Unit.FAHRENHEIT)
    assert outer == Outer(inner=Inner(day=date(2026, 5, 4)))
    assert knot == Knot("a", [Knot("b")])
    assert on == date(2026, 5, 4)
    assert who is context


def test_what_the_model_leaves_out_has_the_functions_own_default() -> None:
    seen: list[object] = []
    nothing = object()

    @tool
    def look(place: Place = Place("Ulm"), anything: Any = nothing) -> None:  # noqa: B008  # a value, not a call
        seen.extend([place, anything])

    assert look.schema["required"] == []
    assert look.run is not None
    look.run({}, context_of_nobody())
    assert seen == [Place("Ulm"), nothing]


@pytest.mark.parametrize(
    ("input", "complaint"),
    [
        ({}, "missing required field `place`"),
        ({"place": {"city": 5}}, "Expected `str`, got `int` - at `$.place.city`"),
        ({"place": {"city": "Ulm"}, "days": 99}, "`int` <= 14 - at `$.days`"),
        ({"place": {"city": "Ulm"}, "mood": "grim"}, "Invalid enum value 'grim' - at `$.mood`"),
        ({"place": {"city": "Ulm"}, "else": 1}, "unknown field `else`"),
        ([], "Expected `object`, got `array`"),
        ("{}", "Expected `object`, got `str`"),
        (None, "Expected `object`, got `null`"),
        ({"place": {"city": "Ulm"}, "mood": "\ud800"}, "half of a character"),
    ],
)
def test_an_input_that_does_not_fit_is_described(input: Json, complaint: str) -> None:
    @tool
    def ask(
        place: Place, days: Annotated[int, Meta(le=14)] = 1, mood: Literal["kind", "curt"] = "kind"
    ) -> str:
        return f"{place} {days} {mood}"

    assert complaint in (ask.complaint(input) or "")


def _untyped() -> Callable[..., object]:
    namespace: dict[str, Any] = {}
    exec("def untyped(a): return a", namespace)
    found: Callable[..., object] = namespace["untyped"]
    return found


def _lost() -> Callable[..., object]:
    class Hidden(Struct):
        a: int

    def lost(hidden: Hidden) -> None: ...

    return lost


def _rest(*values: int) -> None: ...


def _named(**values: int) -> None: ...


@pytest.mark.parametrize("function", [_untyped(), _lost(), _rest, _named, lambda: 1])
def test_a_function_that_no_model_could_call_is_refused_at_once(function: Callable[..., object]) -> None:
    with pytest.raises(InvalidTool):
        tool(function)


def test_a_tool_needs_a_name_an_object_and_time() -> None:
    for name in ("", "two words", "ümlaut", "x" * 65):
        with pytest.raises(InvalidTool):
            Tool(name=name)
    with pytest.raises(InvalidTool):
        Tool(name="x", schema={"type": "string"})
    with pytest.raises(InvalidTool):
        Tool(name="x", timeout_seconds=0)
