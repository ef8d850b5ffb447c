"""Laws: what a model was told is told the same again, after it was read as messages of ours."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from msgspec import structs

from rejoinder.convert.model import to_model_messages
from rejoinder.convert.model_history import from_model
from rejoinder.errors import UnconvertibleMessage
from rejoinder.messages import Approval, File, Message, Part, ReasoningFile, ToolCall
from rejoinder.wire import json
from tests.laws.messages import address, exactly, messages
from tests.scale import scale


def sound(message: Message) -> Message:
    """The message with approvals as their calls' states have them, asked once and answered before an outcome, and files
    with an address: without one, what reads as base64 is content.
    """
    return structs.replace(message, parts=tuple(_sound(part, n) for n, part in enumerate(message.parts)))


def _sound(part: Part, number: int) -> Part:
    if isinstance(part, File | ReasoningFile):
        return structs.replace(part, url=address(part))
    if not isinstance(part, ToolCall):
        return part
    approval = structs.replace(part.approval or Approval(id="q"), id=f"q{number}")
    match part.state:
        case "input-streaming" | "input-available":
            return structs.replace(part, approval=None)
        case "approval-requested":
            return structs.replace(part, approval=structs.replace(approval, approved=None, reason=None))
        case "approval-responded":
            return structs.replace(
                part, approval=structs.replace(approval, approved=approval.approved is True)
            )
        case "output-available" | "output-error" | "output-denied":
            answered = structs.replace(approval, approved=part.state != "output-denied")
            return structs.replace(part, approval=None if part.approval is None else answered)


histories = st.lists(messages(roles=("system", "user", "assistant"), stored=True).map(sound), max_size=4)


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_what_a_model_was_told_is_told_the_same_again(sdk: int) -> None:
    @settings(max_examples=scale(150, 5_000), deadline=None)
    @given(histories)
    def law(history: list[Message]) -> None:
        try:
            said = json.decode(json.encode(to_model_messages(history, sdk=sdk)))
        except UnconvertibleMessage:
            reject()
        # Version 5 also tells a model when there was nothing to tell; of nothing, nothing can be kept.
        assume(all(message["content"] != [] for message in said if message["role"] != "user"))
        again = to_model_messages(from_model(said), sdk=sdk)
        assert exactly(json.decode(json.encode(again))) == exactly(said)

    law()
