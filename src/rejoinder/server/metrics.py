"""Figures for Prometheus (the extra `metrics`): how many turns, how long, how many tokens, how many readers.

Tenants and conversations are no labels: there may be any number of them. Several processes of one server count
together where PROMETHEUS_MULTIPROC_DIR names a folder for it; without one, each answers for itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request
from starlette.responses import Response

from rejoinder.chat.wishes import Principal
from rejoinder.messages import ProviderCall, Turn

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"

SECONDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
"""From a cached answer to an agent that works for a quarter of an hour."""


class Metrics:
    """An observer that counts, and the door where the figures are fetched."""

    def __init__(self, *, live: Callable[[], int], streams: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        if FOLDER_VARIABLE in os.environ:
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]  # it says nothing of its types
            into = None
        else:
            into = self._registry
        self._live, self._streams = live, streams
        self._turns = Counter("rejoinder_turns", "Turns that ended.", ["agent", "status"], registry=into)
        self._seconds = Histogram(
            "rejoinder_turn_seconds", "How long turns took.", ["agent"], buckets=SECONDS, registry=into
        )
        self._first = Histogram(
            "rejoinder_first_token_seconds",
            "How long calls of models took to their first token.",
            ["provider", "model"],
            buckets=SECONDS,
            registry=into,
        )
        self._tokens = Counter(
            "rejoinder_tokens", "Tokens that models told.", ["provider", "model", "kind"], registry=into
        )
        self._running = Gauge(
            "rejoinder_live_turns", "Turns that run here.", registry=into, multiprocess_mode="livesum"
        )
        self._reading = Gauge(
            "rejoinder_open_streams", "Readers of turns here.", registry=into, multiprocess_mode="livesum"
        )

    def ended(self, turn: Turn, calls: Sequence[ProviderCall], *, tenant: str) -> None:
        """Count a turn."""
        agent = turn.agent or "unknown"
        self._turns.labels(agent, turn.status).inc()
        if turn.started_at is not None and turn.finished_at is not None:
            self._seconds.labels(agent).observe((turn.finished_at - turn.started_at).total_seconds())
        for call in calls:
            which = (call.provider, call.model)
            if call.first_token_at is not None:
                self._first.labels(*which).observe((call.first_token_at - call.started_at).total_seconds())
            if call.usage is not None:
                self._tokens.labels(*which, "input").inc(call.usage.input_tokens or 0)
                self._tokens.labels(*which, "output").inc(call.usage.output_tokens or 0)

    async def metrics(self, request: Request, principal: Principal) -> Response:
        """`GET /metrics`."""
        self._running.set(self._live())
        self._reading.set(self._streams())
        return Response(generate_latest(self._registry), headers={"content-type": CONTENT_TYPE_LATEST})
