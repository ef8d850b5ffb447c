"""A provider: one API of a vendor's, one call of a model at a time, streaming or not.

The names are those of the conversation-core specification, §4. What it leaves open is said here: a `delta` brings
what is new and never what came before; a tool call is told once its arguments are complete.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable
from datetime import datetime
from typing import ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from rejoinder.messages import ABSENT, AgentContext, Json, JsonObject, Maybe, Usage, usage
from rejoinder.messages.provider_message import ProviderMessage
from rejoinder.translate import Translator

Extensions: TypeAlias = JsonObject
"""Labels of a request: `ai.provider`, `ai.model`, `ai.operation`, `ai.tenant` and whatever else one likes."""


class ProviderToolDefinition(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A tool that the model may call. `schema` is the JSON Schema of its input.

    `provider_tool` is a tool that the vendor runs itself, in the vendor's own words (a web search, say); the other
    fields but the name say nothing then.
    """

    name: str
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    provider_tool: JsonObject | None = None


class ProviderToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A call that the model wants made."""

    id: str
    name: str
    arguments: Json


ProviderCallMetadata: TypeAlias = usage.ProviderCallMetadata
"""Which model of which provider, and the labels of the request. A record of the call says the same."""


class ProviderCallParams(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One call. `messages` are what the model is shown, oldest first.

    `output_schema` asks for an answer of that JSON Schema; `settings` go into the vendor's request as they are
    (`temperature`, `reasoning`), and outrank what we would have said there.
    """

    metadata: ProviderCallMetadata
    messages: tuple[ProviderMessage, ...] = ()
    tools: tuple[ProviderToolDefinition, ...] | None = None
    tool_choice: Json = None
    max_tokens: int | None = None
    output_schema: JsonObject | None = None
    settings: JsonObject | None = None
    agent_context: AgentContext | None = None


class ProviderCallResult(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What came of a call: one message of the assistant. `message` holds the tool calls too, in their places."""

    id: str
    created_at: datetime
    message: ProviderMessage
    tool_calls: tuple[ProviderToolCall, ...] | None = None
    usage: Usage | None = None
    raw: Maybe = ABSENT
    finish_reason: str | None = None


class ProviderDelta(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="delta"):
    """More of the answer: only what is new."""

    type: ClassVar[Literal["delta"]] = "delta"
    delta: ProviderMessage


class ProviderToolCallEvent(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="tool-call"
):
    """The model wants a tool called; its arguments are complete."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call: ProviderToolCall


class ProviderDone(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="done"):
    """The last event."""

    type: ClassVar[Literal["done"]] = "done"
    result: ProviderCallResult


ProviderStreamEvent: TypeAlias = ProviderDelta | ProviderToolCallEvent | ProviderDone


class ProviderStream(AsyncIterable[ProviderStreamEvent], Protocol):
    """A call that streams. `final` is there once the last event was, whether or not anybody reads the others."""

    @property
    def final(self) -> Awaitable[ProviderCallResult]:
        """The result; it raises what the call raised."""
        ...


@runtime_checkable
class ProviderAdapter(Protocol):
    """What every provider can do: one call, answered as a whole."""

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        """Make a call and wait for all of the answer. Raises `AgentError`."""
        ...


@runtime_checkable
class StreamingProviderAdapter(ProviderAdapter, Protocol):
    """One that streams as well."""

    async def complete_stream(self, params: ProviderCallParams) -> ProviderStream:
        """Make a call and hear of the answer as it comes."""
        ...


@runtime_checkable
class Provider(StreamingProviderAdapter, Protocol):
    """A vendor's API as ours are: its events come byte for byte, so that they can be kept and translated again."""

    @property
    def name(self) -> str:
        """The vendor's name, as records and telemetry know it: `openai`, `anthropic`."""
        ...

    @property
    def model(self) -> str:
        """The model that is asked where a call names none."""
        ...

    @property
    def translate(self) -> Translator:
        """What its events mean. It notes `CallStarted`, `CallEnded` with the usage, and one ending for each call."""
        ...

    def events(self, params: ProviderCallParams) -> AsyncIterator[bytes]:
        """Make a call and yield the vendor's events, each the bytes of a JSON text. Raises `AgentError`.

        Closing the iterator closes the connection.
        """
        ...


@runtime_checkable
class LivelyProvider(Provider, Protocol):
    """One that tells a line without events from a dead one: vendors keep it alive while a model thinks."""

    def signs(self, params: ProviderCallParams) -> AsyncIterator[bytes]:
        """The events, and `ALIVE` wherever something came and no event."""
        ...


ToolChoice: TypeAlias = Literal["auto", "required", "none"]
"""What every provider understands as `tool_choice`; `{"name": …}` is one tool, anything else the vendor's own."""
