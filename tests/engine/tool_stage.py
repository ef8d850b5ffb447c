"""A tool, and what becomes of a call of it in a turn of a model that follows a script."""

from __future__ import annotations

from rejoinder import ModelAgent, Tool, tool
from rejoinder.messages import Json
from rejoinder.messages.provider_message import ProviderToolResultPart
from rejoinder.ports.providers import ProviderCallParams
from rejoinder.testing.scripted_model import Calls, ScriptedModel
from rejoinder.translate.model_events import ToolFailed, is_ours, read_event
from rejoinder.wire import json
from tests.engine.stage import Stage, calls, texts


@tool
async def add(one: int, other: int) -> int:
    """Add two numbers."""
    return one + other


def results(params: ProviderCallParams) -> list[ProviderToolResultPart]:
    """What a request tells of tools."""
    return [
        part
        for message in params.messages
        for part in message.content
        if isinstance(part, ProviderToolResultPart)
    ]


async def outcome(on: Stage, given: Tool, input: Json = None) -> tuple[str, Json]:
    """How a call of a tool ends in a turn that goes on after it."""
    model = ScriptedModel(Calls(given.name, {} if input is None else input), "After all.")
    turn = await on.run(ModelAgent(model, tools=[given]))
    assert turn.status == "succeeded"
    message = await on.answer()
    assert texts(message) == ["After all."]
    (call,) = calls(message)
    (told,) = results(model.asked[1])
    if call.state == "output-available":
        assert (told.result, told.is_error) == (call.output, False)
        return call.state, call.output
    assert (told.result, told.is_error) == (call.error_text, True)
    return call.state, call.error_text


async def failures(on: Stage) -> list[ToolFailed]:
    """The failures of tools that the log holds."""
    decoded = [json.decode(event) for event in await on.events()]
    events = [read_event(event) for event in decoded if is_ours(event)]
    return [event for event in events if isinstance(event, ToolFailed)]
