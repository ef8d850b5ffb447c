"""Chunks into a journal, by many streams at once: each appends its next page when the last one is durable."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import asyncpg
import psycopg
from sqlalchemy import Identity, Text, insert
from sqlalchemy.ext.asyncio import async_sessionmaker
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from bench.stores.peers import engine_of
from rejoinder.engine.writer import PageWriter
from rejoinder.ports.journal import Appended, Claim, Event, NewTurn, Page, TurnBegun
from rejoinder.stores.postgres import PostgresConversationStore, migrate
from rejoinder.stores.postgres.packing import packed

CHUNKS: Final = 16
"""In a page: what a model says in the time of a commit, when it is fast."""

GROUP_MAX: Final = 256


class Measured(NamedTuple):
    """Chunks a second, bytes of the write-ahead log for each, and milliseconds until they were durable."""

    chunks: float
    wal: float
    p50: float
    p99: float


def page(number: int) -> Page:
    """Frames, and the events that they came from."""
    first = number * CHUNKS
    frames = b"".join(
        b'data: {"type":"text-delta","id":"t1","delta":"word %d "}\n\n' % (first + n) for n in range(CHUNKS)
    )
    events = tuple(
        Event(
            before=first + n,
            body=b'{"type":"response.output_text.delta","sequence_number":%d,"delta":"word %d "}'
            % (first + n, first + n),
        )
        for n in range(CHUNKS)
    )
    return Page(number=number, first_seq=first, last_seq=first + CHUNKS - 1, frames=frames, events=events)


class Journal(ABC):
    """Somebody who keeps a journal."""

    name: str

    @abstractmethod
    async def open(self, url: str, streams: int) -> None:
        """Get ready for so many streams."""

    @abstractmethod
    async def close(self) -> None:
        """Let go."""

    @abstractmethod
    async def append(self, stream: int, page: Page) -> None:
        """Return when the page is durable."""

    url: str
    streams: int

    async def measure(self, seconds: float) -> Measured:
        """Let the streams run."""
        waited: list[float] = []
        numbers = [0] * self.streams
        await self._run(numbers, [], min(seconds / 4, 0.5))
        with psycopg.connect(self.url, autocommit=True) as connection:
            before = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            began, start = time.perf_counter(), sum(numbers)
            await self._run(numbers, waited, seconds)
            took = time.perf_counter() - began
            chunks = (sum(numbers) - start) * CHUNKS
            written = connection.execute(
                "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s)", [before and before[0]]
            ).fetchone()
        waited.sort()
        assert written is not None
        return Measured(
            chunks / took,
            float(written[0]) / chunks,
            waited[len(waited) // 2] * 1000,
            waited[len(waited) * 99 // 100] * 1000,
        )

    async def _run(self, numbers: list[int], waited: list[float], seconds: float) -> None:
        end = time.perf_counter() + seconds

        async def stream(place: int) -> None:
            while (began := time.perf_counter()) < end:
                await self.append(place, page(numbers[place]))
                numbers[place] += 1
                waited.append(time.perf_counter() - began)

        await asyncio.gather(*(stream(place) for place in range(self.streams)))


class Stream:
    """A turn that writes one page after the other."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._pages: Sequence[Page] = ()
        self._answer: asyncio.Future[None] | None = None

    def asks(self, page: Page) -> asyncio.Future[None]:
        """What is done when the page is durable."""
        self._pages = (page,)
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def cut(self) -> Sequence[Page]:
        """The page."""
        pages, self._pages = self._pages, ()
        return pages

    def written(self, answers: Sequence[Appended]) -> None:
        """It is durable."""
        assert self._answer is not None
        self._answer.set_result(None)

    def refused(self, error: Exception) -> None:
        """It is not."""
        assert self._answer is not None
        self._answer.set_exception(error)


class Ours(Journal):
    """Rejoinder: fenced pages, one writer."""

    name = "rejoinder"

    async def open(self, url: str, streams: int) -> None:
        """Begin a turn for each stream."""
        self.url, self.streams = url, streams
        self.store = PostgresConversationStore(url, upgrade=True)
        await self.store.open()
        self.turns: list[Stream] = []
        for number in range(streams):
            id = f"journal-{streams}-{number}"
            begun = await self.store.begin_turn(
                NewTurn(
                    id=id,
                    conversation_id=id,
                    assistant_message_id="a",
                    owner="bench",
                    lease_seconds=600,
                    tenant="default",
                )
            )
            assert isinstance(begun, TurnBegun)
            self.turns.append(Stream(begun.claim))
        self.writer = PageWriter(self.store)
        await self.writer.__aenter__()

    async def close(self) -> None:
        """Let go."""
        await self.writer.__aexit__(None, None, None)
        await self.store.close()

    async def append(self, stream: int, page: Page) -> None:
        """Through the writer of the process."""
        asked = self.turns[stream].asks(page)
        self.writer.now(self.turns[stream])
        await asked


