"""Model messages as AI SDK 5, 6 and 7 have them: what `convert.model` writes, and providers read.

A version's words are a part of the next one's, with one exception: the `data` of a file, which is text (a URL) in 5
and 6 and an object in 7. What came with a version says so; the types are those of all three together.

They describe JSON and are not enforced: a part that came in odd from a client goes on as odd as it was.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from rejoinder.wire.json import Json

ProviderOptions: TypeAlias = dict[str, dict[str, Json]]
"""What one provider knows about a part, by the provider's name. In UI messages it is `providerMetadata`."""


class TextPart(TypedDict):
    """What was said."""

    type: Literal["text"]
    text: str
    providerOptions: NotRequired[ProviderOptions]


class ReasoningPart(TypedDict):
    """What was thought."""

    type: Literal["reasoning"]
    text: str
    providerOptions: NotRequired[ProviderOptions]


class UrlData(TypedDict):
    """The data of a file, by URL (7)."""

    type: Literal["url"]
    url: str


class ReferenceData(TypedDict):
    """The data of a file that providers hold: their names for it (7)."""

    type: Literal["reference"]
    reference: dict[str, str]


class FilePart(TypedDict):
    """A file. Its data is a URL in 5 and 6, an object in 7; version 5 drops an assistant's `providerOptions`."""

    type: Literal["file"]
    mediaType: str
    filename: NotRequired[str]
    data: str | UrlData | ReferenceData
    providerOptions: NotRequired[ProviderOptions]


class ReasoningFilePart(TypedDict):
    """A file that belongs to what was thought (7)."""

    type: Literal["reasoning-file"]
    mediaType: str
    data: UrlData
    providerOptions: NotRequired[ProviderOptions]


class CustomPart(TypedDict):
    """A provider's own kind of content (7)."""

    type: Literal["custom"]
    kind: str
    providerOptions: NotRequired[ProviderOptions]


class ToolCallPart(TypedDict):
    """A call of a tool. Version 5 does not say of a dynamic tool where it ran."""

    type: Literal["tool-call"]
    toolCallId: str
    toolName: str
    input: NotRequired[Json]
    providerExecuted: NotRequired[bool]
    providerOptions: NotRequired[ProviderOptions]


class ToolApprovalRequest(TypedDict):
    """The question whether a call may run (6, 7; why, and whether a policy answered, in 7)."""

    type: Literal["tool-approval-request"]
    approvalId: str
    toolCallId: str
    inputSchemaInput: NotRequired[Json]
    signature: NotRequired[str]
    reason: NotRequired[str]
    isAutomatic: NotRequired[bool]


class ToolApprovalResponse(TypedDict):
    """The answer to it (6, 7)."""

    type: Literal["tool-approval-response"]
    approvalId: str
    approved: bool
    reason: NotRequired[str]
    providerExecuted: NotRequired[bool]


class TextOutput(TypedDict):
    """A result, or a failure, that is text."""

    type: Literal["text", "error-text"]
    value: str


class JsonOutput(TypedDict):
    """A result, or a failure, that is any JSON."""

    type: Literal["json", "error-json"]
    value: Json


class DeniedOutput(TypedDict):
    """The user did not let the tool run (7)."""

    type: Literal["execution-denied"]
    reason: NotRequired[str]


ToolOutput: TypeAlias = TextOutput | JsonOutput | DeniedOutput
"""What a tool returned, as the model is told it. A tool's own `to_model_output` may say more than these."""


class ToolResultPart(TypedDict):
    """The result of a call: in a tool message, or in the assistant's own if the provider ran the tool."""

    type: Literal["tool-result"]
    toolCallId: str
    toolName: str
    output: ToolOutput
    providerOptions: NotRequired[ProviderOptions]


UserContent: TypeAlias = list[TextPart | FilePart]
AssistantContent: TypeAlias = list[
    TextPart
    | FilePart
    | ReasoningPart
    | ReasoningFilePart
    | CustomPart
    | ToolCallPart
    | ToolApprovalRequest
    | ToolResultPart
]
ToolContent: TypeAlias = list[ToolResultPart | ToolApprovalResponse]


class SystemModelMessage(TypedDict):
    """Instructions."""

    role: Literal["system"]
    content: str
    providerOptions: NotRequired[ProviderOptions]


class UserModelMessage(TypedDict):
    """What the user said."""

    role: Literal["user"]
    content: UserContent


class AssistantModelMessage(TypedDict):
    """What one model call said. In version 5 it may say nothing."""

    role: Literal["assistant"]
    content: AssistantContent


class ToolModelMessage(TypedDict):
    """What tools answered, and users who were asked. In version 5 it may hold no answer."""

    role: Literal["tool"]
    content: ToolContent


ModelMessage: TypeAlias = SystemModelMessage | UserModelMessage | AssistantModelMessage | ToolModelMessage
"""One message of the history that a model is shown."""
