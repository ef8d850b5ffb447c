"""What is wrong with a turn's input is said before anything is claimed, and the conversation remains usable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rejoinder.core import (
    InMemoryConversationStore,
    ProviderCallParams,
    ProviderMessage,
    ProviderTextPart,
    ProviderToolDefinition,
    TextContentPart,
    TurnInput,
)
from rejoinder.engine.adapter_calls import events_of
from rejoinder.messages import Json
from rejoinder.ports.agents import AgentError
from rejoinder.ports.tools import InvalidTool
from tests.core.stage import PARAMS, WHEN, Whole, over, said, user
from tests.engine.stage import asynchronous

NAMELESS = ProviderCallParams(metadata=PARAMS.metadata, tools=(ProviderToolDefinition(name="a b!"),))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"tools": [sorted]}, InvalidTool),
        ({"tools": [7]}, InvalidTool),
        ({"provider_params": NAMELESS}, InvalidTool),
        ({"provider": object()}, TypeError),
    ],
    ids=["untyped", "number", "nameless", "no provider"],
)
@asynchronous
async def test_an_input_that_cannot_be_carried_out_leaves_no_turn_behind(
    changes: dict[str, Any], error: type[Exception]
) -> None:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    good: dict[str, Any] = {
        "conversation_id": "c",
        "user_messages": [user("m1", "Hi")],
        "provider": Whole(said("Hello.")),
        "provider_params": PARAMS,
    }
    async with over(store) as engine:
        with pytest.raises(error):
            await engine.run_turn(TurnInput(**{**good, **changes}))
        assert await store.list_turns("c") == []
        assert await store.list_messages("c") == []
        assert (await engine.run_turn(TurnInput(**good))).turn.status == "succeeded"


class Answering:
    """An adapter that has never heard of our classes."""

    def __init__(self, answer: Callable[[], Json]) -> None:
        self.answer = answer

    async def complete(self, params: ProviderCallParams) -> Any:
        return self.answer()


class Result:
    """An object with the fields of a result."""

    id = "r"
    created_at = WHEN
    message = ProviderMessage(role="assistant", content=(ProviderTextPart(text="Hello."),))


def plain() -> Json:
    return {
        "id": "r",
        "createdAt": "2026-05-04T00:00:00Z",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
    }


@pytest.mark.parametrize("answer", [plain, Result])
@asynchronous
async def test_a_result_is_whatever_has_its_fields(answer: Callable[[], Json]) -> None:
    store = InMemoryConversationStore()
    await store.create_conversation(id="c")
    async with over(store) as engine:
        input = TurnInput(
            conversation_id="c",
            user_messages=[user("m1", "Hi")],
            provider=Answering(answer),
            provider_params=PARAMS,
        )
        output = await engine.run_turn(input)
    assert output.assistant_messages[0].content == (TextContentPart(text="Hello."),)


@pytest.mark.parametrize("answer", [None, "Hello.", {"id": "r"}, 7], ids=str)
@asynchronous
async def test_a_result_that_is_none_is_named(answer: Json) -> None:
    events = events_of(Answering(lambda: answer), PARAMS, streams=False)
    with pytest.raises(AgentError, match=f"result is a {type(answer).__name__} and no ProviderCallResult"):
        await anext(events)
