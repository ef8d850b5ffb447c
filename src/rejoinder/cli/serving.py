"""`rejoinder serve` and `rejoinder demo`: a server of its own, under granian."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import errno
import gc
import http.client
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rejoinder.cli.database import working
from rejoinder.cli.sending import limit_soon
from rejoinder.cli.streams import misuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from rejoinder.server.standalone import Standalone

HOST: Final = "127.0.0.1"
"""This machine only, until somebody says otherwise: a chat without `authenticate` is everybody's."""

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
"""What this machine calls itself. A page elsewhere whose name leads here is none of ours."""

PORT: Final = 8000
PORT_MAX: Final = 65_535

PORTS_TRIED: Final = 20
"""If nobody asked for a port, so many are tried before we give up."""

HEADER_MS_MAX: Final = 10_000
"""So long a client may take to send the head of its request."""

BUFFER_BYTES_MAX: Final = 64 * 1024
"""What granian holds for one connection, the head of a request included."""

CONNECTIONS_MAX: Final = 100_000
"""So many connections a process takes. granian takes 1,024 in all its processes, and streams last: whoever comes next
would wait, also with a wish to stop. What a process can hold is up to its files (`ulimit -n`) and its memory."""

QUEUE_MAX: Final = 4096
"""So many may wait to be taken: readers that all come back at once, after a restart."""

NEW_OBJECTS_MAX: Final = 20_000
"""So many new objects there may be before garbage is looked for among them: a few MiB."""

DRAIN_SECONDS_MAX: Final = 45
"""A process that has not ended by then is killed: its turns have 30 seconds, and sealing takes moments."""

LOOK_SECONDS: Final = 0.05
"""Between two looks whether the server answers yet."""

Agent = Annotated[
    str,
    typer.Option(
        envvar="REJOINDER_AGENT",
        help="What answers, as module:attribute: an agent, a provider, or a Chat with settings of its own.",
    ),
]
Host = Annotated[str, typer.Option(help="The address to listen at. 0.0.0.0 is every one of this machine.")]
Store = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="DATABASE_URL",
        help="A PostgreSQL URL, or memory for a store that forgets; the embedded server if there is none.",
    ),
]
Redis = Annotated[
    str | None,
    typer.Option(
        envvar="REDIS_URL",
        help="A Redis or Valkey that tells processes of news quickly. Nothing depends on it.",
    ),
]


def serve(
    *,
    agent: Agent,
    host: Host = HOST,
    port: Annotated[int, typer.Option(min=0, max=PORT_MAX, help="The port to listen at; 0 is any.")] = PORT,
    workers: Annotated[int, typer.Option(min=1, help="How many processes serve.")] = 1,
    database: Store = None,
    redis: Redis = None,
    fleet: Annotated[
        bool, typer.Option("--fleet", help="Leave the turns to processes of `rejoinder worker`.")
    ] = False,
    dialect: Annotated[str, typer.Option(help="What clients understand that do not say it.")] = "ai-sdk/7",
    busy: Annotated[
        Literal["reject", "enqueue", "interrupt"],
        typer.Option(help="What becomes of a message that comes while an answer is being made."),
    ] = "reject",
    fast: Annotated[
        bool, typer.Option("--fast", help="Do not wait for the disk: a power cut may cost 600 ms.")
    ] = False,
    telemetry: Annotated[bool, typer.Option("--telemetry", help="Make a span of each turn.")] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="Open /api/metrics for Prometheus.")] = False,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="A page of this origin may call, as https://app.example.com. May be repeated."),
    ] = None,
) -> None:
    """Serve an agent to chat pages, until somebody ends this.

    Example: rejoinder serve --agent my_agents:agent --workers 2
    """
    from rejoinder.server.standalone import Standalone

    settings = Standalone(
        agent=agent,
        store=database,
        redis=redis,
        fleet=fleet,
        dialect=dialect,
        busy=busy,
        durability="fast" if fast else "full",
        origins=tuple(origin or ()),
        hosts=names_of(host),
        telemetry=telemetry,
        metrics=metrics,
    )
    if workers > 1 and database == "memory":
        misuse("--workers: the store memory is one process's own; take one worker, or a PostgreSQL")
    port = checked_port(host, port)
    prepare(settings)
    run(settings, host=host, port=port, workers=workers, ready=lambda: typer.echo(_welcome(host, port)))


def worker(
    *,
    agent: Agent,
    database: Store = None,
    redis: Redis = None,
    concurrency: Annotated[int, typer.Option(min=1, help="How many turns at once.")] = 100,
) -> None:
    """Carry out the turns that `rejoinder serve --fleet` accepts, until somebody ends this. Start as many as you like.

    Example: rejoinder worker --agent my_agents:agent
    """
    from rejoinder.server.standalone import Standalone

    settings = Standalone(agent=agent, store=database, redis=redis, fleet=True)
    prepare(settings)
    log_to_stderr()
    asyncio.run(_work(settings, concurrency))


async def _work(settings: Standalone, concurrency: int) -> None:
    backend = settings.chat().backend
    if backend.queue is None:
        misuse("--agent: this Chat has no queue to take turns from; give it one (queue=…), or name its agent")
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with backend.running():
        working = asyncio.create_task(backend.work(concurrency=concurrency))
        leaving = asyncio.create_task(ended.wait())
        typer.echo("Waiting for turns. Ctrl+C ends it.")
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        working.cancel()
        await asyncio.gather(working, return_exceptions=ended.is_set())


