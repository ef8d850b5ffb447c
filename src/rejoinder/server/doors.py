"""The table of routes, and what every request goes through before its door opens.

In this order: is there such a method (405), may this page call (403), who asks (401), and then the door itself,
whose errors become problems. The OpenAPI document is made of the same table.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rejoinder.chat.wishes import Principal
from rejoinder.messages import JsonObject
from rejoinder.ports.clock import NewId
from rejoinder.server.origins import SECURITY_HEADERS, Origins
from rejoinder.server.principals import RECHECK_SECONDS, Authenticate, principal_of, until_unknown
from rejoinder.server.problems import Problem, problem_response
from rejoinder.server.streams import TurnStream, Until

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]

Handler: TypeAlias = Callable[[Request, Principal], Awaitable[Response]]

_log: Final = logging.getLogger(__name__)


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter of a query or header, for the OpenAPI document."""

    name: str
    schema: JsonObject
    description: str
    place: Literal["query", "header"] = "query"


class Door(Struct, frozen=True, kw_only=True):
    """One method of one path. `open_to_all` doors do not ask who it is."""

    method: Method
    path: str
    handler: Handler
    summary: str
    body: JsonObject | None = None
    answers: tuple[tuple[int, str], ...] = ((200, "What was asked for."),)
    media_type: str = "application/json"
    parameters: tuple[Parameter, ...] = ()
    open_to_all: bool = False


class Gate(Struct, frozen=True, kw_only=True):
    """What stands before all doors."""

    origins: Origins
    authenticate: Authenticate | None
    new_id: NewId
    recheck_seconds: float | None = RECHECK_SECONDS

    def until_unknown(self, connection: HTTPConnection, principal: Principal) -> Until | None:
        """What comes back when this one would not be let in any more; None if nobody needs to ask."""
        if self.authenticate is None or self.recheck_seconds is None:
            return None
        return partial(until_unknown, connection, principal, self.authenticate, self.recheck_seconds)


def routes(doors: Sequence[Door], gate: Gate, *, prefix: str) -> list[Route]:
    """Routes for Starlette, one for each path."""
    paths: dict[str, dict[str, Door]] = {}
    for door in doors:
        paths.setdefault(door.path, {})[door.method] = door
    return [
        Route(prefix + path, endpoint=_Place(methods, gate), methods=None, include_in_schema=False)
        for path, methods in paths.items()
    ]


class _Place:
    """A path with its methods, as an ASGI application."""

    def __init__(self, doors: Mapping[str, Door], gate: Gate) -> None:
        self._doors = doors
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        response = await self._answer(request)
        headers = {**SECURITY_HEADERS, **self._gate.origins.headers(request)}
        for name, value in headers.items():
            if name not in response.headers or name == "vary":
                response.headers[name] = value
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            door = self._doors.get(request.method)
            if door is None:
                return self._without_door(request)
            if not door.open_to_all:
                self._gate.origins.check_host(request)
            if request.method != "GET":
                self._gate.origins.check(request)
            authenticate = None if door.open_to_all else self._gate.authenticate
            principal = await principal_of(request, authenticate)
            return self._watched(await door.handler(request, principal), request, principal)
        except Exception as error:  # noqa: BLE001  # whatever it is, people at a browser get a problem
            return problem_response(error, correlation=self._gate.new_id())

    def _watched(self, response: Response, request: Request, principal: Principal) -> Response:
        until = self._gate.until_unknown(request, principal)
        if until is not None and isinstance(response, TurnStream):
            response.last(until)
        return response

    def _without_door(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            headers = self._gate.origins.preflight(request, self._doors)
            if headers is not None:
                return Response(status_code=204, headers=headers)
        allowed = ", ".join(self._doors)
        raise Problem(405, "method-not-allowed", f"Here one may {allowed}.", headers={"allow": allowed})
