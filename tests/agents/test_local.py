"""A real model, in this process: it streams an answer, and knows in the next one what was said before."""

from __future__ import annotations

from pathlib import Path

import pytest

from rejoinder import ModelAgent
from rejoinder.agents.local import local_model
from rejoinder.agents.provider import InvalidSetting
from rejoinder.translate import Translation
from rejoinder.wire import json
from rejoinder.wire.chunks import TextDelta
from tests.engine.stage import asynchronous, stage, texts


@asynchronous
async def test_a_real_model_answers_twice_and_the_second_time_it_knows_the_first() -> None:
    agent = ModelAgent(local_model(settings={"temperature": 0, "max_tokens": 24}))
    async with stage() as on:
        try:
            first = await on.begin("first", text="The secret word is banana.")
            turn = await on.run(agent, first)
            assert turn.status == "succeeded", turn.error
            assert "".join(texts(await on.answer("first"))).strip()
            deltas = [chunk for chunk in await on.journal("first") if isinstance(chunk, TextDelta)]
            assert len(deltas) > 3, "it came in pieces"
            (call,) = await on.store.list_provider_calls("first")
            assert (call.provider, call.model, call.status) == ("local", "smollm2", "succeeded")
            assert call.usage is not None
            assert call.usage.output_tokens

            second = await on.begin("second", text="What is the secret word?")
            turn = await on.run(agent, second)
            assert turn.status == "succeeded", turn.error
            assert "banana" in "".join(texts(await on.answer("second")))
            (again,) = await on.store.list_provider_calls("second")
            assert again.usage is not None
            assert (again.usage.input_tokens or 0) > (call.usage.input_tokens or 0) + call.usage.output_tokens

            translation = Translation(agent.translate, message_id="answer of second")
            said = [*translation.begin()]
            for event in await on.events("second"):
                said += translation.event(json.decode(event))
            assert [*said, *translation.end()] == await on.journal("second")
        finally:
            await agent.aclose()


def test_weights_that_are_not_there_are_missed_before_the_first_call() -> None:
    with pytest.raises(InvalidSetting):
        local_model(Path("nowhere.gguf"))
