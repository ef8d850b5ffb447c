"""A model with tools as an agent: `ModelAgent(OpenAIResponses("gpt-5-mini"), tools=[search], instructions="…")`.

Its events are the provider's, byte for byte, and between them our own: whom we asked, what we called, what came of
it. The answer is made of nothing else, so that a replay needs neither the model nor the tools.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

from msgspec import Struct, structs

from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.engine.adapter_calls import events_of
from rejoinder.engine.offered import AnyTool, offered, said
from rejoinder.engine.progress import Progress
from rejoinder.engine.tool_loop import ToolLoop
from rejoinder.messages import AgentContext, Json, JsonObject, Message, ToolCall
from rejoinder.messages.provider_message import ProviderMessage, ProviderTextPart
from rejoinder.ports.agents import ALIVE, Call, Run
from rejoinder.ports.providers import (
    Provider,
    ProviderAdapter,
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderToolDefinition,
)
from rejoinder.ports.tools import Tool
from rejoinder.translate import Translator
from rejoinder.translate.model_events import ModelAsked, ToolDenied, TurnOver, write_event
from rejoinder.translate.model_turn import ModelTurn

STEPS_MAX: Final = 20
"""So often a model is asked in one turn: a loop that has not come to its end by then seldom does."""

_ANSWERED: Final = ("output-available", "output-error", "output-denied")

UNNAMED: Final = "model"
"""What a provider is called that does not say its name."""


class StepDone(Struct, frozen=True, kw_only=True):
    """A step is over: the model was asked for the `number`-th time in this turn, and its calls are answered."""

    number: int
    calls: tuple[ToolCall, ...]
    message: Message


StopWhen: TypeAlias = Callable[[StepDone], bool]
"""Whether the model shall not be asked again, although calls of its were answered."""

Instructions: TypeAlias = str | Callable[[Call], str | Awaitable[str]]
"""What the model is told before all else; a function says it for the call at hand."""


class ModelAgent:
    """An agent that asks a model, makes the calls that it wants made, and asks again.

    `tools` are tools, typed functions, or definitions; what has nothing to run is the client's, or the vendor's.
    `max_steps` bounds how often the model is asked in one turn, and `stop_when` says whether a step was the last.
    `approval_secrets` sign what the user is asked: the first one signs, all of them are taken for the answers.

    With `leaves_unknown_calls` a call of a tool that is not offered waits for the client; else it is an error that the
    model reads.

    `params` are the provider's own words for every call (its messages are ours); what is said beside them outranks
    them. With `stream=False` an adapter of the conversation core is asked for whole answers.
    """

    def __init__(
        self,
        provider: ProviderAdapter,
        *,
        name: str | None = None,
        model: str | None = None,
        instructions: Instructions | None = None,
        tools: Sequence[AnyTool] = (),
        tool_choice: Json = None,
        max_tokens: int | None = None,
        output_schema: JsonObject | None = None,
        settings: JsonObject | None = None,
        params: ProviderCallParams | None = None,
        max_steps: int = STEPS_MAX,
        stop_when: StopWhen | None = None,
        approval_secrets: Sequence[str] = (),
        leaves_unknown_calls: bool = False,
        stream: bool = True,
    ) -> None:
        if not callable(getattr(provider, "complete", None)):
            raise TypeError(f"{type(provider).__name__} is no provider: `complete(params)` is missing")
        self.provider: Final = provider
        definitions, self._tools = offered([*(params.tools or () if params is not None else ()), *tools])
        self._loop = ToolLoop(
            self._tools, secrets=tuple(approval_secrets), leaves_unknown=leaves_unknown_calls
        )
        self._said = said(self._tools)
        self._params: Final = _params(
            provider,
            params,
            model=model,
            tools=definitions,
            tool_choice=tool_choice,
            max_tokens=max_tokens,
            output_schema=output_schema,
            settings=settings,
        )
        self._name = name or self._params.metadata.provider
        self._instructions = instructions
        self._max_steps = max_steps
        self._stop_when = stop_when
        self._stream = stream
        translator = provider.translate if isinstance(provider, Provider) else None

        class Turns(ModelTurn):
            def __init__(self) -> None:
                super().__init__(translator)

        self._translate: Final = Turns

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What it offers to the model."""
        return tuple(self._tools.values())

    @property
    def run(self) -> Run:
        """Asks the model."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its events mean."""
        return self._translate

    @property
    def idle_seconds(self) -> float:
        """How long the provider may be silent, as it says itself."""
        return float(getattr(self.provider, "idle_seconds", None) or 0.0)

    async def aclose(self) -> None:
        """Let go of the provider's connections."""
        close = getattr(self.provider, "aclose", None)
        if close is not None:
            await close()

    async def _run(self, call: Call) -> AsyncGenerator[bytes | JsonObject, None]:
        progress = Progress(call, self._translate())
        async with aclosing(self._answer(call, progress)) as events:
            async for event in events:
                if event != ALIVE:
                    progress.hear(event)
                yield event
                if call.stop.pressed:
                    return

    async def _answer(self, call: Call, progress: Progress) -> AsyncGenerator[bytes | JsonObject, None]:
        instructions = await self._instructed(call)
        params = self._for_call(call)
        async with aclosing(self._loop.decided(call, progress.decided())) as outcomes:
            async for outcome in outcomes:
                yield write_event(outcome)
        for refused in progress.refused():
            yield write_event(ToolDenied(call_id=refused.call_id))
        for step in range(self._max_steps):
            asked = params.metadata
            yield write_event(
                ModelAsked(
                    id=f"{call.turn.id}.{step}",
                    provider=asked.provider,
                    model=asked.model,
                    extensions=asked.extensions,
                )
            )
            shown = structs.replace(params, messages=(*instructions, *self._shown(call, progress)))
            async with aclosing(events_of(self.provider, shown, streams=self._stream)) as events:
                async for event in events:
                    yield event
            if progress.failed:
                return
            wanted = [each for each in progress.step() if each.state == "input-available"]
            async with aclosing(self._loop.asked(call, wanted)) as outcomes:
                async for outcome in outcomes:
                    yield write_event(outcome)
            if not self._goes_on(step + 1, progress):
                break
        yield write_event(TurnOver())

    def _goes_on(self, steps: int, progress: Progress) -> bool:
        """Whether the model has to hear what came of its calls, and may say more."""
        calls = progress.step()
        if not calls and progress.paused:
            return True
        if not calls or any(each.state not in _ANSWERED for each in calls):
            return False  # it has said its last word, or somebody else has the next one
        if progress.reason in ("length", "content-filter", "error"):
            return False
        return self._stop_when is None or not self._stop_when(
            StepDone(number=steps, calls=calls, message=progress.message)
        )

    def _shown(self, call: Call, progress: Progress) -> tuple[ProviderMessage, ...]:
        answer = progress.message
        messages = (*call.history, answer) if answer.parts else call.history
        return to_provider_messages(messages, tools=self._said)

    async def _instructed(self, call: Call) -> tuple[ProviderMessage, ...]:
        told = self._instructions
        if callable(told):
            said = told(call)
            told = await said if inspect.isawaitable(said) else said
        return (ProviderMessage(role="system", content=(ProviderTextPart(text=told),)),) if told else ()

    def _for_call(self, call: Call) -> ProviderCallParams:
        """The parameters with the labels of this turn: who acts, in which run, for whom."""
        asked = self._params.metadata
        run_id = f"{call.conversation.id}:{call.turn.id}"
        given = self._params.agent_context or call.turn.agent_context or AgentContext()
        labels = {
            "conversationId": call.conversation.id,
            "turnId": call.turn.id,
            "provider": asked.provider,
            "model": asked.model,
        }
        context = structs.replace(
            given,
            agent=given.agent or self._name,
            run_id=given.run_id or run_id,
            labels={**labels, **(given.labels or {})},
        )
        extensions: JsonObject = {
            "ai.provider": asked.provider,
            "ai.model": asked.model,
            "ai.operation": "chat",
            "ai.tenant": call.tenant,
            "conversation.id": call.conversation.id,
            **(asked.extensions or {}),
        }
        metadata = structs.replace(asked, extensions=extensions)
        return structs.replace(self._params, metadata=metadata, agent_context=context)


def _params(
    provider: ProviderAdapter,
    given: ProviderCallParams | None,
    *,
    model: str | None,
    tools: tuple[ProviderToolDefinition, ...],
    tool_choice: Json,
    max_tokens: int | None,
    output_schema: JsonObject | None,
    settings: JsonObject | None,
) -> ProviderCallParams:
    own = (getattr(provider, "name", UNNAMED), getattr(provider, "model", UNNAMED))
    base = given or ProviderCallParams(metadata=ProviderCallMetadata(provider=own[0], model=own[1]))
    metadata = structs.replace(base.metadata, model=model or base.metadata.model or own[1])
    return structs.replace(
        base,
        metadata=metadata,
        messages=(),
        tools=tools or None,
        tool_choice=base.tool_choice if tool_choice is None else tool_choice,
        max_tokens=base.max_tokens if max_tokens is None else max_tokens,
        output_schema=base.output_schema if output_schema is None else output_schema,
        settings={**(base.settings or {}), **(settings or {})} or None,
    )
