"""The tool calls of a message that grows: finding the one that a chunk means, and changing it.

A chunk that brings input means the call with its id and kind in the *current step*, or begins a new one. A chunk
that brings an outcome means the first call with its id in the current step, else the last in the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET

from rejoinder.errors import IllegalChunk
from rejoinder.fold.pieces import Call, Prose, ToolInput, given
from rejoinder.messages import ABSENT, Approval, Json, JsonObject, Maybe, Part, ToolCall, ToolState
from rejoinder.wire.javascript import text_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from rejoinder.fold.rules import Rules
    from rejoinder.wire import chunks

_ODD: Final = {
    "errorText": "error_text",
    "preliminary": "preliminary",
    "inputEncoding": "input_encoding",
    "title": "title",
    "toolMetadata": "metadata",
    "providerExecuted": "provider_executed",
    "approval": "approval",
    "callProviderMetadata": "call_provider_metadata",
    "resultProviderMetadata": "result_provider_metadata",
}
"""Fields of a stored call that may be in its `extra` because their value was odd: null, say, from an empty column."""

_SAID_ANEW: Final = ("errorText", "preliminary", "inputEncoding")
"""Those of them that every input and every outcome says anew, if only by leaving them out."""

_ASKED_WITH: Final = ("inputEncoding", "title", "toolMetadata")
"""Those that every delta of an input says again."""


class Calls:
    """The tool calls among the parts of one message, indexed by id, kind and step."""

    def __init__(self, parts: list[Part | Prose | Call], rules: Rules) -> None:
        self._parts = parts
        self._rules = rules
        self.step_begin = 0
        """Where the current step's parts begin: behind the last step start."""
        self._first_in_step: dict[tuple[str, str], Call] = {}
        self._last: dict[tuple[str, str], Call] = {}
        self._inputs: dict[str, ToolInput] = {}
        # Version 5 does not touch an encoding, which it does not know.
        self._said_anew = _SAID_ANEW if rules.keeps_tool_details else _SAID_ANEW[:2]

    def add(self, part: ToolCall | Call) -> Call:
        """Put a call behind the other parts."""
        call = part if isinstance(part, Call) else Call(part, sdk=self._rules.sdk)
        self._parts.append(call)
        for kind in ("any", "dynamic" if call.dynamic else "static"):
            self._first_in_step.setdefault((kind, call.call_id), call)
            self._last[kind, call.call_id] = call
        return call

    def begin_step(self) -> None:
        """A step start was put behind the other parts."""
        self.step_begin = len(self._parts)
        self._first_in_step.clear()

    def forget(self) -> None:
        """The parts were taken away: know of no call and no step."""
        self.step_begin = 0
        self._first_in_step.clear()
        self._last.clear()
        self._inputs.clear()

    def resume_inputs(self) -> None:
        """Calls of the current step whose input was still arriving go on arriving."""
        for part in self._parts[self.step_begin :]:
            if isinstance(part, Call) and part.part.state == "input-streaming":
                call = part.part
                self._inputs[call.call_id] = ToolInput(
                    name=call.name,
                    dynamic=call.dynamic,
                    sdk=self._rules.sdk,
                    encoding=call.input_encoding if self._rules.keeps_tool_details else None,
                    title=call.title,
                    tool_metadata=call.metadata,
                    # Whatever was stored there: JavaScript adds the next delta to it as text.
                    odd=self._odd(call),
                    text="" if call.raw_input in (ABSENT, None) else text_of(call.raw_input),
                )

    def _odd(self, call: ToolCall) -> JsonObject | None:
        """The details of a stored call whose values are odd, but not null."""
        kept = (call.extra or {}) if self._rules.keeps_tool_details else {}
        return {name: kept[name] for name in _ASKED_WITH if kept.get(name) is not None} or None

    def input_start(self, chunk: chunks.ToolInputStart) -> None:
        """A call's input begins (again)."""
        source = ToolInput(
            name=chunk.tool_name,
            dynamic=chunk.dynamic is True,
            sdk=self._rules.sdk,
            encoding=given(chunk.input_encoding) if self._rules.keeps_tool_details else None,
            title=given(chunk.title),
            tool_metadata=given(chunk.tool_metadata),
        )
        self._inputs[chunk.tool_call_id] = source
        self._put(
            self._in_step(chunk.tool_call_id, dynamic=source.dynamic),
            ToolCall(
                name=chunk.tool_name,
                call_id=chunk.tool_call_id,
                dynamic=source.dynamic,
                state="input-streaming",
                input_encoding=source.encoding,
                provider_executed=given(chunk.provider_executed),
                title=source.title,
                metadata=source.tool_metadata,
                call_provider_metadata=given(chunk.provider_metadata)
                if self._rules.keeps_tool_details
                else None,
            ),
        )

    def input_delta(self, chunk: chunks.ToolInputDelta) -> None:
        """More of a call's input; whatever the call was, it is arriving again."""
        call_id = chunk.tool_call_id
        source = self._inputs.get(call_id)
        if source is None:
            raise IllegalChunk(
                f'Received tool-input-delta for missing tool call with ID "{call_id}". '
                'Ensure a "tool-input-start" chunk is sent before any "tool-input-delta" chunks.',
                chunk_type="tool-input-delta",
                chunk_id=call_id,
            )
        source.feed(chunk.input_text_delta)
        call = self._in_step(call_id, dynamic=source.dynamic)
        if call is not None and call.arriving is source:
            call.arrive(source, keeps_raw_input=True)
            return
        existed = call is not None
        call = self._put(
            call,
            ToolCall(
                name=source.name,
                call_id=call_id,
                dynamic=source.dynamic,
                state="input-streaming",
                input_encoding=source.encoding,
                title=source.title,
                metadata=source.tool_metadata,
            ),
        )
        if source.odd:
            call.part = msgspec.structs.replace(call.part, extra={**(call.part.extra or {}), **source.odd})
        # The SDKs leave the raw input out of a dynamic call that a delta begins (in a later step).
        call.arrive(source, keeps_raw_input=existed or not source.dynamic)

    def input_available(self, chunk: chunks.ToolInputAvailable) -> None:
        """A call's input is complete."""
        dynamic = chunk.dynamic is True
        self._put(
            self._in_step(chunk.tool_call_id, dynamic=dynamic),
            ToolCall(
                name=chunk.tool_name,
                call_id=chunk.tool_call_id,
                dynamic=dynamic,
                state="input-available",
                input=chunk.input,
                provider_executed=given(chunk.provider_executed),
                title=given(chunk.title),
                metadata=given(chunk.tool_metadata),
                call_provider_metadata=given(chunk.provider_metadata),
            ),
        )

    def input_error(self, chunk: chunks.ToolInputError) -> None:
        """The tool cannot take this input."""
        dynamic = chunk.dynamic is True
        if not self._rules.output_names_kind:
            existing = self._first_in_step.get(("any", chunk.tool_call_id))
            dynamic = existing.dynamic if existing is not None else dynamic
        as_input = dynamic or self._rules.invalid_input_is_input
        metadata = given(chunk.provider_metadata)
        to_result = self._rules.keeps_tool_details
        self._put(
            self._in_step(chunk.tool_call_id, dynamic=dynamic),
            ToolCall(
                name=chunk.tool_name,
                call_id=chunk.tool_call_id,
                dynamic=dynamic,
                state="output-error",
                input=chunk.input if as_input else ABSENT,
                raw_input=ABSENT if as_input else chunk.input,
                error_text=chunk.error_text,
                provider_executed=given(chunk.provider_executed),
                metadata=given(chunk.tool_metadata),
                call_provider_metadata=None if to_result else metadata,
                result_provider_metadata=metadata if to_result else None,
            ),
        )

    def output_available(self, chunk: chunks.ToolOutputAvailable) -> None:
        """The tool has answered, for good or for now."""
        call = self._find(chunk.tool_call_id, dynamic=chunk.dynamic is True)
        # Version 5 does not take the word of a dynamic tool's output on who ran it.
        executed = None if self._rules.output_names_kind and call.dynamic else given(chunk.provider_executed)
        self._outcome(
            call,
            chunk,
            state="output-available",
            output=chunk.output,
            preliminary=given(chunk.preliminary),
            executed=executed,
        )

    def output_error(self, chunk: chunks.ToolOutputError) -> None:
        """The tool has failed."""
        call = self._find(chunk.tool_call_id, dynamic=chunk.dynamic is True)
        self._outcome(
            call,
            chunk,
            state="output-error",
            error_text=chunk.error_text,
            raw_input=ABSENT if call.dynamic else call.settle().raw_input,
            executed=given(chunk.provider_executed),
        )

    def output_denied(self, chunk: chunks.ToolOutputDenied) -> None:
        """The user did not let the tool run."""
        self._find(chunk.tool_call_id, dynamic=False).change(state="output-denied")

    def approval_request(self, chunk: chunks.ToolApprovalRequest) -> None:
        """Somebody is asked whether the tool may run."""
        details = self._rules.keeps_approval_details
        call = self._find(chunk.tool_call_id, dynamic=False)
        call.change_approval(
            "approval-requested",
            Approval(
                id=chunk.approval_id,
                descriptor=ABSENT if chunk.approval_descriptor is None else chunk.approval_descriptor,
                input_schema_input=chunk.input_schema_input,
                request_reason=given(chunk.reason) if details else None,
                is_automatic=True if details and chunk.is_automatic is True else None,
                signature=given(chunk.signature),
            ),
        )
        call.part = _without_overwritten(call.part)

    def approval_response(self, chunk: chunks.ToolApprovalResponse) -> None:
        """Whether it may."""
        call = self._by_approval(chunk.approval_id)
        approval = call.part.approval or Approval(id=chunk.approval_id)
        reason = approval.reason if chunk.reason is UNSET else chunk.reason
        call.change_approval(
            "approval-responded",
            msgspec.structs.replace(approval, approved=chunk.approved, reason=reason),
        )
        if chunk.provider_executed is not UNSET:
            call.change(provider_executed=chunk.provider_executed)
        if chunk.provider_metadata is not UNSET:
            call.change(call_provider_metadata=chunk.provider_metadata)
        call.part = _without_overwritten(call.part)

    def _outcome(
        self,
        call: Call,
        chunk: chunks.ToolOutputAvailable | chunks.ToolOutputError,
        *,
        state: ToolState,
        executed: bool | None,
        output: Maybe = ABSENT,
        error_text: str | None = None,
        raw_input: Maybe = ABSENT,
        preliminary: bool | None = None,
    ) -> None:
        known = call.settle()
        keeps = self._rules.keeps_tool_details
        call.change(
            state=state,
            output=output,
            error_text=error_text,
            raw_input=raw_input,
            preliminary=preliminary,
            input_encoding=None if keeps else known.input_encoding,
            provider_executed=known.provider_executed if executed is None else executed,
            metadata=_first(given(chunk.tool_metadata), known.metadata) if keeps else known.metadata,
            result_provider_metadata=_first(given(chunk.provider_metadata), known.result_provider_metadata)
            if keeps
            else known.result_provider_metadata,
        )
        call.part = _without_overwritten(call.part, self._said_anew)

    def _put(self, existing: Call | None, part: ToolCall) -> Call:
        """Begin a call, or say anew what a call is; what is said once (title, metadata, who runs it) stays."""
        keeps = self._rules.keeps_tool_details
        if not keeps:
            part = msgspec.structs.replace(part, title=None, metadata=None, input_encoding=None)
        if existing is None:
            return self.add(part)
        known = existing.part
        call_metadata = _first(part.call_provider_metadata, known.call_provider_metadata)
        if not keeps and part.state != "input-available":
            call_metadata = known.call_provider_metadata
        existing.arriving = None
        existing.part = msgspec.structs.replace(
            part,
            name=known.name if self._rules.output_names_kind and not part.dynamic else part.name,
            title=_first(part.title, known.title),
            metadata=_first(part.metadata, known.metadata),
            input_encoding=part.input_encoding if keeps else known.input_encoding,
            provider_executed=_first(part.provider_executed, known.provider_executed),
            call_provider_metadata=call_metadata,
            result_provider_metadata=_first(part.result_provider_metadata, known.result_provider_metadata),
            approval=known.approval,
            withdrawn=known.withdrawn,
            extra=known.extra,
        )
        existing.part = _without_overwritten(existing.part, self._said_anew)
        return existing

    def _in_step(self, call_id: str, *, dynamic: bool) -> Call | None:
        return self._first_in_step.get(("dynamic" if dynamic else "static", call_id))

    def _find(self, call_id: str, *, dynamic: bool) -> Call:
        kind = ("dynamic" if dynamic else "static") if self._rules.output_names_kind else "any"
        call = self._first_in_step.get((kind, call_id)) or self._last.get((kind, call_id))
        if call is None:
            raise IllegalChunk(
                f'No tool invocation found for tool call ID "{call_id}".',
                chunk_type="tool-invocation",
                chunk_id=call_id,
            )
        return call

    def _by_approval(self, approval_id: str) -> Call:
        # A search, because a call may be asked about anew under another id; approvals are rare.
        for part in self._parts:
            if isinstance(part, Call):
                approval = part.part.approval
                if approval is not None and approval.id == approval_id:
                    return part
        raise IllegalChunk(
            f'No tool invocation found for approval ID "{approval_id}".',
            chunk_type="tool-approval-response",
            chunk_id=approval_id,
        )


def _first(said: Json, known: Json) -> Json:
    return known if said is None else said


def _without_overwritten(part: ToolCall, said_anew: Collection[str] = ()) -> ToolCall:
    """The part without odd values of fields that have been said anew."""
    if part.extra is None:
        return part
    odd = {
        name: value
        for name, value in part.extra.items()
        if name not in _ODD or (name not in said_anew and getattr(part, _ODD[name]) is None)
    }
    return msgspec.structs.replace(part, extra=odd or None)
