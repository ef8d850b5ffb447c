"""`rejoinder doctor`: what is wrong with a set-up, and what to do about it.

It changes nothing unless it is told to repair; only the embedded PostgreSQL is started, if it is the one that is meant.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable, Coroutine, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated, Final

import typer
from msgspec import Struct

from rejoinder.cli.database import DEFAULT_SCHEMA
from rejoinder.cli.examining import examine
from rejoinder.cli.offline import translators
from rejoinder.cli.serving import Store
from rejoinder.cli.streams import misuse
from rejoinder.errors import RejoinderError

FILES_MIN: Final = 4_096
"""A reader is an open file, and a server has hundreds of them, or thousands."""

KEYS: Final = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")

ANSWER_SECONDS_MAX: Final = 5.0


_OF_AN_EXTRA: Final = re.compile(r"(?P<name>[\w.-]+).*extra == ['\"](?P<extra>[\w-]+)['\"]\Z")
"""A line of the project's own requirements, of those that an extra brings on every Python."""


class Finding(Struct, frozen=True):
    """What was looked at, what was found, and whether it is well; None is neither well nor wrong."""

    name: str
    said: str
    well: bool | None = True


def doctor(
    *,
    agent: Annotated[
        str | None, typer.Option(envvar="REJOINDER_AGENT", help="The agent to look at, as module:attribute.")
    ] = None,
    database: Store = None,
    redis: Annotated[str | None, typer.Option(envvar="REDIS_URL", help="The Redis to look at.")] = None,
    server: Annotated[
        str | None, typer.Option(help="A server that runs, as http://127.0.0.1:8000, to be asked how it is.")
    ] = None,
    data: Annotated[
        bool, typer.Option("--data", help="Look at all that is stored, too, which takes its time.")
    ] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what of it can be mended.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be mended.")] = False,
) -> None:
    """Look at a set-up, or at all that is stored, and say what is wrong with it. Exit 1 if anything is, and stays so.

    Of what is stored: that each message is what its frames and events make, that no journal has gaps, that nothing
    belongs to nothing, that conversations count on from where they are, that somebody owns each turn that is live.

    Examples: rejoinder doctor --agent my_agents:agent --server http://127.0.0.1:8000; rejoinder doctor --data;
    rejoinder doctor --repair --dry-run
    """
    if dry_run and not repair:
        misuse("--dry-run: it says what --repair would do, so say --repair as well")
    if (data or repair) and database == "memory":
        misuse("--data: the store memory keeps nothing that could be looked at; name a PostgreSQL")
    looks: list[Callable[[], Iterator[Finding]]] = [_program, _extras, _files, _keys]
    looks.append(lambda: _database(database))
    if agent is not None:
        looks.append(lambda: _agent(agent))
    if redis is not None:
        looks.append(lambda: _redis(redis))
    if server is not None:
        looks.append(lambda: _server(server))
    findings = [finding for look in looks for finding in look()]
    for finding in findings:
        mark = {True: "ok", False: "WRONG", None: "-"}[finding.well]
        typer.echo(f"{mark:<6}{finding.name}: {finding.said}")
    well = all(finding.well is not False for finding in findings)
    # What cannot be reached has been said already.
    if (data or repair) and all(
        finding.well is not False for finding in findings if finding.name == "database"
    ):
        known = translators([agent] if agent is not None else None)
        well &= asyncio.run(examine(database, DEFAULT_SCHEMA, known, repair=repair, dry_run=dry_run))
    if not well:
        raise typer.Exit(1)


def _program() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("rejoinder", f"{version('rejoinder')}, Python {python}")


def _extras() -> Iterator[Finding]:
    """Which extras are complete."""
    wanted: dict[str, list[str]] = {}
    for text in requires("rejoinder") or ():
        found = _OF_AN_EXTRA.match(text)
        if found is not None and found["name"] != "rejoinder":
            wanted.setdefault(found["extra"], []).append(found["name"])
    complete = sorted(extra for extra, names in wanted.items() if all(map(_is_installed, names)))
    lacking = sorted(set(wanted) - set(complete))
    yield Finding(
        "extras", f"{', '.join(complete) or 'none'} (not installed: {', '.join(lacking) or 'none'})"
    )


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _files() -> Iterator[Finding]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = soft == resource.RLIM_INFINITY or soft >= FILES_MIN
    said = f"{soft} may be open in a process"
    yield Finding("files", said if enough else f"{said}: raise it (ulimit -n {min(hard, 65_536)})", enough)


def _keys() -> Iterator[Finding]:
    found = [name for name in KEYS if os.environ.get(name)]
    said = " and ".join(found) + " set" if found else "none set: the demo answers with a local model"
    yield Finding("keys", said, True if found else None)


def _database(database: str | None) -> Iterator[Finding]:
    from rejoinder.chat.choices import chosen_store

    async def look() -> None:
        store = chosen_store(database)
        await store.open()
        await store.close()

    yield _tried("database", "it can be reached, and its tables are those of this release", look)


def _agent(agent: str) -> Iterator[Finding]:
    from rejoinder.server.standalone import named

    try:
        found = named(agent)
    except RejoinderError as error:
        yield Finding("agent", str(error), well=False)
    else:
        yield Finding("agent", f"{agent}: {type(found).__name__}")


def _redis(url: str) -> Iterator[Finding]:
    from rejoinder.chat.choices import chosen_bus

    async def look() -> None:
        bus = chosen_bus(url)
        await bus.publish("rejoinder doctor", ["hello"])
        await bus.close()

    yield _tried("redis", "it can be reached", look)


def _server(address: str) -> Iterator[Finding]:
    from urllib.error import URLError
    from urllib.request import urlopen

    place = f"{address.rstrip('/')}/api/readyz"
    try:
        with urlopen(place, timeout=ANSWER_SECONDS_MAX) as answer:  # noqa: S310  # the person at the keyboard names it
            yield Finding("server", f"{place} answers {answer.status}: it takes new turns")
    except (URLError, OSError, ValueError) as error:
        yield Finding("server", f"{place}: {error}", well=False)


def _tried(name: str, well: str, look: Callable[[], Coroutine[None, None, None]]) -> Finding:
    try:
        asyncio.run(look())
    except RejoinderError as error:
        return Finding(name, str(error), well=False)
    return Finding(name, well)
