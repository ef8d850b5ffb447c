"""What the commands promise, on a database with turns of every vendor: a few hundred messages, at night 100,000."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import msgspec
import psycopg
import pytest
from msgspec import structs

from rejoinder.offline.checking import EVER, Check, check_all
from rejoinder.offline.exporting import digest_of, export_lines
from rejoinder.offline.known import translators_of
from rejoinder.ports.analytics import Measure, Row, measured
from rejoinder.stores.postgres.archive import PostgresArchive
from rejoinder.stores.postgres.packing import pack_events, unpacked
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.offline.generated import ENDINGS, generate
from tests.offline.measured import MEASURED
from tests.offline.test_replay import ROOT, rejoinder
from tests.scale import scale
from tests.stores.databases import Databases
from tests.translate.test_broken_streams import RUNS, vendor_of

MESSAGES: Final = scale(2 * len(RUNS) * len(ENDINGS), 100_000)
VENDORS: Final = sorted({vendor_of(run) for run in RUNS})
WORD: Final = re.compile(r"[A-Za-z]{4,}")
ENDED: Final = ("succeeded", "failed", "cancelled", "interrupted", "waiting")

GROWTH_MIB_MAX: Final = 32
"""What a peak may vary by: a batch is of 4 MiB, and lies in memory in several forms."""

FAULT: Final = b"Xyzzy"
SEEN_FROM: Final = {
    "frame": {"from its frames"},
    "event": {"from its events"},
    "part": {"from its frames", "from its events"},
}
"""Where a fault can be planted, and what differs from the stored message then."""


@pytest.fixture(scope="module")
def large(postgres: Databases) -> str:
    """A database of that size."""
    url = postgres.fresh()
    generate(url, MESSAGES)
    return url


def test_nothing_differs_in_turns_of_every_vendor(large: str) -> None:
    told = rejoinder("replay", "--check", database=large)
    assert told.returncode == 0, told.stderr[-2000:]
    found = re.fullmatch(r"(\d+) turns checked, 0 differ\n", told.stdout)
    assert found is not None, told.stdout
    assert int(found[1]) * 2 >= MESSAGES


def test_faults_in_a_frame_an_event_and_a_part_name_exactly_their_turns(large: str) -> None:
    planted: dict[str, str] = {}
    with psycopg.connect(large) as connection:
        for vendor in VENDORS:
            for fault, spoken in zip(SEEN_FROM, said(connection, vendor), strict=False):
                plant(connection, fault, spoken)
                planted[spoken.turn_id] = fault
    assert len(planted) == len(SEEN_FROM) * len(VENDORS)
    found = {check.turn_id: check for check in asyncio.run(differing(large))}
    assert {*found} == {*planted}
    for turn, fault in planted.items():
        assert {each.path.partition(":")[0] for each in found[turn].differences} == SEEN_FROM[fault]


async def differing(url: str) -> list[Check]:
    store = PostgresConversationStore(url)
    await store.open()
    try:
        tenants = await store.list_tenants()
        checks = check_all(store, tenants=tenants, translators=translators_of())
        return [check async for check in checks if check.differences]
    finally:
        await store.close()


class Said(NamedTuple):
    """A word of an answer, which stands in its parts, in its frames and in its events."""

    turn: int
    turn_id: str
    word: bytes


def said(connection: psycopg.Connection, vendor: str) -> Iterator[Said]:
    """Words of different turns of a vendor."""
    texts = connection.execute(
        "SELECT t.key, t.id, string_agg(p.text_text, ' ') FROM rejoinder.turn AS t"
        " JOIN rejoinder.message AS m ON m.conversation = t.conversation AND m.id = t.message_id"
        " JOIN rejoinder.part AS p ON p.conversation = m.conversation AND p.message = m.seq AND p.type = 'text'"
        " WHERE t.agent = %s AND t.status <> 'interrupted' GROUP BY t.key, t.id ORDER BY t.key LIMIT 100",
        (vendor,),
    ).fetchall()
    for turn, turn_id, text in texts:
        pages = connection.execute(
            "SELECT frames, codec, events FROM rejoinder.page WHERE turn = %s", (turn,)
        )
        frames, events = b"", b""
        for some, codec, packed in pages:
            frames += some
            events += b"".join(event.body for event in unpacked(codec, packed))
        words = (word.encode() for word in WORD.findall(text))
        word = next((word for word in words if word in frames and word in events), None)
        if word is not None:
            yield Said(turn, turn_id, word)


def plant(connection: psycopg.Connection, fault: str, spoken: Said) -> None:
    """Change that word in one of the places where it stands."""
    if fault == "part":
        connection.execute(
            "UPDATE rejoinder.part SET text_text = replace(text_text, %s, %s) FROM rejoinder.turn AS t"
            " JOIN rejoinder.message AS m ON m.conversation = t.conversation AND m.id = t.message_id"
            " WHERE t.key = %s AND part.conversation = m.conversation AND part.message = m.seq",
            (spoken.word.decode(), FAULT.decode(), spoken.turn),
        )
        return
    pages = connection.execute(
        "SELECT number, codec, frames, events FROM rejoinder.page WHERE turn = %s", (spoken.turn,)
    ).fetchall()
    for number, codec, frames, packed in pages:
        events = unpacked(codec, packed)
        if fault == "event":
            events = tuple(
                structs.replace(each, body=each.body.replace(spoken.word, FAULT)) for each in events
            )
        connection.execute(
            "UPDATE rejoinder.page SET frames = %s, events = %s WHERE turn = %s AND number = %s",
            (
                frames.replace(spoken.word, FAULT) if fault == "frame" else frames,
                pack_events(events) if events else None,
                spoken.turn,
                number,
            ),
        )


@pytest.fixture(scope="module")
def small(postgres: Databases) -> str:
    """A quarter of it."""
    url = postgres.fresh()
    generate(url, MESSAGES // 4, originals=MESSAGES // 8)
    return url


def test_exports_and_imports_are_equal_and_take_no_more_memory_for_four_times_as_much(
    large: str, small: str, postgres: Databases, tmp_path: Path
) -> None:
    peaks: dict[str, list[int]] = {}
    for url, folder in ((small, tmp_path / "small"), (large, tmp_path / "large")):
        other = postgres.fresh()
        for database, words in (
            (url, ("export", str(folder))),
            (url, ("export", f"{folder}-tables", "--format", "parquet")),
            (other, ("import", "--from", "rejoinder", str(folder))),
        ):
            peaks.setdefault(words[0] + words[-1][:3], []).append(peak_mib(database, *words))
        assert digest_of(PostgresArchive(other)).digest == digest_of(PostgresArchive(url)).digest
    for small_mib, large_mib in peaks.values():
        assert large_mib < 200
        assert large_mib < small_mib + GROWTH_MIB_MAX


def test_large_contents_are_not_all_in_memory_at_once(postgres: Databases, tmp_path: Path) -> None:
    peaks: list[tuple[int, int]] = []
    for count in (4, 64):
        url, other, folder = postgres.fresh(), postgres.fresh(), str(tmp_path / str(count))
        asyncio.run(blobs(url, count))
        peaks.append(
            (
                peak_mib(url, "export", folder),
                peak_mib(other, "import", "--from", "rejoinder", folder),
            )
        )
    few, many = peaks
    assert many[0] < few[0] + GROWTH_MIB_MAX
    assert many[1] < few[1] + GROWTH_MIB_MAX


async def blobs(url: str, count: int) -> None:
    """So many contents of a megabyte."""
    store = PostgresConversationStore(url)
    await store.open()
    try:
        for number in range(count):
            await store.put_blob(Random(number).randbytes(1 << 20), media_type="application/octet-stream")
    finally:
        await store.close()


def peak_mib(url: str, *words: str) -> int:
    """Run a command, and answer how much memory it had at most."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr.splitlines()[-1]) // 1024


