"""What Claude's model calls consumed and cost, and how a run ended."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Final

from rejoinder.messages import Cost, JsonObject, ProviderCallStatus, TurnError, Usage
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, text_of, text_or_none
from rejoinder.translate.notes import CallEnded, CallStarted, Ending, Failed, Finished, Stopped
from rejoinder.wire.chunks import FinishReason
from rejoinder.wire.json import is_object

PROVIDER: Final = "anthropic"

_REASONS: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "refusal": "content-filter",
    "pause_turn": "other",
}
_ENDED_EARLY: Final[dict[str, FinishReason]] = {"error_max_turns": "length"}


class Accounts:
    """The calls of the model, by message id. Only streamed messages tell what they gave out."""

    def __init__(self) -> None:
        self._open: dict[str, JsonObject] = {}
        self._seen: set[str] = set()
        self._output = 0

    def begin(self, say: Emitter, message: JsonObject) -> None:
        """A message began to stream, or a snapshot names one for the first time."""
        message_id = text_of(message, "id")
        if not message_id or message_id in self._seen:
            return
        self._seen.add(message_id)
        self._open[message_id] = object_of(message, "usage")
        model = text_of(message, "model") or "claude"
        say.note(CallStarted(id=message_id, provider=PROVIDER, model=model))

    def more(self, message_id: str, event: JsonObject) -> None:
        """`message_delta` says the totals; one without a reason to stop comes of an interruption."""
        if message_id in self._open and text_of(event, "delta", "stop_reason"):
            self._open[message_id] = {**self._open[message_id], **object_of(event, "usage"), "told": True}

    def stop(self, say: Emitter, message_id: str) -> None:
        """`message_stop`: the call is over if it has told its totals."""
        if self._open.get(message_id, {}).get("told"):
            self.end(say, message_id)

    def end(self, say: Emitter, message_id: str, status: ProviderCallStatus = "succeeded") -> None:
        """The message is complete."""
        raw = self._open.pop(message_id, None)
        if raw is None:
            return
        usage = usage_of(raw, output=raw.get("told") is True)
        self._output += usage.output_tokens or 0
        say.note(CallEnded(id=message_id, provider=PROVIDER, status=status, usage=usage))

    def settle(self, say: Emitter, event: JsonObject, status: ProviderCallStatus) -> None:
        """The run is over: end what is open. The last call is given what the others did not account for."""
        calls = [*self._open]
        for message_id in calls[:-1]:
            self.end(say, message_id)
        if not calls:
            return
        raw = self._open.pop(calls[-1])
        usage = usage_of(raw, output=raw.get("told") is True)
        total = _output_of(event)
        if usage.output_tokens is None and total is not None and total >= self._output:
            usage = usage_of({**raw, "output_tokens": total - self._output}, output=True)
        say.note(CallEnded(id=calls[-1], provider=PROVIDER, status=status, usage=usage))


def _output_of(event: JsonObject) -> int | None:
    """What all calls of the run gave out, subagents included where the program says so."""
    models = object_of(event, "model_usage_since_last_result").values()
    told = [integer_of(model, "outputTokens") for model in models]
    known = [tokens for tokens in told if tokens is not None]
    return sum(known) if known else integer_of(event, "usage", "output_tokens")


def usage_of(raw: JsonObject, *, output: bool = True) -> Usage:
    """Anthropic counts what the cache gave and took beside the input; we count it in."""
    written, read = integer_of(raw, "cache_creation_input_tokens"), integer_of(raw, "cache_read_input_tokens")
    fresh = integer_of(raw, "input_tokens")
    return Usage(
        input_tokens=None if fresh is None else fresh + (written or 0) + (read or 0),
        output_tokens=integer_of(raw, "output_tokens") if output else None,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=integer_of(raw, "output_tokens_details", "thinking_tokens") if output else None,
    )


def cost_of(event: JsonObject) -> Cost | None:
    """What the run cost, where the program says it for this run alone: `total_cost_usd` is the whole session's."""
    models = object_of(event, "model_usage_since_last_result").values()
    amounts = [model["costUSD"] for model in models if is_object(model) and "costUSD" in model]
    try:
        return Cost(amount=sum((Decimal(str(amount)) for amount in amounts), Decimal())) if amounts else None
    except InvalidOperation:
        return None


def metadata_of(event: JsonObject) -> JsonObject:
    """What the message says of the run."""
    usage = usage_of(object_of(event, "usage"))
    cost = cost_of(event)
    said: JsonObject = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "costUsd": None if cost is None else float(cost.amount),
        "sessionCostUsd": event.get("total_cost_usd"),
        "durationMs": event.get("duration_ms"),
        "turns": event.get("num_turns"),
        "stopReason": event.get("stop_reason"),
    }
    return {"claudeCode": {name: value for name, value in said.items() if value is not None}}


def ending_of(event: JsonObject) -> Ending:
    """How a `result` says that the run ended."""
    subtype, terminal = text_of(event, "subtype"), text_of(event, "terminal_reason")
    if terminal.startswith("aborted") or terminal == "interrupted":
        return Stopped(reason=terminal)
    if subtype in _ENDED_EARLY:
        return Finished(reason=_ENDED_EARLY[subtype])
    if subtype == "success" and event.get("is_error") is not True:
        return Finished(reason=_REASONS.get(text_of(event, "stop_reason"), "stop"))
    errors = [error for error in event.get("errors") or () if isinstance(error, str)]
    text = (
        "\n".join(errors)
        or text_or_none(event, "result")
        or f"Claude Code ended with {subtype or 'no result'}."
    )
    # A run that ends because the API fails is a "success" of the program's.
    code = text_or_none(event, "api_error_type") or ("api_error" if subtype == "success" else subtype or None)
    return Failed(error=TurnError(message=text, code=code, provider=PROVIDER), error_text=text)
