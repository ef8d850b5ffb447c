"""A process that writes is killed with SIGKILL: what was acknowledged is there, nothing is torn, the turn is ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Final

import psycopg
import pytest
from msgspec import structs

from rejoinder.messages import Message, Text
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    Durability,
    Event,
    Fenced,
    NewTurn,
    Page,
    Seal,
    TurnBegun,
)
from rejoinder.stores.postgres import PostgresConversationStore
from tests.scale import scale
from tests.stores.databases import Databases

ROUNDS: Final = scale(100, 1000)
AT_ONCE: Final = 4
"""So many processes write, and are killed, at the same time."""

TURNS: Final = 3
"""So many turns a process writes, with one commit for all of them."""

SECONDS_MAX: Final = 120.0

UNKNOWN_EXIT: Final = 255
"""What the fork server says of a process that was killed before it could write down that there is one."""

_processes: Final = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.stores.test_kill"])


def written(turn: str, number: int) -> Page:
    """The page of this number: what is in it, anybody can say who knows the number."""
    chance = random.Random(f"{turn} {number}")
    first = 3 * number
    frames = b"".join(b"data: %d %s\n\n" % (first + n, chance.randbytes(40)) for n in range(3))
    body = chance.randbytes(chance.choice((10, 2_000, 30_000)))
    return Page(
        number=number,
        first_seq=first,
        last_seq=first + 2,
        frames=frames,
        events=(Event(before=first, body=body),),
    )


def answer(turn: str) -> Message:
    return Message(
        id=f"answer of {turn}",
        role="assistant",
        parts=tuple(Text(text=f"{turn} {number}" * 50) for number in range(12)),
    )


async def _write(url: str, name: str, durability: Durability, told: Connection) -> None:
    store = PostgresConversationStore(url, connections_max=2)
    await store.open()
    for round in range(1_000_000):
        turns = [f"{name}-{round}-{number}" for number in range(TURNS)]
        claims: list[Claim] = []
        for turn in turns:
            opening = await store.begin_turn(
                NewTurn(
                    id=turn,
                    conversation_id=turn,
                    assistant_message_id=answer(turn).id,
                    owner=name,
                    lease_seconds=600,
                    tenant="default",
                    messages=(Message(id="u", role="user", parts=(Text(text=turn),)),),
                )
            )
            assert isinstance(opening, TurnBegun)
            claims.append(opening.claim)
            told.send(("begun", turn, 0))
        for number in range(8):
            appends = [
                Append(claim=claim, page=written(turn, number))
                for turn, claim in zip(turns, claims, strict=True)
            ]
            for turn, taken in zip(
                turns, await store.append_pages(appends, durability=durability), strict=True
            ):
                assert isinstance(taken, Appended)
                told.send(("page", turn, number))
        for turn, claim in zip(turns, claims, strict=True):
            await store.end_turn(
                Seal(claim=claim, status="succeeded", messages=(answer(turn),), page=written(turn, 8))
            )
            told.send(("ended", turn, 8))


def write(url: str, name: str, durability: Durability, told: Connection) -> None:
    """What the process does until it is killed."""
    asyncio.run(_write(url, name, durability, told))


def killed(url: str, name: str, durability: Durability, acknowledged: int) -> list[tuple[str, str, int]]:
    """Let a process write, kill it when it has acknowledged so much, and answer all that it acknowledged."""
    ours, theirs = _processes.Pipe(duplex=False)
    process = _processes.Process(target=write, args=(url, name, durability, theirs))
    process.start()
    theirs.close()
    heard: list[tuple[str, str, int]] = []
    with ours:
        while len(heard) < acknowledged:
            assert ours.poll(SECONDS_MAX), "it does not write"
            heard.append(ours.recv())
        process.kill()
        try:
            while True:
                heard.append(ours.recv())
        except (EOFError, OSError):
            pass
    process.join()
    assert process.exitcode in {-signal.SIGKILL, UNKNOWN_EXIT}, "it ended by itself"
    process.close()
    return heard


async def verify(store: PostgresConversationStore, heard: list[tuple[str, str, int]]) -> None:
    """All that was acknowledged is there, and what is there is whole."""
    pages: dict[str, int] = {}
    for kind, turn, number in heard:
        pages[turn] = max(pages.get(turn, 0), 0 if kind == "begun" else number + 1)
    ended = {turn for kind, turn, _ in heard if kind == "ended"}
    for turn, acknowledged in pages.items():
        seen = await store.read_pages(turn, events=True)
        assert seen.next_page == len(seen.pages) >= acknowledged
        assert list(seen.pages) == [written(turn, number) for number in range(len(seen.pages))]
        messages = [stored.message.id for stored in await store.list_messages(turn)]
        over = seen.status == "succeeded"
        assert over or turn not in ended
        assert messages == (["u", answer(turn).id] if over else ["u"])
        if over:
            stored = await store.get_message(turn, answer(turn).id)
            assert stored is not None
            assert stored.message.parts == answer(turn).parts


async def seal_what_is_left(url: str, store: PostgresConversationStore) -> None:
    """Whoever comes next ends what the killed ones left, once, and they could not write any more."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("UPDATE rejoinder.turn SET lease_until = now() - interval '1 second'")
    while claims := await store.stale_turns(owner="next", lease_seconds=60, limit=50):
        for claim in claims:
            end = (await store.read_pages(claim.turn_id)).next_page
            killed_one = structs.replace(claim, epoch=claim.epoch - 1)
            (fenced,) = await store.append_pages([Append(claim=killed_one, page=written(claim.turn_id, end))])
            assert isinstance(fenced, Fenced)
            assert fenced.reason == "stale-epoch"
            ended = await store.end_turn(Seal(claim=claim, status="interrupted"))
            assert ended.status == "interrupted"
            assert await store.live_turn(claim.conversation_id) is None


@pytest.mark.parametrize("durability", ["full", "fast"])
def test_after_kill_9_at_any_moment_all_that_was_acknowledged_is_there_and_nothing_is_torn(
    postgres: Databases, durability: Durability
) -> None:
    url = postgres.fresh()
    chance = random.Random(f"{durability} kills")
    # The pages and the seals of one round of turns are some forty acknowledgements.
    moments = [chance.randrange(120) for _ in range(ROUNDS // 2)]

    def one(number: int) -> list[tuple[str, str, int]]:
        return killed(url, f"p{number}", durability, moments[number])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        heard = list(pool.map(one, range(len(moments))))

    async def look() -> None:
        store = PostgresConversationStore(url, connections_max=2)
        await store.open()
        try:
            for each in heard:
                await verify(store, each)
            await seal_what_is_left(url, store)
            for each in heard:
                await verify(store, each)
        finally:
            await store.close()

    asyncio.run(look())
    assert sum(map(len, heard)) >= sum(moments)
