"""Tool chunks in words of which an older client makes the same tool parts.

Four habits differ: whether a call id that comes again in a later step is another call, whether an output finds
the kind of its call by itself, whether a delta may be plain text, and whether a half-arrived input of the message
that is continued goes on arriving.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from rejoinder.wire.chunks import (
    Chunk,
    ResetStep,
    StartStep,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
)
from rejoinder.wire.dialects import (
    CALLS_BELONG_TO_STEPS,
    FIELD_SINCE,
    INPUT_ERRORS_FIND_THEIR_KIND,
    INPUTS_ARE_TAKEN_UP,
    OUTPUTS_FIND_THEIR_KIND,
    TYPE_SINCE,
    Dialect,
)
from rejoinder.wire.downlevel_calls import Call, Calls, PartialInput, respoken
from rejoinder.wire.json import JsonObject, encode

DENIED: Final = "Tool call execution denied."
"""Why a call failed, for a client that knows no denial, when nobody gave a reason."""

AnswerChunk = TypeVar(
    "AnswerChunk", bound=ToolOutputAvailable | ToolOutputError | ToolOutputDenied | ToolApprovalRequest
)


class SpokenTools:
    """The stage that speaks tool chunks. Only releases with one of the older habits need it."""

    heard: Final[frozenset[type]] = frozenset(
        {
            StartStep,
            ResetStep,
            ToolInputStart,
            ToolInputDelta,
            ToolInputAvailable,
            ToolInputError,
            ToolOutputAvailable,
            ToolOutputError,
            ToolOutputDenied,
            ToolApprovalRequest,
            ToolApprovalResponse,
        }
    )

    def __init__(self, dialect: Dialect, message: JsonObject | None) -> None:
        self._calls = Calls(message)
        self._calls_belong_to_steps = dialect.has(CALLS_BELONG_TO_STEPS)
        self._kinds_are_apart = not dialect.has(OUTPUTS_FIND_THEIR_KIND)
        self._outputs_find_their_kind = dialect.has(OUTPUTS_FIND_THEIR_KIND)
        self._input_errors_find_their_kind = dialect.has(INPUT_ERRORS_FIND_THEIR_KIND)
        self._input_errors = dialect.has(TYPE_SINCE["tool-input-error"])
        self._denials = dialect.has(TYPE_SINCE["tool-output-denied"])
        self._plain_text = dialect.has(FIELD_SINCE["tool-input-start", "inputEncoding"])
        self._used: set[tuple[bool, str]] = set()
        self._numbers: dict[str, int] = {}
        self._keeps_pieces = not self._calls_belong_to_steps
        for call in self._calls:
            self._used.add((self._kinds_are_apart and call.dynamic, call.said))
        if not dialect.has(INPUTS_ARE_TAKEN_UP):
            for partial in self._calls.partials.values():
                partial.heard_as = None

    @staticmethod
    def needed(dialect: Dialect) -> bool:
        """Whether this release has one of the older habits."""
        habits = (
            CALLS_BELONG_TO_STEPS,
            OUTPUTS_FIND_THEIR_KIND,
            INPUT_ERRORS_FIND_THEIR_KIND,
            INPUTS_ARE_TAKEN_UP,
            TYPE_SINCE["tool-input-error"],
            TYPE_SINCE["tool-output-denied"],
            FIELD_SINCE["tool-input-start", "inputEncoding"],
        )
        return not all(dialect.has(since) for since in habits)

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        """What to say instead of this chunk."""
        match chunk:
            case ToolInputDelta():
                return self._delta(chunk)
            case ToolInputStart():
                return (self._start(chunk),)
            case ToolInputAvailable():
                call = self._upsert(chunk.tool_call_id, dynamic=chunk.dynamic is True)
                return (respoken(chunk, call),)
            case ToolInputError():
                return self._input_error(chunk)
            case ToolOutputAvailable() | ToolOutputError():
                return (self._answer(chunk),)
            case ToolOutputDenied():
                return (self._answer(chunk),) if self._denials else self._failure(chunk)
            case ToolApprovalRequest():
                asked = self._calls.find(chunk.tool_call_id)
                if asked is not None:
                    asked.approval, asked.refusal = chunk.approval_id, None
                return (self._answer(chunk),)
            case ToolApprovalResponse():
                asked = self._calls.asked(chunk.approval_id)
                if asked is not None and chunk.reason is not UNSET:
                    asked.refusal = chunk.reason
            case StartStep():
                self._calls.begin_step()
            case ResetStep():
                self._calls.reset_step()
            case _:
                pass  # no business of tools
        return (chunk,)

    def close(self) -> Sequence[Chunk]:
        """Nothing is kept back."""
        return ()

    def _start(self, chunk: ToolInputStart) -> ToolInputStart:
        call = self._upsert(chunk.tool_call_id, dynamic=chunk.dynamic is True)
        self._calls.partials[chunk.tool_call_id] = PartialInput(chunk, call.spoken, call)
        return respoken(chunk, call)

    def _delta(self, chunk: ToolInputDelta) -> Sequence[Chunk]:
        partial = self._calls.partials.get(chunk.tool_call_id)
        if partial is None:
            return (chunk,)
        call = self._calls.fed(chunk.tool_call_id)
        if call is None:
            call = self._upsert(chunk.tool_call_id, dynamic=partial.start.dynamic is True)
            partial.call = call
        call.settled = False
        said: list[Chunk] = []
        text = chunk.input_text_delta
        if self._keeps_pieces:
            partial.pieces.append(text)
        if partial.heard_as != call.spoken:
            # The client hears of this part's arriving input for the first time: in version 7 it holds all the
            # text since the input began.
            if not self._keeps_pieces:
                partial.pieces.append(text)
            text = "".join(partial.pieces)
            partial.heard_as, partial.quoted = call.spoken, False
            said.append(
                replace(
                    partial.start,
                    tool_call_id=call.spoken,
                    provider_executed=UNSET,
                    provider_metadata=UNSET,
                )
            )
        if partial.start.input_encoding == "text" and not self._plain_text:
            text = _quoted(text, partial)
        if not said and text is chunk.input_text_delta:
            return (respoken(chunk, call),)
        said.append(ToolInputDelta(tool_call_id=call.spoken, input_text_delta=text))
        return said

    def _input_error(self, chunk: ToolInputError) -> Sequence[Chunk]:
        known = self._calls.in_this_step(chunk.tool_call_id, dynamic=None)
        if known is None:
            known = self._add(chunk.tool_call_id, dynamic=chunk.dynamic is True)
        known.settled = True
        if not self._input_errors:
            arriving = self._calls.partials.get(chunk.tool_call_id)
            if arriving is not None:
                # The client is told of another input in between, so a further delta begins anew.
                arriving.heard_as = None
            return _as_output_error(chunk, known)
        if not self._input_errors_find_their_kind:
            chunk = replace(chunk, dynamic=_flag(chunk.dynamic, known))
        return (respoken(chunk, known),)

    def _answer(self, chunk: AnswerChunk) -> AnswerChunk:
        call = self._calls.find(chunk.tool_call_id)
        if call is None:
            return chunk
        if isinstance(chunk, ToolOutputAvailable | ToolOutputError):
            call.settled = True
            if not self._outputs_find_their_kind:
                chunk = replace(chunk, dynamic=_flag(chunk.dynamic, call))
        return respoken(chunk, call)

    def _failure(self, chunk: ToolOutputDenied) -> Sequence[Chunk]:
        call = self._calls.find(chunk.tool_call_id)
        if call is not None and call.settled:
            # The denial of a call that has its result: as a failure it would wipe out the result.
            return ()
        reason = None if call is None else call.refusal
        error = ToolOutputError(tool_call_id=chunk.tool_call_id, error_text=reason or DENIED)
        return (self._answer(error),)

    def _upsert(self, said: str, *, dynamic: bool) -> Call:
        call = self._calls.in_this_step(said, dynamic=dynamic) or self._add(said, dynamic=dynamic)
        call.settled = False
        return call

    def _add(self, said: str, *, dynamic: bool) -> Call:
        spoken = said if self._calls_belong_to_steps else self._unused(said, dynamic=dynamic)
        return self._calls.add(said, spoken, dynamic=dynamic)

    def _unused(self, said: str, *, dynamic: bool) -> str:
        """The id itself, or `ID#2`, `ID#3`, … where the client would take it for a call that it knows."""
        kind = self._kinds_are_apart and dynamic
        spoken = said
        while (kind, spoken) in self._used:
            self._numbers[said] = self._numbers.get(said, 1) + 1
            spoken = f"{said}#{self._numbers[said]}"
        self._used.add((kind, spoken))
        return spoken


def _flag(said: bool | UnsetType, call: Call) -> bool | UnsetType:  # noqa: FBT001  a field's value
    return said if (said is True) == call.dynamic else call.dynamic or UNSET


def _quoted(text: str, partial: PartialInput) -> str:
    """Plain text as a piece of one JSON string, of which partial parsing shows the text so far."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    if partial.quoted:
        return escaped
    partial.quoted = True
    return '"' + escaped


def _as_output_error(chunk: ToolInputError, call: Call) -> list[Chunk]:
    """The error as the failure of a call whose input is never complete.

    Were it complete, the client would run its own tool with an input that is known to be wrong.
    """
    dynamic = call.dynamic or UNSET
    start = ToolInputStart(
        tool_call_id=call.spoken,
        tool_name=chunk.tool_name,
        dynamic=dynamic,
        provider_executed=chunk.provider_executed,
    )
    error = ToolOutputError(tool_call_id=call.spoken, error_text=chunk.error_text, dynamic=dynamic)
    if chunk.input is UNSET:
        return [start, error]
    text = encode(chunk.input).decode()
    return [start, ToolInputDelta(tool_call_id=call.spoken, input_text_delta=text), error]
