"""What a turn needs to run in a test, and how to cancel it at any of its awaits."""

from __future__ import annotations

import asyncio
import functools
import types
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from msgspec import structs

from rejoinder.engine.running import TurnLimits, carry_out
from rejoinder.engine.writer import PageWriter
from rejoinder.messages import Json, JsonObject, Message, Text, ToolCall, Turn
from rejoinder.ports.agents import Agent, AgentProtocol, Call, Stop
from rejoinder.ports.history import HistoryBuilder, HistoryBuildRequest, HistoryBuildResult
from rejoinder.ports.journal import NewTurn, Page, TurnBegun
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.testing.clock import VirtualClock
from rejoinder.translate import Emitter
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import decode_chunk

TEST_SECONDS_MAX = 120
"""A turn that hangs must fail its test."""


def asynchronous(test: Callable[..., Coroutine[Json, Json, None]]) -> Callable[..., None]:
    """Run a test that is a coroutine."""

    @functools.wraps(test)
    def run(*given: Json, **named: Json) -> None:
        async def walk() -> None:
            async with asyncio.timeout(TEST_SECONDS_MAX):
                await test(*given, **named)

        asyncio.run(walk())

    return run


class Everything:
    """A history builder that shows all there is."""

    async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
        return HistoryBuildResult(messages=[stored.message for stored in req.past or ()])


@dataclass
class Stage:
    """A store, a writer, a clock, and what was shown."""

    store: InMemoryConversationStore
    writer: PageWriter
    clock: VirtualClock
    history: HistoryBuilder = field(default_factory=Everything)
    limits: TurnLimits = field(default_factory=TurnLimits)
    shown: list[Page] = field(default_factory=list[Page])
    stop: Stop = field(default_factory=Stop)

    async def begin(self, id: str = "turn", text: str = "Hello", **changes: Json) -> TurnBegun:
        plain = NewTurn(
            id=id,
            conversation_id="chat",
            assistant_message_id=f"answer of {id}",
            owner="worker",
            lease_seconds=10,
            tenant="default",
            messages=(Message(id=f"question of {id}", role="user", parts=(Text(text=text),)),),
        )
        opening = await self.store.begin_turn(structs.replace(plain, **changes))
        assert isinstance(opening, TurnBegun)
        return opening

    async def run(self, agent: AgentProtocol, begun: TurnBegun | None = None, **more: Json) -> Turn:
        options: JsonObject = {"committed": self.shown.append, **more}
        return await carry_out(
            begun or await self.begin(),
            agent,
            store=self.store,
            writer=self.writer,
            history=self.history,
            clock=self.clock,
            stop=self.stop,
            limits=self.limits,
            **options,
        )

    async def answer(self, id: str = "turn") -> Message:
        stored = await self.store.get_message("chat", f"answer of {id}")
        assert stored is not None
        return stored.message

    async def journal(self, id: str = "turn") -> list[Chunk]:
        return chunks([page async for page in self.store.follow(id)])

    async def events(self, id: str = "turn") -> list[bytes]:
        pages = [page async for page in self.store.follow(id, events=True)]
        return [event.body for page in pages for event in page.events]


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    clock = VirtualClock()
    store = InMemoryConversationStore(clock=clock.now)
    async with PageWriter(store, clock=clock) as writer:
        yield Stage(store, writer, clock)


def chunks(pages: list[Page]) -> list[Chunk]:
    frames = b"".join(page.frames for page in pages).split(b"\n\n")
    return [decode_chunk(frame.removeprefix(b"data: ")) for frame in frames if frame]


def texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]


def calls(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


class Interrupted:
    """Runs a coroutine and cancels its task at the `at`-th place where it waits. `reached` says if there was one."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.reached = False

    async def run(self, coroutine: Coroutine[Json, Json, Json]) -> Json:
        return await self._drive(coroutine)

    @types.coroutine
    def _drive(self, coroutine: Coroutine[Json, Json, Json]) -> Generator[Json, Json, Json]:
        waits, error = 0, None
        while True:
            try:
                waited_for = coroutine.send(None) if error is None else coroutine.throw(error)
            except StopIteration as stop:
                return stop.value
            waits, error = waits + 1, None
            if waits == self.at:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                self.reached = True
            try:
                yield waited_for
            except BaseException as thrown:  # noqa: BLE001  # it belongs to the coroutine
                error = thrown


def spoken(*events: Json) -> Agent:
    """An agent whose events are notes, or texts."""

    async def run(call: Call) -> AsyncIterator[Json]:
        for number, _ in enumerate(events):
            yield number

    def translate(say: Emitter, number: Json) -> Iterable[Chunk]:
        event = events[number]
        if isinstance(event, str):
            return say.text(event)
        say.note(event)
        return ()

    return Agent("spoken", run, translate)
