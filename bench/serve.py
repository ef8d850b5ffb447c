"""Streams, served: us with each store, `ai@7` in Node and Pydantic AI under uvicorn, in one run on one machine.

`ai@7` comes twice. As a chat, the way its documentation builds one that keeps its answers (`streamText`,
`consumeStream`, messages stored `onEnd`): it does what we do, and is what we are held against. And as chunks that are
written by hand and kept by nobody: the least that can be streamed with it.

    .venv/bin/python bench/serve.py [--streams 1000] [--words 200] [--pause 20] [--held 10000]

All say the same words: as fast as they can (`burst`), and so far apart as a model does (`paced`). A word is the time
at which it is said, so whoever reads it knows how late it comes. The clients are a process of their own, and what
they cost is nobody's. A rate is chunks by the seconds of processors that the server took, its kernel time included;
of D2, what the database took is told beside it. On a machine that others use, the clock on the wall and how late a word
comes tell of them, too: compare within one run. uvicorn runs as it is installed here, without uvloop and httptools.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import msgspec  # noqa: E402  # the path comes first

from bench import rows  # noqa: E402
from bench.rows import Row, tell  # noqa: E402
from bench.serving.load import Found, Order  # noqa: E402
from bench.serving.servers import Contender, Server, contenders, cpu_seconds, family, serving  # noqa: E402

LATE_STREAMS: Final = 100
"""So many at a time are asked how late their words come: a server that is full tells of queues only."""

LATE_PAUSE_MS: Final = 50

SPARE_FILES: Final = 500
"""Files that a process needs beside its connections."""

HELD_PAUSE_MS: Final = 3_600_000
"""A stream that is held says one word, and the next an hour later."""

OURS: Final = "memory, granian"
DURABLE: Final = "D2, granian"
NODE_CHAT: Final = "Node, ai@7, a chat"
NODE_CHUNKS: Final = "Node, ai@7, chunks"
PYDANTIC_AI: Final = "Pydantic AI, uvicorn"


class Size(NamedTuple):
    """How much is asked of each."""

    streams: int
    words: int
    pause_ms: int
    held: int
    late_streams: int = LATE_STREAMS


class Score(NamedTuple):
    """What one of them did. `rate` is chunks a second of one processor; times are in milliseconds."""

    burst: float
    paced: float
    wall: float
    database: float
    first_p50: float
    late_p50: float
    late_p99: float
    held: int
    held_kib: float
    failed: int


def clients(order: Order) -> subprocess.Popen[str]:
    """The clients, at work."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.serving.load"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(order).decode() + "\n")
    process.stdin.flush()
    return process


def loaded(order: Order) -> Found:
    """What the clients found, once all streams have ended."""
    said, _ = clients(order).communicate()
    return msgspec.json.decode(said, type=Found)


@contextlib.contextmanager
def holding(order: Order) -> Generator[Found]:
    """The streams that are open, and stay so within."""
    process = clients(order)
    assert process.stdout is not None
    try:
        yield msgspec.json.decode(process.stdout.readline(), type=Found)
    finally:
        process.communicate()


