"""What a chat client sends: the body of its POST, and the frames of its WebSocket.

A body comes in several forms, all of them read here into one value: the whole history or the last message only, a
conversation named `id` or as applications name it, or not named at all. Messages stay JSON, to be read (and, all but
the newest, to be ignored) elsewhere.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rejoinder.errors import InvalidChunk, InvalidRequest, UnknownDialect
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import chunk_from_json, encode_chunk
from rejoinder.wire.dialects import Dialect, dialect
from rejoinder.wire.json import Json, JsonObject, is_array, is_object
from rejoinder.wire.strict_json import decode_strict

Trigger: TypeAlias = Literal["submit-message", "regenerate-message"]

MESSAGES_MAX: Final = 10_000
"""A longer history is a client gone wrong: ours is the one that counts, so it may send the last message only."""

ID_CHARS_MAX: Final = 128
"""The longest id that we take into keys, addresses and logs; clients make 16 characters, UUIDs have 36."""

HEADERS_MAX: Final = 100
"""A frame's headers stand in for those of a request, of which servers take about as many."""

CONVERSATION_FIELDS: Final = ("id", "chatId", "conversationId", "agentId")
"""Under which names a body may say which conversation it is about; the first of them that is there counts."""

_OURS: Final = frozenset({*CONVERSATION_FIELDS, "messages", "message", "trigger", "messageId", "dialect"})
_ID: Final = re.compile(rf"[A-Za-z0-9._:~-]{{1,{ID_CHARS_MAX}}}")
_DOTS: Final = (".", "..")


class ChatRequest(Struct, frozen=True, kw_only=True):
    """One request for an answer. `extra` is what the application put into the body beside it."""

    conversation_id: str | None = None
    messages: tuple[JsonObject, ...] = ()
    whole_history: bool = False
    trigger: Trigger = "submit-message"
    message_id: str | None = None
    dialect: Dialect | None = None
    extra: JsonObject = {}

    @property
    def newest(self) -> JsonObject | None:
        """The message that the request is about. A regeneration may come without one."""
        return self.messages[-1] if self.messages else None


def chat_request(body: Json) -> ChatRequest:
    """Read a decoded body. Raises `InvalidRequest`.

    The conversation's id and `messageId` must be ids as `checked_id` has it; messages are counted, not read.
    """
    if not is_object(body):
        raise InvalidRequest(
            f"the body is {_kind(body)}: send an object with 'id' and 'messages' or 'message'"
        )
    # JavaScript leaves out what is undefined; other clients say null instead.
    extra = {name: value for name, value in body.items() if value is not None or name not in _OURS}
    trigger = _trigger(extra.pop("trigger", None))
    name = next((field for field in CONVERSATION_FIELDS if field in extra), None)
    conversation_id = None if name is None else checked_id(extra.pop(name), name)
    messages, whole = _messages(extra, trigger)
    message_id = extra.pop("messageId", None)
    return ChatRequest(
        conversation_id=conversation_id,
        messages=messages,
        whole_history=whole,
        trigger=trigger,
        message_id=None if message_id is None else checked_id(message_id, "messageId"),
        dialect=_dialect(extra.pop("dialect", None)),
        extra=extra,
    )


def checked_id(value: Json, where: str) -> str:
    """An id that may stand in a key, an address or a log line. Raises `InvalidRequest` that names the field."""
    if not isinstance(value, str):
        raise InvalidRequest(f"{where!r} is {_kind(value)}: send an id as a string")
    if _ID.fullmatch(value) is None or value in _DOTS:
        raise InvalidRequest(
            f"{where!r} is no id that we take: send 1 to {ID_CHARS_MAX} of the characters A-Z a-z 0-9 . _ : ~ -"
        )
    return value


def _trigger(value: Json) -> Trigger:
    if value is None or value == "submit-message":
        return "submit-message"
    if value == "regenerate-message":
        return "regenerate-message"
    raise InvalidRequest("'trigger' is neither 'submit-message' nor 'regenerate-message': send one of them")


def _messages(extra: JsonObject, trigger: Trigger) -> tuple[tuple[JsonObject, ...], bool]:
    # An application's own field may be called `message`, so a history has precedence.
    if "messages" in extra:
        return _history(extra.pop("messages")), True
    if "message" in extra:
        message = extra.pop("message")
        if not is_object(message):
            raise InvalidRequest(f"'message' is {_kind(message)}: send the last message as an object")
        return (message,), False
    if trigger == "regenerate-message":
        return (), False
    raise InvalidRequest(
        "the body has neither 'messages' nor 'message': send the history or the last message"
    )


def _history(value: Json) -> tuple[JsonObject, ...]:
    if not is_array(value):
        raise InvalidRequest(f"'messages' is {_kind(value)}: send an array of messages")
    if not value:
        raise InvalidRequest("'messages' is empty: send at least the new message")
    if len(value) > MESSAGES_MAX:
        raise InvalidRequest(
            f"'messages' has {len(value)} messages, more than {MESSAGES_MAX}: send the last one only, as 'message'"
        )
    messages: list[JsonObject] = []
    for place, message in enumerate(value):
        if not is_object(message):
            raise InvalidRequest(f"'messages[{place}]' is {_kind(message)}: send a message as an object")
        messages.append(message)
    return tuple(messages)


