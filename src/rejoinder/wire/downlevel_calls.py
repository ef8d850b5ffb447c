"""The tool parts of a message, found as version 7's client finds them.

An input chunk belongs to the part of its kind (static or dynamic) in the current step, or makes one; an output
belongs to the first part of its id in the current step, else to the last one of the whole message. Other releases
find differently, so whoever speaks to them has to know which part is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from rejoinder.wire.chunks import (
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
)
from rejoinder.wire.json import Json, JsonObject, is_array, is_object

ToolChunk = TypeVar(
    "ToolChunk",
    bound=ToolApprovalRequest
    | ToolInputAvailable
    | ToolInputDelta
    | ToolInputError
    | ToolInputStart
    | ToolOutputAvailable
    | ToolOutputDenied
    | ToolOutputError,
)


@dataclass(slots=True, eq=False)
class Call:
    """One tool part: as the stream calls it (`said`) and as the client has been told (`spoken`)."""

    said: str
    dynamic: bool
    step: int
    spoken: str
    settled: bool = False
    approval: str | None = None
    refusal: str | None = None


@dataclass(slots=True, eq=False)
class PartialInput:
    """An input that is arriving, and the call that it last arrived for.

    `heard_as` is the id under which the client hears it, if it does.
    """

    start: ToolInputStart
    heard_as: str | None
    call: Call | None = None
    pieces: list[str] = field(default_factory=list)
    quoted: bool = False


class Calls:
    """Every tool part, and the inputs that are arriving."""

    def __init__(self, message: JsonObject | None) -> None:
        self.step = 0
        self.partials: dict[str, PartialInput] = {}
        self._all: list[Call] = []
        self._named: dict[str, list[Call]] = {}
        for part in parts_of(message):
            self._take_over(part)

    def __iter__(self) -> Iterator[Call]:
        return iter(self._all)

    def begin_step(self) -> None:
        """A new step: its calls are others than the earlier ones of the same id."""
        self.step += 1

    def reset_step(self) -> list[Call]:
        """Take back this step's calls and every input that is arriving. Returns those calls."""
        gone: list[Call] = []
        while self._all and self._all[-1].step == self.step:
            call = self._all.pop()
            self._named[call.said].pop()
            gone.append(call)
        self.partials.clear()
        gone.reverse()
        return gone

    def find(self, said: str) -> Call | None:
        """The call that an output, an approval or a denial is for."""
        calls = self._named.get(said)
        if not calls:
            return None
        found = calls[-1]
        for call in reversed(calls):
            if call.step != self.step:
                break
            found = call
        return found

    def in_this_step(self, said: str, *, dynamic: bool | None) -> Call | None:
        """This step's call of that id: of that kind, or the first of either kind."""
        found: Call | None = None
        for call in reversed(self._named.get(said, ())):
            if call.step != self.step:
                break
            if dynamic is None or call.dynamic == dynamic:
                found = call
        return found

    def fed(self, said: str) -> Call | None:
        """This step's call that the arriving input of that id has been for before."""
        partial = self.partials.get(said)
        if partial is None or partial.call is None or partial.call.step != self.step:
            return None
        return partial.call

    def add(self, said: str, spoken: str, *, dynamic: bool) -> Call:
        """A new call of this step."""
        call = Call(said, dynamic, self.step, spoken)
        self._all.append(call)
        self._named.setdefault(said, []).append(call)
        return call

    def asked(self, approval: str) -> Call | None:
        """The call that an approval was asked for."""
        return next((call for call in self._all if call.approval == approval), None)

    def _take_over(self, part: JsonObject) -> None:
        kind = part.get("type")
        if kind == "step-start":
            self.begin_step()
            self.partials.clear()
            return
        said = part.get("toolCallId")
        if not isinstance(kind, str) or not isinstance(said, str):
            return
        dynamic = kind == "dynamic-tool"
        if not dynamic and not kind.startswith("tool-"):
            return
        call = self.add(said, said, dynamic=dynamic)
        state = part.get("state")
        call.settled = state in ("output-available", "output-error", "output-denied")
        approval: Json = part.get("approval")
        if is_object(approval):
            call.approval, call.refusal = approval.get("id"), approval.get("reason")
        if state == "input-streaming":
            name = str(part.get("toolName", "")) if dynamic else kind.removeprefix("tool-")
            start = ToolInputStart(
                tool_call_id=said,
                tool_name=name,
                dynamic=dynamic or UNSET,
                input_encoding="text" if part.get("inputEncoding") == "text" else UNSET,
            )
            self.partials[said] = PartialInput(start, said, pieces=[str(part.get("rawInput", ""))])


def respoken(chunk: ToolChunk, call: Call) -> ToolChunk:
    """The chunk with the id under which the client knows this call."""
    return chunk if chunk.tool_call_id == call.spoken else replace(chunk, tool_call_id=call.spoken)


def parts_of(message: JsonObject | None) -> list[JsonObject]:
    """The parts of a message that is continued; a new message has none, and only an assistant's is continued."""
    if message is None or message.get("role") != "assistant":
        return []
    parts: Json = message.get("parts")
    return [part for part in parts if is_object(part)] if is_array(parts) else []
