"""`Message` ⇄ the messages of the conversation-core specification: its content parts, its roles, its names.

There a tool's result is a message of its own, so one message of ours may be several of theirs, in the order in which
a model takes them: what was said and called, then the results, then the next step. What their parts cannot say
stands in `metadata` parts under our key. A message of theirs without that key is read for itself, results too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Final, Literal, TypeAlias, assert_never

from msgspec import Struct, structs

from rejoinder.convert.remainder import (
    REMAINDER,
    message_remainder,
    outcome,
    remainder,
    restored,
    restored_message,
)
from rejoinder.convert.ui import part_from_ui, part_to_ui
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    Data,
    Json,
    JsonObject,
    Message,
    Part,
    Role,
    StepStart,
    Text,
    ToolCall,
    is_absent,
)
from rejoinder.wire.json import is_array, is_object


class TextContentPart(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="text"):
    """What was said."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


class ToolCallContentPart(
    Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type", tag="tool-call"
):
    """A call of a tool. The specification has no id for it; we always say it."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    name: str
    arguments: Json
    tool_call_id: str | None = None


class ToolResultContentPart(
    Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type", tag="tool-result"
):
    """What a tool answered, and to which call."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    name: str
    result: Json
    tool_call_id: str | None = None


class MetadataContentPart(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="metadata"
):
    """Anything else."""

    type: ClassVar[Literal["metadata"]] = "metadata"
    data: Json


MessageContentPart: TypeAlias = (
    TextContentPart | ToolCallContentPart | ToolResultContentPart | MetadataContentPart
)


class ConversationMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A message of the conversation-core specification. One that a store has kept knows `created_at`."""

    id: str
    conversation_id: str
    role: Role
    content: tuple[MessageContentPart, ...]
    created_at: datetime | None = None
    metadata: JsonObject | None = None


METADATA_NAME: Final = "metadata"
"""The name of the data part that somebody else's `MetadataContentPart` becomes."""


def to_core(message: Message, *, conversation_id: str) -> tuple[ConversationMessage, ...]:
    """Write one message as one or more of theirs: the first has its id, the others `ID:1`, `ID:2` and so on."""
    first = ConversationMessage(
        id=message.id,
        conversation_id=conversation_id,
        role=message.role,
        content=(),
        created_at=message.created_at,
        metadata=message.metadata if is_object(message.metadata) else None,
    )
    written: list[ConversationMessage] = []
    for stretch in _stretches(message):
        content = [said for index in stretch for said in _content(message.parts[index], role=message.role)]
        if written:
            content.insert(0, _kept({"continues": message.id}))
            written.append(_follower(first, len(written), message.role, content))
        else:
            rest = message_remainder(message, _read_message(first))
            written.append(
                structs.replace(
                    first, content=(*content, _kept({"message": rest})) if rest else tuple(content)
                )
            )
        answers = {index: call for index in stretch if (call := _answered(message, index)) is not None}
        if answers:
            mark = _kept({"continues": message.id, "answers": [*answers]})
            content = [mark, *(_result(call) for call in answers.values())]
            written.append(_follower(first, len(written), "tool", content))
    return tuple(written)


def from_core(messages: Iterable[ConversationMessage]) -> tuple[Message, ...]:
    """Read messages of theirs; those that `to_core` made of one become one again.

    A call or result without an id gets one: results go to the calls of their tool in order. Raises
    `InvalidMessage` for a mark of ours that somebody damaged.
    """
    drafts: list[_Draft] = []
    nameless: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        mark = _mark(message)
        if drafts and mark.get("continues") == drafts[-1].first.id:
            answers = mark.get("answers", [])
            drafts[-1].read(message, nameless, answers if is_array(answers) else [])
        else:
            draft = _Draft(message)
            draft.read(message, nameless, [])
            drafts.append(draft)
    return tuple(draft.message() for draft in drafts)


class _Item:
    """One part on its way back: its JSON as far as their parts say it, and the rest."""

    def __init__(self, body: JsonObject) -> None:
        self.body = body
        self.rest: Json = {}

    def answer(self, result: Json) -> None:
        self.body = {**self.body, "state": "output-available", "output": result}

    def is_open_call(self, call_id: str) -> bool:
        return self.body.get("toolCallId") == call_id and self.body.get("state") == "input-available"