def _dialect(value: Json) -> Dialect | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidRequest(f"'dialect' is {_kind(value)}: send a name such as 'ai-sdk/5'")
    try:
        return dialect(value)
    except UnknownDialect as error:
        raise InvalidRequest(f"'dialect': {error}") from None


# --- WebSocket frames ---------------------------------------------------------------------------------------


class _Frame(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="type"):
    request_id: str


class SendFrame(_Frame, frozen=True, kw_only=True, tag="send"):
    """A client asks for an answer."""

    id: str
    trigger: Trigger
    message_id: str | UnsetType = UNSET
    messages: list[JsonObject]
    headers: dict[str, str]
    body: JsonObject
    metadata: Json = UNSET

    def request(self) -> ChatRequest:
        """The same request as a POST would make it. The frame's own fields outrank the application's."""
        fields: JsonObject = {"id": self.id, "messages": self.messages, "trigger": self.trigger}
        if self.message_id is not UNSET:
            fields["messageId"] = self.message_id
        return chat_request(
            {name: value for name, value in self.body.items() if name != "messageId"} | fields
        )


class ResumeFrame(_Frame, frozen=True, kw_only=True, tag="resume"):
    """A client asks for the answer that is under way, from its first chunk or after a sequence number."""

    id: str
    last_sequence: int | UnsetType = UNSET
    headers: dict[str, str]
    body: JsonObject
    metadata: Json = UNSET


class AbortFrame(_Frame, frozen=True, kw_only=True, tag="abort"):
    """A client wants an answer to stop: the only stop signal that the AI SDK's transports have."""


class StartFrame(_Frame, frozen=True, kw_only=True, tag="start"):
    """The server has begun to answer; it confirms a resume."""


class ChunkFrame(_Frame, frozen=True, kw_only=True, tag="chunk"):
    """One chunk of an answer. Sequence numbers begin at 0 for every request and have no gaps."""

    sequence: int
    chunk: Chunk


class EndFrame(_Frame, frozen=True, kw_only=True, tag="end"):
    """The answer is complete."""


class NoActiveFrame(_Frame, frozen=True, kw_only=True, tag="no-active"):
    """There is nothing to resume."""


class ErrorFrame(_Frame, frozen=True, kw_only=True, tag="error"):
    """The request has failed, in words a user may read."""

    error_text: str | UnsetType = UNSET


ClientFrame: TypeAlias = SendFrame | ResumeFrame | AbortFrame
ServerFrame: TypeAlias = StartFrame | ChunkFrame | EndFrame | NoActiveFrame | ErrorFrame

_PlainFrame: TypeAlias = StartFrame | EndFrame | NoActiveFrame | ErrorFrame


def decode_client_frame(text: bytes | str) -> ClientFrame:
    """Read a frame of a client, as strictly as a body. Raises `InvalidJson` or `InvalidRequest`.

    `requestId` and `id` must be ids as `checked_id` has it; fields that we do not know are passed over.
    """
    value = decode_strict(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    frame: ClientFrame = _converted(value, ClientFrame)
    checked_id(frame.request_id, "requestId")
    if isinstance(frame, AbortFrame):
        return frame
    checked_id(frame.id, "id")
    if len(frame.headers) > HEADERS_MAX:
        raise InvalidRequest(f"'headers' has {len(frame.headers)} headers: send {HEADERS_MAX} at most")
    if isinstance(frame, ResumeFrame) and frame.last_sequence is not UNSET and frame.last_sequence < 0:
        raise InvalidRequest("'lastSequence' is negative: send the number of the last chunk, or leave it out")
    return frame


def encode_client_frame(frame: ClientFrame) -> bytes:
    """Write a frame of a client, for tests and for clients in Python."""
    return json.encode(frame)


def encode_server_frame(frame: ServerFrame) -> bytes:
    """Write a frame of a server, harmless to the client's parser: one bad frame fails all its streams."""
    if not isinstance(frame, ChunkFrame):
        return json.encode_harmless(frame)
    return chunk_frame(frame.request_id, frame.sequence, encode_chunk(frame.chunk))


def chunk_frame(request_id: str, sequence: int, chunk: bytes) -> bytes:
    """A `ChunkFrame` of a chunk that is written already, by `encode_chunk`."""
    return b'{"type":"chunk","requestId":%b,"sequence":%d,"chunk":%b}' % (
        json.encode(request_id),
        sequence,
        chunk,
    )


def decode_server_frame(text: bytes | str) -> ServerFrame:
    """Read a frame of a server, for tests and for clients in Python. Raises `InvalidJson` or `InvalidRequest`."""
    value = json.decode(text)
    if not is_object(value) or value.get("type") != "chunk":
        plain: _PlainFrame = _converted(value, _PlainFrame)
        return plain
    request_id, sequence = value.get("requestId"), value.get("sequence")
    if (
        not isinstance(request_id, str)
        or not isinstance(sequence, int)
        or isinstance(sequence, bool)
        or sequence < 0
    ):
        raise InvalidRequest("a 'chunk' frame needs a 'requestId' and a 'sequence' that counts from 0")
    try:
        return ChunkFrame(request_id=request_id, sequence=sequence, chunk=chunk_from_json(value.get("chunk")))
    except InvalidChunk as error:
        raise InvalidRequest(f"'chunk': {error}") from error


def _converted(value: Json, kind: Json) -> Json:
    try:
        return json.read_as(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"not a frame that we know: {error}") from None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
