"""One turn from its first event to its answer: what is shown is durable, and what an agent does wrong is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from rejoinder.engine.draft import PAGE_FRAMES_MAX
from rejoinder.fold import accumulate
from rejoinder.messages import Json, TurnError
from rejoinder.ports.agents import Agent, AgentError, Call, Run
from rejoinder.ports.history import HistoryBuildRequest, HistoryBuildResult
from rejoinder.ports.journal import Page, StoreUnavailable
from rejoinder.testing.scripted import scripted
from rejoinder.translate import Emitter
from rejoinder.wire.chunks import (
    Chunk,
    Error,
    Finish,
    Start,
    TextDelta,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from tests.engine.stage import asynchronous, calls, chunks, stage, texts


@asynchronous
async def test_an_answer_is_stored_as_it_was_shown() -> None:
    async with stage() as on:
        turn = await on.run(scripted("Hello ", "you"))
        assert turn.status == "succeeded"
        message = await on.answer()
        assert texts(message) == ["Hello you"]
        assert message.status == "complete"
        said = await on.journal()
        assert said == chunks(on.shown)
        assert isinstance(said[0], Start)
        assert isinstance(said[-1], Finish)
        assert accumulate(said).parts == message.parts
        assert await on.events() == [b'{"text":"Hello "}', b'{"text":"you"}']


@asynchronous
async def test_nothing_is_shown_before_it_is_durable_and_the_end_only_when_the_answer_is_stored() -> None:
    async with stage() as on:
        ends: list[bool] = []

        def shown(page: Page) -> None:
            log = on.store._shelves.logs["default", "turn"]  # pyright: ignore[reportPrivateUsage]  # no await may come between
            assert page in log.read(from_seq=0, from_page=0, limit=None, events=True).pages
            ended = isinstance(chunks([page])[-1], Finish)
            assert ended == (log.turn.status == "succeeded")
            ends.append(ended)

        await on.run(scripted(*[f"{n} " for n in range(500)]), committed=shown)
        assert ends[-1]
        assert len(ends) > 500 // PAGE_FRAMES_MAX


@asynchronous
async def test_chunks_for_which_somebody_waits_do_not_wait_for_more() -> None:
    async with stage() as on:
        seen: list[int] = []

        async def look(call: Call) -> None:
            await on.clock.advance()
            seen.append(len(chunks(on.shown)))

        call = ToolInputAvailable(tool_call_id="c", tool_name="t", input=1)
        await on.run(scripted(look, call, look, ToolOutputAvailable(tool_call_id="c", output=2), look))
        assert seen == [1, 2, 3]


@asynchronous
async def test_an_agent_can_wait_until_what_it_said_is_kept() -> None:
    async with stage() as on:
        kept: list[bytes] = []

        async def wait(call: Call) -> None:
            await call.kept()
            seen = await on.store.read_pages("turn", events=True)
            kept.extend(event.body for page in seen.pages for event in page.events)

        await on.run(scripted("before", wait, "after"))
        assert kept == [b'{"text":"before"}']


@asynchronous
async def test_bytes_are_kept_as_they_came_and_translated_as_they_are_kept() -> None:
    body = b'{ "b": 1e2, "a": -0.0, "a": "\\u0000", "text": "\\ud83d" }'

    async def run(call: Call) -> AsyncIterator[bytes]:
        yield body

    async with stage() as on:
        await on.run(Agent("raw", run, lambda say, event: say.text(event["text"] + "!")))
        assert await on.events() == [body]
        assert texts(await on.answer()) == ["\ud83d!"]


@asynchronous
async def test_an_agent_that_raises_fails_its_turn_and_keeps_what_it_said() -> None:
    async with stage() as on:
        turn = await on.run(scripted("so far", ValueError("secret detail")))
        assert turn.status == "failed"
        assert turn.error == TurnError(message="ValueError: secret detail", code="agent")
        message = await on.answer()
        assert texts(message) == ["so far"]
        assert message.status == "failed"
        said = await on.journal()
        assert said[-2:] == [Error(error_text="An error occurred."), Finish(finish_reason="error")]
        assert b"secret" not in b"".join(page.frames for page in on.shown)


@asynchronous
async def test_an_agent_may_say_what_the_user_is_told_of_its_failure() -> None:
    async with stage() as on:
        error = AgentError("429 from upstream", user_text="Too busy.", provider="openai")
        turn = await on.run(scripted(ExceptionGroup("both", [ValueError("x"), error])))
        assert turn.error == TurnError(message="429 from upstream", code="agent", provider="openai")
        assert Error(error_text="Too busy.") in await on.journal()


@asynchronous
async def test_a_silent_agent_gives_an_empty_answer() -> None:
    async with stage() as on:
        turn = await on.run(scripted())
        assert turn.status == "succeeded"
        assert [type(chunk).__name__ for chunk in await on.journal()] == ["Start", "Finish"]


def _running(events: Callable[[], Json]) -> Run:
    """An agent whose `run` gives this, whatever it is."""

    def run(call: Call) -> Json:
        return events()

    return run


async def _coroutine() -> list[Json]:
    return []


async def _yields(event: Json) -> AsyncIterator[Json]:
    yield event


async def _raises(*errors: BaseException) -> AsyncIterator[Json]:
    for error in errors:
        raise error
    yield


@pytest.mark.parametrize(
    ("agent", "clue"),
    [
        pytest.param(_running(_coroutine), "must `yield`", id="a coroutine"),
        pytest.param(_running(lambda: 5), "TypeError", id="no iterable"),
        pytest.param(_running(lambda: _yields(object())), "JSON cannot hold", id="an object"),
        pytest.param(_running(lambda: _yields(b'{"cut')), "not JSON", id="half a JSON text"),
        pytest.param(
            _running(lambda: _yields({"other": 1})), "KeyError", id="what its translator cannot read"
        ),
        pytest.param(
            _running(lambda: _raises(asyncio.CancelledError())), "CancelledError", id="a cancellation"
        ),
    ],
)
@asynchronous
async def test_an_agent_that_is_none_fails_its_turn_with_a_clue(agent: Run, clue: str) -> None:
    async with stage() as on:
        turn = await on.run(Agent("odd", agent, lambda say, event: say.text(event["text"])))
        assert turn.status == "failed"
        assert turn.error is not None
        assert clue in turn.error.message
        assert isinstance((await on.journal())[-1], Finish)


@asynchronous
async def test_a_malformed_event_is_kept_with_what_came_before_it() -> None:
    async def run(call: Call) -> AsyncIterator[bytes]:
        yield b'{"text":"fine"}'
        yield b'{"text":"cut \xe2\x82'

    async with stage() as on:
        turn = await on.run(Agent("cut", run, lambda say, event: say.text(event["text"])))
        assert turn.status == "failed"
        assert await on.events() == [b'{"text":"fine"}', b'{"text":"cut \xe2\x82']
        assert texts(await on.answer()) == ["fine"]


@asynchronous
async def test_a_translator_that_keeps_no_grammar_still_gives_a_legal_answer() -> None:
    def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
        yield TextDelta(id="never opened", delta="lost")
        yield TextStart(id="raw")
        yield TextDelta(id="raw", delta="kept")
        yield ToolInputStart(tool_call_id="c", tool_name="t", dynamic=True)
        yield Finish()
        yield ToolInputDelta(tool_call_id="c", input_text_delta="{")

    async with stage() as on:
        turn = await on.run(Agent("wild", scripted("go").run, translate))
        assert turn.status == "succeeded"
        assert texts(await on.answer()) == ["kept"]
        (call,) = calls(await on.answer())
        assert call.state == "output-error"
        assert accumulate(await on.journal()).parts == (await on.answer()).parts
        assert isinstance((await on.journal())[-1], Finish)


class Away:
    """A history builder whose store is out of reach for a while."""

    def __init__(self, times: int) -> None:
        self.left = times

    async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
        if self.left:
            self.left -= 1
            raise StoreUnavailable("the database is restarting")
        return HistoryBuildResult(messages=())


@pytest.mark.parametrize(("times", "status"), [(3, "succeeded"), (1000, "failed")])
@asynchronous
async def test_a_turn_waits_for_a_store_that_comes_back_before_it_asks_its_agent(
    times: int, status: str
) -> None:
    async with stage() as on:
        on.history = Away(times)
        running = asyncio.create_task(on.run(scripted("Hello")))
        for _ in range(60):
            await on.clock.advance(1)
        assert (await running).status == status
