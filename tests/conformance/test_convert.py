"""Our model messages against the real packages': the same messages, or the same refusal, for every history."""

from __future__ import annotations

import json
import re

import pytest

from rejoinder.convert.javascript import stringified
from rejoinder.convert.model import to_model_messages, ui_to_model_messages
from rejoinder.convert.model_parts import DataConverter, ModelTool
from rejoinder.convert.ui import from_ui
from rejoinder.errors import InvalidMessage, UnconvertibleMessage
from rejoinder.messages import Data, Json, JsonObject, is_absent
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.json import as_javascript, is_object
from tests.conformance.histories import HistoryCase, history
from tests.laws.messages import exactly
from tests.scale import scale

HISTORIES = scale(500, 3_000)
BATCH = 500
MEANT = re.compile(r"Unsupported role: (?!undefined)|Invalid URL")
"""What the package refuses on purpose, or nearly so. Its other refusals are JavaScript's accidents."""


def from_json(case: HistoryCase) -> JsonObject:
    """What we make of a history that is UI JSON still."""
    try:
        said = ui_to_model_messages(
            received(case),
            sdk=case.sdk,
            tools=tools(case),
            ignore_incomplete_tool_calls=case.options["ignoreIncompleteToolCalls"],
            convert_data_part=data_converter(case),
        )
    except UnconvertibleMessage as refusal:
        return {"error": str(refusal)}
    return {"messages": as_javascript(said)}


def from_messages(case: HistoryCase) -> JsonObject:
    """What we make of a history that was read first. Raises `InvalidMessage` for what is no history."""
    messages = [from_ui(message, missing_id="none") for message in received(case)]
    try:
        said = to_model_messages(
            messages,
            sdk=case.sdk,
            tools=tools(case),
            ignore_incomplete_tool_calls=case.options["ignoreIncompleteToolCalls"],
            convert_data_part=data_converter(case),
        )
    except UnconvertibleMessage as refusal:
        return {"error": str(refusal)}
    return {"messages": as_javascript(said)}


def received(case: HistoryCase) -> list[Json]:
    """The messages as they come over the wire: of two equal objects, none is shared."""
    messages: list[Json] = json.loads(json.dumps(case.messages))
    return messages


def tools(case: HistoryCase) -> dict[str, ModelTool] | None:
    offered = case.options.get("tools")
    return {name: ModelTool() for name in offered} if is_object(offered) else None


def data_converter(case: HistoryCase) -> DataConverter | None:
    return None if case.options["convertDataPart"] is None else data_as_text


def data_as_text(part: Data) -> JsonObject:
    """As the oracle does it."""
    return {"type": "text"} if is_absent(part.data) else {"type": "text", "text": stringified(part.data)}


def agree(ours: JsonObject, theirs: JsonObject) -> bool:
    """Deep equality of messages; refusals agree, and in what is meant ours begins as the package's does."""
    if "error" in ours and "error" in theirs:
        return MEANT.match(theirs["error"]) is None or ours["error"].startswith(theirs["error"])
    same: bool = exactly(ours) == exactly(theirs)
    return same


def disagreement(case: HistoryCase, ours: JsonObject, theirs: JsonObject) -> str:
    return (
        f"seed {case.seed}, ai@{case.sdk}: history({case.seed}, {case.sdk}) of tests/conformance/histories.py\n"
        f"ours   {json.dumps(ours)[:2000]}\ntheirs {json.dumps(theirs)[:2000]}"
    )


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_a_model_is_told_what_the_package_tells_it(oracle: Oracle, sdk: int) -> None:
    refused, unread = 0, 0
    for first in range(0, HISTORIES, BATCH):
        cases = [history(seed, sdk) for seed in range(first, min(first + BATCH, HISTORIES))]
        for case, theirs in zip(cases, oracle.ask_many(case.request for case in cases), strict=True):
            refused += "error" in theirs
            assert agree(ours := from_json(case), theirs), disagreement(case, ours, theirs)
            try:
                read = from_messages(case)
            except InvalidMessage:
                unread += 1
                continue
            assert exactly(read) == exactly(ours), disagreement(case, read, ours)
    assert 0.05 * HISTORIES < refused < 0.4 * HISTORIES, (
        "the generator no longer makes both sound and unsound histories"
    )
    assert unread < 0.15 * HISTORIES, "hardly any history is read as messages"
