"""What commands over stored conversations share: a store that is open, whose things, agents, a bar of progress."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, reached

if TYPE_CHECKING:
    from rejoinder.offline.checking import Translators
    from rejoinder.ports.agents import AgentProtocol
    from rejoinder.stores.postgres.store import PostgresConversationStore

Tenant = Annotated[str, typer.Option(help="Whose conversations.")]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        help="An agent of your own, as module:attribute: its translator reads its events. May be repeated.",
    ),
]

DEFAULT_TENANT: Final = "default"

Answer = TypeVar("Answer")


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Do it."""
    return asyncio.run(work)


@asynccontextmanager
async def opened(
    database: str | None, schema: str = DEFAULT_SCHEMA
) -> AsyncGenerator[PostgresConversationStore]:
    """The store, for as long as it is needed. On the embedded server the tables are made, or brought up to date."""
    from rejoinder.stores.postgres.store import PostgresConversationStore

    url = await asyncio.to_thread(reached, database)
    store = PostgresConversationStore(url, schema=schema, upgrade=not database)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def translators(agents: Sequence[str] | None) -> Translators:
    """What can be read. Raises `NoSuchAgent`."""
    from rejoinder.offline.known import translators_of

    return translators_of(_agent(name) for name in agents or ())


def _agent(reference: str) -> AgentProtocol:
    from rejoinder.chat.choices import chosen_agent
    from rejoinder.server.chat import Chat
    from rejoinder.server.standalone import named

    found = named(reference)
    return (
        found.backend.agent if isinstance(found, Chat) else chosen_agent(found, tools=(), instructions=None)
    )


@contextmanager
def progress(what: str, unit: str, *, passing: bool = False) -> Generator[Callable[[int, int | None], None]]:
    """A bar on a terminal, and nothing anywhere else. Called with how many are done, and of how many if it is known.

    A passing one is gone when it is done.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn())
    with Progress(
        *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=passing
    ) as bar:
        task = bar.add_task(unit, total=None)

        def told(done: int, total: int | None = None) -> None:
            bar.update(task, completed=done, total=total)

        yield told
