"""What a message is made of while it grows: parts that can still change, and freeze on demand."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from rejoinder.fold.partial_json import PartialJson, parse_partial_json
from rejoinder.messages import (
    ABSENT,
    Approval,
    InputEncoding,
    JsonObject,
    Maybe,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolState,
)
from rejoinder.wire.json import rejoin_surrogates

_PAYLOADS: Final = {"input": "input", "rawInput": "raw_input", "output": "output"}


class Prose:
    """A text or reasoning part that grows by deltas."""

    __slots__ = ("_frozen", "citations", "id", "metadata", "pieces", "reasoning", "streaming")

    def __init__(self, *, reasoning: bool, id: str, metadata: JsonObject | UnsetType) -> None:
        self.reasoning = reasoning
        self.id = id
        self.metadata = None if isinstance(metadata, UnsetType) else metadata
        self.pieces: list[str] = []
        self.citations: list[JsonObject] | None = None
        self.streaming = True
        self._frozen: Part | None = None

    def close(self) -> None:
        """The part is complete."""
        self.streaming = False

    def freeze(self) -> Part:
        """The part as it stands. A complete one is built once."""
        if self._frozen is not None:
            return self._frozen
        text = rejoin_surrogates("".join(self.pieces))
        self.pieces = [text]
        state: Literal["streaming", "done"] = "streaming" if self.streaming else "done"
        part: Part
        if self.reasoning:
            part = Reasoning(id=self.id, text=text, state=state, provider_metadata=self.metadata)
        else:
            part = Text(text=text, state=state, provider_metadata=self.metadata, citations=self.citations)
        if not self.streaming:
            self._frozen = part
        return part


class ToolInput:
    """A tool call's input that arrives as text. Two parts may share it: a call that goes on in a later step."""

    __slots__ = ("dynamic", "encoding", "json", "name", "odd", "pieces", "title", "tool_metadata")

    def __init__(
        self,
        *,
        name: str,
        dynamic: bool,
        sdk: int,
        encoding: InputEncoding | None = None,
        title: str | None = None,
        tool_metadata: JsonObject | None = None,
        text: str = "",
        odd: JsonObject | None = None,
    ) -> None:
        self.odd = odd
        """What was stored of the three above and is not what it should be: it is said again with every delta."""
        self.name = name
        self.dynamic = dynamic
        self.encoding: InputEncoding | None = encoding
        self.title = title
        self.tool_metadata = tool_metadata
        self.pieces: list[str] = []
        self.json = PartialJson(sdk)
        if text:
            self.feed(text)

    def feed(self, delta: str) -> None:
        """Take the next piece of text."""
        self.pieces.append(delta)
        self.json.feed(delta)

    def text_at(self, count: int) -> str:
        """The text as it stood after so many pieces."""
        if count == len(self.pieces):
            return self.json.text
        return rejoin_surrogates("".join(self.pieces[:count]))

    def value_at(self, count: int, sdk: int) -> Maybe:
        """What the text said after so many pieces."""
        if self.encoding == "text":
            return self.text_at(count)
        if count == len(self.pieces):
            return self.json.value
        return parse_partial_json(self.text_at(count), sdk=sdk)


class Call:
    """A tool call that can still change: the fields of `ToolCall`, and input text that is read when asked for."""

    __slots__ = ("_opaque", "arriving", "arriving_count", "keeps_raw_input", "part", "sdk")

    def __init__(self, part: ToolCall, *, sdk: int, opaque: Opaque | None = None) -> None:
        self.part = part
        self._opaque = None if opaque is None else (part, opaque)
        self.sdk = sdk
        self.arriving: ToolInput | None = None
        self.arriving_count = 0
        self.keeps_raw_input = True

    @property
    def call_id(self) -> str:
        """The call's id."""
        return self.part.call_id

    @property
    def dynamic(self) -> bool:
        """Whether the tool is dynamic."""
        return self.part.dynamic

    def arrive(self, source: ToolInput, *, keeps_raw_input: bool) -> None:
        """The input is what this text says at this moment; nothing is parsed yet."""
        self.arriving = source
        self.arriving_count = len(source.pieces)
        self.keeps_raw_input = keeps_raw_input

    def settle(self) -> ToolCall:
        """The call as it stands, with the input read from the text that has arrived."""
        source = self.arriving
        if source is None:
            return self.part
        raw = source.text_at(self.arriving_count) if self.keeps_raw_input else ABSENT
        value = source.value_at(self.arriving_count, self.sdk)
        self.part = msgspec.structs.replace(self.part, input=value, raw_input=raw)
        self.arriving = None
        return self.part

    def freeze(self) -> Part:
        """The part as it stands: as it was stored, where nothing has touched it."""
        part = self.settle()
        if self._opaque is not None and self._opaque[0] is part:
            return self._opaque[1]
        return part

    def change(self, **fields: Maybe) -> None:
        """Replace fields of the part, on top of what has arrived."""
        self.part = msgspec.structs.replace(self.settle(), **fields)

    def change_approval(self, state: ToolState, approval: Approval) -> None:
        """Ask or answer for permission."""
        self.change(state=state, approval=approval)


def call_in(part: Opaque, *, sdk: int) -> Call | None:
    """The call that a part is which lacks no more than a state that we know: the next chunk about it gives it one."""
    body = dict(part.body)
    kind, call_id = body.pop("type", None), body.pop("toolCallId", None)
    if not isinstance(kind, str) or not isinstance(call_id, str):
        return None
    dynamic = kind == "dynamic-tool"
    name = body.pop("toolName", None) if dynamic else kind[5:]
    if not isinstance(name, str) or not (dynamic or kind.startswith("tool-")):
        return None
    body.pop("state", None)
    payloads = {name: body.pop(key, ABSENT) for key, name in _PAYLOADS.items()}
    call = ToolCall(
        name=name, call_id=call_id, dynamic=dynamic, state="input-available", extra=body or None, **payloads
    )
    return Call(call, sdk=sdk, opaque=part)


def given(value: Maybe) -> Maybe:
    """An optional field of a chunk as an optional field of a part."""
    return None if value is UNSET else value
