"""Databases of any size, with turns of every vendor in them, ended in every way.

The recorded runs are carried out once by the engine, in conversations of several turns, and then copied by the
database under other ids, tenants and times. The same seed makes the same conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from random import Random
from typing import Final, Literal, NamedTuple, TypeAlias

import psycopg
from psycopg import sql
from sqlalchemy import DateTime, Table

from rejoinder.engine.running import carry_out
from rejoinder.engine.writer import PageWriter
from rejoinder.history.budget import HistoryBudget
from rejoinder.messages import Message, Text, Turn
from rejoinder.ports.agents import Agent, Call, Stop
from rejoinder.ports.clock import SystemClock
from rejoinder.ports.journal import NewTurn, TurnBegun
from rejoinder.stores.postgres.schema import tables
from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.translate.registry import translator_of
from tests.engine.stage import Everything
from tests.translate.recorded import FOLDER
from tests.translate.test_broken_streams import RUNS, vendor_of

Ending: TypeAlias = Literal["whole", "stopped", "failed", "interrupted"]

ENDINGS: Final[tuple[Ending, ...]] = ("whole", "stopped", "failed", "interrupted")
TURNS_OF_A_CONVERSATION: Final = 5
AT_ONCE: Final = 8
COPIED: Final = ("conversation", "turn", "message", "part", "provider_call", "page")
TENANTS: Final = ("default", "acme", "brick")
COPIED_AT_ONCE: Final = 20
"""Copies that one statement makes."""


class Played(NamedTuple):
    """A recorded run, and how its turn ends: as it did, or by somebody's will behind so many of its events."""

    run: str
    ending: Ending
    events: tuple[bytes, ...]


def deck(turns: int, seed: int) -> list[Played]:
    """So many turns: every run as it was, then with the other endings, and over again."""
    random = Random(seed)
    cards: list[Played] = []
    while len(cards) < turns:
        for ending in ENDINGS:
            for run in random.sample(RUNS, len(RUNS)):
                events = (FOLDER / "events" / f"{run}.jsonl").read_bytes().splitlines()
                kept = len(events) if ending == "whole" else random.randrange(1, len(events) + 1)
                cards.append(Played(run, ending, tuple(events[:kept])))
    return cards[:turns]


