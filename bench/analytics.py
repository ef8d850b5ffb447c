"""How long it takes to count what turns came to, in a database with ten million parts: two seconds at most.

A year of three tenants is made in a server of its own, in a folder that is deleted again: a million turns in a hundred
thousand conversations, each a question and an answer of nine parts with two calls of tools and of models. Then every
number is asked for by the store, through its route and by its command; what is told is the median.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
import psycopg

from bench.rows import OURS, Row, tell
from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Json
from rejoinder.ports.analytics import MEASURES, By, Measure, Span, measured
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.embedded import start, stop
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.wire.chunks import Chunk

ROOT: Final = Path(__file__).resolve().parent.parent
PARTS: Final = 10_000_000
PARTS_OF_A_TURN: Final = 10
SECONDS_MAX: Final = 2.0
TABLE: Final = "The slowest answer of each kind, over a year of ten million parts"
LAST: Final = date(2026, 11, 18)
YEAR: Final[Span] = (LAST - timedelta(days=364), LAST)
MONTH: Final[Span] = (LAST - timedelta(days=29), LAST)
BYS: Final[tuple[By, ...]] = ("day", "model", "agent", "tenant")

QUESTIONS: Final = (
    "SELECT day, status, sum(turns) FROM rejoinder.turn_days GROUP BY day, status",
    "SELECT model, sum(input_tokens), sum(cost_amount) FROM rejoinder.call_days GROUP BY model",
    "SELECT tenant, day, sum(total_tokens) FROM rejoinder.call_days GROUP BY tenant, day",
    "SELECT tool, sum(calls), sum(failed) FROM rejoinder.tool_days GROUP BY tool",
    "SELECT status, avg(duration_ms) FROM rejoinder.turn_facts WHERE created_at >= '2026-11-18 0:00Z' GROUP BY status",
    "SELECT tool, state, count(*) FROM rejoinder.tool_facts WHERE turn_id = 'turn-7' GROUP BY tool, state",
)
"""What somebody might ask of each view by hand."""

QUICK: Final = (
    "fsync = off",
    "full_page_writes = off",
    "max_wal_size = '16GB'",
    "maintenance_work_mem = '512MB'",
)
"""For as long as it is filled."""


class Asked(NamedTuple):
    """What was asked, and the seconds that the answers took."""

    what: str
    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def fill(url: str, parts: int) -> None:
    """Make the year."""
    turns = max(10, parts // PARTS_OF_A_TURN // 10 * 10)
    first = datetime(YEAR[0].year, YEAR[0].month, YEAR[0].day, tzinfo=UTC)
    step = timedelta(days=365) / turns
    values = {
        "{turns}": str(turns),
        "{first}": f"'{first.isoformat()}'",
        "{step}": f"'{step.total_seconds()} s'",
    }
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in QUICK:
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")
        # Words of ten million parts are sorted in faster at once than one by one.
        search = connection.execute("SELECT pg_get_indexdef('rejoinder.part_search'::regclass)").fetchone()
        assert search is not None
        connection.execute("DROP INDEX rejoinder.part_search")
        # What follows belongs together: there is nothing to look up.
        connection.execute("SET session_replication_role = replica")
        connection.execute("SELECT setseed(0.5)")
        year = (ROOT / "bench" / "stores" / "year.sql").read_text("utf-8").split(";\n")[:-1]
        for statement in (*year, search[0]):
            begun = time.perf_counter()
            connection.execute(functools.reduce(_put_in, values.items(), statement).encode())
            print(f"  {time.perf_counter() - begun:7.1f} s  {statement.strip().splitlines()[0]}", flush=True)
        for setting in QUICK:
            connection.execute(f"ALTER SYSTEM RESET {setting.partition(' ')[0]}".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


def _put_in(statement: str, value: tuple[str, str]) -> str:
    return statement.replace(*value)


async def ask_the_store(url: str, rounds: int) -> list[Asked]:
    """Every measure by everything, of a month and of the year, of one tenant and of all."""
    asked: list[Asked] = []
    store = PostgresConversationStore(url)
    await store.open()
    begun = time.perf_counter()
    tallied = await store.tally_days(YEAR)
    print(f"  {time.perf_counter() - begun:6.2f} s  once, to count {tallied} days that nobody has asked for")
    for measure in MEASURES:
        for by in BYS:
            for span, days in ((MONTH, "a month"), (YEAR, "a year")):
                for tenant in ("default", None):

                    async def ask(
                        measure: Measure = measure,
                        by: By = by,
                        span: Span = span,
                        tenant: str | None = tenant,
                    ) -> None:
                        assert await measured(store, measure, by, span, tenant=tenant)

                    what = f"{measure} by {by}, {days}, {tenant or 'all tenants'}"
                    asked.append(await _timed(what, ask, rounds))
    await store.close()
    return asked


async def ask_the_route(url: str, rounds: int) -> list[Asked]:
    """The routes of the default tenant, over a year."""
    chat = Chat(Agent("nobody", _run, _translate), store=url)
    asked: list[Asked] = []
    transport = httpx.ASGITransport(chat.app)
    async with chat.lifespan(), httpx.AsyncClient(transport=transport, base_url="http://bench") as http:
        for measure in MEASURES:
            path = f"/api/analytics/{measure}?from={YEAR[0]}&to={YEAR[1]}"

            async def ask(path: str = path) -> None:
                answer = await http.get(path)
                assert answer.status_code == 200, answer.text
                assert answer.json()["rows"]

            asked.append(await _timed(f"GET {path}", ask, rounds))
    return asked


def ask_the_views(url: str, rounds: int) -> list[Asked]:
    """What somebody would ask of the views by hand."""
    asked: list[Asked] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for question in QUESTIONS:

            async def ask(question: str = question) -> None:
                assert connection.execute(question.encode()).fetchall()

            asked.append(asyncio.run(_timed(question, ask, rounds)))
    return asked


def ask_the_command(url: str, rounds: int) -> list[Asked]:
    """The command, from its start to its end: all six measures."""
    asked: list[Asked] = []
    for span, days in ((MONTH, "a month"), (YEAR, "a year")):
        words = ["stats", "--by", "agent", "--json", "--from", str(span[0]), "--to", str(span[1])]

        async def ask(words: list[str] = words) -> None:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "rejoinder", *words),
                env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT / "src")},
                stdout=subprocess.DEVNULL,
            )
            assert await process.wait() == 0

        asked.append(asyncio.run(_timed(f"rejoinder {' '.join(words)}: all of it, {days}", ask, rounds)))
    return asked


async def _timed(what: str, ask: Callable[[], Awaitable[object]], rounds: int) -> Asked:
    seconds: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        await ask()
        seconds.append(time.perf_counter() - begun)
    asked = Asked(what, seconds)
    late = "  TOO LATE" if asked.median > SECONDS_MAX else ""
    print(f"  {asked.median:6.2f} s  {' '.join(what.split())}{late}", flush=True)
    return asked


def measure(url: str, rounds: int) -> None:
    """Ask for everything, and say what took longest."""
    with psycopg.connect(url) as connection:
        for table in ("part", "message", "turn", "provider_call"):
            row = connection.execute(
                "SELECT reltuples::bigint, pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE oid = %s::regclass",
                (f"rejoinder.{table}",),
            ).fetchone()
            assert row is not None
            print(f"  {row[0]:>12,} rows, {row[1]:>8}  {table}")
    asked = [
        *asyncio.run(ask_the_store(url, rounds)),
        *ask_the_views(url, rounds),
        *asyncio.run(ask_the_route(url, rounds)),
        *ask_the_command(url, rounds),
    ]
    worst = max(asked[:-2], key=lambda each: each.median)
    late = sum(each.median > SECONDS_MAX for each in asked[:-2])
    print(
        f"the slowest of {len(asked) - 2} questions takes {worst.median:.2f} s of {SECONDS_MAX:.0f} s: {worst.what}"
    )
    print(f"{late} of them take longer than that")
    tell(
        *(
            Row(table=TABLE, line=name, who=OURS, value=max(each.median for each in group), unit="s")
            for name, group in _by_kind(asked).items()
        )
    )


def _by_kind(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    """Questions by their first words: the slowest of each kind is told."""
    kinds: dict[str, list[Asked]] = {}
    for each in asked:
        head = each.what.partition(" by ")[0] if " by " in each.what else each.what.partition("?")[0]
        kinds.setdefault(f"`{' '.join(head.split())[:60]}`", []).append(each)
    return kinds


def main() -> None:
    """Start a server, fill it, and ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=int, default=PARTS, help="how many parts there shall be")
    parser.add_argument("--rounds", type=int, default=3, help="how often each question is asked")
    parser.add_argument("--url", help="a database that an earlier run has filled and kept")
    parser.add_argument("--keep", action="store_true", help="leave the server running, and say its URL")
    given = parser.parse_args()
    if given.url is not None:
        measure(given.url, given.rounds)
        return
    folder = Path(tempfile.mkdtemp(prefix="rj-"))
    folder.chmod(0o755)
    try:
        url = start(folder).url
        migrate.upgrade(url)
        fill(url, given.parts)
        measure(url, given.rounds)
        if given.keep:
            print(f"kept: {url} in {folder}")
    finally:
        if not given.keep:
            stop(folder)
            shutil.rmtree(folder)


async def _run(call: Call) -> AsyncIterator[Json]:
    yield "nobody asks it anything"


def _translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    yield from say.text(str(event))


if __name__ == "__main__":
    main()
