"""What tells versions 5, 6 and 7 of `convertToModelMessages` apart: one row a version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rejoinder.messages import JsonObject


class Rules(NamedTuple):
    """The differences, as yes and no."""

    approvals: bool
    """Approvals and the provider's metadata of results are known, and a provider may run dynamic tools."""
    keeps_empty: bool
    """A step whose parts all vanish still gives its messages, without content."""
    typed_files: bool
    """The data of a file says what it is, and a URL must be one."""
    file_options: bool
    """The provider's metadata of an assistant's file is passed on."""
    further_parts: bool
    """Custom parts, files of thoughts and steering messages are known."""
    needs_parts: bool
    """Even an assistant's message must have parts; before, it may lack them and then says nothing."""
    denials_answer: bool
    """A denied request for approval answers its call, and a user's message supersedes open requests before it."""


RULES: Final[Mapping[int, Rules]] = {
    5: Rules(
        approvals=False,
        keeps_empty=True,
        typed_files=False,
        file_options=False,
        further_parts=False,
        needs_parts=False,
        denials_answer=False,
    ),
    6: Rules(
        approvals=True,
        keeps_empty=False,
        typed_files=False,
        file_options=True,
        further_parts=False,
        needs_parts=False,
        denials_answer=False,
    ),
    7: Rules(
        approvals=True,
        keeps_empty=False,
        typed_files=True,
        file_options=True,
        further_parts=True,
        needs_parts=True,
        denials_answer=True,
    ),
}

_SETTLED: Final = ("approval-responded", "output-available", "output-error", "output-denied")
_UNSETTLED_IN_5: Final = ("input-streaming", "input-available")


class Selection(NamedTuple):
    """Which of a message's calls are said at all."""

    complete_only: bool
    """Only calls that have their outcome, or their approval."""
    superseded: bool
    """A user's message comes later: requests for approval that are open are moot."""

    def keeps(self, call: JsonObject, rules: Rules) -> bool:
        """Whether this call is said."""
        state = call.get("state")
        if self.superseded and state == "approval-requested":
            return False
        if not self.complete_only:
            return True
        if state == "output-available" and call.get("preliminary") is True:
            return False
        return state in _SETTLED if rules.approvals else state not in _UNSETTLED_IN_5
