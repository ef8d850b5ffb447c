"""Turns as spans of OpenTelemetry (the extra `telemetry`), by its conventions for generative AI.

A turn is a span `invoke_agent`, each call of a model a span `chat` within it, with their own times; the span of the
request is their parent, where there is one. No content is in them: what was said stays in the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from rejoinder.messages import ProviderCall, Turn, Usage

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer, TracerProvider

SCOPE: Final = "rejoinder"

_NANOSECONDS: Final = 1_000_000_000


class Telemetry:
    """An observer that makes spans. Without a `provider`, they go where the application's go."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        from opentelemetry.trace import get_tracer

        self._tracer: Tracer = get_tracer(SCOPE, tracer_provider=provider)

    def ended(self, turn: Turn, calls: Sequence[ProviderCall], *, tenant: str) -> None:
        """Make the spans of a turn."""
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        span = self._tracer.start_span(
            f"invoke_agent {turn.agent or 'unknown'}",
            start_time=_nanoseconds(turn.started_at or turn.created_at),
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": turn.agent or "unknown",
                "gen_ai.conversation.id": turn.conversation_id,
                "rejoinder.tenant": tenant,
                "rejoinder.turn.id": turn.id,
                "rejoinder.turn.status": turn.status,
                "rejoinder.turn.trigger": turn.trigger,
                **_consumed(turn.usage),
            },
        )
        if turn.error is not None:
            span.set_attribute("error.type", turn.error.code or "error")
            span.set_status(Status(StatusCode.ERROR))
        for call in calls:
            self._call(call, turn, set_span_in_context(span))
        span.end(_nanoseconds(turn.finished_at))

    def _call(self, call: ProviderCall, turn: Turn, within: object) -> None:
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, Status, StatusCode

        span = self._tracer.start_span(
            f"{call.operation} {call.model}",
            context=within if isinstance(within, Context) else None,
            kind=SpanKind.CLIENT,
            start_time=_nanoseconds(call.started_at),
            attributes={
                "gen_ai.operation.name": call.operation,
                "gen_ai.provider.name": call.provider,
                "gen_ai.request.model": call.model,
                "gen_ai.conversation.id": turn.conversation_id,
                **_consumed(call.usage),
            },
        )
        if call.first_token_at is not None:
            span.add_event("gen_ai.first_token", timestamp=_nanoseconds(call.first_token_at))
        if call.status == "failed":
            span.set_attribute("error.type", call.status)
            span.set_status(Status(StatusCode.ERROR))
        span.end(_nanoseconds(call.finished_at or turn.finished_at))


def _consumed(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {}
    told = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return {name: value for name, value in told.items() if value is not None}


def _nanoseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * _NANOSECONDS)