def test_numbers_are_what_one_counts_by_hand(large: str, tmp_path: Path) -> None:
    """Counted in plain Python over the lines of an export."""
    export_lines(PostgresArchive(large), tmp_path, tenant=None)
    turns = {row["id"]: row for row in lines(tmp_path / "turn.jsonl")}
    statuses = Counter((row.get("agent"), row["status"]) for row in turns.values())
    found = counted(large, "turns")
    assert {(row.key, status): getattr(row, status) for row in found for status in ENDED} == {
        (vendor, status): statuses[vendor, status] for vendor in VENDORS for status in ENDED
    }
    tokens: Counter[str] = Counter()
    for call in lines(tmp_path / "provider_call.jsonl"):
        tokens[turns[call["turn_id"]]["agent"]] += call.get("output_tokens", 0)
    assert {row.key: row.output for row in counted(large, "tokens") if row.output} == +tokens
    of_messages = {
        (row["conversation_id"], row["seq"]): row.get("turn_id") for row in lines(tmp_path / "message.jsonl")
    }
    tools: Counter[tuple[str, str]] = Counter()
    for part in lines(tmp_path / "part.jsonl"):
        if "tool_name" in part:
            turn = of_messages[part["conversation_id"], part["message"]]
            tools[turns[turn]["agent"], part["tool_name"]] += 1
    assert {(row.key, row.tool): row.calls for row in counted(large, "tools")} == tools


def lines(file: Path) -> Iterator[Any]:
    with file.open("rb") as opened:
        for line in opened:
            yield msgspec.json.decode(line)


def counted(url: str, measure: Measure) -> Sequence[Any]:
    async def count() -> Sequence[Row]:
        store = PostgresConversationStore(url)
        await store.open()
        try:
            return await measured(store, measure, "agent", EVER, tenant=None)
        finally:
            await store.close()

    return asyncio.run(count())
