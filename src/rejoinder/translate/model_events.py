"""What the log of a turn holds between the events of its provider: our own, which say what we asked and what we did.

A call of a tool is two of them, the intent before it and the outcome after it, so that whoever reads the log knows
what was done, and after a crash what may have been.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from rejoinder.messages import Json, JsonObject, Usage
from rejoinder.messages.provider_message import ProviderMessage
from rejoinder.wire import json
from rejoinder.wire.json import is_object

MARK: Final = "rejoinder"
"""The field by which our events are told from those of providers."""


class _Event(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field=MARK):
    pass


class ModelAsked(_Event, frozen=True, kw_only=True, tag="model-asked"):
    """A provider is about to be asked. What follows, up to the next event of ours, are its own."""

    id: str
    provider: str
    model: str
    extensions: JsonObject | None = None


class ModelSaid(_Event, frozen=True, kw_only=True, tag="model-said"):
    """More of the answer of a provider that has no events of its own."""

    delta: ProviderMessage


class ModelCalled(_Event, frozen=True, kw_only=True, tag="model-called"):
    """Such a provider wants a tool called."""

    id: str
    name: str
    arguments: Json = None


class ModelAnswered(_Event, frozen=True, kw_only=True, tag="model-answered"):
    """The whole answer of such a provider."""

    id: str
    message: ProviderMessage
    tool_calls: tuple[ModelCalled, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    raw: Json = None


class ToolBegun(_Event, frozen=True, kw_only=True, tag="tool-begun"):
    """A tool is about to run. Without an outcome behind it, nobody knows whether it did."""

    call_id: str
    name: str
    input: Json = None


class ToolReturned(_Event, frozen=True, kw_only=True, tag="tool-returned"):
    """What it answered; a preliminary answer is replaced by the next one."""

    call_id: str
    output: Json = None
    preliminary: bool = False


class ToolFailed(_Event, frozen=True, kw_only=True, tag="tool-failed"):
    """How it failed, or why it never ran, in words for the model and the user. `code` is for programs."""

    call_id: str
    error: str
    code: str


class ToolDenied(_Event, frozen=True, kw_only=True, tag="tool-denied"):
    """The user did not let it run."""

    call_id: str


class ApprovalAsked(_Event, frozen=True, kw_only=True, tag="approval-asked"):
    """The user is asked whether it may run."""

    approval_id: str
    call_id: str
    signature: str | None = None


class TurnOver(_Event, frozen=True, kw_only=True, tag="turn-over"):
    """There is nothing more to do in this turn, for the reason that the provider told last."""


class Quoted(_Event, frozen=True, kw_only=True, tag="quoted"):
    """An event of a provider that looks like one of ours: nobody but us speaks for us."""

    event: Json = None


ModelEvent: TypeAlias = (
    ModelAsked
    | ModelSaid
    | ModelCalled
    | ModelAnswered
    | ToolBegun
    | ToolReturned
    | ToolFailed
    | ToolDenied
    | ApprovalAsked
    | TurnOver
    | Quoted
)


def is_ours(event: Json) -> bool:
    """Whether an event says that it is ours."""
    return is_object(event) and MARK in event


def read_event(event: Json) -> ModelEvent:
    """The event of ours that this JSON is. Raises `msgspec.ValidationError`."""
    found: ModelEvent = json.read_as(event, ModelEvent)
    return found


def write_event(event: ModelEvent) -> JsonObject:
    """The event as JSON."""
    written: JsonObject = msgspec.to_builtins(event)
    return written
