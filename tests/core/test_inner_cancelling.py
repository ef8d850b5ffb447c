"""Every task of a turn, cancelled from outside at each place where it waits, as the end of a loop does it: the turn is
sealed, what was said of it is in its answer, and nothing runs on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from itertools import count

import pytest

from rejoinder.core import InMemoryConversationStore, TurnInput
from rejoinder.fold import accumulate
from rejoinder.messages import Json, Text, Turn
from tests.core.stage import over
from tests.core.test_cancelling import Remote, streamed, tools
from tests.engine.stage import Interrupted, chunks

ELSEWHERE = ("Remote.", "PageWriter.")
"""The store's own tasks, and the writer's of the process: a test of its own has that one."""


class Tasks:
    """Makes the tasks of a loop, and cancels one of them, by its number, at one of its awaits."""

    def __init__(self, number: int = -1, at: int = 0) -> None:
        self.names: list[str] = []
        self._number, self._at = number, at
        self._walk: Interrupted | None = None

    def __call__(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Json, Json, Json], **named: Json
    ) -> asyncio.Task[Json]:
        walk = Interrupted(self._at if len(self.names) == self._number else 0)
        if len(self.names) == self._number:
            self._walk = walk
        self.names.append(getattr(coroutine, "__qualname__", ""))
        task = asyncio.Task(walk.run(coroutine), loop=loop, **named)
        task.add_done_callback(lambda _: coroutine.close())  # one that was cancelled before it began
        return task

    @property
    def done(self) -> bool:
        """Whether the task was not cancelled, because it does not wait so often."""
        return self._walk is None or not self._walk.reached


async def carried_out(given: Callable[[], TurnInput], tasks: Tasks) -> InMemoryConversationStore:
    """The store, when all is over."""
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    loop = asyncio.get_running_loop()
    factory: Json = tasks  # its declared type is one that only functions fit
    async with asyncio.timeout(60):
        loop.set_task_factory(factory)
        try:
            async with over(Remote(store)) as engine:
                turn = asyncio.create_task(engine.run_turn(given()))
                await asyncio.gather(turn, return_exceptions=True)
        finally:
            loop.set_task_factory(None)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return store


def cancellations(given: Callable[[], TurnInput], *, writer: bool = False) -> Iterator[Tasks]:
    """Every task, at every await."""
    plain = Tasks()
    asyncio.run(carried_out(given, plain))
    assert len(plain.names) > 8
    for number, name in enumerate(plain.names):
        if name.startswith("PageWriter.") if writer else not name.startswith(ELSEWHERE):
            for at in count(1):
                tasks = Tasks(number, at)
                yield tasks
                if tasks.done:
                    break


@pytest.mark.parametrize("given", [tools, streamed])
def test_cancelled_anywhere_a_turn_is_sealed_with_what_was_said(given: Callable[[], TurnInput]) -> None:
    ended = [asyncio.run(_sealed(given, tasks)) for tasks in cancellations(given)]
    assert {turn.status for turn in ended if turn is not None} >= {"succeeded", "interrupted", "failed"}


async def _sealed(given: Callable[[], TurnInput], tasks: Tasks) -> Turn | None:
    store = await carried_out(given, tasks)
    assert await store.live_turn("c") is None
    turns = await store.list_turns("c")
    if not turns:
        return None
    told = accumulate(chunks([page async for page in store.follow(turns[0].id)]))
    answers = [stored.message for stored in await store.list_messages("c") if stored.role == "assistant"]
    kept = [part for answer in answers for part in answer.parts if isinstance(part, Text)]
    assert kept == [part for part in told.parts if isinstance(part, Text)]
    return turns[0]


@pytest.mark.parametrize("given", [tools, streamed])
def test_a_writer_that_ends_by_itself_holds_no_turn_any_more(given: Callable[[], TurnInput]) -> None:
    for tasks in cancellations(given, writer=True):
        asyncio.run(carried_out(given, tasks))
