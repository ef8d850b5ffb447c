"""What a turn consumed: its calls of models as the translator notes them, with times and prices, and their sums."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeAlias

from msgspec import structs

from rejoinder.messages import AgentContext, Cost, JsonObject, ProviderCall, ProviderCallStatus, Usage
from rejoinder.translate import CallEnded, CallStarted

Price: TypeAlias = Callable[[ProviderCall], Cost | None]
"""What a call cost at the prices of today; None is unknown, which is not nothing."""

UNKNOWN: Final = "unknown"
"""What provider and model are called where nobody told."""

_log: Final = logging.getLogger(__name__)


class Accounts:
    """The calls of one turn."""

    def __init__(self, began_at: datetime, *, price: Price | None, context: AgentContext | None) -> None:
        self._began_at = began_at
        self._price = price
        self._labels: JsonObject = {} if context is None or not context.labels else {**context.labels}
        self._calls: dict[str, ProviderCall] = {}
        self._ids: dict[str, str] = {}
        self._awaiting: list[str] = []

    def started(self, note: CallStarted, now: datetime) -> None:
        """A call begins, or the one that was announced gets its own id."""
        announced = None if note.before is None else self._calls.pop(self._ids.get(note.before, ""), None)
        id = self._new(note.id)
        if announced is None:
            self._awaiting.append(id)
        else:
            self._awaiting = [id if waiting == announced.id else waiting for waiting in self._awaiting]
        self._calls[id] = ProviderCall(
            id=id,
            provider=note.provider,
            model=note.model,
            started_at=now if announced is None else announced.started_at,
            extensions={**self._labels, **(note.extensions or {})} or None,
        )

    def ended(self, note: CallEnded, now: datetime) -> None:
        """A call is over. Of one that nobody announced we know that it came after the turn's beginning."""
        id = self._ids.get(note.id) or self._new(note.id)
        known = self._calls.get(id) or ProviderCall(
            id=id,
            provider=UNKNOWN,
            model=UNKNOWN,
            started_at=self._began_at,
            extensions=self._labels or None,
        )
        call = structs.replace(
            known,
            provider=note.provider or known.provider,
            model=note.model or known.model,
            status=note.status,
            usage=note.usage or known.usage,
            cost=note.cost or known.cost,
            finished_at=now,
            raw=note.raw,
        )
        self._calls[id] = self._priced(call)

    @property
    def expecting(self) -> bool:
        """Whether a call has begun that has not answered yet."""
        return bool(self._awaiting)

    def heard(self, now: datetime) -> None:
        """The model has said something: the calls that were waited for have answered."""
        for id in self._awaiting:
            self._calls[id] = structs.replace(self._calls[id], first_token_at=now)
        self._awaiting.clear()

    def close(self, status: ProviderCallStatus, now: datetime) -> tuple[ProviderCall, ...]:
        """All calls; those that are under way end with this status."""
        for id, call in self._calls.items():
            if call.status == "running":
                self._calls[id] = structs.replace(call, status=status, finished_at=now)
        return tuple(self._calls.values())

    def _new(self, id: str) -> str:
        """An id that is its own, also if a vendor says the same one twice."""
        again = sum(known == id or known.startswith(f"{id}:") for known in self._calls)
        self._ids[id] = own = f"{id}:{again}" if again else id
        return own

    def _priced(self, call: ProviderCall) -> ProviderCall:
        if call.cost is not None or self._price is None or call.usage is None:
            return call
        try:
            return structs.replace(call, cost=self._price(call))
        except Exception:  # noqa: BLE001  # an answer does not fail because of its price
            _log.exception("no price for a call of %s", call.model)
            return call


def usage_of(calls: Iterable[ProviderCall]) -> Usage | None:
    """What the calls consumed together, as far as they told."""
    told = [call.usage for call in calls if call.usage is not None]
    return sum(told, Usage()) if told else None


def cost_of(calls: Iterable[ProviderCall]) -> Cost | None:
    """What the calls cost together: unknown as soon as one of those that consumed something is."""
    consuming = [call for call in calls if call.usage is not None or call.cost is not None]
    costs = [call.cost for call in consuming if call.cost is not None]
    if not costs or len(costs) < len(consuming) or len({cost.currency for cost in costs}) > 1:
        return None
    return Cost(amount=sum((cost.amount for cost in costs), Decimal(0)), currency=costs[0].currency)
