"""Conversations in PostgreSQL: us, the bare drivers (the floor), and our peers, in one run on one machine.

    .venv/bin/python bench/store.py [--rounds 60] [--most 100000] [--journal-only]

Everybody works on the same server, which syncs its commits, in turns: in each round each has one go, so that what
the machine does beside hits all alike. A number is the median of the rounds; on a busy machine, trust the time of
processors (ours and the server's together) and not the clock. The peers live in an environment of
their own (`build/bench-venv`, from requirements/bench.txt), which is made the first time.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.rows import OURS, Row, tell  # the path comes first

if TYPE_CHECKING:
    from bench.stores.turns import Contender

ROOT: Final = Path(__file__).resolve().parent.parent
HOME: Final = ROOT / "build" / "bench-venv"
PINS: Final = ROOT / "requirements" / "bench.txt"

HISTORIES: Final = (10, 1_000, 10_000, 100_000)
STREAMS: Final = (1, 100, 1_000)

MINUTE_MS: Final = 60_000
"""LangGraph takes longer than that for one turn on a history of 100,000."""


def in_the_environment_of_the_peers() -> None:
    """Go on in an environment that has the peers, made when it is not there or not the pinned one."""
    python = HOME / "bin" / "python"
    stamp, digest = HOME / ".installed", hashlib.sha256(PINS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text("utf-8") != digest:
        print("Installing the peers (a few minutes the first time)", flush=True)
        venv.create(HOME, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(PINS)], check=True)
        stamp.write_text(digest, "utf-8")
    if Path(sys.prefix).resolve() != HOME.resolve():
        path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        os.execve(python, [str(python), *sys.argv], os.environ | {"PYTHONPATH": path})


Work: TypeAlias = dict[str, Callable[[int], Awaitable[object]]]


class Cost(NamedTuple):
    """Milliseconds of one go: by the clock, and of processors, ours and the server's together."""

    wall: float
    cpu: float


class Server:
    """The processes of the server, to be asked what they have consumed."""

    def __init__(self, postmaster: int) -> None:
        self._postmaster = postmaster

    def cpu_seconds(self) -> float:
        """Of those that work now: sessions stay from one go to the next."""
        nanoseconds = 0
        for task in Path(f"/proc/{self._postmaster}/task/{self._postmaster}/children").read_text().split():
            with contextlib.suppress(OSError):
                nanoseconds += int(Path(f"/proc/{task}/schedstat").read_text().split()[0])
        return nanoseconds / 1e9


def table(
    title: str, found: dict[str, Cost], *, notes: dict[str, str] | None = None, at: int | None = None
) -> None:
    """Print a line for each contender, and how it compares with us."""
    us = found[OURS]
    what, _, how = title.partition(": ")
    what = "A turn: keep the question, load the past, keep the answer" if at else what
    for name, cost in found.items():
        line = f"{at:,} messages" if at else how or "one"
        tell(Row(table=what, line=f"{line}, processors", who=name, value=cost.cpu, unit="ms", at=at))
        tell(Row(table=what, line=f"{line}, by the clock", who=name, value=cost.wall, unit="ms"))
    print(
        f"\n{title}\n  {'':<16}{'by the clock':>15} {'against us':>11}{'of processors':>16} {'against us':>11}"
    )
    for name, cost in found.items():
        wall, cpu = f"{cost.wall:.2f} ms", f"{cost.cpu:.2f} ms"
        ratios = ("", "") if name == OURS else (f"{cost.wall / us.wall:.2f}x", f"{cost.cpu / us.cpu:.2f}x")
        note = (notes or {}).get(name, "")
        print(f"  {name:<16}{wall:>15} {ratios[0]:>11}{cpu:>16} {ratios[1]:>11}  {note}".rstrip(), flush=True)


