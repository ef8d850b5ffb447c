"""`Chat`: an agent, a store, and every door to them.

chat = Chat(agent)
app = FastAPI(lifespan=chat.lifespan, routes=chat.routes("/api"))
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute

from rejoinder.chat.backend import DRAIN_SECONDS, Backend, BusyPolicy, TurnSettings
from rejoinder.chat.choices import StoreChoice, chosen_agent, chosen_history, chosen_store
from rejoinder.chat.titles import Titler, titled_by
from rejoinder.chat.wishes import Principal, Redact
from rejoinder.engine.model_agent import Instructions
from rejoinder.engine.offered import AnyTool
from rejoinder.engine.running import TurnLimits
from rejoinder.ports.agents import AgentProtocol
from rejoinder.ports.clock import random_id
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import Durability
from rejoinder.ports.observers import Observer
from rejoinder.ports.providers import Provider, ProviderAdapter
from rejoinder.ports.queue import TurnQueue
from rejoinder.server.analysing import Analysing
from rejoinder.server.answering import Answering
from rejoinder.server.bodies import BODY_BYTES_MAX
from rejoinder.server.conversing import Conversing
from rejoinder.server.doors import Door, Gate, routes
from rejoinder.server.inspecting import Inspecting
from rejoinder.server.leaving import told_to_leave
from rejoinder.server.limits import Counting, Limits
from rejoinder.server.openapi import document
from rejoinder.server.origins import SECURITY_HEADERS, Origins
from rejoinder.server.pages import page_routes
from rejoinder.server.principals import RECHECK_SECONDS, Authenticate
from rejoinder.server.problems import Problem, not_found, problem_response
from rejoinder.server.sockets import Sockets
from rejoinder.server.streams import HEARTBEAT_SECONDS, STALLED_SECONDS_MAX
from rejoinder.server.table import ID_SCHEMA, doors_of, metrics_door
from rejoinder.server.watching import Watching
from rejoinder.wire.dialects import dialect as dialect_named

PREFIX: Final = "/api"
"""Where `useChat` looks if nobody tells it where."""


class Chat:
    """Answers with an agent, keeps everything in a store, and serves both.

    A provider stands for a `ModelAgent` with these `tools` and `instructions`. Without a store, it is the
    PostgreSQL of `DATABASE_URL`, else the embedded one; `redis` is the URL of a Redis or Valkey that tells processes
    of news more quickly than PostgreSQL does. With a `queue`, turns are carried out by other processes
    (`rejoinder worker`). `authenticate` says who makes a request; without it, everybody is the same principal. It is
    asked again every `recheck_seconds` while somebody reads: whom it does not know any more, reads no further.
    `dialect` is what clients understand that do not say it. `busy` says what happens to a message that comes while
    an answer is being made. `redact` takes out of a message what must not be stored. `data_parts` are the names of
    the data parts that users may send. A stream says something after `heartbeat_seconds` of silence, and is cut
    after `stalled_seconds_max` in which its reader took nothing. A process that is to end gives its turns
    `drain_seconds` to come to theirs, and seals the others. `title` names new conversations, a model or a function;
    else their first words do. `telemetry` makes spans, `metrics` opens `/metrics`, `observers` are told of each turn.
    `origins` are those whose pages may call, `hosts` the names that the server goes by; without any, it goes by all.
    """

    def __init__(
        self,
        agent: AgentProtocol | ProviderAdapter,
        *,
        tools: Sequence[AnyTool] = (),
        instructions: Instructions | None = None,
        store: StoreChoice = None,
        redis: str | None = None,
        queue: TurnQueue | None = None,
        history: HistoryBuilder | None = None,
        authenticate: Authenticate | None = None,
        recheck_seconds: float | None = RECHECK_SECONDS,
        dialect: str = "ai-sdk/7",
        busy: BusyPolicy = "reject",
        redact: Redact | None = None,
        title: Titler | Provider | None = None,
        data_parts: Collection[str] = (),
        durability: Durability = "full",
        turn_limits: TurnLimits | None = None,
        limits: Limits | None = None,
        body_bytes_max: int = BODY_BYTES_MAX,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        stalled_seconds_max: float = STALLED_SECONDS_MAX,
        drain_seconds: float = DRAIN_SECONDS,
        origins: Collection[str] = (),
        origin_credentials: bool = False,
        hosts: Collection[str] = (),
        observers: Sequence[Observer] = (),
        telemetry: bool = False,
        metrics: bool = False,
    ) -> None:
        self.backend = Backend(
            chosen_agent(agent, tools=tools, instructions=instructions),
            store=chosen_store(store, redis=redis),
            history=chosen_history() if history is None else history,
            queue=queue,
            settings=TurnSettings(
                busy=busy,
                redact=redact,
                data_parts=tuple(data_parts),
                durability=durability,
                limits=turn_limits or TurnSettings().limits,
                drain_seconds=drain_seconds,
                title=titled_by(title) if isinstance(title, Provider) else title,
            ),
        )
        self._authenticate = authenticate
        self._recheck_seconds = recheck_seconds
        self._origins = Origins(origins, credentials=origin_credentials, hosts=hosts)
        self._answering = Answering(
            self.backend,
            dialect=dialect_named(dialect),
            counting=Counting(limits or Limits(), now=time.monotonic),
            body_bytes_max=body_bytes_max,
            heartbeat_seconds=heartbeat_seconds,
            stalled_seconds_max=stalled_seconds_max,
        )
        self._watching = Watching(self.backend)
        self._doors = self._own_doors()
        self._observe(observers, telemetry=telemetry, metrics=metrics)

    def _observe(self, observers: Sequence[Observer], *, telemetry: bool, metrics: bool) -> None:
        self.backend.observers += observers
        if telemetry:
            self._trace()
        if metrics:
            self._count()

    def _own_doors(self) -> tuple[Door, ...]:
        backend = self.backend
        return doors_of(
            self._answering, Conversing(backend), Inspecting(backend), Analysing(backend), self._watching
        )

    def _trace(self) -> None:
        from rejoinder.server.telemetry import Telemetry

        self.backend.observers.append(Telemetry())

    def _count(self) -> None:
        from rejoinder.server.metrics import Metrics

        backend, counting = self.backend, self._answering.counting
        metrics = Metrics(live=lambda: len(backend.live), streams=lambda: counting.open_streams)
        backend.observers.append(metrics)
        self._doors += (metrics_door(metrics.metrics),)

    @asynccontextmanager
    async def lifespan(self, app: Any = None) -> AsyncGenerator[None]:
        """Everything that must run while requests are served: give it to your application."""
        async with self.backend.running():
            with told_to_leave(self.backend.leave):
                yield

    def routes(self, prefix: str = PREFIX) -> list[BaseRoute]:
        """Routes for Starlette and FastAPI."""
        self._watching.document = document(self._doors, prefix=prefix.rstrip("/"), ids=ID_SCHEMA)
        gate = Gate(
            origins=self._origins,
            authenticate=self._authenticate,
            new_id=random_id,
            recheck_seconds=self._recheck_seconds,
        )
        root = prefix.rstrip("/")
        return [
            WebSocketRoute(f"{root}/chat/ws", Sockets(self._answering, gate)),
            *routes(self._doors, gate, prefix=root),
        ]

    def pages(self, prefix: str = "") -> list[BaseRoute]:
        """Routes for the web pages, which look for the API at `api` beside them: `prefix` and `prefix/api`."""
        return page_routes(prefix)

    async def respond(self, request: Request, *, principal: Principal | None = None) -> Response:
        """Answer a request that came to a route of your own, from whom you say."""
        try:
            return await self._answering.answer(request, principal or Principal())
        except Exception as error:  # noqa: BLE001  # whatever it is, people at a browser get a problem
            return problem_response(error, correlation=random_id())

    @cached_property
    def app(self) -> Starlette:
        """An ASGI application of its own."""
        return Starlette(
            lifespan=self.lifespan,
            routes=[*self.routes(), *self.pages()],
            exception_handlers={HTTPException: _nowhere},
        )

    @property
    def doors(self) -> tuple[Door, ...]:
        """The table of routes."""
        return self._doors


async def _nowhere(request: Request, error: Exception) -> Response:
    """The answer where no route is: a problem too, whatever stands in the address."""
    wrong_method = isinstance(error, HTTPException) and error.status_code == 405
    problem = Problem(405, "method-not-allowed", "Not here.") if wrong_method else not_found()
    response = problem_response(problem, correlation=random_id())
    response.headers.update({**SECURITY_HEADERS, **(getattr(error, "headers", None) or {})})
    return response
