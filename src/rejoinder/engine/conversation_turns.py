"""What goes into a turn of the conversation core and what comes out: the names of its specification, §7.

A turn is a `Turn` of ours with its messages and calls beside it, so whoever gets one need not read them.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterable, Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias

from msgspec import Struct, structs

from rejoinder.convert.core_content import (
    ConversationMessage,
    MessageContentPart,
    TextContentPart,
    ToolCallContentPart,
)
from rejoinder.engine.offered import AnyTool
from rejoinder.history.budget import HistoryBudget
from rejoinder.messages import AgentContext, Conversation, JsonObject, ProviderCall, Turn, TurnStatus
from rejoinder.ports.any_message import AnyMessage
from rejoinder.ports.providers import ProviderAdapter, ProviderCallParams
from rejoinder.ports.store import DEFAULT_TENANT


class TurnInput(Struct, frozen=True, kw_only=True):
    """What a turn is asked for.

    `user_messages` are of this conversation; those of the role `tool` answer calls that wait for it. What
    `provider_params` hold as messages is not sent: the history is. `tools` are ours to run, in as many steps as it
    takes; the tools of `provider_params` are yours, and a turn that calls them waits for your answers.
    """

    conversation_id: str
    user_messages: Sequence[AnyMessage]
    provider: ProviderAdapter
    provider_params: ProviderCallParams
    history_budget: HistoryBudget | None = None
    agent_context: AgentContext | None = None
    tools: Sequence[AnyTool] = ()
    metadata: JsonObject | None = None
    tenant: str = DEFAULT_TENANT
    subject: str | None = None


ProviderCallRecord: TypeAlias = ProviderCall
"""A recorded call of a model: what the specification says of it, and its status, times and cost."""


class ConversationTurn(Turn, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A turn with all that belongs to it. `usage` is summed over its calls, and is in `metadata`, too."""

    status: TurnStatus = "succeeded"
    user_messages: tuple[ConversationMessage, ...] = ()
    assistant_messages: tuple[ConversationMessage, ...] = ()
    tool_messages: tuple[ConversationMessage, ...] | None = None


class TurnOutput(Struct, frozen=True, kw_only=True):
    """What came of a turn: the conversation as it is now, the turn as it is stored, and what was said in it."""

    conversation: Conversation
    turn: ConversationTurn
    assistant_messages: tuple[ConversationMessage, ...]
    tool_messages: tuple[ConversationMessage, ...] | None = None


class StreamingTurnDelta(Struct, frozen=True, kw_only=True):
    """More of the answer: only what is new. `aggregate` puts deltas together."""

    type: ClassVar[Literal["delta"]] = "delta"
    delta: ConversationMessage


class StreamingTurnToolCall(Struct, frozen=True, kw_only=True):
    """The model wants a tool called; its arguments are complete."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call: ToolCallContentPart


class StreamingTurnCompleted(Struct, frozen=True, kw_only=True):
    """The last event: everything is stored."""

    type: ClassVar[Literal["completed"]] = "completed"
    output: TurnOutput


StreamingTurnEvent: TypeAlias = StreamingTurnDelta | StreamingTurnToolCall | StreamingTurnCompleted


class StreamingTurn(AsyncIterable[StreamingTurnEvent], Protocol):
    """A turn that runs. Whoever iterates hears it from its beginning; it ends whether or not anybody does."""

    @property
    def final(self) -> Awaitable[TurnOutput]:
        """What came of it; it raises what the turn failed of."""
        ...


def aggregate(deltas: Iterable[ConversationMessage]) -> ConversationMessage | None:
    """The message that the deltas of one message make together: texts that follow one another are one text."""
    whole: ConversationMessage | None = None
    for delta in deltas:
        content = () if whole is None else whole.content
        for part in delta.content:
            content = _joined(content, part)
        whole = structs.replace(delta if whole is None else whole, content=content)
    return whole


def _joined(
    content: tuple[MessageContentPart, ...], part: MessageContentPart
) -> tuple[MessageContentPart, ...]:
    if content and isinstance(part, TextContentPart) and isinstance(content[-1], TextContentPart):
        return (*content[:-1], TextContentPart(text=content[-1].text + part.text))
    return (*content, part)