class Grouped(Journal):
    """The floor: pages of all streams in one commit, without a fence, into the same table without its turns."""

    async def open(self, url: str, streams: int) -> None:
        """Make the turns by SQL."""
        self.url, self.streams = url, streams
        migrate.upgrade(url, schema="floor")
        name = f"{self.name} {streams}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO floor.conversation (tenant, id) SELECT %s, n::text FROM generate_series(1, %s) AS n",
                [name, streams],
            )
            found = connection.execute(
                "INSERT INTO floor.turn (tenant, conversation, id, status) "
                "SELECT tenant, key, id, 'running' FROM floor.conversation WHERE tenant = %s RETURNING key",
                [name],
            ).fetchall()
        self.keys = [row[0] for row in found]
        self._waiting: deque[tuple[int, Page, asyncio.Future[None]]] = deque()
        self._wake = asyncio.Event()
        await self._connect(url)
        self._task = asyncio.create_task(self._write())

    @abstractmethod
    async def _connect(self, url: str) -> None: ...

    @abstractmethod
    async def _send(self, keys: list[int], pages: Sequence[Page], events: Sequence[bytes | None]) -> None: ...

    async def close(self) -> None:
        """Stop writing."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def append(self, stream: int, page: Page) -> None:
        """With all that gathered meanwhile."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self.keys[stream], page, answer))
        self._wake.set()
        await answer

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_MAX))]
            if not self._waiting:
                self._wake.clear()
            pages = [page for _, page, _ in group]
            await self._send([key for key, _, _ in group], pages, await packed(pages))
            for _, _, answer in group:
                answer.set_result(None)


_INSERT: Final = (
    "WITH moved AS (UPDATE floor.turn AS t SET next_page = g.number + 1, next_seq = g.last_seq + 1 "
    "FROM unnest($1::bigint[], $2::bigint[], $4::bigint[]) AS g (key, number, last_seq) WHERE t.key = g.key) "
    "INSERT INTO floor.page (turn, number, first_seq, last_seq, epoch, codec, frames, events) "
    "SELECT turn, number, first_seq, last_seq, 1, 1, frames, events FROM unnest($1::bigint[], $2::bigint[], "
    "$3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) AS p (turn, number, first_seq, last_seq, frames, events)"
)


def _columns(keys: list[int], pages: Sequence[Page], events: Sequence[bytes | None]) -> list[Any]:
    return [
        keys,
        [page.number for page in pages],
        [page.first_seq for page in pages],
        [page.last_seq for page in pages],
        [page.frames for page in pages],
        list(events),
    ]


class GroupedPsycopg(Grouped):
    """By psycopg."""

    name = "raw psycopg"

    async def _connect(self, url: str) -> None:
        self._connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, cursor_factory=psycopg.AsyncRawCursor, prepare_threshold=0
        )

    async def _send(self, keys: list[int], pages: Sequence[Page], events: Sequence[bytes | None]) -> None:
        await self._connection.execute(_INSERT, _columns(keys, pages, events))

    async def close(self) -> None:
        """Hang up."""
        await super().close()
        await self._connection.close()


class GroupedAsyncpg(Grouped):
    """By asyncpg."""

    name = "raw asyncpg"

    async def _connect(self, url: str) -> None:
        self._connection = await asyncpg.connect(url)

    async def _send(self, keys: list[int], pages: Sequence[Page], events: Sequence[bytes | None]) -> None:
        await self._connection.execute(_INSERT, *_columns(keys, pages, events))

    async def close(self) -> None:
        """Hang up."""
        await super().close()
        await self._connection.close()


class Base(DeclarativeBase):
    """What a team writes who keep the chunks of a stream."""


class ChunkRow(Base):
    """A chunk."""

    __tablename__ = "orm_chunk"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    stream: Mapped[int]
    seq: Mapped[int]
    chunk: Mapped[str] = mapped_column(Text)
    event: Mapped[str] = mapped_column(Text)


class RowPerChunk(Journal):
    """SQLAlchemy's ORM: a row for each chunk, a commit for each page."""

    name = "SQLAlchemy ORM"

    async def open(self, url: str, streams: int) -> None:
        """Make the table."""
        self.url, self.streams = url, streams
        self.engine = engine_of(url)
        self.session = async_sessionmaker(self.engine)
        self._room = asyncio.Semaphore(15)
        async with self.engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)

    async def close(self) -> None:
        """Let go."""
        await self.engine.dispose()

    async def append(self, stream: int, page: Page) -> None:
        """A bulk insert, the quickest that it has."""
        frames = page.frames.decode().split("\n\n")
        rows = [
            {"stream": stream, "seq": event.before, "chunk": frame, "event": event.body.decode()}
            for event, frame in zip(page.events, frames, strict=False)
        ]
        async with self._room, self.session.begin() as session:
            await session.execute(insert(ChunkRow), rows)


CONTENDERS: Final[tuple[type[Journal], ...]] = (Ours, GroupedPsycopg, GroupedAsyncpg, RowPerChunk)
