"""The half of the emitter that calls of tools go through: inputs that arrive, results, approvals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Final

from msgspec import UNSET

from rejoinder.errors import InvalidJson
from rejoinder.messages import Json, JsonObject, Message
from rejoinder.translate.fields import given as _given
from rejoinder.translate.known_calls import (
    OUTCOME_UNKNOWN,
    UNSETTLED,
    KnownCall,
    called,
    grammar_of,
    known_calls,
)
from rejoinder.translate.notes import Note, Problem
from rejoinder.wire import json
from rejoinder.wire.chunks import (
    Chunk,
    ProviderMetadata,
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
from rejoinder.wire.grammar import Grammar, ToolPhase

UNKNOWN_TOOL: Final = "unknown-tool"
"""What a tool is called whose result came and whose call did not."""


class Calls(ABC):
    """Calls by their ids. `runs_broken_inputs`: they are answered even where their input is no JSON."""

    _grammar: Grammar

    def __init__(self, message: Message | None) -> None:
        self._grammar = grammar_of(message)
        self._notes: list[Note] = []
        self._calls = known_calls(message)
        self._answered_last = False
        self._begun: dict[str, None] = {}
        self.runs_broken_inputs = False

    def tool_input_start(
        self,
        call_id: str,
        name: str,
        *,
        dynamic: bool = False,
        provider_executed: bool = False,
        title: str | None = None,
        text: bool = False,
        provider_metadata: ProviderMetadata | None = None,
        tool_metadata: JsonObject | None = None,
    ) -> list[Chunk]:
        """The input of a call begins to arrive; `text` says that it is text and not JSON."""
        if self._phase(call_id) is not ToolPhase.ABSENT:
            return self._odd(f"the input of tool call {call_id!r} begins, which has begun before")
        before = self._beginning()
        self._calls[call_id] = KnownCall(name=name, dynamic=dynamic, provider_executed=provider_executed)
        return before + self._say(
            ToolInputStart(
                tool_call_id=call_id,
                tool_name=name,
                input_encoding="text" if text else UNSET,
                dynamic=dynamic or UNSET,
                provider_executed=provider_executed or UNSET,
                title=_given(title),
                provider_metadata=_given(provider_metadata),
                tool_metadata=_given(tool_metadata),
            )
        )

    def tool_input_delta(self, call_id: str, delta: str) -> list[Chunk]:
        """More of the input, as the model writes it."""
        if self._phase(call_id) is not ToolPhase.STREAMING:
            return self._odd(f"input of tool call {call_id!r} comes, which expects none")
        if not delta:
            return []
        self._calls[call_id].pieces.append(delta)
        return self._say(ToolInputDelta(tool_call_id=call_id, input_text_delta=delta))

    def tool_input_end(
        self, call_id: str, *, provider_metadata: ProviderMetadata | None = None
    ) -> list[Chunk]:
        """The input is complete as it arrived. No input at all is an empty object."""
        if self._phase(call_id) is not ToolPhase.STREAMING:
            return []
        call = self._calls[call_id]
        written = "".join(call.pieces)
        try:
            value: Json = json.decode(written.encode("utf-8", "surrogatepass")) if written.strip() else {}
        except InvalidJson as error:
            if self.runs_broken_inputs:
                return self.tool_input(call_id, call.name, written, provider_metadata=provider_metadata)
            return self.tool_input_error(call_id, call.name, written, f"The input is not JSON: {error}")
        return self.tool_input(call_id, call.name, value, provider_metadata=provider_metadata)

    def tool_input(
        self,
        call_id: str,
        name: str,
        input: Json,
        *,
        dynamic: bool | None = None,
        provider_executed: bool | None = None,
        title: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
        tool_metadata: JsonObject | None = None,
    ) -> list[Chunk]:
        """The input is complete: this is it."""
        call, before = self._called(call_id, name, dynamic=dynamic, provider_executed=provider_executed)
        if call is None:
            return self._odd(f"the input of tool call {call_id!r} is complete a second time")
        call.input = input
        return before + self._say(
            ToolInputAvailable(
                tool_call_id=call_id,
                tool_name=name,
                input=input,
                dynamic=call.dynamic or UNSET,
                provider_executed=call.provider_executed or UNSET,
                title=_given(title),
                provider_metadata=_given(provider_metadata),
                tool_metadata=_given(tool_metadata),
            )
        )

    def tool_input_error(
        self,
        call_id: str,
        name: str,
        input: Json,
        error_text: str,
        *,
        dynamic: bool | None = None,
        provider_executed: bool | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """The model called a tool with an input that it cannot take. Nothing more will come of the call."""
        call, before = self._called(call_id, name, dynamic=dynamic, provider_executed=provider_executed)
        if call is None:
            return self.tool_error(call_id, error_text)
        self._answered(call)
        return before + self._say(
            ToolInputError(
                tool_call_id=call_id,
                tool_name=name,
                input=input,
                error_text=error_text,
                dynamic=call.dynamic or UNSET,
                provider_executed=call.provider_executed or UNSET,
                provider_metadata=_given(provider_metadata),
            )
        )

    def tool_begun(self, call_id: str) -> None:
        """The tool runs. Should the answer end before it has, nobody knows what came of it."""
        self._begun[call_id] = None

    def tool_output(
        self,
        call_id: str,
        output: Json,
        *,
        name: str | None = None,
        preliminary: bool = False,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """What a tool answered. A preliminary output is replaced by the next one."""
        before = self._ready(call_id, name)
        if self._phase(call_id) is ToolPhase.REFUSED:
            return before + self.tool_denied(call_id)  # whatever it is, it says that the tool did not run
        if self._phase(call_id) is ToolPhase.SETTLED:
            return before + self._odd(f"tool call {call_id!r} has a second result")
        call = self._calls[call_id]
        if not preliminary:
            self._answered(call)
        return before + self._say(
            ToolOutputAvailable(
                tool_call_id=call_id,
                output=output,
                preliminary=preliminary or UNSET,
                dynamic=call.dynamic or UNSET,
                provider_executed=call.provider_executed or UNSET,
                provider_metadata=_given(provider_metadata),
            )
        )

    def tool_error(
        self,
        call_id: str,
        error_text: str,
        *,
        name: str | None = None,
        provider_metadata: ProviderMetadata | None = None,
    ) -> list[Chunk]:
        """How a tool failed."""
        before = self._ready(call_id, name)
        if self._phase(call_id) is ToolPhase.REFUSED:
            return before + self.tool_denied(call_id)
        if self._phase(call_id) is ToolPhase.SETTLED:
            return before + self._odd(f"tool call {call_id!r} fails after its end")
        call = self._calls[call_id]
        self._answered(call)
        return before + self._say(
            ToolOutputError(
                tool_call_id=call_id,
                error_text=error_text,
                dynamic=call.dynamic or UNSET,
                provider_executed=call.provider_executed or UNSET,
                provider_metadata=_given(provider_metadata),
            )
        )

    def tool_denied(self, call_id: str, reason: str | None = None, *, name: str | None = None) -> list[Chunk]:
        """Somebody, or a rule, did not let the tool run."""
        before = self._announced(call_id, name)
        if self._phase(call_id) in (ToolPhase.SETTLED, ToolPhase.PRELIMINARY, ToolPhase.APPROVED):
            return before + self._odd(f"tool call {call_id!r} is denied after it ran")
        if self._phase(call_id) is ToolPhase.CALLED:
            before += self.approval_request(f"denied:{call_id}", call_id)
        if self._phase(call_id) is ToolPhase.ASKED:
            approval_id = self._calls[call_id].approval_id or ""
            before += self.approval_response(approval_id, approved=False, reason=reason)
        self._answered(self._calls[call_id])
        return before + self._say(ToolOutputDenied(tool_call_id=call_id))

    def approval_request(
        self,
        approval_id: str,
        call_id: str,
        *,
        reason: str | None = None,
        is_automatic: bool | None = None,
        signature: str | None = None,
        descriptor: Json = UNSET,
        input_schema_input: Json = UNSET,
    ) -> list[Chunk]:
        """The question whether a tool may run."""
        if self._phase(call_id) is ToolPhase.CALLED:
            self._calls[call_id].approval_id = approval_id
        return self._say(
            ToolApprovalRequest(
                approval_id=approval_id,
                tool_call_id=call_id,
                reason=_given(reason),
                is_automatic=_given(is_automatic),
                signature=_given(signature),
                approval_descriptor=descriptor,
                input_schema_input=input_schema_input,
            )
        )

    def approval_response(
        self, approval_id: str, *, approved: bool, reason: str | None = None
    ) -> list[Chunk]:
        """The answer."""
        return self._say(
            ToolApprovalResponse(approval_id=approval_id, approved=approved, reason=_given(reason))
        )

    def knows(self, call_id: str) -> bool:
        """Whether anything has been said of this call."""
        return self._phase(call_id) is not ToolPhase.ABSENT

    def complete(self, call_id: str) -> bool:
        """Whether the input of this call is known, or will never be."""
        return self._phase(call_id) not in (ToolPhase.ABSENT, ToolPhase.STREAMING)

    def find_call(self, name: str, input: Json, but: Collection[str] = ()) -> str | None:
        """The call of this tool with this input that nobody has answered: some vendors ask about it without its id."""
        for call_id, call in self._calls.items():
            is_it = call.name == name and call.input == input and call_id not in but
            if is_it and self._phase(call_id) is ToolPhase.CALLED:
                return call_id
        return None

    def answered(self, call_id: str) -> bool:
        """Whether this call has its last result. One that the user refused has none until it is told as denied."""
        return self._phase(call_id) is ToolPhase.SETTLED

    def asked(self, call_id: str) -> bool:
        """Whether somebody was asked if this call may run."""
        call = self._calls.get(call_id)
        return call is not None and call.approval_id is not None

    @property
    def waiting(self) -> bool:
        """Whether a call waits for somebody: for the client that runs the tool, or for the user's answer."""
        return any(phase in (ToolPhase.CALLED, ToolPhase.ASKED) for phase in self._grammar.tools.values())

    @property
    def working(self) -> bool:
        """Whether a tool runs."""
        return any(self._phase(call_id) in UNSETTLED for call_id in self._begun)

    def settle(self, error_text: str | None = None) -> list[Chunk]:
        """Answer the calls that have no result, or without a text only those whose tools were running.

        One that waits for the user goes on waiting.
        """
        said: list[Chunk] = []
        for call_id, phase in [*self._grammar.tools.items()]:
            text = OUTCOME_UNKNOWN if call_id in self._begun else error_text
            if phase in UNSETTLED and text is not None:
                said += self.tool_error(call_id, text)
            elif phase is ToolPhase.REFUSED and error_text is not None:
                said += self.tool_denied(call_id)
        return said

    def _end_inputs(self, interrupted: str | None) -> list[Chunk]:
        phases = [*self._grammar.tools.items()]
        streaming = [call_id for call_id, phase in phases if phase is ToolPhase.STREAMING]
        return [chunk for call_id in streaming for chunk in self._end_input(call_id, interrupted)]

    def _end_input(self, call_id: str, interrupted: str | None) -> list[Chunk]:
        if interrupted is None:
            return self.tool_input_end(call_id)
        # Whatever has arrived of it is no input to show.
        self._answered(self._calls[call_id])
        return self._say(ToolOutputError(tool_call_id=call_id, error_text=interrupted))

    def _called(
        self, call_id: str, name: str, *, dynamic: bool | None, provider_executed: bool | None
    ) -> tuple[KnownCall | None, list[Chunk]]:
        """The call whose input is complete now, if that makes sense, and what is to be said before."""
        phase = self._phase(call_id)
        if phase is ToolPhase.STREAMING:
            return self._calls[call_id], []
        if phase is not ToolPhase.ABSENT:
            return None, []
        before = self._beginning()
        call = KnownCall(name=name, dynamic=dynamic is True, provider_executed=provider_executed is True)
        self._calls[call_id] = call
        return call, before

    def _announced(self, call_id: str, name: str | None) -> list[Chunk]:
        """See that the call is there and its input complete."""
        phase = self._phase(call_id)
        if phase is ToolPhase.ABSENT:
            return self.tool_input(call_id, name or UNKNOWN_TOOL, None, dynamic=True)
        return self.tool_input_end(call_id) if phase is ToolPhase.STREAMING else []

    def _ready(self, call_id: str, name: str | None) -> list[Chunk]:
        """See that a result can be told: one that comes while the user is asked says that he was not needed."""
        before = self._announced(call_id, name)
        if self._phase(call_id) is ToolPhase.ASKED:
            approval_id = self._calls[call_id].approval_id or ""
            before += self.approval_response(approval_id, approved=True)
        return before

    def _heed_call(self, chunk: Chunk) -> None:
        """Remember what a chunk says of a call that did not go through the methods above."""
        match chunk:
            case ToolInputStart() | ToolInputAvailable() | ToolInputError():
                call = self._calls[chunk.tool_call_id] = called(chunk)
                if isinstance(chunk, ToolInputError):
                    self._answered(call)
            case ToolInputDelta(tool_call_id=call_id, input_text_delta=delta):
                self._calls[call_id].pieces.append(delta)
            case ToolApprovalRequest(tool_call_id=call_id, approval_id=approval_id):
                self._calls[call_id].approval_id = approval_id
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied():
                if getattr(chunk, "preliminary", UNSET) is not True:
                    self._answered(self._calls[chunk.tool_call_id])
            case _:
                pass  # it is about no call

    def _answered(self, call: KnownCall) -> None:
        if not call.provider_executed:
            self._answered_last = True

    def _phase(self, call_id: str) -> ToolPhase:
        return self._grammar.tools.get(call_id, ToolPhase.ABSENT)

    def _odd(self, text: str) -> list[Chunk]:
        self._notes.append(Problem(text=text))
        return []

    @abstractmethod
    def _beginning(self) -> list[Chunk]:
        """What has to be said before something new of the model is."""

    @abstractmethod
    def _say(self, *chunks: Chunk) -> list[Chunk]:
        """Say those of the chunks that may come now."""
