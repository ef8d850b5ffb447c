"""Calls of a provider that are recorded once and replayed ever after."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from rejoinder.messages.provider_message import (
    ProviderMessage,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import ProviderCallMetadata, ProviderCallParams
from rejoinder.testing.cached_provider import CachedProvider, NotRecorded, digest_of
from rejoinder.testing.scripted_model import Calls, ScriptedModel, Thinks
from tests.engine.stage import asynchronous


def asked(text: str, *, call: str = "c", tenant: str = "one") -> ProviderCallParams:
    return ProviderCallParams(
        metadata=ProviderCallMetadata(provider="scripted", model="m", extensions={"ai.tenant": tenant}),
        messages=(
            ProviderMessage(role="user", content=(ProviderTextPart(text=text),)),
            ProviderMessage(role="assistant", content=(ProviderToolCallPart(call_id=call, name="look"),)),
            ProviderMessage(
                role="tool", content=(ProviderToolResultPart(call_id=call, name="look", result=1),)
            ),
        ),
    )


@asynchronous
async def test_what_was_recorded_is_replayed_without_asking(tmp_path: Path) -> None:
    model = ScriptedModel([Thinks("Hm."), "It will rain.", Calls("weather", {"city": "Ulm"})], "whole")
    recorder = CachedProvider(model, tmp_path, mode="record")
    stream = await recorder.complete_stream(asked("a"))
    events = [event async for event in stream]
    whole = await recorder.complete(asked("a"))
    silent = ScriptedModel()
    replayer = CachedProvider(silent, tmp_path)
    again = await replayer.complete_stream(asked("a", call="other", tenant="two"))
    assert [event async for event in again] == events
    assert await again.final == await stream.final
    assert await replayer.complete(asked("a")) == whole
    assert silent.asked == []
    assert (replayer.name, replayer.model) == ("scripted", "scripted-1")


@asynchronous
async def test_a_miss_fails_in_replay_and_is_recorded_in_auto(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")
    with pytest.raises(NotRecorded, match="no recording"):
        await CachedProvider(model, tmp_path).complete(asked("a"))
    auto = CachedProvider(model, tmp_path, mode="auto")
    first = await auto.complete(asked("a"))
    assert await auto.complete(asked("a")) == first
    assert (await auto.complete(asked("b"))).message.text == "two"
    assert len(model.asked) == 2


@asynchronous
async def test_a_call_that_failed_is_not_recorded(tmp_path: Path) -> None:
    auto = CachedProvider(ScriptedModel(RuntimeError("away"), "back"), tmp_path, mode="auto")
    stream = await auto.complete_stream(asked("a"))
    with pytest.raises(RuntimeError, match="away"):
        async for _ in stream:
            pass
    again = await auto.complete_stream(asked("a"))
    assert (await again.final).message.text == "back"


@asynchronous
async def test_a_recording_that_cannot_be_read_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / f"{digest_of(asked('a'))}.complete.json").write_bytes(b"[]")
    with pytest.raises(NotRecorded, match="breaks off"):
        await CachedProvider(ScriptedModel(), tmp_path).complete(asked("a"))


def test_what_differs_in_a_request_differs_in_its_digest() -> None:
    one = asked("a")
    assert digest_of(one) == digest_of(asked("a", call="x", tenant="two"))
    others = [asked("b"), structs.replace(one, max_tokens=3), structs.replace(one, settings={"seed": 1})]
    assert len({digest_of(each) for each in (one, *others)}) == 4