def demo(
    *,
    host: Host = HOST,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=PORT_MAX, help="The port to listen at; from 8000 on the first that is free."),
    ] = None,
    database: Store = None,
) -> None:
    """Serve a chat to look at: with a vendor's model if there is a key, else a local one, else a scripted one.

    OPENAI_API_KEY and ANTHROPIC_API_KEY are looked for, and REJOINDER_MODEL for the name of another model (or for
    local, or scripted, whatever keys there are).
    """
    from rejoinder.server.first_look import first_look
    from rejoinder.server.standalone import Standalone

    settings = Standalone(store=database, hosts=names_of(host))
    typer.echo(f"Answers come from {first_look().why}.")
    chosen = checked_port(host, free_port(host) if port is None else port)
    prepare(settings)
    run(settings, host=host, port=chosen, workers=1, ready=lambda: typer.echo(_welcome(host, chosen)))


def prepare(settings: Standalone) -> None:
    """Open the store once, so that what is wrong with it is said here, in one line, and its tables are up to date."""
    from rejoinder.chat.choices import URL_VARIABLE

    store = settings.chat().backend.store

    async def look() -> None:
        await store.open()
        await store.close()

    kind = "database" if settings.store or os.environ.get(URL_VARIABLE) else "embedded PostgreSQL"
    with working(f"Opening the {kind}"):
        asyncio.run(look())


def run(settings: Standalone, *, host: str, port: int, workers: int, ready: Callable[[], None]) -> None:
    """Serve until a signal ends it. `ready` is called once it answers."""
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels
    from granian.server import Server

    # A forked process would inherit locks in whatever state they are; a spawned one begins anew.
    multiprocessing.set_start_method("spawn", force=True)
    server = Server(
        "rejoinder",
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=workers,
        backlog=QUEUE_MAX,
        backpressure=CONNECTIONS_MAX,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MS_MAX, max_buffer_size=BUFFER_BYTES_MAX),
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=DRAIN_SECONDS_MAX,
    )

    def started() -> None:
        threading.Thread(target=_tell, args=(host, port, ready), daemon=True).start()

    server.on_startup(started)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve(target_loader=_Loader(settings), wrap_loader=False)


class _Loader:
    """Makes the application in a process that serves."""

    def __init__(self, settings: Standalone) -> None:
        self._settings = settings

    def __call__(self) -> ASGIApp:
        # The application has ended by then. Threads of the server may still hold what the interpreter takes apart.
        atexit.register(_leave)
        open_many_files()
        limit_soon()
        log_to_stderr()
        application = self._settings.application()
        look_for_garbage_seldom()
        return application


def open_many_files() -> None:
    """A connection is a file, and what shells and services allow is often 1,024, which a process may raise itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS_MAX)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # some systems have a lower limit than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def look_for_garbage_seldom() -> None:
    """What a stream is made of lives as long as the stream: looking at it again and again is a tenth of serving."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, 20, 20)


def log_to_stderr() -> None:
    """Say what happens, as far as it is ours to say."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("rejoinder").setLevel(logging.INFO)


def _leave() -> None:
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def names_of(host: str) -> tuple[str, ...]:
    """The names of a server that only this machine reaches; any, for one that others reach."""
    return LOOPBACK if host in LOOPBACK else ()


def free_port(host: str) -> int:
    """The first port from 8000 on that nobody listens at; 8000 itself, if there is none."""
    return next((port for port in range(PORT, PORT + PORTS_TRIED) if is_free(host, port)), PORT)


def checked_port(host: str, port: int) -> int:
    """The port, at which one can listen; else it is said why not. For 0 it is one that is free."""
    try:
        return _listen(host, port)
    except OSError as error:
        match error.errno:
            case errno.EADDRINUSE:
                misuse(f"--port {port}: it is taken at {host}; choose another")
            case errno.EACCES:
                misuse(f"--port {port}: this user may not listen there; choose one from 1024 on")
            case _:
                misuse(f"--host {host!r}: it is no address of this machine; take {HOST}, or 0.0.0.0 for all")


def is_free(host: str, port: int) -> bool:
    """Whether one can listen there."""
    try:
        _listen(host, port)
    except OSError:
        return False
    return True


def _listen(host: str, port: int) -> int:
    """Try it. Processes of one server share a port, so its own way of asking would not tell."""
    if not host:
        raise OSError(errno.EADDRNOTAVAIL, "an empty name would be every address")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind((host, port))
        return int(trial.getsockname()[1])


def _tell(host: str, port: int, ready: Callable[[], None]) -> None:
    at = HOST if host in {"0.0.0.0", "::"} else host  # noqa: S104  # recognized, not bound to
    while True:
        connection = http.client.HTTPConnection(at, port, timeout=5)
        try:
            connection.request("GET", "/api/healthz")
            if connection.getresponse().status == 200:
                ready()
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(LOOK_SECONDS)


def _welcome(host: str, port: int) -> str:
    return f"Open http://{host}:{port} and chat. useChat finds it at http://{host}:{port}/api/chat. Ctrl+C ends it."