def generate(url: str, messages: int, *, seed: int = 1, originals: int = 4 * len(RUNS)) -> None:
    """Fill a database that has nothing but our tables with at least so many messages, a question and an answer a turn.

    `originals` is how many turns are carried out; the others are copies.
    """
    played = deck(min(originals, -(-messages // 2)), seed)
    asyncio.run(_play(url, played))
    copy(url, -(-messages // (2 * len(played))) - 1)


async def _play(url: str, played: Sequence[Played]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)
    store, clock = PostgresConversationStore(url), SystemClock()
    await store.open()
    try:
        async with PageWriter(store, clock=clock) as writer, asyncio.TaskGroup() as group:

            async def talk(number: int, turns: Sequence[Played]) -> None:
                async with gate:
                    for place, each in enumerate(turns):
                        await _turn(store, writer, f"talk-{number}", f"{number}-{place}", each)

            for number, turns in enumerate(_batches(played)):
                group.create_task(talk(number, turns))
    finally:
        await store.close()


def _batches(played: Sequence[Played]) -> Iterator[Sequence[Played]]:
    for first in range(0, len(played), TURNS_OF_A_CONVERSATION):
        yield played[first : first + TURNS_OF_A_CONVERSATION]


async def _turn(
    store: PostgresConversationStore, writer: PageWriter, conversation: str, name: str, played: Played
) -> Turn:
    stop, vendor = Stop(), vendor_of(played.run)

    async def run(call: Call) -> AsyncIterator[bytes]:
        for event in played.events:
            yield event
        match played.ending:
            case "whole":
                return
            case "stopped":
                stop.press("enough")
                await asyncio.Event().wait()
            case "failed":
                raise RuntimeError("the vendor is gone")
            case "interrupted":
                carrying.cancel()
                await asyncio.Event().wait()

    begun = await store.begin_turn(
        NewTurn(
            id=f"turn-{name}",
            conversation_id=conversation,
            assistant_message_id=f"answer-{name}",
            owner="generator",
            lease_seconds=60,
            tenant="default",
            messages=(
                Message(id=f"question-{name}", role="user", parts=(Text(text=f"Play {played.run}."),)),
            ),
            agent=vendor,
        )
    )
    assert isinstance(begun, TurnBegun)
    carrying = asyncio.create_task(
        carry_out(
            begun,
            Agent(vendor, run, translator_of(vendor)),
            store=store,
            writer=writer,
            history=Everything(),
            clock=SystemClock(),
            stop=stop,
            budget=HistoryBudget(max_messages=1),
        )
    )
    await asyncio.wait([carrying])
    if not carrying.cancelled():
        carrying.result()
    turn = await store.get_turn(begun.turn.id)
    assert turn is not None
    assert turn.status not in ("queued", "running")
    return turn


def copy(url: str, copies: int) -> None:
    """Copy all there is so many times: an hour earlier each time, one of three tenants after the other."""
    known = {table.name: table for table in tables().metadata.tables.values()}
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT greatest((SELECT max(key) FROM rejoinder.conversation), (SELECT max(key) FROM rejoinder.turn))"
        ).fetchone()
        assert row is not None
        # What is copied belongs together: there is nothing to look up.
        connection.execute("SET session_replication_role = replica")
        for first in range(1, copies + 1, COPIED_AT_ONCE):
            last = min(first + COPIED_AT_ONCE - 1, copies)
            for name in COPIED:
                connection.execute(
                    _copying(known[name]),
                    {"step": row[0], "first": first, "last": last, "tenants": [*TENANTS]},
                )
        connection.execute("RESET session_replication_role")
        for name in ("conversation", "turn"):
            connection.execute(
                sql.SQL("SELECT setval(pg_get_serial_sequence({}, 'key'), (SELECT max(key) FROM {}))").format(
                    sql.Literal(f"rejoinder.{name}"), sql.Identifier("rejoinder", name)
                )
            )
        connection.execute("VACUUM (ANALYZE)")


def _copying(table: Table) -> sql.Composed:
    """What copies a table: its own keys and those of others are a step further for each copy."""
    keys = {"key"} | ({"conversation"} if "conversation" in table.columns else {"turn"})
    renamed = {"conversation": {"id"}, "turn": {"id", "idempotency_key"}, "message": {"turn_id"}}

    def value(name: str) -> sql.Composable:
        column = sql.Identifier("t", name)
        if name in keys:
            return sql.SQL("{} + c * %(step)s::bigint").format(column)
        if name in renamed.get(table.name, ()):
            return sql.SQL("{} || '~' || c").format(column)
        if name == "tenant":
            return sql.SQL("(%(tenants)s::text[])[1 + c %% 3]")
        if isinstance(table.columns[name].type, DateTime):
            return sql.SQL("{} - c * interval '1 hour'").format(column)
        return column

    names = [column.name for column in table.columns]
    of_originals = sql.SQL("t.{} <= %(step)s::bigint").format(
        sql.Identifier(next(n for n in names if n in keys))
    )
    return sql.SQL(
        "INSERT INTO {place} ({names}) OVERRIDING SYSTEM VALUE"
        " SELECT {values} FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS c, {place} AS t"
        " WHERE {of_originals} ORDER BY c, {order}"
    ).format(
        place=sql.Identifier("rejoinder", table.name),
        names=sql.SQL(", ").join(map(sql.Identifier, names)),
        values=sql.SQL(", ").join(map(value, names)),
        of_originals=of_originals,
        order=sql.SQL(", ").join(sql.Identifier("t", column.name) for column in table.primary_key.columns),
    )
