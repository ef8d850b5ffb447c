"""Whoever wants to know how turns end: telemetry, metrics, an application's own books."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rejoinder.messages import ProviderCall, Turn


class Observer(Protocol):
    """Told of each turn that this process has carried out, after it is stored. What it raises is logged."""

    def ended(self, turn: Turn, calls: Sequence[ProviderCall], *, tenant: str) -> None:
        """A turn is over; these were its calls of models."""
        ...
