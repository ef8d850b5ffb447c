"""FastAPI with a page of React: the application's own login, its own pages, and our routes beside them.

npm install && npm start      # builds the page, and serves both at http://127.0.0.1:8000
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.requests import HTTPConnection

from rejoinder import Agent, Call, Chat, Emitter, Principal
from rejoinder.wire.chunks import Chunk

PAGE = Path(__file__).parent / "page" / "dist"


async def run(call: Call) -> AsyncIterator[Any]:
    """Say it again, slowly, so that there is time to reload the page."""
    for word in call.prompt.split():
        await asyncio.sleep(0.1)
        yield {"word": word}


def translate(say: Emitter, event: Any) -> Iterable[Chunk]:
    """In capitals."""
    yield from say.text(event["word"].upper() + " ")


def user(connection: HTTPConnection) -> Principal:
    """Who asks. Here is your own login; this one believes a cookie."""
    return Principal(tenant="example", subject=connection.cookies.get("user", "guest"))


def application(store: str | None = None) -> FastAPI:
    """The whole application; without a store, in DATABASE_URL or the embedded PostgreSQL."""
    chat = Chat(Agent("shout", run, translate), store=store, authenticate=user)
    app = FastAPI(lifespan=chat.lifespan, routes=chat.routes("/api"))

    @app.get("/hello")
    def hello() -> dict[str, str]:
        return {"hello": "from a route of your own"}

    app.mount("/", StaticFiles(directory=PAGE, html=True, check_dir=False))
    return app
