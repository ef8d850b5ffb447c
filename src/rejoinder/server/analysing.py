"""The door of the numbers: what the turns of a tenant came to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rejoinder.chat.backend import Backend
from rejoinder.chat.wishes import Principal
from rejoinder.errors import InvalidRequest
from rejoinder.ports.analytics import MEASURES, Analytics, By, Measure, measured
from rejoinder.ports.clock import Clock, SystemClock
from rejoinder.server.bodies import query
from rejoinder.server.conversing import answer_json
from rejoinder.server.problems import Problem, not_found

DAYS: Final = 30
"""So many days are counted if nobody says from when: a month, today included."""

BYS: Final[Mapping[str, By]] = {"day": "day", "model": "model", "agent": "agent"}
"""What a tenant may have its rows by."""

_MEASURES: Final[Mapping[str, Measure]] = {measure: measure for measure in MEASURES}

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Analysing:
    """What the door does, over a backend."""

    def __init__(self, backend: Backend, *, clock: Clock | None = None) -> None:
        self._store = backend.store
        self._clock: Clock = SystemClock() if clock is None else clock

    async def measure(self, request: Request, principal: Principal) -> Response:
        """`GET /analytics/{measure}`."""
        measure = _MEASURES.get(request.path_params["measure"])
        if measure is None:
            raise not_found()
        given = query(request, "by", "from", "to")
        by = BYS.get(given.get("by", "day"))
        if by is None:
            raise InvalidRequest(f"'by' is none of {', '.join(BYS)}")
        last = _day(given.get("to"), "to") or self._clock.now().date()
        first = _day(given.get("from"), "from") or _days_before(last)
        if first > last:
            raise InvalidRequest("'from' is later than 'to'")
        if not isinstance(self._store, Analytics):
            raise Problem(501, "no-analytics", "The store of this server does not count.")
        rows = await measured(self._store, measure, by, (first, last), tenant=principal.tenant)
        return answer_json(
            {
                "measure": measure,
                "by": by,
                "from": first.isoformat(),
                "to": last.isoformat(),
                "rows": [msgspec.to_builtins(row) for row in rows],
            }
        )


def _day(value: str | None, name: str) -> date | None:
    if value is None:
        return None
    try:
        # Python also reads 20261119 and 2026-W47-4.
        if _DATE.fullmatch(value) is not None:
            day = date.fromisoformat(value)
            if day < date.max:
                return day
    except ValueError:
        pass
    raise InvalidRequest(f"{name!r} is no day: send one as 2026-11-19")


def _days_before(last: date) -> date:
    return date.fromordinal(max(1, last.toordinal() - DAYS + 1))
