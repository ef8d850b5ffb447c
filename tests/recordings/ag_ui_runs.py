"""Runs over AG-UI: of Pydantic AI through its adapter, and of a server of one's own that has all of the protocol.

python -m tests.recordings.ag_ui_runs
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ag_ui import core
from ag_ui._generated.models import ReplaceOperation
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models import Model
from pydantic_ai.ui.ag_ui import AGUIAdapter

from rejoinder.messages import Json
from tests.agents.vendor_server import Reply, VendorServer
from tests.agents.wires import Called, Said, Thought, answer
from tests.recordings.plain import keep
from tests.recordings.pydantic_ai_runs import model, with_approval, with_tools

RUN: Final[dict[str, Any]] = {"thread_id": "t1", "run_id": "r1"}


def asked(text: str) -> core.RunAgentInput:
    """A request for a run."""
    return core.RunAgentInput(
        thread_id="t1",
        run_id="r1",
        state=None,
        messages=[core.UserMessage(id="u1", content=text)],
        tools=[],
        context=[],
        forwarded_props=None,
    )


def written(events: Iterable[core.BaseEvent]) -> list[Json]:
    """The events as they stand on the wire."""
    return [event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in events]


async def pydantic_ai(
    name: str, make: Callable[[Model], Agent[None, Any]], prompt: str, replies: Sequence[Reply], vendor: str
) -> None:
    """A run of Pydantic AI, as its adapter tells it."""
    async with VendorServer(replies) as server:
        adapter = AGUIAdapter(make(model(vendor, server.url)), run_input=asked(prompt))
        keep(name, written([event async for event in adapter.run_stream()]))


def everything() -> list[core.BaseEvent]:
    """A run that uses what the protocol has: steps, state, activities, subagents, chunks, a history, custom events."""
    return [
        core.RunStartedEvent(**RUN, protocol_version="1.0"),
        core.StateSnapshotEvent(snapshot={"plan": ["look"], "done": 0}),
        core.StepStartedEvent(step_name="look"),
        core.ReasoningStartEvent(message_id="g1"),
        core.ReasoningMessageStartEvent(message_id="g1"),
        core.ReasoningMessageContentEvent(message_id="g1", delta="Two "),
        core.ReasoningMessageContentEvent(message_id="g1", delta="cities."),
        core.ReasoningMessageEndEvent(message_id="g1"),
        core.ReasoningEncryptedValueEvent(subtype="message", entity_id="g1", encrypted_value="signed"),
        core.ReasoningEndEvent(message_id="g1"),
        core.TextMessageChunkEvent(message_id="m1", role="assistant", delta="One "),
        core.TextMessageChunkEvent(delta="moment."),
        core.ToolCallChunkEvent(
            tool_call_id="c1", tool_call_name="get_weather", parent_message_id="m1", delta='{"ci'
        ),
        core.ToolCallChunkEvent(delta='ty":"Paris"}'),
        core.ToolCallStartEvent(tool_call_id="c2", tool_call_name="get_weather", parent_message_id="m1"),
        core.ToolCallStartEvent(tool_call_id="c3", tool_call_name="now", parent_message_id="m1"),
        core.ToolCallArgsEvent(tool_call_id="c2", delta='{"city":'),
        core.ToolCallEndEvent(tool_call_id="c3"),
        core.ToolCallArgsEvent(tool_call_id="c2", delta='"Oslo"}'),
        core.ToolCallEndEvent(tool_call_id="c2"),
        core.ToolCallResultEvent(message_id="t2", tool_call_id="c2", content="3 degrees"),
        core.ToolCallResultEvent(message_id="t1", tool_call_id="c1", content='{"degrees":18}'),
        core.ToolCallResultEvent(message_id="t3", tool_call_id="c3", content=[core.TextPart(text="noon")]),
        core.StateDeltaEvent(delta=[ReplaceOperation(path="/done", value=1)]),
        core.StepFinishedEvent(step_name="look"),
        core.StepStartedEvent(step_name="write"),
        core.SubagentStartedEvent(subagent_run_id="s1", name="writer"),
        core.TextMessageStartEvent(message_id="m2", role="assistant", subagent_run_id="s1"),
        core.TextMessageContentEvent(message_id="m2", delta="18 in Paris, ", subagent_run_id="s1"),
        core.TextMessageContentEvent(message_id="m2", delta="3 in Oslo.", subagent_run_id="s1"),
        core.TextMessageEndEvent(message_id="m2", subagent_run_id="s1"),
        core.SubagentFinishedEvent(subagent_run_id="s1", outcome=core.SubagentFinishedSuccessOutcome()),
        core.ActivitySnapshotEvent(message_id="a1", activity_type="SEARCH", content={"found": 1}),
        core.ActivityDeltaEvent(
            message_id="a1", activity_type="SEARCH", patch=[ReplaceOperation(path="/found", value=2)]
        ),
        core.CustomEvent(name="mood", value={"sky": "fair"}),
        core.RawEvent(event={"of": "somebody else"}),
        history(),
        core.StepFinishedEvent(step_name="write"),
        core.RunFinishedEvent(
            **RUN,
            outcome=core.RunFinishedSuccessOutcome(),
            usage=[core.TokenUsage(provider="openai", model="gpt-4.1", input_tokens=20, output_tokens=9)],
        ),
    ]


def history() -> core.BaseEvent:
    """All messages, those that were streamed and one that was not."""
    return core.MessagesSnapshotEvent(
        messages=[
            core.UserMessage(id="u1", content="Weather?"),
            core.AssistantMessage(
                id="m1",
                content="One moment.",
                tool_calls=[
                    core.ToolCall(
                        id="c1",
                        function=core.FunctionCall(name="get_weather", arguments='{"city":"Paris"}'),
                    )
                ],
            ),
            core.ToolMessage(id="t1", tool_call_id="c1", content='{"degrees":18}'),
            core.AssistantMessage(id="m2", content="18 in Paris, 3 in Oslo."),
            core.AssistantMessage(id="m3", content="Anything else?"),
        ]
    )


def interrupted() -> list[core.BaseEvent]:
    """A run that has to ask."""
    asks = core.Interrupt(id="i1", reason="tool_call", message="Delete a.txt?", tool_call_id="c1")
    plain_question = core.Interrupt(id="i2", reason="input_required", message="Which city?")
    return [
        core.RunStartedEvent(**RUN),
        core.TextMessageStartEvent(message_id="m1", role="assistant"),
        core.TextMessageContentEvent(message_id="m1", delta="May I?"),
        core.TextMessageEndEvent(message_id="m1"),
        core.ToolCallStartEvent(tool_call_id="c1", tool_call_name="delete_file", parent_message_id="m1"),
        core.ToolCallArgsEvent(tool_call_id="c1", delta='{"path":"a.txt"}'),
        core.ToolCallEndEvent(tool_call_id="c1"),
        core.RunFinishedEvent(
            **RUN, outcome=core.RunFinishedInterruptOutcome(interrupts=[asks, plain_question])
        ),
    ]


def failed() -> list[core.BaseEvent]:
    """A run that fails in the middle of its words, with a call open."""
    return [
        core.RunStartedEvent(**RUN),
        core.TextMessageStartEvent(message_id="m1", role="assistant"),
        core.TextMessageContentEvent(message_id="m1", delta="It is"),
        core.ToolCallStartEvent(tool_call_id="c1", tool_call_name="get_weather", parent_message_id="m1"),
        core.ToolCallArgsEvent(tool_call_id="c1", delta='{"city":'),
        core.RunErrorEvent(message="the model is gone", code="gone"),
    ]


async def main() -> None:
    """All of them."""
    await pydantic_ai(
        "ag_ui_tools",
        lambda made: with_tools(Agent(made)),
        "Weather?",
        [
            answer(
                "anthropic",
                Thought("Three calls."),
                Said("One moment."),
                Called("c1", "get_weather", '{"city":"Paris"}'),
                Called("c2", "get_map", '{"city":"Oslo"}'),
                Called("c3", "get_weather", '{"town":"Rome"}'),
                id="r1",
            ),
            answer("anthropic", Thought("Enough."), Said("18 degrees in Paris."), id="r2"),
        ],
        "anthropic",
    )
    await pydantic_ai(
        "ag_ui_approval",
        lambda made: with_approval(with_tools(Agent(made, output_type=[str, DeferredToolRequests]))),
        "Delete a.txt.",
        [
            answer(
                "openai-chat",
                Said("May I?"),
                Called("c1", "delete_file", '{"path":"a.txt"}'),
                Called("c2", "get_weather", '{"city":"Oslo"}'),
                id="r1",
            )
        ],
        "openai-chat",
    )
    keep("ag_ui_everything", written(everything()))
    keep("ag_ui_interrupted", written(interrupted()))
    keep("ag_ui_failed", written(failed()))


if __name__ == "__main__":
    asyncio.run(main())
