"""The doors for those who watch over a server: does it live, can it answer, what can it be asked."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rejoinder.chat.backend import Backend
from rejoinder.chat.wishes import Principal
from rejoinder.messages import JsonObject
from rejoinder.server.conversing import answer_json
from rejoinder.server.problems import Problem


class Watching:
    """What the doors do, over a backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.document: JsonObject = {}
        """The OpenAPI document; whoever has all doors puts it here."""

    async def healthz(self, request: Request, principal: Principal) -> Response:
        """`GET /healthz`: whether this process answers at all."""
        return answer_json({"status": "ok"})

    async def readyz(self, request: Request, principal: Principal) -> Response:
        """`GET /readyz`: whether it takes new turns, and its store answers."""
        if not await self._backend.ready():
            raise Problem(
                503, "not-ready", "This process takes no new turns now.", headers={"retry-after": "1"}
            )
        return answer_json({"status": "ok"})

    async def openapi(self, request: Request, principal: Principal) -> Response:
        """`GET /openapi.json`."""
        return answer_json(self.document)
