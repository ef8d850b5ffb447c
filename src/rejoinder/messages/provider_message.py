"""What a provider is told: messages cut as models take them, apart from any vendor's JSON.

An assistant message of ours that called tools becomes several: what was said and called, the results, what was said
next. The shapes are those of the AI SDK's version 7 model messages, so there is one set of rules for them, and
`provider_options` holds what each vendor wants back of its own (signatures, item ids), by vendor name.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages.json_values import Json, JsonObject
from rejoinder.messages.message import Role

ProviderOptions: TypeAlias = dict[str, JsonObject]


class _Part(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type"):
    provider_options: ProviderOptions | None = None


class ProviderTextPart(_Part, frozen=True, kw_only=True, tag="text"):
    """What was said."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


class ProviderReasoningPart(_Part, frozen=True, kw_only=True, tag="reasoning"):
    """What was thought. Without its vendor's signature most vendors do not want it back."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str


class ProviderFilePart(_Part, frozen=True, kw_only=True, tag="file"):
    """A file: at a URL, inline in a `data:` URL, or by the names that vendors gave it."""

    type: ClassVar[Literal["file"]] = "file"
    media_type: str
    url: str | None = None
    reference: dict[str, str] | None = None
    filename: str | None = None


class ProviderReasoningFilePart(_Part, frozen=True, kw_only=True, tag="reasoning-file"):
    """A file that belongs to what was thought."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    media_type: str
    url: str


class ProviderCustomPart(_Part, frozen=True, kw_only=True, tag="custom"):
    """A vendor's own kind of content (`vendor.kind`), which only that vendor understands."""

    type: ClassVar[Literal["custom"]] = "custom"
    kind: str


class ProviderToolCallPart(_Part, frozen=True, kw_only=True, tag="tool-call"):
    """A call of a tool. `provider_executed` calls ran at the vendor, and so did their results come from there."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    call_id: str
    name: str
    arguments: Json = None
    provider_executed: bool = False


class ProviderToolResultPart(_Part, frozen=True, kw_only=True, tag="tool-result"):
    """What a tool answered. `is_error` says that it failed, or was not allowed to run.

    `content` is the same for models that can look: texts and pictures, if the tool gave such.
    """

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    call_id: str
    name: str
    result: Json
    is_error: bool = False
    content: tuple[ProviderTextPart | ProviderFilePart, ...] = ()


class ProviderApprovalPart(_Part, frozen=True, kw_only=True, tag="approval"):
    """The user's answer to a vendor that asked whether it may call a tool of its own."""

    approval_id: str
    approved: bool


ProviderContentPart: TypeAlias = (
    ProviderTextPart
    | ProviderReasoningPart
    | ProviderFilePart
    | ProviderReasoningFilePart
    | ProviderCustomPart
    | ProviderToolCallPart
    | ProviderToolResultPart
    | ProviderApprovalPart
)


class ProviderMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One message of a request to a model, or its answer."""

    role: Role
    content: tuple[ProviderContentPart, ...]
    provider_options: ProviderOptions | None = None

    @property
    def text(self) -> str:
        """All that was said, without what was thought and called."""
        return "".join(part.text for part in self.content if isinstance(part, ProviderTextPart))
