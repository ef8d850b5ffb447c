"""What vendors do wrong, through their own SDKs: the turn ends as it should, with everything kept that had come."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from rejoinder import ModelAgent, tool
from rejoinder.agents.anthropic import AnthropicMessages
from rejoinder.agents.openai import OpenAIChat, OpenAIResponses
from rejoinder.agents.provider import IDLE_SECONDS, InvalidSetting
from rejoinder.messages import Json, Turn
from rejoinder.ports.agents import ALIVE, Agent, Call
from rejoinder.ports.providers import ProviderAdapter
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.chunks import Error, Finish
from tests.agents.speaking import check_speech
from tests.agents.vendor_server import Reply, VendorServer, event_bytes, refused
from tests.agents.wires import KEY, VENDORS, Called, Said, answer, events, provider
from tests.engine.stage import Stage, asynchronous, calls, stage, texts

ALL = pytest.mark.parametrize("vendor", VENDORS)
PIECES = (Said("Grüße an alle."),)


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


async def check_failure(on: Stage, oracle: Oracle, turn: Turn, code: str, said: str = "") -> None:
    """The turn failed for that reason, which the client is told kindly, and what was said before is there."""
    assert turn.status == "failed"
    assert turn.error is not None
    assert turn.error.code == code, turn.error
    assert KEY not in str(turn.error)
    message = await on.answer(turn.id)
    assert message.status == "failed"
    assert "".join(texts(message)) == said
    journal = await on.journal(turn.id)
    assert isinstance(journal[-2], Error)
    assert KEY not in journal[-2].error_text
    assert journal[-1] == Finish(finish_reason="error")
    (call,) = await on.store.list_provider_calls(turn.id)
    assert call.status == "failed"
    await check_speech(on, oracle, turn.id)


def half(vendor: str) -> int:
    """So many events of an answer say the first half of it."""
    return 2 if vendor == "openai-chat" else 3


async def goes_on(on: Stage, vendor: str) -> None:
    """The conversation remains usable."""
    async with VendorServer((answer(vendor, Said("Here I am."), id="later"),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        assert (await on.run(agent, await on.begin("later"))).status == "succeeded"
        await agent.aclose()


@ALL
@asynchronous
async def test_a_refusal_for_load_is_tried_again(vendor: str, oracle: Oracle) -> None:
    busy = refused(429, {"type": "rate_limit_error", "message": "Slow down."})
    async with stage() as on, VendorServer((busy, busy, answer(vendor, *PIECES))) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        assert turn.status == "succeeded"
        assert len(server.requests) == 3
        assert texts(await on.answer()) == ["Grüße an alle."]
        assert len(await on.store.list_provider_calls("turn")) == 1
        await check_speech(on, oracle)
        await agent.aclose()


@ALL
@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (429, {"type": "rate_limit_error", "message": "Slow down."}, "provider-busy"),
        (500, {"type": "server_error", "message": "Oh no."}, "provider-unavailable"),
        (503, {"message": "Later."}, "provider-unavailable"),
        (401, {"type": "authentication_error", "message": f"No such key: {KEY}"}, "provider-credentials"),
        (
            404,
            {"type": "not_found_error", "code": "model_not_found", "message": "?"},
            "provider-unknown-model",
        ),
        (400, {"type": "invalid_request_error", "message": "What?"}, "provider-rejected"),
        (400, {"code": "context_length_exceeded", "message": "Too much."}, "provider-too-long"),
        (429, {"code": "insufficient_quota", "message": "Pay."}, "provider-quota"),
    ],
)
@asynchronous
async def test_a_refusal_fails_the_turn_with_a_reason(
    vendor: str, status: int, error: dict[str, str], code: str, oracle: Oracle
) -> None:
    async with stage() as on, VendorServer((refused(status, error),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, code)
        assert len(server.requests) == (4 if status in (429, 500, 503) else 1)
        await agent.aclose()
        await goes_on(on, vendor)


@ALL
@asynchronous
async def test_an_answer_that_stalls_fails_and_is_kept_as_far_as_it_came(vendor: str, oracle: Oracle) -> None:
    begun = answer(vendor, *PIECES)
    async with stage() as on, VendorServer((Reply(begun.pieces[: half(vendor)], fault="stall"),)) as server:
        agent = ModelAgent(provider(vendor, server.url, idle_seconds=0.2))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-stalled", "Grüße a")
        await agent.aclose()
        await goes_on(on, vendor)


@ALL
@asynchronous
async def test_a_model_that_thinks_in_silence_is_waited_for_while_its_line_is_alive(vendor: str) -> None:
    async with stage() as on, VendorServer((answer(vendor, *PIECES, fault="think"),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        assert agent.idle_seconds == IDLE_SECONDS
        alive = asyncio.Event()

        async def run(call: Call) -> AsyncIterator[Json]:
            async for event in agent.run(call):
                if event == ALIVE:
                    alive.set()
                yield event

        running = asyncio.create_task(on.run(Agent("thinker", run, agent.translate)))
        for _ in range(5):
            alive.clear()
            await alive.wait()
            await on.clock.advance(on.limits.idle_seconds - 5)
        server.heard.set()
        turn = await running
        assert turn.status == "succeeded"
        assert texts(await on.answer()) == ["Grüße an alle."]
        assert all(await on.events()), "nothing is kept of comments"
        await agent.aclose()


@ALL
@asynchronous
async def test_a_connection_that_breaks_within_a_character_loses_nothing_that_was_whole(
    vendor: str, oracle: Oracle
) -> None:
    told = answer(vendor, *PIECES).pieces
    torn = event_bytes(_with_umlaut(vendor))
    cut = torn[: torn.index("ü".encode()) + 1]
    async with stage() as on, VendorServer((Reply((*told[: half(vendor)], cut), fault="cut"),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-cut-off", "Grüße a")
        # A torn event is no event: the log holds what was whole, and ends with it.
        assert all(event.decode() for event in await on.events())
        await agent.aclose()
        await goes_on(on, vendor)


@ALL
@asynchronous
async def test_a_stream_that_ends_before_the_answer_does_is_no_success(vendor: str, oracle: Oracle) -> None:
    told = answer(vendor, *PIECES).pieces
    async with stage() as on, VendorServer((Reply(told[: half(vendor)]),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-cut-off", "Grüße a")
        await agent.aclose()


@ALL
@asynchronous
async def test_an_event_that_is_no_json_fails_the_turn_and_is_kept(vendor: str, oracle: Oracle) -> None:
    told = answer(vendor, *PIECES).pieces
    async with (
        stage() as on,
        VendorServer((Reply((*told[: half(vendor)], b"data: {oops\n\n", *told[half(vendor) :])),)) as server,
    ):
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-garbled", "Grüße a")
        assert (await on.events())[-1] == b'"{oops"'
        await agent.aclose()
        await goes_on(on, vendor)


@ALL
@asynchronous
async def test_an_error_in_the_middle_of_a_stream_fails_the_turn(vendor: str, oracle: Oracle) -> None:
    told = answer(vendor, *PIECES).pieces
    error: Json = {"type": "overloaded_error", "message": "Too much to do."}
    match vendor:
        case "openai-responses":
            event: Json = {"type": "error", "code": "rate_limit_exceeded", "message": "Too much to do."}
        case "openai-chat":
            event = {"error": {"code": "rate_limit_exceeded", "message": "Too much to do."}}
        case _:
            event = {"type": "error", "error": error}
    async with stage() as on, VendorServer((Reply((*told[: half(vendor)], event_bytes(event))),)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-busy", "Grüße a")
        await agent.aclose()


@ALL
@asynchronous
async def test_a_call_that_was_cut_off_is_not_made(vendor: str, oracle: Oracle) -> None:
    told = answer(vendor, Called("c1", "add", '{"one": 1, "other": 2}')).pieces
    async with stage() as on, VendorServer((Reply(told[: half(vendor)], fault="cut"),)) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[add])
        turn = await on.run(agent)
        await check_failure(on, oracle, turn, "provider-cut-off")
        (call,) = calls(await on.answer())
        assert call.state == "output-error"
        await agent.aclose()


@ALL
@asynchronous
async def test_a_step_that_fails_keeps_the_steps_before_it(vendor: str, oracle: Oracle) -> None:
    replies = (
        answer(vendor, Called("c1", "add", '{"one": 1, "other": 2}'), id="a1"),
        refused(400, {"type": "invalid_request_error", "message": "What?"}),
    )
    async with stage() as on, VendorServer(replies) as server:
        agent = ModelAgent(provider(vendor, server.url), tools=[add])
        turn = await on.run(agent)
        assert turn.status == "failed"
        (call,) = calls(await on.answer())
        assert call.output == 3
        recorded = await on.store.list_provider_calls("turn")
        assert [call.status for call in recorded] == ["succeeded", "failed"]
        assert turn.usage is not None
        assert turn.usage.input_tokens == 20
        await check_speech(on, oracle)
        await agent.aclose()


@asynchronous
async def test_nobody_at_the_address_fails_the_turn() -> None:
    async with VendorServer(()) as server:
        gone = server.url
    async with stage() as on:
        agent = ModelAgent(OpenAIChat("m", base_url=f"{gone}/v1", retries=0))
        turn = await on.run(agent)
        assert turn.error is not None
        assert turn.error.code == "provider-unavailable"
        await agent.aclose()


@pytest.mark.parametrize(
    ("adapter", "variable"),
    [
        (OpenAIResponses("gpt-5-mini"), "OPENAI_API_KEY"),
        (OpenAIChat("gpt-4.1"), "OPENAI_API_KEY"),
        (AnthropicMessages("claude-sonnet-5"), "ANTHROPIC_API_KEY"),
    ],
    ids=VENDORS,
)
def test_a_provider_without_a_key_says_which_one_it_wants(
    adapter: ProviderAdapter, variable: str, monkeypatch: pytest.MonkeyPatch, oracle: Oracle
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "nowhere")

    @asynchronous
    async def walk() -> None:
        async with stage() as on:
            turn = await on.run(ModelAgent(adapter))
            await check_failure(on, oracle, turn, "provider-credentials")
            assert turn.error is not None
            assert variable in turn.error.message

    walk()


@pytest.mark.parametrize("address", ["localhost:8080", "ftp://x/v1", "", "http://"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(InvalidSetting):
        OpenAIChat("m", base_url=address)


@ALL
@asynchronous
async def test_a_key_appears_in_no_log(vendor: str) -> None:
    heard: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]  # one test's ears
    logging.getLogger("rejoinder").addHandler(handler)
    reply = refused(401, {"type": "authentication_error", "message": f"No such key: {KEY}"})
    async with stage() as on, VendorServer((reply,)) as server:
        agent = ModelAgent(provider(vendor, server.url))
        await on.run(agent)
        await agent.aclose()
    logging.getLogger("rejoinder").removeHandler(handler)
    assert heard
    assert KEY not in "\n".join(heard)


def _with_umlaut(vendor: str) -> Json:
    """The event that says the second half of what is said, begun with a letter of two bytes."""
    begun = events(vendor, (Said("Grüße aüber"),))
    match vendor:
        case "openai-responses":
            return {**begun[3], "delta": "über"}
        case "openai-chat":
            return {**begun[2], "choices": [{"index": 0, "delta": {"content": "über"}}]}
        case _:
            return {**begun[3], "delta": {"type": "text_delta", "text": "über"}}
