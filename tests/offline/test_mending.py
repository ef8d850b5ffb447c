"""`rejoinder doctor --data` finds what was planted, there and nowhere else, and mends what can be mended."""

from __future__ import annotations

import asyncio
import subprocess
from typing import NamedTuple

import psycopg
import pytest

from rejoinder.stores.postgres.store import PostgresConversationStore
from rejoinder.testing.store_contract.samples import append, begin, pages, said
from tests.offline.test_checking import TURNS, plant
from tests.offline.test_erasing import everything
from tests.offline.test_replay import AGENT, rejoinder

OF_TOOLS = "(SELECT key FROM rejoinder.conversation WHERE id = 'tools')"


class Planted(NamedTuple):
    """A fault, by the statement that plants it, what is said of it, and what is done about it."""

    statement: str
    said: str
    mended: str | None


PLANTED = {
    "next seq": Planted(
        "UPDATE rejoinder.conversation SET next_seq = 1 WHERE id = 'tools'",
        "conversation tools (default): its next message would take the place 1, and there is one in 1",
        "its next message is given the place behind the last one",
    ),
    "active leaf": Planted(
        "UPDATE rejoinder.conversation SET active_leaf = 99 WHERE id = 'tools'",
        "conversation tools (default): its active branch ends in message 99, which is not there",
        "its active branch is made to end in its newest message",
    ),
    "pages without a turn": Planted(
        "INSERT INTO rejoinder.page (turn, number, first_seq, last_seq, epoch, codec, frames) "
        "SELECT 9999, n, n, n, 1, 1, 'x' FROM generate_series(0, 2) AS n",
        "3 rows of page belong to no turn",
        "they are deleted, because nobody can reach them",
    ),
    "parts without a message": Planted(
        'INSERT INTO rejoinder.part (conversation, message, "order", type, text_text) '
        "VALUES (9999, 1, 0, 'text', 'x')",
        "1 rows of part belong to no message",
        "they are deleted, because nobody can reach them",
    ),
    "messages without a conversation": Planted(
        "INSERT INTO rejoinder.message (conversation, seq, branch, id, role) VALUES (9999, 0, 0, 'x', 'user')",
        "1 rows of message belong to no conversation",
        "they are deleted, because nobody can reach them",
    ),
    "turns without a conversation": Planted(
        "INSERT INTO rejoinder.turn (conversation, tenant, id, status) VALUES (9999, 'default', 'x', 'succeeded')",
        "1 rows of turn belong to no conversation",
        "they are deleted, because nobody can reach them",
    ),
    "a message that answers nothing": Planted(
        f"UPDATE rejoinder.message SET parent = -1 WHERE seq = 1 AND conversation = {OF_TOOLS}",
        "answers message -1, which is not there",
        None,
    ),
    "a part of an answer": Planted(
        "UPDATE rejoinder.part SET text_text = 'Cold there, cold here. ' "
        f"WHERE text_text LIKE 'Cold%' AND conversation = {OF_TOOLS}",
        "TURN",
        "is made anew, as its frames and its events both say it; what stood there is the blob ",
    ),
    "a part of an answer that is lost": Planted(
        f'DELETE FROM rejoinder.part WHERE message = 1 AND "order" = 1 AND conversation = {OF_TOOLS}',
        "TURN",
        "is made anew, as its frames and its events both say it; what stood there is the blob ",
    ),
    "a part of a question that is lost": Planted(
        'UPDATE rejoinder.part SET "order" = 1 WHERE message = 0 AND conversation = ' + OF_TOOLS,
        "lacks a part: it has 1, the last in place 1",
        None,
    ),
    "the count of frames": Planted(
        f"UPDATE rejoinder.turn SET next_seq = next_seq + 5 WHERE conversation = {OF_TOOLS}",
        "TURN",
        "its journal ends where its last page does",
    ),
}


def changed_by_hand(url: str, statement: str) -> None:
    with psycopg.connect(url) as connection:
        # As a restore does it, and whoever wants to be quick.
        connection.execute("SET session_replication_role = replica")
        connection.execute(statement.encode())


