"""How much one principal may ask for, in one process. Nothing is limited until an application says what."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from msgspec import Struct

from rejoinder.chat.wishes import Principal
from rejoinder.server.problems import Problem

WINDOW_SECONDS: Final = 60.0
"""Requests are counted over a minute that ends now."""

PRINCIPALS_MAX: Final = 10_000
"""So many are remembered. Beyond that, whoever asked for nothing for a minute is forgotten."""


class Limits(Struct, frozen=True, kw_only=True):
    """None stands for no limit. Each process counts for itself."""

    requests_a_minute: int | None = None
    streams: int | None = None


class Counting:
    """Counts what principals do."""

    def __init__(self, limits: Limits, *, now: Callable[[], float]) -> None:
        self._limits = limits
        self._now = now
        self._asked: dict[Principal, deque[float]] = {}
        self._streams: Counter[Principal] = Counter()

    def request(self, principal: Principal) -> None:
        """Count a request that begins something. Raises `Problem` 429."""
        limit = self._limits.requests_a_minute
        if limit is None:
            return
        now = self._now()
        if len(self._asked) > PRINCIPALS_MAX:
            self._forget(now)
        asked = self._asked.setdefault(principal, deque())
        while asked and asked[0] <= now - WINDOW_SECONDS:
            asked.popleft()
        if len(asked) >= limit:
            raise _too_many("requests", limit, seconds=asked[0] + WINDOW_SECONDS - now)
        asked.append(now)

    @property
    def open_streams(self) -> int:
        """How many streams are open, of all principals."""
        return self._streams.total()

    def stream(self, principal: Principal) -> AbstractContextManager[None]:
        """Count one more open stream from now on, to the end of the context that is given. Raises `Problem` 429."""
        limit = self._limits.streams
        if limit is not None and self._streams[principal] >= limit:
            raise _too_many("open streams", limit, seconds=1)
        # Counted at once: between looking and counting nobody else gets the place.
        self._streams[principal] += 1
        return _Open(lambda: self._closed(principal))

    def _closed(self, principal: Principal) -> None:
        self._streams[principal] -= 1
        if not self._streams[principal]:
            del self._streams[principal]

    def _forget(self, now: float) -> None:
        for principal in [who for who, asked in self._asked.items() if asked[-1] <= now - WINDOW_SECONDS]:
            del self._asked[principal]


class _Open:
    """A place that is taken already, and given back."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()


def _too_many(what: str, limit: int, *, seconds: float) -> Problem:
    wait = str(max(1, round(seconds)))
    headers = {"retry-after": wait, "ratelimit": f"limit={limit}, remaining=0, reset={wait}"}
    return Problem(429, "too-many", f"More {what} than the {limit} that are allowed.", headers=headers)
