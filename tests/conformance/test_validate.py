"""Our validation against the real packages': the same decision, and the same messages left of what is accepted."""

from __future__ import annotations

import json
import re

import pytest

from rejoinder.convert.validate import validate_ui_messages
from rejoinder.convert.validate_shapes import UNKNOWN_PART
from rejoinder.convert.validate_tools import ToolSchemas
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Json, JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.json import as_javascript, is_array
from tests.conformance.histories import ValidationCase, validation
from tests.laws.messages import exactly
from tests.scale import scale

HISTORIES = scale(500, 3_000)
BATCH = 500
CONTEXT = re.compile(r"Type validation failed for (messages\[\d+\]\.parts\[\d+\]\.(?:data|input|output))")
"""Versions 6 and 7 say where an application's schema was broken."""

OWN_WORDS = re.compile(
    r"messages parameter must be provided"
    r"|No (?:data|tool) schema found for (?:data|tool) part .*"
    r"|Tool input does not match the output reconstructed from inputSchemaInput\."
)
"""What the package says itself. The words of its schemas' library are not ours."""

OWN_ISSUES = ("Messages array must not be empty", "Message must contain at least one part", UNKNOWN_PART)
"""The same, where it speaks in the form of that library."""


def our_answer(case: ValidationCase) -> JsonObject:
    """What we make of a case, from its JSON on, as the package answers it."""
    try:
        kept = validate_ui_messages(
            json.loads(json.dumps(case.messages)),
            sdk=case.sdk,
            tools=tools(case),
            data_schemas=case.data_schemas,
            metadata_schema=case.metadata_schema,
        )
    except InvalidMessage as refusal:
        return {"error": str(refusal)}
    return {"messages": as_javascript(kept)}


def tools(case: ValidationCase) -> dict[str, ToolSchemas] | None:
    if case.tools is None:
        return None
    return {
        name: ToolSchemas(input=tool["inputSchema"], output=tool.get("outputSchema"))
        for name, tool in case.tools.items()
    }


def agree(ours: JsonObject, theirs: JsonObject) -> bool:
    """The same messages, or two refusals of the same thing for the same reason."""
    if "error" in ours and "error" in theirs:
        return all(words in ours["error"] for words in reasons(theirs["error"]))
    same: bool = exactly(ours) == exactly(theirs)
    return same


def reasons(refusal: str) -> list[str]:
    """What a refusal of the package says of the place and the cause, as far as it is for us to say it too."""
    found = OWN_WORDS.findall(refusal) + CONTEXT.findall(refusal)
    _, _, listed = refusal.partition("Error message: ")
    if listed.startswith("["):
        issue: JsonObject = json.loads(listed)[0]
        place = issue["path"][:3] if is_array(issue["path"]) else []
        found += [
            *([rendered(place)] if place else []),
            *(text for text in OWN_ISSUES if issue["message"] == text),
        ]
    return found


def rendered(place: list[Json]) -> str:
    """The path of an issue, as far as a part: deeper, unions make it the library's."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"messages{steps}"


def disagreement(case: ValidationCase, ours: JsonObject, theirs: JsonObject) -> str:
    return (
        f"seed {case.seed}, ai@{case.sdk}: validation({case.seed}, {case.sdk}) of tests/conformance/histories.py\n"
        f"ours   {json.dumps(ours)[:2000]}\ntheirs {json.dumps(theirs)[:2000]}"
    )


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_we_keep_what_the_package_keeps(oracle: Oracle, sdk: int) -> None:
    refused = 0
    for first in range(0, HISTORIES, BATCH):
        cases = [validation(seed, sdk) for seed in range(first, min(first + BATCH, HISTORIES))]
        for case, theirs in zip(cases, oracle.ask_many(case.request for case in cases), strict=True):
            ours = our_answer(case)
            refused += "error" in theirs
            assert agree(ours, theirs), disagreement(case, ours, theirs)
    assert 0.1 * HISTORIES < refused < 0.5 * HISTORIES