def turn_of_tools(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            f"SELECT id FROM rejoinder.turn WHERE conversation = {OF_TOOLS}".encode()
        ).fetchone()
    assert row is not None
    return str(row[0])


def doctor(url: str, *options: str) -> subprocess.CompletedProcess[str]:
    return rejoinder("doctor", *AGENT, *options, database=url)


def wrong(told: str) -> list[str]:
    return [line.removeprefix("WRONG").strip() for line in told.splitlines() if line.startswith("WRONG")]


def test_nothing_is_wrong_with_turns_of_every_kind(database: str) -> None:
    told = doctor(database, "--data")
    assert (told.returncode, wrong(told.stdout), told.stderr) == (0, [], "")
    assert f"ok    data: {TURNS} turns and all rows were looked at" in told.stdout


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named_and_mended_if_it_can_be(name: str, database: str) -> None:
    planted = PLANTED[name]
    said = f"turn {turn_of_tools(database)} of conversation tools" if planted.said == "TURN" else planted.said
    changed_by_hand(database, planted.statement)
    before = everything(database)
    dry = doctor(database, "--repair", "--dry-run")
    fault, summary = wrong(dry.stdout)
    assert said in fault
    assert "1 faults are left" in summary
    assert dry.returncode == 1
    assert everything(database) == before
    told = doctor(database, "--repair")
    if planted.mended is None:
        assert told.returncode == 1
        assert "nothing can be done here" in told.stdout
        assert everything(database) == before
        return
    assert planted.mended.removesuffix("; what stood there is the blob ") in dry.stdout
    assert planted.mended in told.stdout
    assert told.returncode == 0, told.stdout
    again = doctor(database, "--data")
    assert (again.returncode, wrong(again.stdout)) == (0, [])


@pytest.mark.parametrize("fault", ["a frame", "an event", "cut frames", "cut events", "a page"])
def test_a_journal_that_was_changed_is_named_and_left_alone(fault: str, database: str) -> None:
    turn = turn_of_tools(database)
    plant(database, turn, fault)
    before = everything(database)
    told = doctor(database, "--repair")
    assert told.returncode == 1
    assert wrong(told.stdout)[0] == f"turn {turn} of conversation tools"
    assert len(wrong(told.stdout)) == 2
    assert "nothing can be done here" in told.stdout
    assert everything(database) == before


@pytest.mark.parametrize("lease", ["now() - interval '5 minutes'", "NULL"])
def test_a_turn_without_an_owner_is_sealed_with_what_it_has_said(lease: str, postgres_url: str) -> None:
    async def abandon() -> None:
        store = PostgresConversationStore(postgres_url)
        await store.open()
        begun = await begin(store, "turn", said("u"), conversation_id="chat")
        await append(store, begun.claim, *pages(1))
        await store.close()

    async def status() -> str:
        store = PostgresConversationStore(postgres_url)
        await store.open()
        turn = await store.get_turn("turn")
        await store.close()
        assert turn is not None
        return turn.status

    asyncio.run(abandon())
    changed_by_hand(postgres_url, f"UPDATE rejoinder.turn SET lease_until = {lease}")
    dry = doctor(postgres_url, "--repair", "--dry-run")
    assert "turn turn is running, and its owner has not been heard of since" in dry.stdout
    assert asyncio.run(status()) == "running"
    told = doctor(postgres_url, "--repair")
    assert told.returncode == 0, told.stdout
    assert "mended: the turn is sealed as interrupted" in told.stdout
    assert asyncio.run(status()) == "interrupted"


def test_wrong_use_and_a_database_that_is_not_there_are_one_line(postgres_empty_url: str) -> None:
    for words in (("--dry-run",), ("--data", "--database", "memory")):
        told = doctor(postgres_empty_url, *words)
        assert (told.returncode, len(told.stderr.splitlines())) == (2, 1)
    told = doctor(postgres_empty_url, "--data")
    assert told.returncode == 1
    assert "rejoinder db upgrade" in told.stdout
