"""A chat within applications of other people's making."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import httpx
from fastapi import Depends, FastAPI, HTTPException, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from rejoinder import Chat, Principal
from tests.server.agents import AGENT
from tests.server.serving import serving

BODY = {"id": "c1", "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hello"}]}]}


def user(request: Request) -> str:
    name = request.headers.get("x-user")
    if name is None:
        raise HTTPException(401)
    return name


def test_a_route_of_ones_own_answers_for_whom_it_says() -> None:
    chat = Chat(AGENT, store="memory")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with chat.lifespan(app):
            yield

    app = FastAPI(lifespan=lifespan)

    async def ask(request: Request, name: Annotated[str, Depends(user)]) -> Response:
        return await chat.respond(request, principal=Principal(tenant=name))

    app.add_api_route("/ask", ask, methods=["POST"], response_model=None)
    with serving(app) as address:
        assert httpx.post(f"{address}/ask", json=BODY).status_code == 401
        said = [httpx.post(f"{address}/ask", json=BODY, headers={"x-user": name}).text for name in "ab"]
        assert all('"delta":"HELLO "' in each for each in said)
        assert said[0] != said[1], "each tenant has a conversation of its own"
        refused = httpx.post(f"{address}/ask", content="{", headers={"x-user": "a"})
        assert (refused.status_code, refused.headers["content-type"]) == (415, "application/problem+json")


def test_routes_stand_where_one_puts_them() -> None:
    chat = Chat(AGENT, store="memory")
    app = FastAPI(lifespan=chat.lifespan, routes=[*chat.routes("/deep/down"), *chat.pages("/deep")])
    with serving(app) as address:
        assert '"delta":"HELLO "' in httpx.post(f"{address}/deep/down/chat", json=BODY).text
        document: dict[str, Any] = httpx.get(f"{address}/deep/down/openapi.json").json()
        assert "/deep/down/chat" in document["paths"]
        assert httpx.get(f"{address}/deep/").status_code == 200


def test_the_whole_application_stands_beside_another_one() -> None:
    chat = Chat(AGENT, store="memory")

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        ours = scope["type"] == "lifespan" or scope["path"].startswith("/api/")
        other = PlainTextResponse("theirs")
        await (chat.app if ours else other)(scope, receive, send)

    with serving(application) as address:
        assert httpx.get(f"{address}/elsewhere").text == "theirs"
        assert '"delta":"HELLO "' in httpx.post(f"{address}/api/chat", json=BODY).text


def test_a_mounted_application_finds_its_routes() -> None:
    chat = Chat(AGENT, store="memory")
    app = FastAPI(lifespan=chat.lifespan)
    app.mount("/chats", chat.app)
    with serving(app) as address:
        assert '"delta":"HELLO "' in httpx.post(f"{address}/chats/api/chat", json=BODY).text
