"""The parts of a message: a closed union, plus `Opaque` for every part that we do not know.

A tool's result lives in its call: they never part ways. `extra` holds the fields of a part that no field
here knows (or whose value has an unexpected type), so that reading and writing a message loses nothing.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages.json_values import ABSENT, Json, JsonObject, Maybe

InputEncoding: TypeAlias = Literal["json", "text"]

Progress: TypeAlias = Literal["streaming", "done"]

ToolState: TypeAlias = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]


class _Part(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type"):
    extra: JsonObject | None = None


class Text(_Part, frozen=True, kw_only=True, tag="text"):
    """What was said."""

    text: str
    state: Progress | None = None
    provider_metadata: JsonObject | None = None
    citations: list[JsonObject] | None = None


class Reasoning(_Part, frozen=True, kw_only=True, tag="reasoning"):
    """What was thought. The vendor's signature, where there is one, is in `provider_metadata`."""

    text: str
    id: str | None = None
    state: Progress | None = None
    provider_metadata: JsonObject | None = None


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A question to the user, "may this tool run?", and the answer once there is one."""

    id: str
    approved: bool | None = None
    reason: str | None = None
    request_reason: str | None = None
    descriptor: Maybe = ABSENT
    input_schema_input: Maybe = ABSENT
    is_automatic: bool | None = None
    signature: str | None = None
    extra: JsonObject | None = None


class ToolCall(_Part, frozen=True, kw_only=True, tag="tool-call"):
    """One call of a tool, from the first letter of its input to its outcome.

    `dynamic` tools are not known by name when the client is built (MCP tools, for example).
    `withdrawn` marks a call whose tool is no longer offered (`dynamic: false` on the wire).
    """

    name: str
    call_id: str
    state: ToolState
    dynamic: bool = False
    withdrawn: bool = False
    input: Maybe = ABSENT
    raw_input: Maybe = ABSENT
    input_encoding: InputEncoding | None = None
    output: Maybe = ABSENT
    error_text: str | None = None
    approval: Approval | None = None
    preliminary: bool | None = None
    provider_executed: bool | None = None
    title: str | None = None
    metadata: JsonObject | None = None
    call_provider_metadata: JsonObject | None = None
    result_provider_metadata: JsonObject | None = None


class File(_Part, frozen=True, kw_only=True, tag="file"):
    """A file by URL (a `data:` URL holds it inline) or by a provider's own reference."""

    media_type: str
    url: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None
    provider_reference: dict[str, str] | None = None


class ReasoningFile(_Part, frozen=True, kw_only=True, tag="reasoning-file"):
    """A file that belongs to what was thought, not to what was said."""

    media_type: str
    url: str
    provider_metadata: JsonObject | None = None


class SourceUrl(_Part, frozen=True, kw_only=True, tag="source-url"):
    """A web page that the answer rests on."""

    source_id: str
    url: str
    title: str | None = None
    provider_metadata: JsonObject | None = None


class SourceDocument(_Part, frozen=True, kw_only=True, tag="source-document"):
    """A document that the answer rests on."""

    source_id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None


class StepStart(_Part, frozen=True, kw_only=True, tag="step-start"):
    """Here a model call began: what follows, up to the next one, came from it."""


class Data(_Part, frozen=True, kw_only=True, tag="data"):
    """The application's own part, `data-NAME` on the wire. With an id, a later one replaces its data."""

    name: str
    id: str | None = None
    data: Maybe = ABSENT


class Custom(_Part, frozen=True, kw_only=True, tag="custom"):
    """A provider's own kind of content (`provider.kind`)."""

    kind: str
    provider_metadata: JsonObject | None = None


class Steering(_Part, frozen=True, kw_only=True, tag="steering-message"):
    """What the user said while the answer was being made."""

    id: str
    parts: tuple[Text | File, ...]


class Opaque(_Part, frozen=True, kw_only=True, tag="opaque"):
    """A part that we do not know, whole, as its JSON object: kept, passed on, never an exception."""

    body: JsonObject

    @property
    def kind(self) -> Json:
        """What the part calls itself: its `type`, which need not even be text."""
        return self.body.get("type")


Part: TypeAlias = (
    Text
    | Reasoning
    | ToolCall
    | File
    | ReasoningFile
    | SourceUrl
    | SourceDocument
    | StepStart
    | Data
    | Custom
    | Steering
    | Opaque
)
