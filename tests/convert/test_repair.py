"""A mended history has a result for every call, so that a provider takes it."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rejoinder.convert.model import to_model_messages
from rejoinder.convert.model_repair import DENIED, INTERRUPTED
from rejoinder.messages import Approval, JsonObject, Message, Part, StepStart, Text, ToolCall, ToolState
from tests.laws.messages import text_parts, tool_calls
from tests.scale import scale

ASKED: Final = Message(id="u1", role="user", parts=(Text(text="What is the weather?"),))
WENT_ON: Final = Message(id="u2", role="user", parts=(Text(text="Never mind."),))


def answer(*parts: Part) -> Message:
    return Message(id="a1", role="assistant", parts=parts)


def call(state: ToolState, **fields: object) -> ToolCall:
    return replace(ToolCall(name="weather", call_id="c1", state=state, input={"city": "Oslo"}), **fields)


def results(messages: list[JsonObject]) -> list[JsonObject]:
    return [
        part["output"]
        for message in messages
        if message["role"] == "tool"
        for part in message["content"]
        if part["type"] == "tool-result"
    ]


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_a_call_that_nobody_will_answer_is_answered_as_interrupted(sdk: int) -> None:
    history = [ASKED, answer(call("input-available")), WENT_ON]
    assert results(to_model_messages(history, sdk=sdk)) == []
    assert results(to_model_messages(history, sdk=sdk, repair=True)) == [
        {"type": "error-text", "value": INTERRUPTED}
    ]


@pytest.mark.parametrize("sdk", [6, 7])
def test_a_request_that_nobody_answered_is_answered_and_not_asked_again(sdk: int) -> None:
    asked = call("approval-requested", approval=Approval(id="p1"))
    said = to_model_messages([ASKED, answer(asked), WENT_ON], sdk=sdk, repair=True)
    assert results(said) == [{"type": "error-text", "value": INTERRUPTED}]
    assert all(part["type"] != "tool-approval-request" for part in said[1]["content"])


@pytest.mark.parametrize("sdk", [5, 6, 7])
@pytest.mark.parametrize("reason", [None, "too cold"])
def test_a_denied_request_is_a_denial(sdk: int, reason: str | None) -> None:
    denied = call("approval-responded", approval=Approval(id="p1", approved=False, reason=reason))
    said = to_model_messages([ASKED, answer(denied), WENT_ON], sdk=sdk, repair=True)
    assert {"type": "error-text", "value": DENIED if reason is None else reason} in results(said)


@pytest.mark.parametrize("sdk", [6, 7])
def test_an_approval_that_was_answered_last_of_all_waits_for_its_tool(sdk: int) -> None:
    granted = call("approval-responded", approval=Approval(id="p1", approved=True))
    assert results(to_model_messages([ASKED, answer(granted)], sdk=sdk, repair=True)) == []


@pytest.mark.parametrize("gone", [call("input-streaming"), call("input-available", provider_executed=True)])
def test_a_call_that_never_came_whole_or_is_the_providers_own_goes(gone: ToolCall) -> None:
    said = to_model_messages([ASKED, answer(gone), WENT_ON], repair=True)
    assert [message["role"] for message in said] == ["user", "user"]


def test_a_second_call_with_the_id_of_an_answered_one_goes() -> None:
    done = call("output-available", output=21)
    said = to_model_messages(
        [ASKED, answer(done, call("input-available", dynamic=True)), WENT_ON], repair=True
    )
    assert len(said[1]["content"]) == 1
    assert results(said) == [{"type": "json", "value": 21}]


PARTS: Final = st.lists(st.one_of(text_parts(), tool_calls(), st.just(StepStart())), max_size=8)


@settings(max_examples=scale(60, 3_000), deadline=None)
@given(PARTS, st.sampled_from((5, 6, 7)))
def test_every_call_has_its_result_right_behind_it(parts: list[Part], sdk: int) -> None:
    said = to_model_messages([ASKED, answer(*parts), WENT_ON], sdk=sdk, repair=True)
    nothing: JsonObject = {"role": "user", "content": []}
    for message, following in zip(said, [*said[1:], nothing], strict=True):
        assert message["content"], "providers refuse a message without content"
        if message["role"] != "assistant":
            continue
        content: list[JsonObject] = message["content"]
        behind: list[JsonObject] = following["content"] if following["role"] == "tool" else []
        calls = Counter(part["toolCallId"] for part in content if part["type"] == "tool-call")
        answers = Counter(part["toolCallId"] for part in content + behind if part["type"] == "tool-result")
        # A provider that ran the call itself is told what the user answered, and nothing more.
        asked = {
            part["approvalId"]: part["toolCallId"]
            for part in content
            if part["type"] == "tool-approval-request"
        }
        told = {
            asked[part["approvalId"]]
            for part in behind
            if part["type"] == "tool-approval-response" and part.get("providerExecuted")
        }
        assert [call_id for call_id in calls - answers if call_id not in told] == []
        assert answers - calls == Counter()
