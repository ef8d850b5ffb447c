"""The grammar's tables: in which phase which chunk may come, and to which phase it leads.

A chunk that two tables know needs the leave of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias, TypeVar


class StreamPhase(Enum):
    """Where a stream is between its first chunk and its last."""

    UNBEGUN = "not begun"
    OPEN = "open"
    FAILED = "failed"
    ENDED = "ended"


class StepPhase(Enum):
    """Whether a model call is under way."""

    OUTSIDE = "outside a step"
    INSIDE = "inside a step"


class TextPhase(Enum):
    """How far a text or a reasoning is."""

    ABSENT = "absent"
    OPEN = "open"
    CLOSED = "closed"


class ToolPhase(Enum):
    """How far a tool call is."""

    ABSENT = "absent"
    STREAMING = "streaming its input"
    CALLED = "called"
    ASKED = "waiting for approval"
    APPROVED = "approved"
    REFUSED = "refused"
    PRELIMINARY = "preliminarily answered"
    SETTLED = "settled"


Phase = TypeVar("Phase", StreamPhase, StepPhase, TextPhase, ToolPhase)
Table: TypeAlias = Mapping[Phase, Mapping[str, Phase]]

CONTENT: Final = "content"
"""Any chunk that says something of the message."""

CLOSING: Final = "closing"
"""Any chunk that ends a text, a reasoning or a step, or a call with an error."""

STREAM: Final[Table[StreamPhase]] = {
    StreamPhase.UNBEGUN: {"start": StreamPhase.OPEN},
    StreamPhase.OPEN: {
        CONTENT: StreamPhase.OPEN,
        CLOSING: StreamPhase.OPEN,
        "error": StreamPhase.FAILED,
        "finish": StreamPhase.ENDED,
        "abort": StreamPhase.ENDED,
    },
    StreamPhase.FAILED: {
        CLOSING: StreamPhase.FAILED,
        "finish": StreamPhase.ENDED,
        "abort": StreamPhase.ENDED,
    },
    StreamPhase.ENDED: {},
}

STEP: Final[Table[StepPhase]] = {
    StepPhase.OUTSIDE: {
        "start-step": StepPhase.INSIDE,
        "finish": StepPhase.OUTSIDE,
        "abort": StepPhase.OUTSIDE,
    },
    StepPhase.INSIDE: {"reset-step": StepPhase.INSIDE, "finish-step": StepPhase.OUTSIDE},
}

TEXT: Final[Table[TextPhase]] = {
    TextPhase.ABSENT: {"text-start": TextPhase.OPEN},
    TextPhase.OPEN: {"text-delta": TextPhase.OPEN, "text-end": TextPhase.CLOSED},
    TextPhase.CLOSED: {},
}

REASONING: Final[Table[TextPhase]] = {
    TextPhase.ABSENT: {"reasoning-start": TextPhase.OPEN},
    TextPhase.OPEN: {"reasoning-delta": TextPhase.OPEN, "reasoning-end": TextPhase.CLOSED},
    TextPhase.CLOSED: {},
}

PRELIMINARY: Final = "tool-output-available (preliminary)"
APPROVED: Final = "tool-approval-response (approved)"
REFUSED: Final = "tool-approval-response (refused)"

_RESULTS: Final[Mapping[str, ToolPhase]] = {
    PRELIMINARY: ToolPhase.PRELIMINARY,
    "tool-output-available": ToolPhase.SETTLED,
    "tool-output-error": ToolPhase.SETTLED,
}

TOOL: Final[Table[ToolPhase]] = {
    ToolPhase.ABSENT: {
        "tool-input-start": ToolPhase.STREAMING,
        "tool-input-available": ToolPhase.CALLED,
        "tool-input-error": ToolPhase.SETTLED,
    },
    ToolPhase.STREAMING: {
        "tool-input-delta": ToolPhase.STREAMING,
        "tool-input-available": ToolPhase.CALLED,
        "tool-input-error": ToolPhase.SETTLED,
        # A turn may die while an input arrives.
        "tool-output-error": ToolPhase.SETTLED,
    },
    ToolPhase.CALLED: {"tool-approval-request": ToolPhase.ASKED, **_RESULTS},
    # A part with a result and an approval that nobody gave is refused by the SDK's own validation.
    ToolPhase.ASKED: {APPROVED: ToolPhase.APPROVED, REFUSED: ToolPhase.REFUSED},
    ToolPhase.APPROVED: _RESULTS,
    ToolPhase.REFUSED: {"tool-output-denied": ToolPhase.SETTLED},
    ToolPhase.PRELIMINARY: _RESULTS,
    ToolPhase.SETTLED: {},
}
