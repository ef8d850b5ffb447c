"""What a runtime of Open Harness is to us, and whose each of its events is.

One runtime may serve many chats at a time, and tells all of its listeners everything. So there is one listener for
each runtime here, which hands each event to the run that it belongs to, and to no other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable
from weakref import WeakKeyDictionary

from rejoinder.errors import InvalidJson
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import AgentError
from rejoinder.translate.fields import text_of
from rejoinder.wire import json

RuntimeStatus: TypeAlias = Literal["idle", "running", "paused", "aborted", "complete"]

Listener: TypeAlias = Callable[[Json], None]
"""Is called with each event: an object, or the bytes of one, which are kept as they are."""

EVENTS_WAITING_MAX: Final = 65_536
"""So many events may wait for a reader that is held up; a runtime cannot be made to wait."""

RUNS_REMEMBERED_MAX: Final = 4_096
"""Of so many runs that are over it is known whose they were: what comes late of them is nobody else's."""

_log: Final = logging.getLogger(__name__)


class Runtime(Protocol):
    """A runtime of Open Harness, wherever it runs."""

    @property
    def status(self) -> RuntimeStatus:
        """What its flow is doing."""
        ...

    def on_event(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with every event from now on. What is answered ends that."""
        ...

    async def dispatch(self, command: JsonObject) -> None:
        """Take a command: `send`, `reply`, `abort`, `resume`, as the specification has them."""
        ...


@runtime_checkable
class StartableRuntime(Protocol):
    """A runtime whose flow is begun by whoever wants it: it runs until `run` comes back."""

    async def run(self, message: str, run_id: str) -> None:
        """Run the flow for this message."""
        ...


@runtime_checkable
class EndingRuntime(Protocol):
    """A runtime that may go away: at the other end of a connection, for example."""

    def on_end(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called once no event will come any more. What is answered ends that."""
        ...


class Route:
    """The events of one run, as they come."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.run_ids = {run_id}
        self.changed = asyncio.Event()
        self.ended = False
        self._waiting: deque[Json] = deque()
        self._overflowed = False

    def put(self, event: Json) -> None:
        """One more."""
        if len(self._waiting) >= EVENTS_WAITING_MAX:
            self._overflowed = True
        else:
            self._waiting.append(event)
        self.changed.set()

    def end(self) -> None:
        """No more will come."""
        self.ended = True
        self.changed.set()

    def take(self) -> list[Json]:
        """What has come since the last time. Raises `AgentError` if something had to be let go."""
        self.changed.clear()
        if self._overflowed:
            raise AgentError(f"more than {EVENTS_WAITING_MAX} events of the runtime waited to be read")
        taken = [*self._waiting]
        self._waiting.clear()
        return taken


class Switchboard:
    """The runs of one runtime.

    An event that names a run belongs to it. One that does not (`flow:…`, `edge:fire`) or that names a run nobody
    knows (a node's own) belongs to the only run there is; if there are several, to the one whose command the
    runtime has received last. If it has not said so, it cannot be told whose the event is, and it is left out:
    better than to show somebody else's answer.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._routes: list[Route] = []
        self._current: Route | None = None
        self._past: deque[str] = deque(maxlen=RUNS_REMEMBERED_MAX)
        self._late: set[str] = set()
        self._leave: list[Callable[[], None]] = []

    def open(self, run_id: str) -> Route:
        """Begin to listen for a run. Do so before it begins."""
        route = Route(run_id)
        self._routes.append(route)
        if len(self._routes) == 1:
            self._leave.append(self._runtime.on_event(self._hear))
            if isinstance(self._runtime, EndingRuntime):
                self._leave.append(self._runtime.on_end(self._end))
        return route

    def close(self, route: Route) -> None:
        """Stop listening for it."""
        if route not in self._routes:
            return
        self._routes.remove(route)
        self._past.append(route.run_id)
        self._late |= route.run_ids
        if self._current is route:
            self._current = None
        if not self._routes:
            # A run that was paused may go on for the next message: nobody else is there to whom it could belong.
            self._late.clear()
            for leave in self._leave:
                leave()
            self._leave.clear()

    def _hear(self, event: Json) -> None:
        if isinstance(event, bytes):
            try:
                read = json.decode(event)
            except InvalidJson:
                # It is kept as the text that it is, and the translator says that it is no event.
                event = read = event.decode("utf-8", "replace")
        else:
            read = event
        route = self._owner(read)
        if route is None:
            _log.warning("an event %r of a runtime belongs to no run that is open", text_of(read, "type"))
        else:
            route.put(event)

    def _owner(self, event: Json) -> Route | None:
        run_id = text_of(event, "runId")
        if text_of(event, "type") == "command:received":
            self._current = self._of(text_of(event, "command", "runId")) or self._current
        known = self._of(run_id)
        if known is not None:
            return known
        if run_id and (run_id in self._past or run_id in self._late):
            return None
        owner = self._routes[0] if len(self._routes) == 1 else self._current
        if owner is not None and run_id:
            owner.run_ids.add(run_id)
        return owner

    def _of(self, run_id: str) -> Route | None:
        return next((route for route in self._routes if run_id in route.run_ids), None)

    def _end(self) -> None:
        for route in self._routes:
            route.end()


_SWITCHBOARDS: Final[WeakKeyDictionary[Runtime, Switchboard]] = WeakKeyDictionary()


def switchboard_of(runtime: Runtime) -> Switchboard:
    """The one switchboard of a runtime, however many transports there are."""
    board = _SWITCHBOARDS.get(runtime)
    if board is None:
        board = _SWITCHBOARDS[runtime] = Switchboard(runtime)
    return board
