"""A client answers the calls that wait for it, all at once, and no others."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec import structs

from rejoinder.convert.answers import answered
from rejoinder.convert.refusals import UnacceptableMessage
from rejoinder.convert.ui import to_ui
from rejoinder.messages import Approval, Message, ToolCall

ASKED = ToolCall(
    name="Bash", call_id="c1", state="approval-requested", input={"command": "ls"}, approval=Approval(id="a1")
)


def _message(*calls: ToolCall) -> Message:
    return Message(id="m", role="assistant", parts=calls)


def _approved(message: Message) -> Message:
    said = structs.replace(ASKED, state="approval-responded", approval=Approval(id="a1", approved=True))
    return structs.replace(message, parts=(said, *message.parts[1:]))


def test_a_call_that_is_under_way_elsewhere_needs_no_answer_of_the_client() -> None:
    under_way = ToolCall(
        name="Agent", call_id="c2", state="input-available", input={}, provider_executed=True
    )
    stored = _message(ASKED, under_way)
    given = answered(stored, to_ui(_approved(stored)), open=True)
    assert [part.state for part in given.parts if isinstance(part, ToolCall)] == [
        "approval-responded",
        "input-available",
    ]


@pytest.mark.parametrize("state", ["input-available", "approval-requested"])
def test_all_calls_that_wait_for_the_client_are_answered_at_once(
    state: Literal["input-available", "approval-requested"],
) -> None:
    approval = Approval(id="a2") if state == "approval-requested" else None
    stored = _message(ASKED, ToolCall(name="t", call_id="c2", state=state, input={}, approval=approval))
    with pytest.raises(UnacceptableMessage, match="all open calls at once"):
        answered(stored, to_ui(_approved(stored)), open=True)