async def costs(work: Work, rounds: int, server: Server) -> dict[str, Cost]:
    """What each costs, by turns. Who has had a minute has no more turns."""
    taken: dict[str, list[Cost]] = {name: [] for name in work}
    for number in range(rounds):
        for name, act in work.items():
            if sum(cost.wall for cost in taken[name]) > MINUTE_MS:
                continue
            cpu, began = time.process_time() + server.cpu_seconds(), time.perf_counter()
            await act(number)
            wall = time.perf_counter() - began
            cpu = time.process_time() + server.cpu_seconds() - cpu
            taken[name].append(Cost(wall * 1000, cpu * 1000))
    return {
        name: Cost(
            statistics.median(cost.wall for cost in them[len(them) // 5 :]),
            statistics.median(cost.cpu for cost in them[len(them) // 5 :]),
        )
        for name, them in taken.items()
    }


async def compare(url: str, rounds: int, most: int, server: Server) -> None:
    """Save, load, and whole turns on histories of several lengths."""
    from bench.stores.ours import Ours, RawAsyncpg, RawPsycopg
    from bench.stores.peers import Adk, LangGraph, OpenAIAgents, SqlAlchemyOrm

    all_of_them: list[Contender] = [
        *(RawPsycopg(), RawAsyncpg(), Ours()),
        *(SqlAlchemyOrm(), OpenAIAgents(), Adk(), LangGraph()),
    ]
    for each in all_of_them:
        await each.open(url)
        await each.fill("few", 60)
    gather_statistics(url)
    saved = await costs({each.name: partial(each.save, "few") for each in all_of_them}, rounds, server)
    table("Save a turn: a question, and an answer of ten parts", saved)
    loaded = await costs({each.name: partial(_load, each) for each in all_of_them}, rounds, server)
    table("Load the last 50 messages with their parts", loaded)
    turns: dict[int, dict[str, Cost]] = {}
    for count in (count for count in HISTORIES if count <= most):
        for each in all_of_them:
            await each.fill(f"of {count}", count)
        gather_statistics(url)
        # Each begins where the other histories begin: with fifty messages to load that are alike.
        work: Work = {each.name: partial(each.turn, f"of {count}") for each in all_of_them}
        turns[count] = await costs(work, rounds, server)
        table(
            f"A turn on a history of {count:,}: keep the question, load the past, keep the answer",
            turns[count],
            at=count,
            notes={name: _growth(turns, name) for name in turns[count]},
        )
    for each in all_of_them:
        await each.close()


async def _load(contender: Contender, number: int) -> int:
    count: int = await contender.load("few")
    return count


def gather_statistics(url: str) -> None:
    """What autovacuum does within a minute of a conversation that grows: everybody's queries are planned with it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


def _growth(turns: dict[int, dict[str, Cost]], name: str) -> str:
    first, last = min(turns), max(turns)
    return "" if first == last else f"{turns[last][name].cpu / turns[first][name].cpu:.2f}x of {first:,}"


async def journals(url: str, seconds: float) -> None:
    """Append chunks as fast as they are acknowledged, for several numbers of streams."""
    from bench.stores.journals import CONTENDERS

    for streams in STREAMS:
        print(f"\nJournal, {streams:,} concurrent streams of pages of 16 chunks")
        best = 0.0
        for make in CONTENDERS:
            contender = make()
            await contender.open(url, streams)
            found = await contender.measure(seconds)
            await contender.close()
            best = found.chunks if contender.name == "rejoinder" else best
            tell(
                Row(
                    table="Chunks appended to the journal, synced",
                    line=f"{streams:,} streams",
                    who=contender.name,
                    value=found.chunks,
                    unit="chunks/s",
                    more_is_better=True,
                    at=streams,
                )
            )
            ratio = f"{found.chunks / best:6.2f}x of ours" if best and contender.name != "rejoinder" else ""
            print(
                f"  {contender.name:<18} {found.chunks:10,.0f} chunks/s {found.wal:8.0f} WAL bytes/chunk "
                f"p50 {found.p50:7.2f} ms p99 {found.p99:7.2f} ms {ratio}".rstrip(),
                flush=True,
            )


def main() -> None:
    """Start a server, and let them run."""
    in_the_environment_of_the_peers()
    from rejoinder.stores.postgres.embedded import start, stop

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=60, help="how often each has a go")
    parser.add_argument("--most", type=int, default=max(HISTORIES), help="leave out longer histories")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a journal is written")
    parser.add_argument("--journal-only", action="store_true", help="leave out everything else")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rj-"))
    folder.chmod(0o755)
    try:
        running = start(folder)
        url = running.url
        if not given.journal_only:
            asyncio.run(compare(url, given.rounds, given.most, Server(running.pid)))
        asyncio.run(journals(url, given.seconds))
    finally:
        stop(folder)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