class _Draft:
    """One message of ours, as far as it has been read."""

    def __init__(self, first: ConversationMessage) -> None:
        self.first = first
        self.items: list[_Item] = []
        self.rest: Json = {}

    def read(
        self, message: ConversationMessage, nameless: defaultdict[str, list[str]], answers: list[Json]
    ) -> None:
        results = iter(answers)
        for index, part in enumerate(message.content):
            match part:
                case TextContentPart():
                    self.items.append(_Item({"type": "text", "text": part.text}))
                case ToolCallContentPart():
                    call_id = part.tool_call_id
                    if call_id is None:
                        call_id = f"{message.id}:{index}"
                        nameless[part.name].append(call_id)
                    self.items.append(_Item(_call_body(part.name, call_id, part.arguments)))
                case ToolResultContentPart():
                    call_id = part.tool_call_id
                    if call_id is None:
                        waiting = nameless[part.name]
                        call_id = waiting.pop(0) if waiting else f"{message.id}:{index}"
                    self._answer(part, call_id, next(results, None))
                case MetadataContentPart():
                    self._read_metadata(part.data, message.id)
                case _:
                    assert_never(part)

    def message(self) -> Message:
        """The message, with every part."""
        read = structs.replace(
            _read_message(self.first), parts=tuple(self._part(item) for item in self.items)
        )
        return restored_message(read, self.rest, f"message {self.first.id!r}: {REMAINDER}.message")

    def _part(self, item: _Item) -> Part:
        return part_from_ui(restored(item.body, item.rest, f"message {self.first.id!r}: {REMAINDER}"))

    def _answer(self, part: ToolResultContentPart, call_id: str, index: Json) -> None:
        item = self._called(call_id, index)
        if item is None:
            # Nobody's call here: the result stands for itself, as in messages of the role `tool`.
            item = _Item({"type": f"tool-{part.name}", "toolCallId": call_id})
            self.items.append(item)
        item.answer(part.result)

    def _called(self, call_id: str, index: Json) -> _Item | None:
        if (
            isinstance(index, int)
            and 0 <= index < len(self.items)
            and self.items[index].is_open_call(call_id)
        ):
            return self.items[index]
        if self.first.role == "tool":
            return None
        return next((item for item in self.items if item.is_open_call(call_id)), None)

    def _read_metadata(self, data: Json, id: str) -> None:
        kept = data.get(REMAINDER) if is_object(data) else None
        if not is_object(kept):
            self.items.append(_Item({"type": f"data-{METADATA_NAME}", "data": data}))
        elif is_object(kept.get("whole")):
            self.items.append(_Item(kept["whole"]))
        elif "message" in kept:
            self.rest = kept["message"]
        elif "continues" not in kept:
            if not self.items:
                raise InvalidMessage(
                    f"message {id!r}: {REMAINDER} adds to the part before it, and there is none."
                )
            self.items[-1].rest = kept


def _stretches(message: Message) -> list[list[int]]:
    """The parts by their places, cut where a step begins that needs the results of what was called before."""
    stretches: list[list[int]] = [[]]
    answered = False
    for index, part in enumerate(message.parts):
        if answered and isinstance(part, StepStart):
            stretches.append([])
            answered = False
        stretches[-1].append(index)
        answered = answered or _answered(message, index) is not None
    return stretches


def _answered(message: Message, index: int) -> ToolCall | None:
    """The call at this place, if its result goes into a message of its own."""
    part = message.parts[index]
    if message.role == "tool" or not isinstance(part, ToolCall) or is_absent(outcome(part)):
        return None
    return part


def _follower(
    first: ConversationMessage, number: int, role: Role, content: Iterable[MessageContentPart]
) -> ConversationMessage:
    return structs.replace(first, id=f"{first.id}:{number}", role=role, content=tuple(content), metadata=None)


def _content(part: Part, *, role: Role) -> list[MessageContentPart]:
    body = part_to_ui(part)
    match part:
        case Text():
            said: MessageContentPart = TextContentPart(text=part.text)
            read: JsonObject = {"type": "text", "text": part.text}
        case ToolCall():
            said, read = _said_of_call(part, role=role)
        case Data(name=name, data=data) if (
            name == METADATA_NAME and not _is_kept(data) and not is_absent(data)
        ):
            said = MetadataContentPart(data=data)
            read = {"type": f"data-{METADATA_NAME}", "data": data}
        case _:
            return [_kept({"whole": body})]  # their parts have no word for any other
    rest = remainder(body, read)
    return [said, _kept(rest)] if rest else [said]


def _said_of_call(call: ToolCall, *, role: Role) -> tuple[MessageContentPart, JsonObject]:
    result = outcome(call)
    if role == "tool" and not is_absent(result):
        body: JsonObject = {"type": f"tool-{call.name}", "toolCallId": call.call_id}
        return _result(call), {**body, "state": "output-available", "output": result}
    # Providers want an object, also of a call whose input is not there yet.
    arguments: Json = {} if is_absent(call.input) else call.input
    body = _call_body(call.name, call.call_id, arguments)
    if not is_absent(result):
        body |= {"state": "output-available", "output": result}
    return ToolCallContentPart(name=call.name, arguments=arguments, tool_call_id=call.call_id), body


def _call_body(name: str, call_id: str, arguments: Json) -> JsonObject:
    return {"type": f"tool-{name}", "toolCallId": call_id, "state": "input-available", "input": arguments}


def _result(call: ToolCall) -> ToolResultContentPart:
    return ToolResultContentPart(name=call.name, result=outcome(call), tool_call_id=call.call_id)


def _kept(rest: JsonObject) -> MetadataContentPart:
    return MetadataContentPart(data={REMAINDER: rest})


def _is_kept(data: Json) -> bool:
    return is_object(data) and is_object(data.get(REMAINDER))


def _mark(message: ConversationMessage) -> JsonObject:
    """Our mark on a message that continues another one, which is its first part."""
    first = message.content[0] if message.content else None
    kept = (
        first.data.get(REMAINDER)
        if isinstance(first, MetadataContentPart) and is_object(first.data)
        else None
    )
    return kept if is_object(kept) else {}


def _read_message(message: ConversationMessage) -> Message:
    """What the message says, apart from its content."""
    read = Message(id=message.id, role=message.role, created_at=message.created_at)
    return read if message.metadata is None else structs.replace(read, metadata=message.metadata)
