"""Our fold against the real packages: the same message, or the same refusal, for every stream we can think of."""

from __future__ import annotations

import json
from itertools import product

import pytest

from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.errors import RejoinderError
from rejoinder.fold import accumulate
from rejoinder.messages import Json, JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.codec import decode_chunk
from rejoinder.wire.json import as_javascript
from tests.conformance.streams import Case, stream
from tests.scale import scale

STREAMS = scale(500, 10_000)
BATCH = 500


def our_answer(case: Case) -> JsonObject:
    """What we make of a case, from its JSON on, as the package answers it."""
    try:
        onto = None if case.onto is None else from_ui(json.loads(json.dumps(case.onto)))
        chunks = [decode_chunk(json.dumps(chunk)) for chunk in case.chunks]
        message = accumulate(chunks, sdk=case.sdk, onto=onto, message_id="generated")
    except RejoinderError as error:
        return {"error": str(error)}
    return {"message": as_javascript(to_ui(message))}


def agree(sdk: int, ours: JsonObject, theirs: JsonObject) -> bool:
    """Deep equality of messages; refusals agree, for 6 and 7 with the same text (5 has JavaScript's accidents)."""
    if "error" in ours and "error" in theirs:
        return sdk == 5 or ours["error"] == theirs["error"]
    return ours == {"message": theirs.get("message")}


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_we_hold_the_message_that_the_package_holds(oracle: Oracle, sdk: int) -> None:
    refused = 0
    for first in range(0, STREAMS, BATCH):
        cases = [stream(seed, sdk) for seed in range(first, min(first + BATCH, STREAMS))]
        for case, theirs in zip(cases, oracle.ask_many(case.request for case in cases), strict=True):
            ours = our_answer(case)
            refused += "error" in theirs
            assert agree(sdk, ours, theirs), (
                f"seed {case.seed}, ai@{sdk}: stream({case.seed}, {sdk}) of tests/conformance/streams.py\n"
                f"ours   {json.dumps(ours)[:2000]}\ntheirs {json.dumps(theirs)[:2000]}"
            )
    assert 0.1 * STREAMS < refused < 0.4 * STREAMS, (
        "the generator no longer makes both legal and illegal streams"
    )


RAW_INPUTS: tuple[Json, ...] = (
    None,
    "",
    '{"a',
    True,
    0,
    -0.0,
    1e21,
    0.1,
    10**30,
    [],
    ["{", None, [1, "x"], {}],
    {},
    {"a": 1},
    "\ud83d",
)
"""What a column that should hold text may hold: JavaScript adds the next delta to it all the same."""


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_a_stored_input_that_is_no_text_goes_on_as_javascript_writes_it(oracle: Oracle, sdk: int) -> None:
    for raw in RAW_INPUTS:
        call = {"type": "dynamic-tool", "toolName": "x", "toolCallId": "c", "state": "input-streaming"}
        onto = {"id": "m", "role": "assistant", "parts": [{**call, "rawInput": raw}]}
        chunks = [{"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '1"\ude00'}]
        case = Case(0, sdk, "legal", chunks, onto)
        assert agree(sdk, our_answer(case), oracle.ask(case.request)), raw


ODD_CALLS: tuple[JsonObject, ...] = (
    {"type": "tool-x", "toolCallId": "c"},
    {
        "type": "tool-x",
        "toolCallId": "c",
        "state": None,
        "input": 1,
        "output": 2,
        "errorText": "e",
        "title": "t",
    },
    {"type": "tool-", "toolCallId": "c", "state": "result", "rawInput": "{", "providerExecuted": True},
    {"type": "dynamic-tool", "toolName": "x", "toolCallId": "c", "state": 7, "title": 7},
    {
        "type": "tool-x",
        "toolCallId": "c",
        "state": "input-streaming",
        "inputEncoding": 7,
        "title": [],
        "toolMetadata": 0,
    },
)
"""Calls as no release of the SDK leaves them: older programs, and columns that were empty, do."""

ABOUT_IT: tuple[JsonObject, ...] = (
    {"type": "tool-input-start", "toolName": "y"},
    {"type": "tool-input-available", "toolName": "y", "input": 3},
    {"type": "tool-input-error", "toolName": "y", "input": 3, "errorText": "f"},
    {"type": "tool-input-delta", "inputTextDelta": "1"},
    {"type": "tool-output-available", "output": 3},
    {"type": "tool-output-error", "errorText": "f"},
    {"type": "tool-output-denied"},
    {"type": "tool-approval-request", "approvalId": "a"},
)


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_a_stored_call_of_an_odd_state_is_gone_on_with(oracle: Oracle, sdk: int) -> None:
    for call, about in product(ODD_CALLS, ABOUT_IT):
        dynamic = {"dynamic": True} if call["type"] == "dynamic-tool" else {}
        for before in ([], [{"type": "start-step"}]):
            chunk = {"toolCallId": "c", **dynamic, **about}
            onto = {"id": "m", "role": "assistant", "parts": [call, {"type": "tool-z", "toolCallId": "d"}]}
            case = Case(0, sdk, "legal", [*before, chunk], onto)
            ours, theirs = our_answer(case), oracle.ask(case.request)
            assert agree(sdk, ours, theirs), (call, chunk, before, ours, theirs)