def percentile(times: Sequence[float], share: float) -> float:
    """In milliseconds."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else float("nan")


def measured(contender: Contender, size: Size, *, postmaster: int | None = None) -> Score:
    """One of them."""

    def of_database() -> float:
        durable = postmaster is not None and contender.store != "memory" and contender.store is not None
        return sum(map(cpu_seconds, family(postmaster))) if durable and postmaster is not None else 0.0

    # Two that share a database must not find each other's turns: the same request again is the same answer again.
    run = re.sub(r"\W+", "-", contender.name)
    with serving(contender) as server:
        # What is loaded and compiled with the first requests is not what a stream costs.
        warm = loaded(Order(port=server.port, streams=20, words=20, pause_ms=0, run=f"{run}-warm"))
        burst, fast = _rate(server, Order(server.port, size.streams, size.words, 0, f"{run}-burst"))
        before = of_database()
        paced, slow = _rate(
            server, Order(server.port, size.streams, size.words, size.pause_ms, f"{run}-paced")
        )
        database = of_database() - before
        few = loaded(
            Order(server.port, size.late_streams, min(size.words, 100), LATE_PAUSE_MS, f"{run}-late")
        )
        empty = server.resident_kib()
        with holding(Order(server.port, size.held, 2, HELD_PAUSE_MS, f"{run}-held", hold=True)) as open_now:
            full = server.resident_kib()
    held = size.held - open_now.failed
    return Score(
        burst=burst,
        paced=paced,
        wall=slow.chunks / slow.seconds,
        database=database,
        first_p50=percentile(few.first, 0.5),
        late_p50=percentile(few.latency, 0.5),
        late_p99=percentile(few.latency, 0.99),
        held=held,
        held_kib=(full - empty) / max(held, 1),
        failed=sum(found.failed for found in (warm, fast, slow, few, open_now)),
    )


def _rate(server: Server, order: Order) -> tuple[float, Found]:
    before = server.cpu_seconds()
    found = loaded(order)
    # A clock that ticks a hundred times a second may not have moved.
    return found.chunks / max(server.cpu_seconds() - before, 0.01), found


def table(scores: dict[str, Score]) -> None:
    """A line for each."""
    print(
        f"\n{'':<22}{'chunks/s of a processor':>31}{'by the':>9}{'first':>9}{'a word is late':>18}{'a held':>11}"
    )
    print(f"{'':<22}{'burst':>15}{'paced':>16}{'clock':>9}{'chunk':>9}", end="")
    print(f"{'p50':>9}{'p99':>9}{'stream':>11}{'held':>7}{'failed':>8}")
    for name, score in scores.items():
        print(
            f"{name:<22}{score.burst:>15,.0f} {score.paced:>15,.0f} {score.wall:>8,.0f}"
            f"{score.first_p50:>6.0f} ms{score.late_p50:>6.1f} ms{score.late_p99:>6.1f} ms"
            f"{score.held_kib:>7.1f} KiB{score.held:>7,}{score.failed:>8}"
        )
        if score.database:
            print(f"{'':<22}(of D2, paced: {score.database:.1f} s of processors in the database)")


def figures(scores: dict[str, Score]) -> list[tuple[str, float, float, bool]]:
    """What was promised (DESIGN: figures), what was found, the bound, and whether it is met."""

    def ratio(what: Callable[[Score], float], name: str, other: str) -> float:
        return what(scores[name]) / what(scores[other])

    at_least = [
        ("burst, memory store against a chat in Node", ratio(lambda s: s.burst, OURS, NODE_CHAT), 5.0),
        ("paced, memory store against a chat in Node", ratio(lambda s: s.paced, OURS, NODE_CHAT), 5.0),
        ("burst, memory store against Pydantic AI", ratio(lambda s: s.burst, OURS, PYDANTIC_AI), 2.0),
        ("paced, memory store against Pydantic AI", ratio(lambda s: s.paced, OURS, PYDANTIC_AI), 2.0),
        ("D2 against memory store, chunks by the clock", ratio(lambda s: s.wall, DURABLE, OURS), 0.7),
    ]
    ours, durable = scores[OURS], scores[DURABLE]
    at_most = [
        ("KiB of a held stream, memory store", ours.held_kib, 60.0),
        ("p50 ms that D2 adds", durable.late_p50 - ours.late_p50, 15.0),
        ("p99 ms that D2 adds", durable.late_p99 - ours.late_p99, 50.0),
    ]
    return [
        *((what, found, bound, found >= bound) for what, found, bound in at_least),
        *((what, found, bound, found <= bound) for what, found, bound in at_most),
    ]


def report(scores: dict[str, Score]) -> None:
    """The table, and how far from the figures it is."""
    table(scores)
    if {OURS, DURABLE, NODE_CHAT, NODE_CHUNKS, PYDANTIC_AI} <= scores.keys():
        print()
        for what, found, bound, met in figures(scores):
            print(f"{what:<48}{found:>9.2f}  (figure: {bound:g})  {'met' if met else 'NOT MET'}")
        ours, chunks = scores[OURS], scores[NODE_CHUNKS]
        print("and against chunks in Node, which nobody keeps: ", end="")
        print(f"burst {ours.burst / chunks.burst:.2f}, paced {ours.paced / chunks.paced:.2f}")


def told(scores: dict[str, Score], streams: int) -> None:
    """The same for whoever started us."""
    for name, score in scores.items():
        for what, value, unit in (
            ("Chunks that a processor serves in a second, as fast as they can", score.burst, "chunks/s"),
            ("Chunks that a processor serves in a second, paced as by a model", score.paced, "chunks/s"),
            ("How late a word is, 99 of 100", score.late_p99, "ms"),
            ("Memory of a stream that is open and silent", score.held_kib, "KiB"),
        ):
            more = unit == "chunks/s"
            ours = name.startswith(("memory", "D2"))
            who = rows.OURS if name == OURS else f"{rows.OURS}, {name}" if ours else name
            line = f"{streams:,} streams"
            tell(Row(table=what, line=line, who=who, value=value, unit=unit, more_is_better=more, at=streams))


def compare(url: str, size: Size, *, postmaster: int | None, only: str = "") -> dict[str, Score]:
    """Everybody, one after the other."""
    scores: dict[str, Score] = {}
    for contender in contenders(url):
        if only in contender.name:
            print(f"{contender.name} ...", flush=True)
            scores[contender.name] = measured(contender, size, postmaster=postmaster)
    return scores


def main() -> None:
    """Start a database, and let them run."""
    from rejoinder.stores.postgres import migrate
    from rejoinder.stores.postgres.embedded import start, stop

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=1000, help="at a time")
    parser.add_argument("--words", type=int, default=200, help="of each stream")
    parser.add_argument("--pause", type=int, default=20, help="milliseconds between two words")
    parser.add_argument("--held", type=int, default=10_000, help="streams that are open and silent")
    parser.add_argument(
        "--late", type=int, default=LATE_STREAMS, help="streams that are asked how late they are"
    )
    parser.add_argument("--only", default="", help="contenders whose name holds this")
    given = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = min(given.held, hard - SPARE_FILES)
    if held < given.held:
        print(
            f"{held:,} streams are held, not {given.held:,}: a process may open {hard:,} files here ({soft:,} before)"
        )
    print(f"load of the machine, 1, 5 and 15 minutes: {os.getloadavg()}, {os.cpu_count()} processors")
    folder = Path(tempfile.mkdtemp(prefix="rj-"))
    folder.chmod(0o755)
    try:
        running = start(folder)
        migrate.upgrade(running.url)
        size = Size(given.streams, given.words, given.pause, held, given.late)
        scores = compare(running.url, size, postmaster=running.pid, only=given.only)
        report(scores)
        told(scores, given.streams)
    finally:
        stop(folder)
        shutil.rmtree(folder)
    print(f"load of the machine afterwards: {os.getloadavg()}")


if __name__ == "__main__":
    main()
