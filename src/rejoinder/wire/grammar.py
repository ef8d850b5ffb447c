"""What may follow what in a stream of ours, as tables. A chunk that may not come now raises and changes nothing.

Clients forgive much of what is refused here, and then show a text that stays open for ever, or store a tool part
that their own validation refuses the next day. We say only what every generation reads in one way:

* `start` first and once; one ending, `finish` or `abort`; after `error` nothing but closing and ending;
* texts, reasoning and tool inputs end before a step begins or ends; an id is used once, unless a reset took it
  back;
* a call that waits for approval gets no result before the answer, and a refused one nothing but its denial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, assert_never

from rejoinder.errors import IllegalChunk
from rejoinder.wire.chunks import (
    Abort,
    Chunk,
    CustomChunk,
    DataChunk,
    Error,
    FileChunk,
    Finish,
    FinishStep,
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    ResetStep,
    SourceDocumentChunk,
    SourceUrlChunk,
    Start,
    StartStep,
    SteeringMessage,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
    type_of,
)
from rejoinder.wire.grammar_tables import (
    APPROVED,
    CLOSING,
    CONTENT,
    PRELIMINARY,
    REASONING,
    REFUSED,
    STEP,
    STREAM,
    TEXT,
    TOOL,
    StepPhase,
    StreamPhase,
    Table,
    TextPhase,
    ToolPhase,
)

__all__ = ["Begun", "Grammar", "StepPhase", "StreamPhase", "TextPhase", "ToolPhase"]


PartChunk: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd


# Looking a member up in its class costs as much as all the rest of what is done for a delta.
_STREAM_OPEN: Final = StreamPhase.OPEN
_TEXT_OPEN: Final = TextPhase.OPEN


class Begun(NamedTuple):
    """Something that has begun: a text, a reasoning, a tool input, a tool call, an approval."""

    family: str
    id: str


class Grammar:
    """Checks one stream, chunk by chunk, in constant time.

    `tools` are the calls of the message that the stream continues; `approvals` says which call an approval that
    was asked there is for.
    """

    __slots__ = (
        "_approvals",
        "_dynamic",
        "_open",
        "_reasonings",
        "_step",
        "_stream",
        "_texts",
        "_tools",
        "_undo",
    )

    def __init__(
        self,
        tools: Mapping[str, ToolPhase] = MappingProxyType({}),
        *,
        approvals: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._stream = StreamPhase.UNBEGUN
        self._step = StepPhase.OUTSIDE
        self._texts: dict[str, TextPhase] = {}
        self._reasonings: dict[str, TextPhase] = {}
        self._tools = dict(tools)
        self._approvals = dict(approvals)
        self._open = {
            Begun("tool input", call): None for call, phase in tools.items() if phase is ToolPhase.STREAMING
        }
        # Whether the calls whose input arrives are dynamic: clients take another kind for another call.
        self._dynamic: dict[str, bool] = {}
        # What this step has begun, and where it is noted: a reset takes it back.
        self._undo: dict[Begun, dict[str, TextPhase] | dict[str, ToolPhase] | dict[str, str]] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grammar):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # a grammar changes

    @property
    def open_parts(self) -> tuple[Begun, ...]:
        """What has to end before the step or the stream may."""
        return tuple(self._open)

    @property
    def ended(self) -> bool:
        """Whether the last chunk has come."""
        return self._stream is StreamPhase.ENDED

    @property
    def in_step(self) -> bool:
        """Whether a step has begun and not ended."""
        return self._step is StepPhase.INSIDE

    @property
    def tools(self) -> Mapping[str, ToolPhase]:
        """How far every call is."""
        return MappingProxyType(self._tools)

    def check(self, chunk: Chunk) -> None:
        """Go one chunk further, or raise `IllegalChunk` and stay."""
        if self._stream is _STREAM_OPEN and self._is_delta_of_open(chunk):
            return
        match chunk:
            case TextDelta():
                self._part(chunk, TEXT, self._texts, "text")
            case ReasoningDelta():
                self._part(chunk, REASONING, self._reasonings, "reasoning")
            case ToolInputDelta():
                self._tool(chunk, "tool-input-delta", chunk.tool_call_id)
            case TextStart() | TextEnd():
                self._part(chunk, TEXT, self._texts, "text")
            case ReasoningStart() | ReasoningEnd():
                self._part(chunk, REASONING, self._reasonings, "reasoning")
            case ToolOutputAvailable():
                label = PRELIMINARY if chunk.preliminary is True else "tool-output-available"
                self._tool(chunk, label, chunk.tool_call_id)
            case (
                ToolInputStart()
                | ToolInputAvailable()
                | ToolInputError()
                | ToolOutputError()
                | ToolOutputDenied()
            ):
                self._tool(chunk, type_of(chunk), chunk.tool_call_id)
            case ToolApprovalRequest():
                self._approval_request(chunk)
            case ToolApprovalResponse():
                self._approval_response(chunk)
            case StartStep() | FinishStep() | ResetStep():
                self._bracket(chunk)
            case Start() | Error():
                self._stream = self._next_of_stream(chunk, type_of(chunk))
            case Finish() | Abort():
                self._end(chunk)
            case UnknownChunk():
                raise IllegalChunk(
                    f"{chunk.type!r} is a chunk type that no client knows: say it as a 'data-…' chunk",
                    chunk_type=chunk.type,
                )
            case (
                DataChunk()
                | MessageMetadata()
                | FileChunk()
                | ReasoningFileChunk()
                | SourceUrlChunk()
                | SourceDocumentChunk()
                | CustomChunk()
                | SteeringMessage()
            ):
                self._next_of_stream(chunk, CONTENT)
            case _:
                assert_never(chunk)

    def _is_delta_of_open(self, chunk: Chunk) -> bool:
        """Nearly every chunk is one: the tables let it pass, and it changes nothing."""
        if isinstance(chunk, TextDelta):
            return self._texts.get(chunk.id) is _TEXT_OPEN
        if isinstance(chunk, ToolInputDelta):
            return self._tools.get(chunk.tool_call_id) is ToolPhase.STREAMING
        return isinstance(chunk, ReasoningDelta) and self._reasonings.get(chunk.id) is _TEXT_OPEN

    def _part(
        self, chunk: PartChunk, table: Table[TextPhase], phases: dict[str, TextPhase], family: str
    ) -> None:
        key, label = chunk.id, type_of(chunk)
        self._next_of_stream(chunk, CLOSING if isinstance(chunk, TextEnd | ReasoningEnd) else CONTENT)
        phase = phases.get(key, TextPhase.ABSENT)
        following = table[phase].get(label)
        if following is None:
            raise _illegal(chunk, f"{family} {key!r}", phase.value, tuple(table[phase]), key)
        if following is phase:
            return
        phases[key] = following
        if following is TextPhase.OPEN:
            self._open[Begun(family, key)] = None
            self._undo[Begun(family, key)] = phases
        else:
            del self._open[Begun(family, key)]

    def _tool(self, chunk: Chunk, label: str, key: str) -> None:
        failed = isinstance(chunk, ToolInputError | ToolOutputError)
        self._next_of_stream(chunk, CLOSING if failed else CONTENT)
        phase = self._tools.get(key, ToolPhase.ABSENT)
        following = TOOL[phase].get(label)
        if following is None:
            raise _illegal(chunk, f"tool call {key!r}", phase.value, tuple(TOOL[phase]), key)
        if following is phase:
            return
        if isinstance(chunk, ToolInputAvailable | ToolInputError):
            self._is_of_its_kind(chunk)
        self._tools[key] = following
        if phase is ToolPhase.ABSENT:
            self._undo[Begun("tool", key)] = self._tools
        if phase is ToolPhase.STREAMING:
            del self._open[Begun("tool input", key)]
            self._dynamic.pop(key, None)
        elif following is ToolPhase.STREAMING:
            self._open[Begun("tool input", key)] = None
            self._dynamic[key] = isinstance(chunk, ToolInputStart) and chunk.dynamic is True

    def _is_of_its_kind(self, chunk: ToolInputAvailable | ToolInputError) -> None:
        began = self._dynamic.get(chunk.tool_call_id)
        if began is not None and began is not (chunk.dynamic is True):
            raise IllegalChunk(
                f"{type_of(chunk)!r} while tool call {chunk.tool_call_id!r} began as "
                f"{'dynamic' if began else 'static'}: clients would hold two calls; say 'dynamic' alike in both",
                chunk_type=type_of(chunk),
                chunk_id=chunk.tool_call_id,
            )

    def _approval_request(self, chunk: ToolApprovalRequest) -> None:
        if chunk.approval_id in self._approvals:
            raise IllegalChunk(
                f"'tool-approval-request' while approval {chunk.approval_id!r} was asked: use another approval id",
                chunk_type="tool-approval-request",
                chunk_id=chunk.approval_id,
            )
        self._tool(chunk, "tool-approval-request", chunk.tool_call_id)
        self._approvals[chunk.approval_id] = chunk.tool_call_id
        if Begun("tool", chunk.tool_call_id) in self._undo:
            self._undo[Begun("approval", chunk.approval_id)] = self._approvals

    def _approval_response(self, chunk: ToolApprovalResponse) -> None:
        call = self._approvals.get(chunk.approval_id)
        if call is None:
            raise IllegalChunk(
                f"'tool-approval-response' while approval {chunk.approval_id!r} is absent:"
                " say 'tool-approval-request' first",
                chunk_type="tool-approval-response",
                chunk_id=chunk.approval_id,
            )
        self._tool(chunk, APPROVED if chunk.approved else REFUSED, call)

    def _bracket(self, chunk: StartStep | FinishStep | ResetStep) -> None:
        self._next_of_stream(chunk, CLOSING if isinstance(chunk, FinishStep) else CONTENT)
        following = self._next_of_step(chunk)
        if isinstance(chunk, ResetStep):
            self._take_back()
        else:
            self._nothing_is_open(chunk)
        self._step = following
        self._undo.clear()

    def _take_back(self) -> None:
        for begun, noted in self._undo.items():
            del noted[begun.id]
        self._open.clear()
        self._dynamic.clear()

    def _end(self, chunk: Finish | Abort) -> None:
        following = self._next_of_stream(chunk, type_of(chunk))
        self._next_of_step(chunk)
        self._nothing_is_open(chunk)
        self._stream = following

    def _nothing_is_open(self, chunk: Chunk) -> None:
        for family, key in self._open:
            ends = (
                "'tool-input-available' or 'tool-input-error'"
                if family == "tool input"
                else f"'{family}-end'"
            )
            raise IllegalChunk(
                f"{type_of(chunk)!r} while {family} {key!r} is open: say {ends} first",
                chunk_type=type_of(chunk),
                chunk_id=key,
            )

    def _next_of_stream(self, chunk: Chunk, label: str) -> StreamPhase:
        following = STREAM[self._stream].get(label)
        if following is None:
            raise _illegal(chunk, "the stream", self._stream.value, tuple(STREAM[self._stream]))
        return following

    def _next_of_step(self, chunk: Chunk) -> StepPhase:
        following = STEP[self._step].get(type_of(chunk))
        if following is None:
            raise _illegal(chunk, "the stream", self._step.value, tuple(STEP[self._step]))
        return following

    def _state(self) -> tuple[object, ...]:
        parts = (self._texts, self._reasonings, self._tools, self._approvals, self._open, self._dynamic)
        return (self._stream, self._step, set(self._undo), *parts)


def _illegal(
    chunk: Chunk, what: str, phase: str, allowed: Sequence[str], key: str | None = None
) -> IllegalChunk:
    if allowed:
        way_out = "now may come " + " or ".join(
            name if name in (CONTENT, CLOSING) else repr(name) for name in allowed
        )
    elif key is None:
        way_out = "nothing may come after its end"
    else:
        way_out = "nothing more may be said of it; something new needs another id"
    return IllegalChunk(
        f"{type_of(chunk)!r} while {what} is {phase}: {way_out}", chunk_type=type_of(chunk), chunk_id=key
    )
