"""`reset-step` for clients that do not know it: nothing they have been told can be taken back.

So either nothing is told before it is certain (`PatientResets`: a step is kept back until the next one begins or
the stream ends), or what was told is closed and marked (`MarkedResets`: a `data-reset-step` part says that the
parts above it, up to the beginning of the step, are void).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from rejoinder.wire.chunks import (
    CHUNK_TYPES,
    Abort,
    Chunk,
    DataChunk,
    Error,
    Finish,
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResetStep,
    Start,
    StartStep,
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
)
from rejoinder.wire.downlevel_calls import Call, Calls, PartialInput, ToolChunk, parts_of, respoken
from rejoinder.wire.json import JsonObject

MARK: Final = DataChunk(name="reset-step", data={})
"""What the application sees where it is to forget the parts since the step began."""

TAKEN_BACK: Final = "The step of this call was taken back."
"""The error of a call that nobody will answer, so that no client waits for it."""


class PatientResets:
    """The stage that keeps a step back until nothing can take it back, and leaves out what was."""

    heard: Final[frozenset[type]] = frozenset({*CHUNK_TYPES.values(), DataChunk, UnknownChunk})

    def __init__(self, message: JsonObject | None) -> None:
        self._calls = Calls(message)
        self._texts: dict[str, int] = {}
        self._reasonings: dict[str, int] = {}
        self._data: dict[tuple[str, str], int] = {}
        self._held: list[tuple[Chunk, bool]] = []
        self._step_is_older = _remember(message, self._data)

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        """What is certain now."""
        match chunk:
            case StartStep():
                certain = [*self.close(), chunk]
                self._calls.begin_step()
                self._step_is_older = False
                return certain
            case ResetStep():
                self._take_back()
                return ()
            case _:
                of_step = self._belongs_to_step(chunk)
        if not of_step and not self._held:
            return (chunk,)
        self._held.append((chunk, of_step))
        return ()

    def close(self) -> Sequence[Chunk]:
        """What was kept back: nothing can take it back any more."""
        held = [chunk for chunk, _ in self._held]
        self._held.clear()
        return held

    def _take_back(self) -> None:
        step = self._calls.step
        kept: list[Chunk] = [chunk for chunk, of_step in self._held if not of_step]
        # Parts of earlier steps stay, but version 7 hears no more of them: it forgets every open text.
        kept += [TextEnd(id=key) for key, begun in self._texts.items() if begun != step]
        kept += [ReasoningEnd(id=key) for key, begun in self._reasonings.items() if begun != step]
        if self._step_is_older:
            kept.append(MARK)
        self._held = [(chunk, False) for chunk in kept]
        self._texts.clear()
        self._reasonings.clear()
        self._calls.reset_step()
        self._data = {key: begun for key, begun in self._data.items() if begun != step}

    def _belongs_to_step(self, chunk: Chunk) -> bool:
        """Whether a reset of this step takes this chunk back."""
        step = self._calls.step
        match chunk:
            case TextDelta():
                return self._texts.get(chunk.id) == step
            case TextStart():
                self._texts[chunk.id] = step
                return True
            case TextEnd():
                return self._texts.pop(chunk.id, step) == step
            case ReasoningStart():
                self._reasonings[chunk.id] = step
                return True
            case ReasoningDelta():
                return self._reasonings.get(chunk.id) == step
            case ReasoningEnd():
                return self._reasonings.pop(chunk.id, step) == step
            case DataChunk():
                if chunk.transient is True:
                    return False
                return chunk.id is UNSET or self._data.setdefault((chunk.name, chunk.id), step) == step
            case Start() | Finish() | Abort() | Error() | MessageMetadata() | UnknownChunk():
                return False
            case _:
                call = heard(self._calls, chunk)
                return call is None or call.step == step


class MarkedResets:
    """The stage that says at once what is said, and marks what is taken back."""

    heard: Final[frozenset[type]] = frozenset(
        {
            StartStep,
            ResetStep,
            TextStart,
            TextEnd,
            ReasoningStart,
            ReasoningEnd,
            ToolInputStart,
            ToolInputDelta,
            ToolInputAvailable,
            ToolInputError,
            ToolOutputAvailable,
            ToolOutputError,
            ToolOutputDenied,
            ToolApprovalRequest,
            ToolApprovalResponse,
            DataChunk,
        }
    )

    def __init__(self, message: JsonObject | None) -> None:
        self._calls = Calls(message)
        self._texts: dict[str, None] = {}
        self._reasonings: dict[str, None] = {}
        self._data: dict[tuple[str, str], int] = {}
        # Ids that were taken back are void, as the client has parts of these ids that must not change again.
        self._other_ids: dict[str, str] = {}
        self._other_data_ids: dict[tuple[str, str], str] = {}
        _remember(message, self._data)

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        """What to say instead of this chunk."""
        match chunk:
            case ToolInputDelta():
                return (self._tool_chunk(chunk),)
            case ResetStep():
                return self._take_back()
            case StartStep():
                self._calls.begin_step()
            case TextStart():
                self._texts[chunk.id] = None
            case TextEnd():
                self._texts.pop(chunk.id, None)
            case ReasoningStart():
                self._reasonings[chunk.id] = None
            case ReasoningEnd():
                self._reasonings.pop(chunk.id, None)
            case DataChunk():
                return (self._data_chunk(chunk),)
            case (
                ToolInputStart()
                | ToolInputAvailable()
                | ToolInputError()
                | ToolOutputAvailable()
                | ToolOutputError()
                | ToolOutputDenied()
                | ToolApprovalRequest()
            ):
                return (self._tool_chunk(chunk),)
            case ToolApprovalResponse():
                heard(self._calls, chunk)
            case _:
                pass  # of no account for a reset
        return (chunk,)

    def close(self) -> Sequence[Chunk]:
        """Nothing is kept back."""
        return ()

    def _take_back(self) -> Sequence[Chunk]:
        said: list[Chunk] = [TextEnd(id=key) for key in self._texts]
        said += [ReasoningEnd(id=key) for key in self._reasonings]
        self._texts.clear()
        self._reasonings.clear()
        for call in self._calls.reset_step():
            if not call.settled:
                said.append(
                    ToolOutputError(
                        tool_call_id=call.spoken, error_text=TAKEN_BACK, dynamic=call.dynamic or UNSET
                    )
                )
            self._other_ids[call.said] = f"{call.spoken}#2"
        for key in [key for key, begun in self._data.items() if begun == self._calls.step]:
            del self._data[key]
            self._other_data_ids[key] = f"{self._other_data_ids.get(key, key[1])}#2"
        return [*said, MARK]

    def _tool_chunk(self, chunk: ToolChunk) -> ToolChunk:
        call = heard(self._calls, chunk, self._other_ids)
        return chunk if call is None else respoken(chunk, call)

    def _data_chunk(self, chunk: DataChunk) -> DataChunk:
        if chunk.id is UNSET or chunk.transient is True:
            return chunk
        key = (chunk.name, chunk.id)
        self._data.setdefault(key, self._calls.step)
        other = self._other_data_ids.get(key)
        return chunk if other is None else replace(chunk, id=other)


def heard(calls: Calls, chunk: Chunk, other_ids: dict[str, str] | None = None) -> Call | None:
    """Note what a tool chunk does, and give the call that it belongs to."""
    match chunk:
        case ToolInputDelta():
            call = calls.fed(chunk.tool_call_id)
            if call is not None:
                call.settled = False
                return call
            partial = calls.partials.get(chunk.tool_call_id)
            dynamic = partial is not None and partial.start.dynamic is True
            call = _placed(calls, chunk.tool_call_id, other_ids, dynamic=dynamic)
            if partial is not None:
                partial.call = call
        case ToolInputStart():
            call = _placed(calls, chunk.tool_call_id, other_ids, dynamic=chunk.dynamic is True)
            calls.partials[chunk.tool_call_id] = PartialInput(chunk, None, call)
        case ToolInputAvailable():
            return _placed(calls, chunk.tool_call_id, other_ids, dynamic=chunk.dynamic is True)
        case ToolInputError():
            call = calls.in_this_step(chunk.tool_call_id, dynamic=None)
            if call is None:
                call = _placed(calls, chunk.tool_call_id, other_ids, dynamic=chunk.dynamic is True)
            call.settled = True
        case ToolOutputAvailable():
            call = calls.find(chunk.tool_call_id)
            if call is not None:
                call.settled = chunk.preliminary is not True
        case ToolOutputError() | ToolOutputDenied():
            call = calls.find(chunk.tool_call_id)
            if call is not None:
                call.settled = True
        case ToolApprovalRequest():
            call = calls.find(chunk.tool_call_id)
            if call is not None:
                call.approval = chunk.approval_id
        case ToolApprovalResponse():
            call = calls.asked(chunk.approval_id)
        case _:
            call = None
    return call


def _placed(calls: Calls, said: str, other_ids: dict[str, str] | None, *, dynamic: bool) -> Call:
    call = calls.in_this_step(said, dynamic=dynamic)
    if call is None:
        call = calls.add(said, said if other_ids is None else other_ids.get(said, said), dynamic=dynamic)
    call.settled = False
    return call


def _remember(message: JsonObject | None, data: dict[tuple[str, str], int]) -> bool:
    """Note the data parts of the message that is continued; whether its last step has parts."""
    step, parts = 0, 0
    for part in parts_of(message):
        kind, key = part.get("type"), part.get("id")
        if kind == "step-start":
            step, parts = step + 1, 0
            continue
        parts += 1
        if isinstance(kind, str) and kind.startswith("data-") and isinstance(key, str):
            data.setdefault((kind[5:], key), step)
    return parts > 0
