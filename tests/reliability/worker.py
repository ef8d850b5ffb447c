"""Workers that a test may kill, each a chat over the same database on a port of its own.

`python -m tests.reliability.worker URL` forks one for every line on its standard input, once everything is imported,
and prints its process id and port: so a hundred of them cost no more than one start of Python.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterable

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Json
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire.chunks import Chunk


async def run(call: Call) -> AsyncIterator[Json]:
    """`<words> <milliseconds>`: so many words, so far apart, and a tool that is called in the middle of them."""
    count, pause = map(int, call.prompt.split()[:2])
    for number in range(count):
        if number == count // 2:
            yield {"call": "weather", "input": {"city": "Oslo"}}
            await asyncio.sleep(pause / 1000)
            yield {"result": 3}
        yield {"say": f"{number} "}
        await asyncio.sleep(pause / 1000)


def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    """What that means."""
    match event:
        case {"call": name, "input": given}:
            yield from say.tool_input("call-1", name, given)
        case {"result": output}:
            yield from say.tool_output("call-1", output)
        case _:
            yield from say.text(event["say"])


AGENT = Agent("paced", run, translate)


def telling_tasks(app: ASGIApp) -> ASGIApp:
    """The application, and `GET /tasks`: how many tasks this process has."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/tasks":
            answering: ASGIApp = PlainTextResponse(str(len(asyncio.all_tasks())))
        else:
            answering = app
        await answering(scope, receive, send)

    return either


def serve(url: str, listening: socket.socket) -> None:
    """Serve until somebody ends this process."""
    chat = Chat(AGENT, store=PostgresConversationStore(url))
    server = uvicorn.Server(
        uvicorn.Config(telling_tasks(chat.app), log_level="error", timeout_graceful_shutdown=5)
    )
    asyncio.run(server.serve(sockets=[listening]))


def main() -> None:
    """Fork a worker for each line."""
    # Nobody waits for those that are gone.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        listening = socket.create_server(("127.0.0.1", 0))
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(sys.argv[1], listening)
            return
        sys.stdout.write(f"{pid} {listening.getsockname()[1]}\n")
        sys.stdout.flush()
        listening.close()


if __name__ == "__main__":
    main()
